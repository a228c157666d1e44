// Native work that can be interrupted from Python.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "crowdfold/run_context.h"

namespace crowdfold::python {

using Work = std::function<void(const RunContext&)>;

// Runs work(context) on a thread of its own, without the interpreter's lock. The calling thread looks
// for signals meanwhile, so that Ctrl-C cancels the work, and tells progress(stage, done, total), unless
// it is None.
void run_native(const RunContext& context, nanobind::handle progress, Work work);

// The same for work that may take its time to notice that it is cancelled: the caller does not wait for
// it. It must own all it touches, and have nothing to do with Python.
void run_abandonable(const RunContext& context, nanobind::handle progress, Work work);

// Waits, when the interpreter ends, for what was abandoned.
void bind_interrupts(nanobind::module_& module);

}  // namespace crowdfold::python
