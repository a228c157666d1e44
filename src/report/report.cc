#include "crowdfold/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "report/parts.h"

namespace crowdfold {

std::vector<double> log_odds_of(const Labels& labels, const WorkerState& state) {
  const double others = labels.num_classes() - 1.0;
  std::vector<double> log_odds(labels.num_workers());
  if (labels.num_classes() < 2) return log_odds;
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const double quality = state.quality(w).mean();
    log_odds[w] = std::log(quality * others / (1 - quality));
  }
  return log_odds;
}

namespace {

constexpr std::uint32_t kMostClassesToEvaluate = 20'000;  // K x K counts must fit
constexpr std::uint64_t kMostJuryLabels = 1'000'000;      // a fraction of a second

}  // namespace

Report make_report(const Labels& labels, std::span<const ClassId> truths, const ReportOptions& options,
                   const RunContext& context) {
  const bool has_truths =
      std::any_of(truths.begin(), truths.end(), [](ClassId c) { return c != kNoClass; });
  if (has_truths && labels.num_classes() > kMostClassesToEvaluate) {
    throw Error(ErrorCode::data, fmt::format("{} classes: more than {} are not compared with truths",
                                             labels.num_classes(), kMostClassesToEvaluate));
  }
  const Result result = aggregate(labels, options.method, options.settings, {}, context);
  const CrowdHabits crowd(labels);
  const std::vector<bool> undecided = undecided_tasks(labels, truths);
  ReportInput reported{labels,
                       result,
                       truths,
                       options,
                       crowd,
                       with_doubt(options.settled, result.doubt, labels.num_classes()),
                       footing_of(crowd),
                       undecided};
  reported.footing = footing_by_truths(reported);
  const std::vector<double> log_odds = log_odds_of(labels, result.learned);

  Report report;
  report.options = options;
  report.footing = reported.footing;
  report.settled_confidence = reported.settled_confidence;
  report.labels = labels.num_labels();
  report.abstentions = labels.rows().abstentions;
  report.duplicates = labels.rows().duplicates;
  report.skipped_rows = labels.rows().skipped;
  report.has_truths = has_truths;
  report.tasks = summarize_tasks(reported, log_odds);
  report.workers = judge_workers(reported, log_odds, context.threads);
  report.classes = count_classes(reported);
  context.throw_if_cancelled();
  count_mix_ups(reported, report);
  pair_workers(reported, report);
  report.drift = follow_drift(reported, report.classes);
  context.throw_if_cancelled();
  report.methods = compare_methods(reported, context);
  if (report.has_truths)
    report.evaluation = evaluate(result.estimate, truths, labels.num_classes(), result.confidence);
  if (is_jury(labels) && labels.num_labels() <= kMostJuryLabels) {
    JuryOptions jury;
    jury.method = options.method;
    jury.settings = options.settings;
    jury.panels = false;
    report.jury = make_jury(labels, truths, jury, context);
  }
  return report;
}

}  // namespace crowdfold
