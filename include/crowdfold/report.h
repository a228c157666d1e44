// Report: the results of a run, for people: settled tasks, suspicious workers, mix-ups of classes,
// drift, other methods' answers, and advice in words. Deterministic: the same labels and options give
// the same report.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "crowdfold/document.h"
#include "crowdfold/jury.h"
#include "crowdfold/labels.h"
#include "crowdfold/metrics.h"
#include "crowdfold/registry.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

struct ReportOptions {
  std::string method = "threepass";
  Settings settings = {};
  std::vector<std::string> compared = {"mv", "onepass", "twopass", "threepass", "ds"};  // may be empty
  double settled = 0.9;            // certainty at which a task needs no more labels
  std::uint32_t most_tasks = 500;  // most rows in the list of tasks to look at first
  std::uint32_t most_workers = 10'000;
  std::uint32_t most_answers = 200'000;
};

// What the answers stand on. Where it is not sound, no task is settled, whatever its confidence.
enum class Footing {
  sound,
  no_overlap,    // no task has labels of two workers: nothing shows how good anybody is
  one_class,     // all labels are the same
  no_agreement,  // labels agree no more often than guesses may
  contradicted,  // by truths, answers of that confidence are right too rarely (95 % interval)
};
// Without truths.
Footing footing_of(const Labels& labels);
// "no task has labels of two workers, so …"; empty for a sound one.
std::string words_of(Footing footing);

struct ReportedTask {
  TaskId task = 0;
  ClassId estimate = kNoClass;
  double confidence = 0;
  // Further labels that settle the task, if they agree with its estimate; kMostWanted: that or more.
  std::uint32_t wanted = 0;
};
inline constexpr std::uint32_t kMostWanted = 3;

// tasks = settled + open + without_labels.
struct TaskSummary {
  std::uint64_t tasks = 0;
  std::uint64_t settled = 0;
  std::uint64_t open = 0;
  std::uint64_t without_labels = 0;
  std::uint64_t single_label = 0;
  // wanted[n]: tasks with labels that want n further ones; the last entry: n or more.
  std::vector<std::uint64_t> wanted = std::vector<std::uint64_t>(kMostWanted + 1);
  std::vector<std::uint64_t> labels_per_task;  // tasks by their number of labels
  // Bins of confidence, equally wide: all tasks, and those with a known truth that are right or wrong.
  struct Bin {
    double lower = 0;
    double upper = 0;
    std::uint64_t tasks = 0;
    std::uint64_t right = 0;
    std::uint64_t wrong = 0;
  };
  std::vector<Bin> confidence;
  // At most most_tasks each: unsettled tasks with labels, least certain first; and estimates that differ
  // from the truth, most certain first.
  std::vector<ReportedTask> first;
  std::vector<ReportedTask> mistakes;
  std::vector<ReportedTask> answers;  // all in their order, at most most_answers
};

// A worker's mark, by the others' labels on the same tasks and the truths where they are known:
// docs/report.md has the rule. In a report, less than 1 worker in 20 is named wrongly on average.
enum class WorkerMark { useful, unsure, random, adversary };
// Who knows this share of the answers, or more, is not called random.
inline constexpr double kLittleKnowledge = 0.2;

struct ReportedWorker {
  WorkerId worker = 0;
  std::uint64_t labels = 0;
  double quality = 0;
  Interval interval = {};
  double log_odds = 0;  // weight of the worker's labels: 0 is a guess

  // Against the truth, or else the vote of the others, on the same tasks.
  std::uint64_t compared = 0;  // labels on tasks with a truth, or where that vote has a winner
  std::uint64_t agreed = 0;
  double by_chance = 0;  // labels that would agree if the worker said the same without seeing the tasks
  WorkerMark mark = WorkerMark::unsure;
  ClassId constant = kNoClass;  // the only class the worker ever gave, on at least 10 tasks
  double early = 0;             // share that agreed in the first and second half of the compared labels,
  double late = 0;              // in the order of the tasks; NaN for too few
  bool got_worse = false;

  std::uint64_t truths = 0;  // labels on tasks with a known truth
  double accuracy = 0;       // of those; NaN for none
};

