// Metrics, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_metrics(nanobind::module_& module);

}  // namespace crowdfold::python
