// The parts of a report, each a function in a file of its own. All take the labels and the run, in a
// ReportInput.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "crowdfold/report.h"
#include "crowdfold/result.h"
#include "measure/evidence.h"

namespace crowdfold {

// A number that cannot be given, such as a share of nothing.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// What the labels are like, whatever a method makes of them.
struct CrowdHabits {
  explicit CrowdHabits(const Labels& labels)
      : habits(habits_of(labels)),
        shares(class_shares(labels)),
        common(common_knowledge(labels, habits, shares)) {}

  std::vector<float> habits;   // of labels, in the order of tasks
  std::vector<double> shares;  // of classes
  CommonKnowledge common;
};

struct ReportInput {
  const Labels& labels;
  const Result& result;
  std::span<const ClassId> truths;
  const ReportOptions& options;
  const CrowdHabits& crowd;
  double settled_confidence;
  Footing footing;
  const std::vector<bool>& undecided;  // tasks, see undecided_tasks()

  ClassId truth(TaskId t) const { return t < truths.size() ? truths[t] : kNoClass; }
  // Whether a method's answer to the task counts as settled.
  bool settles(const Result& by, TaskId t) const {
    return footing == Footing::sound && !undecided[t] && by.certainty(t) >= options.settled;
  }
};

// The weight of one label, by worker: ln(q (K - 1) / (1 - q)), q the quality. 0 if there is only one
// class.
std::vector<double> log_odds_of(const Labels& labels, const WorkerState& state);

// Tasks that have labels of two workers alone, who contradict each other, where nothing but what a
// method made of these two shows that one of them is better: no such task is settled.
std::vector<bool> undecided_tasks(const Labels& labels, std::span<const ClassId> truths);

// Without truths.
Footing footing_of(const CrowdHabits& crowd);
// The same with truths, which may show more than the labels do, or contradict the confidences.
Footing footing_by_truths(const ReportInput& input);

TaskSummary summarize_tasks(const ReportInput& input, std::span<const double> log_odds);
std::vector<ReportedWorker> judge_workers(const ReportInput& input, std::span<const double> log_odds,
                                          int threads);
std::vector<ReportedClass> count_classes(const ReportInput& input);
// Fills shown_classes, confusion, mix_ups and spellings; the classes and workers must be there.
void count_mix_ups(const ReportInput& input, Report& report);
// Fills busiest and pairs; the workers must be there.
void pair_workers(const ReportInput& input, Report& report);
std::vector<DriftChunk> follow_drift(const ReportInput& input, std::span<const ReportedClass> classes);
std::vector<ComparedMethod> compare_methods(const ReportInput& input, const RunContext& context);

}  // namespace crowdfold
