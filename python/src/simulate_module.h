// Simulated crowds, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_simulate(nanobind::module_& module);

}  // namespace crowdfold::python
