// Which tasks are settled, which need more labels, and which to look at first.
#include <algorithm>
#include <cmath>
#include <map>
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

// By how much the answer's log-odds lead those of the next class.
double lead_of(const TaskLabels& task, ClassId answer, std::span<const double> log_odds) {
  std::map<ClassId, double> sums;
  for (std::size_t j = 0; j < task.size(); ++j) sums[task.classes[j]] += log_odds[task.workers[j]];
  double next = 0;  // of a class that nobody names
  for (const auto& [c, sum] : sums) next = std::max(next, c == answer ? 0 : sum);
  return sums[answer] - next;
}

// How far the method's certainty follows the log-odds of labels: the median over tasks of its log-odds
// over that lead. Methods that know that labels err together follow less than all the way, 1.
double response(const ReportInput& input, std::span<const double> log_odds) {
  std::vector<double> ratios;
  for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
    const ClassId answer = input.result.estimate[t];
    if (answer == kNoClass) continue;
    const double certainty = input.result.certainty(t);
    const double lead = lead_of(input.labels.task(t), answer, log_odds);
    if (lead > 0 && certainty > 0 && certainty < 1) ratios.push_back(logit(certainty) / lead);
  }
  if (ratios.empty()) return 1;
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  return std::clamp(*middle, 0.0, 1.0);
}

// The number of labels until the certainty is enough, if all of them agree and have the crowd's
// weight.
std::uint32_t wanted_labels(const ReportInput& input, TaskId t, double weight) {
  const double settled = input.options.settled;
  const double certainty = input.result.certainty(t);
  if (input.footing != Footing::sound) return kMostWanted;
  if (input.settles(input.result, t)) return 0;
  if (certainty >= settled) return 1;  // two workers contradict each other: a third is needed
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
  const Labels& labels = reported.labels;
  const Result& result = reported.result;
  const ReportOptions& options = reported.options;
  const double weight = response(reported, log_odds) * typical_log_odds(labels, log_odds);
  TaskSummary summary;
  summary.tasks = labels.num_tasks();
  summary.confidence.resize(kBins);
  for (std::size_t b = 0; b < kBins; ++b) {
    summary.confidence[b].lower = static_cast<double>(b) / kBins;
    summary.confidence[b].upper = static_cast<double>(b + 1) / kBins;
  }
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const ReportedTask task{t, result.estimate[t], result.confidence[t],
                            wanted_labels(reported, t, weight)};
    if (t < options.most_answers) summary.answers.push_back(task);
    const std::size_t given = labels.task(t).size();
    count_labels(summary.labels_per_task, given);
    summary.single_label += given == 1 ? 1 : 0;
    if (task.estimate == kNoClass) {
      ++summary.without_labels;
      continue;
    }
    ++summary.wanted[task.wanted];
    ++(task.wanted == 0 ? summary.settled : summary.open);
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
