// Juries: models as judges.
#pragma once

#include <nanobind/nanobind.h>

namespace crowdfold::python {

void bind_jury(nanobind::module_& module);

}  // namespace crowdfold::python
