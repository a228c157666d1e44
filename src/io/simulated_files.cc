// A simulated crowd as files.
#include <fmt/format.h>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/simulate.h"
#include "io/records.h"

namespace crowdfold {
namespace {

constexpr std::uint64_t kRowsPerReport = 1 << 20;

int digits_for(std::uint64_t count) {
  return static_cast<int>(fmt::formatted_size("{}", count == 0 ? 0 : count - 1));
}

}  // namespace

void write_simulation(const SimulationOptions& options, const SimulationNames& names, bool shuffle,
                      const SimulationFiles& files, const RunContext& context) {
  if (!names.classes.empty() && names.classes.size() != options.classes) {
    throw Error(ErrorCode::usage,
                fmt::format("{} class names for {} classes", names.classes.size(), options.classes));
  }
  const int task_digits = names.task_digits > 0 ? names.task_digits : digits_for(options.tasks);
  const int worker_digits = names.worker_digits > 0 ? names.worker_digits : digits_for(options.workers);
  const auto task = [&](TaskId t) { return fmt::format("{}{:0{}}", names.task_prefix, t, task_digits); };
  const auto worker = [&](WorkerId w) {
    return fmt::format("{}{:0{}}", names.worker_prefix, w, worker_digits);
  };
  const auto label = [&](ClassId c) {
    return names.classes.empty() ? fmt::format("class_{}", c) : names.classes[c];
  };

  RecordFile labels(files.labels, {"task", "worker", "label"}, files.options);
  const auto add = [&](TaskId t, WorkerId w, ClassId c) {
    labels.add().text(task(t)).text(worker(w)).text(label(c)).end();
  };
  struct Drawn {
    TaskId task;
    WorkerId worker;
    ClassId label;
  };
  std::vector<Drawn> drawn;  // only if they are to be shuffled
  std::uint64_t rows = 0;
  const SimulatedCrowd crowd = simulate(options, context.seed, [&](TaskId t, WorkerId w, ClassId c) {
    if (rows++ % kRowsPerReport == 0) {
      context.throw_if_cancelled();
      context.report("simulating", t, options.tasks);
    }
    shuffle ? drawn.push_back({t, w, c}) : add(t, w, c);
  });
  if (shuffle) {
    Random(context.seed).shuffle(drawn);
    for (const Drawn& row : drawn) add(row.task, row.worker, row.label);
  }
  labels.commit();

  if (!files.truths.empty()) {
    RecordFile truths(files.truths, {"task", "label"}, files.options);
    for (TaskId t = 0; t < crowd.truths.size(); ++t)
      truths.add().text(task(t)).text(label(crowd.truths[t])).end();
    truths.commit();
  }
  if (!files.workers.empty()) {
    RecordFile workers(files.workers, {"worker", "quality"}, files.options);
    for (WorkerId w = 0; w < crowd.quality.size(); ++w)
      workers.add().text(worker(w)).number(crowd.quality[w]).end();
    workers.commit();
  }
}

}  // namespace crowdfold
