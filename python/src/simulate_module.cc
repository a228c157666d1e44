#include "simulate_module.h"

#include <nanobind/stl/string.h>

#include "arrays.h"
#include "crowdfold/simulate.h"
#include "interrupts.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

nb::tuple simulate_rows(std::uint64_t tasks, std::uint32_t workers, std::uint32_t classes,
                        std::uint32_t min_labels, std::uint32_t max_labels, const std::string& quality,
                        bool confusion, double spammers, double adversaries, double skew,
                        std::uint64_t seed) {
  SimulationOptions options;
  options.tasks = tasks;
  options.workers = workers;
  options.classes = classes;
  options.min_labels = min_labels;
  options.max_labels = max_labels;
  options.quality = QualityDistribution::parse(quality);
  options.confusion = confusion;
  options.spammers = spammers;
  options.adversaries = adversaries;
  options.skew = skew;
  std::vector<TaskId> task;
  std::vector<WorkerId> worker;
  std::vector<ClassId> label;
  SimulatedCrowd crowd;
  run_native({}, nb::none(), [&](const RunContext& context) {
    crowd = simulate(options, seed, [&](TaskId t, WorkerId w, ClassId c) {
      if (task.size() % 65536 == 0) context.throw_if_cancelled();
      task.push_back(t);
      worker.push_back(w);
      label.push_back(c);
    });
  });
  return nb::make_tuple(to_numpy(std::move(task)), to_numpy(std::move(worker)),
                        to_numpy(std::move(label)), to_numpy(std::move(crowd.truths)),
                        to_numpy(std::move(crowd.quality)));
}

}  // namespace

void bind_simulate(nb::module_& module) {
  module.def("simulate", &simulate_rows, "tasks"_a, "workers"_a, "classes"_a, "min_labels"_a,
             "max_labels"_a, "quality"_a, "confusion"_a, "spammers"_a, "adversaries"_a, "skew"_a,
             "seed"_a);
}

}  // namespace crowdfold::python
