// Methods and their results.
#pragma once

#include <nanobind/nanobind.h>

#include "crowdfold/result.h"

namespace crowdfold::python {

// A Result and the sizes of its arrays.
struct FitResult {
  Result result;
  std::size_t num_tasks = 0;
  std::size_t num_workers = 0;
  std::size_t num_classes = 0;
};

void bind_fit(nanobind::module_& module);

}  // namespace crowdfold::python
