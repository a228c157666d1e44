// Runs of a method that differ by their seed, against truths.
#include <algorithm>
#include <cmath>

#include "base/stopwatch.h"
#include "crowdfold/aggregate.h"
#include "crowdfold/metrics.h"

namespace crowdfold {

Settings settings_of_runs(const MethodInfo& method, const Settings& asked) {
  Settings settings;
  for (const auto& [name, value] : Settings{{"order", "shuffled"}, {"ties", "random"}}) {
    if (method.has_option(name)) settings.emplace_back(name, value);
  }
  for (const auto& [name, value] : asked) {
    if (method.has_option(name)) settings.emplace_back(name, value);
  }
  return settings;
}

TimedResult timed_fit(const Method& method, const Labels& labels, const RunContext& context) {
  Stopwatch watch;
  TimedResult timed{method.fit(labels, context)};
  timed.seconds = watch.lap();
  return timed;
}

Score score_method(const MethodInfo& method, const Settings& asked, const Labels& labels,
                   std::span<const ClassId> truths, int runs, const RunContext& context) {
  const std::unique_ptr<Method> made = method.make(settings_of_runs(method, asked));
  std::vector<double> accuracies;
  std::vector<double> seconds;
  Score score;
  RunContext of_run = context;
  // As long as they fit, what classes get that are not the answer counts for the log-loss.
  of_run.posterior = with_small_tables(context, method, labels).posterior;
  for (int i = 0; i < runs; ++i) {
    of_run.seed = context.seed + static_cast<std::uint64_t>(i);
    const TimedResult timed = timed_fit(*made, labels, of_run);
    const Evaluation evaluation = evaluate(timed.result.estimate, truths, labels.num_classes(),
                                           timed.result.confidence, timed.result.posterior);
    seconds.push_back(timed.seconds);
    accuracies.push_back(evaluation.accuracy);
    score.accuracy += evaluation.accuracy / runs;
    score.log_loss += evaluation.log_loss / runs;
  }
  double variance = 0;
  for (const double a : accuracies)
    variance += (a - score.accuracy) * (a - score.accuracy) / std::max(1, runs - 1);
  score.deviation = std::sqrt(variance);
  const auto median = seconds.begin() + runs / 2;
  std::nth_element(seconds.begin(), median, seconds.end());
  score.seconds = *median;
  return score;
}

}  // namespace crowdfold
