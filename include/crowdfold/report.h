// Report: what a run tells people. Which tasks are settled, whom to look at, what is mixed up, whether
// labels got worse, what other methods say; and in words what to do next. Deterministic: the same labels
// and options give the same report.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "crowdfold/document.h"
#include "crowdfold/labels.h"
#include "crowdfold/metrics.h"
#include "crowdfold/registry.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

struct ReportOptions {
  std::string method = "threepass";
  Settings settings = {};
  std::vector<std::string> compared = {"mv", "onepass", "twopass", "threepass", "ds"};  // or none
  double settled = 0.9;            // a task of this confidence needs no more labels
  std::uint32_t most_tasks = 500;  // in the list of tasks to look at first
  std::uint32_t most_workers = 10'000;
};

struct ReportedTask {
  TaskId task = 0;
  ClassId estimate = kNoClass;
  double confidence = 0;
  // Further labels until it is settled, if they agree; kMostWanted: that or more.
  std::uint32_t wanted = 0;
};
inline constexpr std::uint32_t kMostWanted = 3;

struct TaskSummary {
  std::uint64_t tasks = 0;
  std::uint64_t settled = 0;
  std::uint64_t without_labels = 0;
  std::uint64_t single_label = 0;
  // wanted[n]: tasks that want n further labels; the last: that or more. Tasks without labels are among
  // them.
  std::vector<std::uint64_t> wanted = std::vector<std::uint64_t>(kMostWanted + 1);
  std::vector<std::uint64_t> labels_per_task;  // tasks by their number of labels
  // Bins of confidence, equally wide: tasks that are right and wrong where truths are known, and all.
  struct Bin {
    double lower = 0;
    double upper = 0;
    std::uint64_t tasks = 0;
    std::uint64_t right = 0;
    std::uint64_t wrong = 0;
  };
  std::vector<Bin> confidence;
  std::vector<ReportedTask> first;     // the least certain with labels, not settled; at most most_tasks
  std::vector<ReportedTask> mistakes;  // against truths, the most certain first; at most most_tasks
};

// How a worker is marked, by agreement with what the others say: docs/report.md has the rule.
enum class WorkerMark { useful, unsure, random, adversary };
// Beyond chance; whoever may be better than that is not called random.
inline constexpr double kAtMostWeak = 0.3;

struct ReportedWorker {
  WorkerId worker = 0;
  std::uint64_t labels = 0;
  double quality = 0;
  Interval interval = {};
  double log_odds = 0;  // what a label of theirs weighs: 0 is a guess

  // Against the vote of the others on the same tasks.
  std::uint64_t compared = 0;  // labels on tasks where the others' vote has a winner
  std::uint64_t agreed = 0;
  double by_chance = 0;         // labels that would agree if they had nothing to do with the tasks
  Interval beyond_chance = {};  // 0: as by chance, 1: always; 95 %
  WorkerMark mark = WorkerMark::unsure;
  ClassId constant = kNoClass;  // the only class they ever gave, on at least 10 tasks
  double early = 0;  // share that agreed in the first and second half of their compared labels,
  double late = 0;   // in the order of the tasks; NaN for too few
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
  double share = 0;  // of all labels on tasks of that estimate
};

// Two workers on the tasks that both have labelled.
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
  std::vector<std::uint64_t> classes;  // estimates by place in Report::classes, the first few
};

struct ComparedMethod {
  std::string method;
  std::string left_out;  // why it was not run; the rest is then empty
  // Share of tasks with the same estimate, by place in Report::methods; NaN if left out.
  std::vector<double> same;
  double confidence = 0;  // mean
  double settled = 0;     // share of tasks
  Evaluation evaluation = {};
  std::uint64_t better = 0;  // tasks that it has right and the report's method has not
  std::uint64_t worse = 0;   // the other way round
};

struct Report {
  ReportOptions options;
  std::uint64_t labels = 0;
  std::uint64_t abstentions = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t skipped_rows = 0;
  bool has_truths = false;
  TaskSummary tasks;
  // All that gave a label, by the lower end of their interval, best first.
  std::vector<ReportedWorker> workers;
  std::vector<ReportedClass> classes;  // by estimates, the most frequent first
  // shown x shown, shown = min(classes, 15): labels by estimate (row) and class, both by place in
  // `classes`.
  std::uint32_t shown_classes = 0;
  std::vector<std::uint64_t> confusion;
  std::vector<MixUp> mix_ups;          // the most frequent first, at most 50
  std::vector<std::uint32_t> busiest;  // places in `workers`: busy ones who share many tasks, best first
  std::vector<WorkerPair> pairs;       // of them, a < b, with at least 5 common tasks
  std::vector<DriftChunk> drift;
  std::vector<ComparedMethod> methods;
  Evaluation evaluation;  // if has_truths
};

// truths: by TaskId, kNoClass where not known; or empty. They are compared with, never learned from.
Report make_report(const Labels& labels, std::span<const ClassId> truths, const ReportOptions& options,
                   const RunContext& context);

// In words, the most urgent first.
std::string headline_of(const Report& report);
Advice advice_of(const Report& report, const Labels& labels);

// The report as sections of tables and charts. `source`: the name of what was read, for the title.
Document document_of(const Report& report, const Labels& labels, std::span<const ClassId> truths,
                     const std::string& source);

}  // namespace crowdfold
