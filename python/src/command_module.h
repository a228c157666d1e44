// The command `crowdfold` of the package.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_command(nanobind::module_& module);

}  // namespace crowdfold::python
