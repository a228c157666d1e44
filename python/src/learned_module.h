// What was learned of workers, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_learned(nanobind::module_& module);

}  // namespace crowdfold::python
