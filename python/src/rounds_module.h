// Methods in rounds, on bytes.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_rounds(nanobind::module_& module);

}  // namespace crowdfold::python
