// StateView for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_state_view(nanobind::module_& module);

}  // namespace crowdfold::python
