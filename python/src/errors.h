// crowdfold::Error as exceptions of Python, with the same message: see crowdfold/errors.py.
#pragma once

namespace crowdfold::python {

void translate_errors();

}  // namespace crowdfold::python
