// Reports of fits, for people.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_report(nanobind::module_& module);

}  // namespace crowdfold::python
