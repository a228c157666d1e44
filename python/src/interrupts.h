// Native work that can be interrupted from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "crowdfold/run_context.h"

namespace crowdfold::python {

// Runs body(context) on a thread of its own, without the interpreter's lock. The calling thread looks
// for signals meanwhile, so that Ctrl-C cancels the work, and tells progress(stage, done, total), unless
// it is None.
void run_native(RunContext context, nanobind::handle progress,
                const std::function<void(const RunContext&)>& body);

}  // namespace crowdfold::python
