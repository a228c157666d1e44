// A report in words: one sentence for the whole, and the next steps to take.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crowdfold/report.h"
#include "measure/evidence.h"
#include "report/words.h"

namespace crowdfold {
namespace {

constexpr std::size_t kNamedAlone = 3;  // workers with a sentence of their own
constexpr double kNotableMixUp = 0.15;  // share of the labels on a class
constexpr std::uint64_t kNotableMixUpLabels = 20;
constexpr double kNotableDrift = 0.05;    // lost agreement between the first and the last third,
constexpr double kDriftByChance = 0.01;   // unless nothing changes with this probability
constexpr double kBetterByChance = 0.05;  // the same for any method that is called better
constexpr double kNotableShare = 0.3;     // of all labels, by one worker
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

// The most urgent thing to say where answers stand on nothing.
void advise_footing(const Report& report, std::vector<Item>& items) {
  const char* const then =
      report.footing == Footing::no_overlap  ? " Let two workers or more label the same tasks."
      : report.footing == Footing::one_class ? " Add tasks that have another answer."
      : report.footing == Footing::no_agreement
          ? " Look at the question itself, or collect more labels per task."
          : "";
  if (*then != '\0')
    items.push_back(
        {Tone::bad, fmt::format("Nothing is settled: {}.{}", words_of(report.footing), then), "data"});
}

void advise_tasks(const Report& report, std::vector<Item>& items) {
  const TaskSummary& tasks = report.tasks;
  if (tasks.without_labels > 0) {
    items.push_back({Tone::warning,
                     fmt::format("{} no label yet: no answer.",
                                 count_noun(tasks.without_labels, "task", "has", "have")),
                     "tasks"});
  }
  if (report.footing != Footing::sound) return;
  const std::uint64_t one = tasks.wanted[1];
  const std::uint64_t more = tasks.open - one;
  if (tasks.open > 0) {
    const std::string words =
        more == 0
            ? fmt::format("{} open: one more label that agrees with the answer is likely to settle {}.",
                          count_noun(one, "task", "is", "are"), one == 1 ? "it" : "each")
        : one == 0 ? fmt::format(
                         "{} open and {} two more labels or more: look at {} first, the "
                         "question itself may be unclear.",
                         count_noun(more, "task", "is", "are"), more == 1 ? "needs" : "need",
                         more == 1 ? "it" : "them")
                   : fmt::format(
                         "{} are open: one more label that agrees with the answer is likely to settle "
                         "{} of them; {} two or more: look at {} first.",
                         count_noun(tasks.open, "task"), with_commas(one),
                         more == 1 ? "1 needs" : with_commas(more) + " need", more == 1 ? "it" : "them");
    items.push_back({Tone::warning, words, "tasks"});
  }
  if (tasks.settled > 0 && tasks.settled == tasks.tasks)
    items.push_back({Tone::good,
                     fmt::format("{} settled: no more labels are needed.",
                                 tasks.tasks == 1 ? "The task is" : "All tasks are"),
                     "tasks"});
  if (tasks.single_label > 0) {
    items.push_back({Tone::plain,
                     fmt::format("{} a single label, so nobody contradicts it.",
                                 count_noun(tasks.single_label, "task", "has", "have")),
                     "data"});
  }
}

std::string why(const ReportedWorker& worker, const Report& report, const Labels& labels) {
  if (worker.constant != kNoClass) {
    return fmt::format("every one of their {} is {}, and on {} of these tasks the {} otherwise",
                       count_noun(worker.labels, "label"), quoted(labels, worker.constant),
                       with_commas(worker.compared - worker.agreed),
                       report.has_truths ? "truth is, or others say," : "others say");
  }
  return fmt::format(
      "{} of {} with {}, guesses would give {}", with_commas(worker.agreed),
      count_noun(worker.compared, "label", "agrees", "agree"),
      report.has_truths ? "the truth or, where it is not known, with the others" : "what the others say",
      with_commas(static_cast<std::uint64_t>(std::llround(worker.by_chance))));
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
                                   words.one, why(*worker, report, labels), words.then),
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
                     fmt::format("Worker {} gave {} of all labels: much hangs on one worker.",
                                 name(labels.workers(), worker.worker), percent(share)),
                     "workers"});
  }
}

