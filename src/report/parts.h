// The parts of a report, each a function in a file of its own. All take the labels and the run, in a
// ReportInput.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "crowdfold/report.h"
#include "crowdfold/result.h"

namespace crowdfold {

// A number that cannot be given, such as a share of nothing.
inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

struct ReportInput {
  const Labels& labels;
  const Result& result;
  std::span<const ClassId> truths;
  const ReportOptions& options;

  ClassId truth(TaskId t) const { return t < truths.size() ? truths[t] : kNoClass; }
};

// The weight of one label, by worker: ln(q (K - 1) / (1 - q)), q the quality. 0 if there is only one
// class.
std::vector<double> log_odds_of(const Labels& labels, const WorkerState& state);

TaskSummary summarize_tasks(const ReportInput& input, std::span<const double> log_odds);
std::vector<ReportedWorker> judge_workers(const ReportInput& input, std::span<const double> log_odds,
                                          int threads);
std::vector<ReportedClass> count_classes(const ReportInput& input);
// Fills shown_classes, confusion and mix_ups; the classes must be there.
void count_mix_ups(const ReportInput& input, Report& report);
// Fills busiest and pairs; the workers must be there.
void pair_workers(const ReportInput& input, Report& report);
std::vector<DriftChunk> follow_drift(const ReportInput& input, std::span<const ReportedClass> classes);
std::vector<ComparedMethod> compare_methods(const ReportInput& input, const RunContext& context);

}  // namespace crowdfold
