#include "glance.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "crowdfold/report.h"
#include "crowdfold/words.h"
#include "terminal.h"

namespace crowdfold::cli {
namespace {

constexpr std::size_t kShown = 5;
constexpr int kPlotWidth = 40;

// The interval [lower, upper] of [0, 1] as a line with a mark at the quality.
std::string plot(double quality, const Interval& interval) {
  const auto at = [](double x) {
    return std::clamp(static_cast<int>(x * kPlotWidth), 0, kPlotWidth - 1);
  };
  std::string text;
  for (int i = 0; i < kPlotWidth; ++i) {
    text += i == at(quality) ? "●" : i >= at(interval.lower) && i <= at(interval.upper) ? "━" : "·";
  }
  return text;
}

void add_worker(Table& table, const Labels& labels, const Result& result, WorkerId w) {
  const BetaQuality quality = result.learned.quality(w);
  const Interval interval = quality.credible_interval();
  table.add({std::string(labels.workers()[w]), decimal(quality.mean(), 3), decimal(interval.lower, 3),
             decimal(interval.upper, 3),
             with_commas(static_cast<std::uint64_t>(result.learned.counts_of(w).seen)),
             plot(quality.mean(), interval)});
}

std::string votes_of(const Labels& labels, TaskId t) {
  const TaskLabels task = labels.task(t);
  std::vector<ClassId> classes(task.classes.begin(), task.classes.end());
  std::sort(classes.begin(), classes.end());
  std::string text;
  for (std::size_t i = 0; i < classes.size();) {
    std::size_t end = i;
    while (end < classes.size() && classes[end] == classes[i]) ++end;
    text += fmt::format("{}{} ×{}", text.empty() ? "" : ", ", labels.classes()[classes[i]], end - i);
    i = end;
  }
  return text;
}

}  // namespace

void tell_glance(const Labels& labels, const Result& result) {
  const bool color = wants_color(stderr);
  std::vector<WorkerId> workers(labels.num_workers());
  std::iota(workers.begin(), workers.end(), 0);
  // By what is sure about them: the best by the interval's lower end, the worst by its upper end.
  std::vector<Interval> interval(workers.size());
  for (const WorkerId w : workers) interval[w] = result.learned.quality(w).credible_interval();
  const bool all = workers.size() <= 2 * kShown;  // then one list has them
  const std::size_t shown = all ? workers.size() : kShown;
  Table best({all ? "workers" : "best workers", "quality", "lower", "upper", "labels", ""});
  std::stable_sort(workers.begin(), workers.end(),
                   [&](WorkerId a, WorkerId b) { return interval[a].lower > interval[b].lower; });
  for (std::size_t i = 0; i < shown; ++i) add_worker(best, labels, result, workers[i]);
  Table worst({"worst workers", "quality", "lower", "upper", "labels", ""});
  std::stable_sort(workers.begin(), workers.end(),
                   [&](WorkerId a, WorkerId b) { return interval[a].upper < interval[b].upper; });
  for (std::size_t i = 0; i < shown; ++i) add_worker(worst, labels, result, workers[i]);
  tell(fmt::format("\n{}\n", best.text(color)));
  if (!all) tell(worst.text(color) + "\n");

  const Footing footing = footing_of(labels);
  const double settled = ReportOptions{}.settled;
  std::vector<TaskId> doubtful;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (footing != Footing::sound || result.certainty(t) < settled) doubtful.push_back(t);
  }
  std::stable_sort(doubtful.begin(), doubtful.end(),
                   [&](TaskId a, TaskId b) { return result.confidence[a] < result.confidence[b]; });
  Table tasks({"tasks that need more labels", "estimate", "confidence", "labels"});
  for (std::size_t i = 0; i < std::min(kShown, doubtful.size()); ++i) {
    const TaskId t = doubtful[i];
    const ClassId c = result.estimate[t];
    tasks.add({std::string(labels.tasks()[t]), c == kNoClass ? "-" : std::string(labels.classes()[c]),
               decimal(result.confidence[t], 3), votes_of(labels, t)});
  }
  if (!doubtful.empty()) tell(tasks.text(color));
  if (footing != Footing::sound) {
    tell(fmt::format("nothing is settled: {}\n", words_of(footing)));
    return;
  }
  const double confidence = with_doubt(settled, result.doubt, labels.num_classes());
  tell(fmt::format(
      "{} of {} below a certainty of {}{}\n", with_commas(doubtful.size()),
      count_noun(labels.num_tasks(), "task"), decimal(settled, 2),
      confidence == settled ? "" : fmt::format(", a confidence of {}", decimal(confidence, 3))));
}

}  // namespace crowdfold::cli