void advise_classes(const Report& report, const Labels& labels, std::vector<Item>& items) {
  for (const Report::Spellings& alike : report.spellings) {
    std::vector<std::string> names;
    for (const ClassId c : alike.classes) names.push_back(quoted(labels, c));
    items.push_back({Tone::warning,
                     fmt::format("{} look like one class in {} spellings: {} makes them one.",
                                 listing(names), names.size(), alike.options),
                     "classes"});
  }
  for (const MixUp& mix_up : report.mix_ups) {
    if (mix_up.spelling || !mix_up.asymmetric) continue;
    if (mix_up.share < kNotableMixUp || mix_up.labels < kNotableMixUpLabels) continue;
    items.push_back(
        {Tone::warning,
         fmt::format("{} is often taken for {}: {} of the labels on such tasks, {} if errors "
                     "fell on all classes alike. Guidelines could tell them apart.",
                     quoted(labels, mix_up.estimate), quoted(labels, mix_up.label),
                     percent(mix_up.share), percent(mix_up.symmetric)),
         "classes"});
    return;  // the most frequent one
  }
}

void advise_drift(const Report& report, std::vector<Item>& items) {
  const std::size_t third = report.drift.size() / 3;
  if (third == 0) return;
  DriftChunk early;
  DriftChunk late;
  const auto add = [](DriftChunk& sum, const DriftChunk& chunk) {
    sum.labelled += chunk.labelled;
    sum.share += chunk.share;
    sum.squared_share += chunk.squared_share;
  };
  for (std::size_t i = 0; i < third; ++i) {
    add(early, report.drift[i]);
    add(late, report.drift[report.drift.size() - 1 - i]);
  }
  if (early.labelled < 2 || late.labelled < 2) return;
  const double change = late.mean() - early.mean();
  const double error = std::sqrt(early.variance_of_mean() + late.variance_of_mean());
  if (std::abs(change) < kNotableDrift ||
      std::abs(change) < normal_quantile_above(kDriftByChance / 2) * error)
    return;
  items.push_back(
      {change < 0 ? Tone::warning : Tone::plain,
       fmt::format(
           "Labels agree {} with the answers as the tasks go on: {} in the first third, {} in the last.",
           change < 0 ? "less" : "more", percent(early.mean()), percent(late.mean())),
       "order"});
}

// The confidence of the answers whose truth is known, on average.
double promised(const Evaluation& e) {
  double sum = 0;
  for (const CalibrationBin& bin : e.bins) sum += bin.confidence * static_cast<double>(bin.tasks);
  return sum / static_cast<double>(std::max<std::uint64_t>(1, e.tasks));
}

// "94 % of 300 tasks with a known truth are answered right (91 % to 96 %)"
std::string accuracy_words(const Evaluation& e) {
  const Interval interval = share_interval(e.correct, e.tasks);
  if (e.tasks == 1)
    return fmt::format("The one task with a known truth is answered {}",
                       e.correct == 1 ? "right" : "wrong");
  return fmt::format("{} of {} with a known truth are answered right ({} to {})",
                     percent(e.correct, e.tasks), count_noun(e.tasks, "task"), percent(interval.lower),
                     percent(interval.upper));
}

void advise_truths(const Report& report, const Labels& labels, std::vector<Item>& items) {
  if (!report.has_truths) return;
  const Evaluation& e = report.evaluation;
  const char* const few = e.tasks < kFewTruths ? " These are few truths to judge by." : "";
  if (labels.num_classes() < 2) {  // confidences are no promises
    items.push_back({Tone::accent, fmt::format("{}.{}", accuracy_words(e), few), "truth"});
    return;
  }
  const Interval interval = share_interval(e.correct, e.tasks);
  const double claimed = promised(e);
  const bool too_sure = claimed > interval.upper;
  const char* verdict = too_sure ? "too much" : claimed < interval.lower ? "too little" : "which fits";
  items.push_back({too_sure || report.footing == Footing::contradicted ? Tone::bad : Tone::accent,
                   fmt::format("{}; the confidences promise {}, {}.{}{}", accuracy_words(e),
                               percent(claimed), verdict,
                               report.footing == Footing::contradicted
                                   ? " Answers that would be settled are wrong too often, so none is."
                                   : "",
                               few),
                   "truth"});
}