struct ReportedClass {
  ClassId label = 0;
  std::uint64_t labels = 0;
  std::uint64_t estimates = 0;
  std::uint64_t truths = 0;
};

// Labels for one class on tasks whose estimate is another.
struct MixUp {
  ClassId estimate = 0;
  ClassId label = 0;
  std::uint64_t labels = 0;
  double share = 0;         // of all labels on tasks with that estimate
  double symmetric = 0;     // the share if errors fell on all classes alike
  bool spelling = false;    // the two look like one class in two spellings
  bool asymmetric = false;  // more than symmetric errors give: 5 % for all pairs together
};

// Two workers, on the tasks that both labelled.
struct WorkerPair {
  std::uint32_t a = 0;  // places in Report::busiest
  std::uint32_t b = 0;
  std::uint64_t common = 0;
  std::uint64_t agreed = 0;
};

// Tasks in the order of their first appearance, in chunks.
struct DriftChunk {
  std::uint64_t first_task = 0;
  std::uint64_t tasks = 0;
  std::uint64_t labels = 0;
  std::uint64_t agreed = 0;            // labels that are the task's estimate
  double confidence = 0;               // mean
  std::vector<std::uint64_t> classes;  // number of estimates, for the first classes of Report::classes
  // Labels of one task are not independent, so errors are those of tasks: the share of each task's
  // labels that are its estimate, summed, and its square.
  std::uint64_t labelled = 0;  // tasks with labels
  double share = 0;
  double squared_share = 0;

  double mean() const { return share / static_cast<double>(labelled); }
  double variance_of_mean() const {
    return (squared_share / static_cast<double>(labelled) - mean() * mean()) /
           (static_cast<double>(labelled) - 1);
  }
};

struct ComparedMethod {
  std::string method;
  std::string left_out;  // the reason why it was not run; the rest is then empty
  // Share of tasks with the same estimate, by place in Report::methods; NaN if left out.
  std::vector<double> same;
  double confidence = 0;  // mean
  double settled = 0;     // share of tasks, at its own certainty
  Evaluation evaluation = {};
  std::uint64_t better = 0;  // tasks on which it is right and the report's method wrong
  std::uint64_t worse = 0;   // tasks on which it is wrong and the report's method right
};

struct Report {
  ReportOptions options;
  Footing footing = Footing::sound;
  double settled_confidence = 0;  // that of a settled task: options.settled, with the method's doubt
  std::uint64_t labels = 0;
  std::uint64_t abstentions = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t skipped_rows = 0;
  bool has_truths = false;
  TaskSummary tasks;
  // All workers who gave a label, by the lower end of their interval, best first.
  std::vector<ReportedWorker> workers;
  std::vector<ReportedClass> classes;  // by estimates, the most frequent first
  // shown_classes = min(number of classes, 15). `confusion` is shown_classes x shown_classes: labels by
  // estimate (row) and class, both by place in `classes`.
  std::uint32_t shown_classes = 0;
  std::vector<std::uint64_t> confusion;
  std::vector<MixUp> mix_ups;  // the most frequent first, at most 50
  // Places in `workers`: busy workers who share many tasks, best first; and their pairs, a < b, with at
  // least 5 common tasks.
  std::vector<std::uint32_t> busiest;
  std::vector<WorkerPair> pairs;
  std::vector<DriftChunk> drift;
  std::vector<ComparedMethod> methods;
  Evaluation evaluation;     // if has_truths
  std::optional<Jury> jury;  // where the workers are one (is_jury), without panels
  // Classes that look like one, in groups, and the options of the command line that make them one.
  struct Spellings {
    std::vector<ClassId> classes;
    std::string options;
  };
  std::vector<Spellings> spellings;
};

// `truths` are by TaskId, kNoClass where unknown; or empty. The report compares with them, and never
// learns from them.
Report make_report(const Labels& labels, std::span<const ClassId> truths, const ReportOptions& options,
                   const RunContext& context);

// In words, the most urgent first.
std::string headline_of(const Report& report);
Advice advice_of(const Report& report, const Labels& labels);

// The report as sections of tables and charts. `source` is the name of the input, for the title.
Document document_of(const Report& report, const Labels& labels, std::span<const ClassId> truths,
                     const std::string& source);

}  // namespace crowdfold
