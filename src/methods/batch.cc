#include "methods/batch.h"

#include <numeric>

#include "core/random.h"

namespace crowdfold {

std::vector<TaskId> shuffled_tasks(TaskId num_tasks, std::uint64_t seed) {
  std::vector<TaskId> tasks(num_tasks);
  std::iota(tasks.begin(), tasks.end(), 0);
  Random(seed).shuffle(tasks);
  return tasks;
}

Estimate OnlineMethod::observe(const TaskLabels& labels, ClassId truth, std::span<double> posterior) {
  if (truth != kNoClass) {
    learn(labels, truth);
    return certain(truth, posterior);
  }
  if (looks_twice()) {
    learn(labels);
    return estimate(labels, posterior);
  }
  const Estimate judged = estimate(labels, posterior);
  learn(labels, judged.label);
  return judged;
}

}  // namespace crowdfold
