// crowdfold._native: the engine, as the Python package calls it. Nothing here is for users: names and
// signatures follow what the package needs.
#include <nanobind/nanobind.h>

#include "command_module.h"
#include "crowdfold/version.h"
#include "errors.h"
#include "fit_module.h"
#include "interrupts.h"
#include "jury_module.h"
#include "labels_module.h"
#include "learned_module.h"
#include "metrics_module.h"
#include "report_module.h"
#include "rounds_module.h"
#include "simulate_module.h"
#include "state_view_module.h"
#include "stream_module.h"

NB_MODULE(_native, module) {
  using namespace crowdfold::python;
  translate_errors();
  module.attr("version") = crowdfold::kVersion;
  bind_interrupts(module);
  bind_labels(module);
  bind_fit(module);
  bind_learned(module);
  bind_state_view(module);
  bind_stream(module);
  bind_metrics(module);
  bind_jury(module);
  bind_report(module);
  bind_command(module);
  bind_rounds(module);
  bind_simulate(module);
}
