// A report in words: one sentence for the whole, and what to do next.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crowdfold/report.h"
#include "report/words.h"

namespace crowdfold {
namespace {

constexpr std::size_t kNamedAlone = 3;  // workers with a sentence of their own
constexpr double kNotableMixUp = 0.15;  // share of the labels on a class
constexpr std::uint64_t kNotableMixUpLabels = 20;
constexpr double kNotableDrift = 0.05;  // lost agreement between the first and the last third,
constexpr double kDriftErrors = 4;      // in standard errors, too
constexpr double kNotableShare = 0.3;   // of all labels, by one worker
constexpr double kNotableCalibration = 0.05;
constexpr std::uint64_t kFewTruths = 30;

using Item = Advice::Item;

std::string name(const NameTable& names, std::uint32_t id) { return std::string(names[id]); }
std::string quoted(const Labels& labels, ClassId c) { return fmt::format("“{}”", labels.classes()[c]); }

std::vector<const ReportedWorker*> marked(const Report& report, WorkerMark mark) {
  std::vector<const ReportedWorker*> found;
  for (const ReportedWorker& worker : report.workers) {
    if (worker.mark == mark) found.push_back(&worker);
  }
  std::stable_sort(found.begin(), found.end(), [](const ReportedWorker* a, const ReportedWorker* b) {
    return a->labels > b->labels;
  });
  return found;
}

void advise_tasks(const Report& report, std::vector<Item>& items) {
  const TaskSummary& tasks = report.tasks;
  if (tasks.without_labels > 0) {
    items.push_back({Tone::warning,
                     fmt::format("{} no label yet: no answer.",
                                 count_noun(tasks.without_labels, "task", "has", "have")),
                     "tasks"});
  }
  const std::uint64_t one = tasks.wanted[1];
  std::uint64_t more = 0;
  for (std::size_t n = 2; n < tasks.wanted.size(); ++n) more += tasks.wanted[n];
  more -= tasks.without_labels;  // spoken of already
  if (one > 0) {
    items.push_back({Tone::warning,
                     fmt::format("{} one more label, if it agrees with the answer so far.",
                                 count_noun(one, "task", "needs", "need")),
                     "tasks"});
  }
  if (more > 0) {
    items.push_back(
        {Tone::warning,
         fmt::format("{} two labels or more: look at them first, the question itself may be unclear.",
                     count_noun(more, "task", "needs", "need")),
         "tasks"});
  }
  if (tasks.settled == tasks.tasks)
    items.push_back({Tone::good, "All tasks are settled: no more labels are needed.", "tasks"});
  if (tasks.single_label > 0) {
    items.push_back({Tone::plain,
                     fmt::format("{} a single label, so nobody contradicts it.",
                                 count_noun(tasks.single_label, "task", "has", "have")),
                     "data"});
  }
}

std::string why(const ReportedWorker& worker, const Labels& labels) {
  if (worker.constant != kNoClass)
    return fmt::format("every one of their labels is {}", quoted(labels, worker.constant));
  return fmt::format("{} of {} agree with what the others say, pure chance would give {:.0f}",
                     with_commas(worker.agreed), count_noun(worker.compared, "label"), worker.by_chance);
}

struct MarkWords {
  WorkerMark mark;
  Tone tone;
  const char* one;
  const char* many;
  const char* then;
};

void advise_marked(const Report& report, const Labels& labels, const MarkWords& words,
                   std::vector<Item>& items) {
  const std::vector<const ReportedWorker*> workers = marked(report, words.mark);
  if (workers.empty()) return;
  std::uint64_t given = 0;
  std::vector<std::string> names;
  for (const ReportedWorker* worker : workers) {
    given += worker->labels;
    names.push_back(name(labels.workers(), worker->worker));
  }
  if (workers.size() <= kNamedAlone) {
    for (const ReportedWorker* worker : workers) {
      items.push_back({words.tone,
                       fmt::format("Worker {} {}: {}. {}", name(labels.workers(), worker->worker),
                                   words.one, why(*worker, labels), words.then),
                       "workers"});
    }
    return;
  }
  items.push_back(
      {words.tone,
       fmt::format("{} {}: {}. They gave {} of all labels. {}", count_noun(workers.size(), "worker"),
                   words.many, listing(names), percent(given, report.labels), words.then),
       "workers"});
}

void advise_workers(const Report& report, const Labels& labels, std::vector<Item>& items) {
  advise_marked(report, labels,
                {WorkerMark::adversary, Tone::bad, "answers worse than chance",
                 "answer worse than chance", "Ask what they understood, or leave their labels out."},
                items);
  advise_marked(report, labels,
                {WorkerMark::random, Tone::bad, "answers at random", "answer at random",
                 "Their labels tell little or nothing."},
                items);
  std::vector<std::string> worse;
  for (const ReportedWorker& worker : report.workers) {
    if (!worker.got_worse) continue;
    worse.push_back(fmt::format("{} ({} early, {} late)", name(labels.workers(), worker.worker),
                                percent(worker.early), percent(worker.late)));
  }
  if (!worse.empty()) {
    items.push_back({Tone::warning,
                     fmt::format("{} less with the others as time goes on: {}.",
                                 count_noun(worse.size(), "worker", "agrees", "agree"), listing(worse)),
                     "workers"});
  }
  for (const ReportedWorker& worker : report.workers) {
    const double share = static_cast<double>(worker.labels) / static_cast<double>(report.labels);
    if (report.workers.size() < 5 || share < kNotableShare) continue;
    items.push_back({Tone::plain,
                     fmt::format("Worker {} gave {} of all labels: much hangs on one person.",
                                 name(labels.workers(), worker.worker), percent(share)),
                     "workers"});
  }
}

void advise_classes(const Report& report, const Labels& labels, std::vector<Item>& items) {
  for (const MixUp& mix_up : report.mix_ups) {
    if (mix_up.share < kNotableMixUp || mix_up.labels < kNotableMixUpLabels) continue;
    items.push_back({Tone::warning,
                     fmt::format("{} is often taken for {}: {} of the labels on such tasks. Guidelines "
                                 "could tell them apart.",
                                 quoted(labels, mix_up.estimate), quoted(labels, mix_up.label),
                                 percent(mix_up.share)),
                     "classes"});
    return;  // the most frequent one
  }
}

void advise_drift(const Report& report, std::vector<Item>& items) {
  const std::size_t third = report.drift.size() / 3;
  if (third == 0) return;
  double labels[2] = {0, 0};
  double agreed[2] = {0, 0};
  for (std::size_t i = 0; i < third; ++i) {
    const DriftChunk* ends[2] = {&report.drift[i], &report.drift[report.drift.size() - 1 - i]};
    for (int side = 0; side < 2; ++side) {
      labels[side] += static_cast<double>(ends[side]->labels);
      agreed[side] += static_cast<double>(ends[side]->agreed);
    }
  }
  if (labels[0] == 0 || labels[1] == 0) return;
  const double early = agreed[0] / labels[0];
  const double late = agreed[1] / labels[1];
  const double error = std::sqrt(early * (1 - early) / labels[0] + late * (1 - late) / labels[1]);
  if (std::abs(early - late) < kNotableDrift || std::abs(early - late) < kDriftErrors * error) return;
  items.push_back(
      {late < early ? Tone::warning : Tone::plain,
       fmt::format(
           "Labels agree {} with the answers as the tasks go on: {} in the first third, {} in the last.",
           late < early ? "less" : "more", percent(early), percent(late)),
       "order"});
}

void advise_truths(const Report& report, std::vector<Item>& items) {
  if (!report.has_truths) return;
  const Evaluation& e = report.evaluation;
  double claimed = 0;
  for (const CalibrationBin& bin : e.bins) claimed += bin.confidence * static_cast<double>(bin.tasks);
  claimed /= static_cast<double>(e.tasks);
  const double gap = claimed - e.accuracy;
  const char* verdict = std::abs(gap) < kNotableCalibration ? "about right"
                        : gap > 0                           ? "too sure"
                                                            : "too modest";
  items.push_back(
      {Tone::accent,
       fmt::format("{} of {} with a known truth are answered right; the confidences promise {}: {}.{}",
                   percent(e.accuracy), count_noun(e.tasks, "task"), percent(claimed), verdict,
                   e.tasks < kFewTruths ? " These are few truths to judge by." : ""),
       "truth"});
  const ComparedMethod* best = nullptr;
  for (const ComparedMethod& method : report.methods) {
    const double gain = static_cast<double>(method.better) - static_cast<double>(method.worse);
    const bool beyond_noise = gain > 2 * std::sqrt(static_cast<double>(method.better + method.worse));
    if (beyond_noise && (!best || method.evaluation.accuracy > best->evaluation.accuracy))
      best = &method;
  }
  if (best) {
    items.push_back(
        {Tone::accent,
         fmt::format("The method {} does better on these truths: {} right, {} with {}.", best->method,
                     percent(best->evaluation.accuracy), percent(e.accuracy), report.options.method),
         "methods"});
  }
}

void advise_input(const Report& report, std::vector<Item>& items) {
  if (report.skipped_rows > 0)
    items.push_back({Tone::warning,
                     fmt::format("{} not be read and left out.",
                                 count_noun(report.skipped_rows, "row", "could", "could")),
                     "data"});
  if (report.duplicates > 0) {
    items.push_back({Tone::plain,
                     fmt::format("{} of a worker on a task that they had labelled before.",
                                 count_noun(report.duplicates, "label")),
                     "data"});
  }
}

}  // namespace

std::string headline_of(const Report& report) {
  const TaskSummary& tasks = report.tasks;
  if (tasks.tasks == 0) return "There are no tasks to report on";
  const std::string all = count_noun(tasks.tasks, "task");
  std::string text = tasks.settled == 0 ? fmt::format("None of {} is settled", all)
                     : tasks.settled == tasks.tasks
                         ? fmt::format("All {} are settled", all)
                         : fmt::format("{} of {} are settled", percent(tasks.settled, tasks.tasks), all);
  const std::uint64_t one = tasks.wanted[1];
  if (one > 0)
    text += fmt::format("; {} {} one more label", with_commas(one), one == 1 ? "needs" : "need");
  const std::size_t random = marked(report, WorkerMark::random).size();
  const std::size_t adversaries = marked(report, WorkerMark::adversary).size();
  if (random > 0)
    text += fmt::format("; {} at random", count_noun(random, "worker", "answers", "answer"));
  if (adversaries > 0)
    text +=
        fmt::format("; {} worse than chance", count_noun(adversaries, "worker", "answers", "answer"));
  return text;
}

Advice advice_of(const Report& report, const Labels& labels) {
  Advice advice;
  advise_tasks(report, advice.items);
  advise_workers(report, labels, advice.items);
  advise_classes(report, labels, advice.items);
  advise_drift(report, advice.items);
  advise_truths(report, advice.items);
  advise_input(report, advice.items);
  const auto urgency = [](Tone tone) { return tone == Tone::bad ? 0 : tone == Tone::warning ? 1 : 2; };
  std::stable_sort(advice.items.begin(), advice.items.end(),
                   [&](const Item& a, const Item& b) { return urgency(a.tone) < urgency(b.tone); });
  return advice;
}

}  // namespace crowdfold
