#include "errors.h"

#include <nanobind/nanobind.h>

#include "crowdfold/error.h"

namespace nb = nanobind;

namespace crowdfold::python {
namespace {

const char* class_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage: return "UsageError";
    case ErrorCode::data: return "DataError";
    case ErrorCode::io: return "FileError";
    default: return "InternalError";
  }
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) {
      PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
      return;
    }
    const Location& place = error.location();
    const nb::object type = nb::module_::import_("crowdfold.errors").attr(class_of(error.code()));
    const nb::object exception = type(error.what());
    exception.attr("file") = place.file.empty() ? nb::none() : nb::object(nb::str(place.file.c_str()));
    exception.attr("line") = place.line == 0 ? nb::none() : nb::object(nb::int_(place.line));
    exception.attr("column") = place.column == 0 ? nb::none() : nb::object(nb::int_(place.column));
    PyErr_SetObject(type.ptr(), exception.ptr());
  }
}

}  // namespace

void translate_errors() { nb::register_exception_translator(translate); }

}  // namespace crowdfold::python
