// Which tasks are settled, which need more labels, and which to look at first.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/parts.h"

namespace crowdfold {
namespace {

constexpr std::size_t kBins = 20;

// The weight of a label of the crowd: the median over all labels, so that busy workers count for more.
double typical_log_odds(const Labels& labels, std::span<const double> log_odds) {
  std::vector<std::uint64_t> given(labels.num_workers());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const WorkerId w : labels.task(t).workers) ++given[w];
  }
  std::vector<WorkerId> order(labels.num_workers());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](WorkerId a, WorkerId b) { return log_odds[a] < log_odds[b]; });
  std::uint64_t below = 0;
  for (const WorkerId w : order) {
    below += given[w];
    if (2 * below >= labels.num_labels()) return log_odds[w];
  }
  return 0;
}

double logit(double p) { return std::log(p / (1 - p)); }

// The number of labels until the certainty is enough, if all of them agree and have the crowd's
// weight.
std::uint32_t wanted_labels(double certainty, double settled, double weight) {
  if (certainty >= settled) return 0;
  if (weight <= 0 || certainty <= 0) return kMostWanted;
  const double steps = std::ceil((logit(settled) - logit(certainty)) / weight);
  return static_cast<std::uint32_t>(std::clamp(steps, 1.0, double{kMostWanted}));
}

void count_labels(std::vector<std::uint64_t>& by_number, std::size_t labels) {
  if (labels >= by_number.size()) by_number.resize(labels + 1);
  ++by_number[labels];
}

// Keeps the first `most` in the given order; ties in the order of the tasks.
template <class Before>
void keep_first(std::vector<ReportedTask>& tasks, std::size_t most, const Before& before) {
  const auto in_order = [&](const ReportedTask& a, const ReportedTask& b) {
    return before(a, b) || (!before(b, a) && a.task < b.task);
  };
  const std::size_t kept = std::min(most, tasks.size());
  std::partial_sort(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(kept), tasks.end(),
                    in_order);
  tasks.resize(kept);
}

}  // namespace

TaskSummary summarize_tasks(const ReportInput& reported, std::span<const double> log_odds) {
  const auto& [labels, result, truths, options] = reported;
  const double weight = typical_log_odds(labels, log_odds);
  TaskSummary summary;
  summary.tasks = labels.num_tasks();
  summary.confidence.resize(kBins);
  for (std::size_t b = 0; b < kBins; ++b) {
    summary.confidence[b].lower = static_cast<double>(b) / kBins;
    summary.confidence[b].upper = static_cast<double>(b + 1) / kBins;
  }
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const ReportedTask task{t, result.estimate[t], result.confidence[t],
                            wanted_labels(result.certainty(t), options.settled, weight)};
    const std::size_t given = labels.task(t).size();
    count_labels(summary.labels_per_task, given);
    summary.single_label += given == 1 ? 1 : 0;
    ++summary.wanted[task.wanted];
    if (task.wanted == 0) ++summary.settled;
    if (task.estimate == kNoClass) {
      ++summary.without_labels;
      continue;
    }
    if (task.wanted > 0) summary.first.push_back(task);
    TaskSummary::Bin& bin =
        summary.confidence[std::min(static_cast<std::size_t>(task.confidence * kBins), kBins - 1)];
    ++bin.tasks;
    const ClassId truth = reported.truth(t);
    if (truth == kNoClass) continue;
    ++(truth == task.estimate ? bin.right : bin.wrong);
    if (truth != task.estimate) summary.mistakes.push_back(task);
  }
  keep_first(summary.first, options.most_tasks,
             [](const ReportedTask& a, const ReportedTask& b) { return a.confidence < b.confidence; });
  keep_first(summary.mistakes, options.most_tasks,
             [](const ReportedTask& a, const ReportedTask& b) { return a.confidence > b.confidence; });
  return summary;
}

}  // namespace crowdfold
