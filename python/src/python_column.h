// Columns of what Python hands over: buffers of numbers or of objects, and what speaks Arrow.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "crowdfold/columns.h"

namespace crowdfold::python {

// A column and what owns its memory.
struct HeldColumn {
  std::shared_ptr<void> memory;  // released with the interpreter's lock held
  std::unique_ptr<ValueColumn> column;
};

// `given` is one of
//   an object with __arrow_c_stream__ or __arrow_c_array__
//   an object with a buffer: numbers or Python objects, one after another or some bytes apart
//   a pair (numbers, mask) of such, where true marks a null
//   a triple (codes, values, None) of a buffer and any of the above
HeldColumn python_column(nanobind::handle given, const std::string& name);

}  // namespace crowdfold::python
