#include "methods/batch.h"

#include <algorithm>
#include <numeric>

#include "core/parallel.h"
#include "core/random.h"

namespace crowdfold {
namespace {

constexpr TaskId kTasksPerReport = 1 << 16;

std::span<double> posterior_row(Result& result, std::size_t t, std::uint32_t classes) {
  if (result.posterior.empty()) return {};
  return {result.posterior.data() + t * classes, classes};
}

std::vector<TaskId> shuffled_tasks(TaskId num_tasks, std::uint64_t seed) {
  std::vector<TaskId> tasks(num_tasks);
  std::iota(tasks.begin(), tasks.end(), 0);
  Random(seed).shuffle(tasks);
  return tasks;
}

// Worker counts are the one thing that is not read in order: ask for them some tasks ahead.
constexpr TaskId kAhead = 4;

void prefetch(const WorkerState& state, const TaskLabels& labels) {
  for (const WorkerId w : labels.workers) {
    if (w < state.workers.size()) __builtin_prefetch(&state.workers[w]);
  }
}

// A known truth leaves no doubt.
Estimate certain(ClassId truth, std::span<double> posterior) {
  std::fill(posterior.begin(), posterior.end(), 0.0);
  if (!posterior.empty()) posterior[truth] = 1;
  return {truth, 1};
}

void put(Result& result, TaskId t, const Estimate& estimate) {
  result.estimate[t] = estimate.label;
  result.confidence[t] = estimate.confidence;
}

}  // namespace

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

Result fit_online(OnlineMethod& method, Order order, const Labels& labels, const Given& given,
                  const RunContext& context) {
  Result result;
  const TaskId num_tasks = labels.num_tasks();
  const std::uint32_t classes = labels.num_classes();
  result.estimate.resize(num_tasks, kNoClass);
  result.confidence.resize(num_tasks, 0);
  if (context.posterior) result.posterior.resize(static_cast<std::size_t>(num_tasks) * classes);

  if (!given.workers.empty()) {
    WorkerState before = method.state();
    before.workers = given.workers;
    method.restore(std::move(before));
  }
  method.expect_classes(classes);

  const std::vector<TaskId> shuffled =
      order == Order::shuffled ? shuffled_tasks(num_tasks, context.seed) : std::vector<TaskId>{};
  for (TaskId i = 0; i < num_tasks; ++i) {
    if (i % kTasksPerReport == 0) {
      context.throw_if_cancelled();
      context.report("first pass", i, num_tasks);
    }
    const TaskId t = shuffled.empty() ? i : shuffled[i];
    if (i + kAhead < num_tasks)
      prefetch(method.state(), labels.task(shuffled.empty() ? i + kAhead : shuffled[i + kAhead]));
    if (method.looks_twice()) {
      method.learn(labels.task(t), given.truth(t));
    } else {
      put(result, t, method.observe(labels.task(t), given.truth(t), posterior_row(result, t, classes)));
    }
  }

  if (method.looks_twice()) {
    const OnlineMethod& learned = method;
    parallel_ranges(context.threads, num_tasks, kTasksPerReport,
                    [&](std::size_t first, std::size_t last, int) {
                      context.throw_if_cancelled();
                      for (auto t = static_cast<TaskId>(first); t < last; ++t) {
                        const std::span<double> posterior = posterior_row(result, t, classes);
                        const ClassId truth = given.truth(t);
                        put(result, t,
                            truth != kNoClass ? certain(truth, posterior)
                                              : learned.estimate(labels.task(t), posterior));
                      }
                    });
  }
  result.workers = method.state();
  result.workers.workers.resize(labels.num_workers());
  return result;
}

}  // namespace crowdfold
