// The live stream, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_stream(nanobind::module_& module);

}  // namespace crowdfold::python
