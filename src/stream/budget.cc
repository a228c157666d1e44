#include "crowdfold/budget.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "stream/stopping.h"

namespace crowdfold {

Spending replay(const Labels& labels, std::span<const ClassId> truths, OnlineMethod& method,
                const StopRule& stop, std::uint64_t seed, const RunContext& context) {
  constexpr std::size_t kTasksPerReport = 1 << 12;
  Random random(seed);
  std::vector<TaskId> order(labels.num_tasks());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  method.expect(labels.num_workers(), labels.num_classes());

  // The labels bought so far, task after task.
  std::vector<WorkerId> workers;
  std::vector<ClassId> classes;
  std::vector<std::size_t> ends;
  const auto bought = [&](std::size_t i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    const std::size_t size = (i < ends.size() ? ends[i] : workers.size()) - begin;
    return TaskLabels{order[i], std::span(workers).subspan(begin, size),
                      std::span(classes).subspan(begin, size)};
  };
  const auto is_right = [&](std::size_t i, const Estimate& answer) {
    return answer.label != kNoClass && answer.label == truths[order[i]] ? 1.0 : 0.0;
  };
  double closed = 0;
  double known = 0;
  double right_then = 0;
  double claimed = 0;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kTasksPerReport == 0) context.throw_if_cancelled();
    const TaskLabels all = labels.task(order[i]);
    places.resize(all.size());
    std::iota(places.begin(), places.end(), 0);
    random.shuffle(places);
    Estimate answer;
    for (std::size_t j = 0; j < places.size(); ++j) {
      workers.push_back(all.workers[places[j]]);
      classes.push_back(all.classes[places[j]]);
      answer = method.estimate(bought(i));
      const double certainty = certainty_of(answer.confidence, method.doubt(), labels.num_classes());
      if (why_to_close(stop, j + 1, certainty) == nullptr) continue;
      closed += 1;
      break;
    }
    method.learn(bought(i), answer);
    ends.push_back(workers.size());
    right_then += is_right(i, answer);
    if (truths[order[i]] == kNoClass || answer.label == kNoClass) continue;
    known += 1;
    claimed += answer.confidence;
  }
  double right = 0;
  for (std::size_t i = 0; i < order.size(); ++i) right += is_right(i, method.estimate(bought(i)));
  const double tasks = std::max(1.0, static_cast<double>(order.size()));
  known = std::max(1.0, known);
  return {right / known, right_then / known, claimed / known,
          static_cast<double>(workers.size()) / tasks, closed / tasks};
}

}  // namespace crowdfold