// By McNemar's test on the tasks where two methods differ, for all methods together.
void advise_methods(const Report& report, std::vector<Item>& items) {
  if (!report.has_truths || report.methods.empty()) return;
  const double errors =
      normal_quantile_above(kBetterByChance / static_cast<double>(report.methods.size()));
  const ComparedMethod* best = nullptr;
  for (const ComparedMethod& method : report.methods) {
    const double gain = static_cast<double>(method.better) - static_cast<double>(method.worse);
    const bool beyond_noise =
        gain - 1 > errors * std::sqrt(static_cast<double>(method.better + method.worse));
    if (beyond_noise && (!best || method.evaluation.accuracy > best->evaluation.accuracy))
      best = &method;
  }
  if (best) {
    items.push_back({Tone::accent,
                     fmt::format("The method {} does better on these truths: {} right, {} with {}.",
                                 best->method, percent(best->evaluation.accuracy),
                                 percent(report.evaluation.accuracy), report.options.method),
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

// "1,840 of 2,000 tasks (92 %) are settled, 158 are open, 2 have no label": all tasks add up.
std::string tasks_words(const TaskSummary& tasks, bool begins) {
  if (tasks.tasks == 1) {
    return fmt::format("{} one task {}", begins ? "The" : "the",
                       tasks.settled == 1 ? "is settled"
                       : tasks.open == 1  ? "is open"
                                          : "has no label");
  }
  const std::string all = count_noun(tasks.tasks, "task");
  if (tasks.settled == tasks.tasks) return fmt::format("{} {} are settled", begins ? "All" : "all", all);
  std::string text =
      tasks.settled == 0
          ? fmt::format("{} of {} is settled", begins ? "None" : "none", all)
          : fmt::format("{} of {} ({}) {} settled", with_commas(tasks.settled), all,
                        percent(tasks.settled, tasks.tasks), tasks.settled == 1 ? "is" : "are");
  if (tasks.open > 0 && tasks.open < tasks.tasks)
    text += fmt::format(", {} {} open", with_commas(tasks.open), tasks.open == 1 ? "is" : "are");
  if (tasks.without_labels > 0)
    text += fmt::format(", {} {} no label", with_commas(tasks.without_labels),
                        tasks.without_labels == 1 ? "has" : "have");
  return text;
}

}  // namespace

std::string headline_of(const Report& report) {
  if (report.tasks.tasks == 0) return "There are no tasks to report on";
  std::string text;
  if (report.has_truths) text = accuracy_words(report.evaluation);
  if (report.footing == Footing::contradicted) {
    const double claimed = promised(report.evaluation);
    text += claimed > report.evaluation.accuracy
                ? fmt::format(", fewer than the {} that the confidences promise", percent(claimed))
                : ", and of the surest answers too few";
  } else if (report.footing != Footing::sound) {
    text += fmt::format("{} is settled: {}", text.empty() ? "Nothing" : "; nothing",
                        words_of(report.footing));
  }
  if (report.footing == Footing::sound || report.footing == Footing::contradicted)
    text += (text.empty() ? "" : "; ") + tasks_words(report.tasks, text.empty());
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
  std::vector<Item> rest;
  advise_tasks(report, rest);
  advise_workers(report, labels, rest);
  advise_classes(report, labels, rest);
  advise_drift(report, rest);
  advise_methods(report, rest);
  advise_input(report, rest);
  const auto urgency = [](Tone tone) { return tone == Tone::bad ? 0 : tone == Tone::warning ? 1 : 2; };
  std::stable_sort(rest.begin(), rest.end(),
                   [&](const Item& a, const Item& b) { return urgency(a.tone) < urgency(b.tone); });
  Advice advice;  // what is known comes before what is estimated
  advise_truths(report, labels, advice.items);
  advise_footing(report, advice.items);
  advice.items.insert(advice.items.end(), rest.begin(), rest.end());
  return advice;
}

}  // namespace crowdfold
