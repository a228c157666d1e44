// Runs of a method that differ by their seed, against truths.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/stopwatch.h"
#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "crowdfold/metrics.h"
#include "crowdfold/packed.h"
#include "crowdfold/rounds.h"
#include "io/room.h"
#include "methods/batch.h"
#include "run/aggregate_in_rounds.h"
#include "run/counts.h"

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

namespace {

struct ScoredRun {
  Evaluation evaluation;
  double seconds = 0;
};

// run(context): one, with the context's seed.
template <class Run>
Score score_runs(int runs, const RunContext& context, const Run& run) {
  std::vector<double> accuracies;
  std::vector<double> seconds;
  Score score;
  RunContext of_run = context;
  for (int i = 0; i < runs; ++i) {
    of_run.seed = context.seed + static_cast<std::uint64_t>(i);
    const ScoredRun scored = run(of_run);
    seconds.push_back(scored.seconds);
    accuracies.push_back(scored.evaluation.accuracy);
    score.accuracy += scored.evaluation.accuracy / runs;
    score.log_loss += scored.evaluation.log_loss / runs;
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

// Answers to tasks whose truths are known, of a model that is done.
Evaluation evaluate_blocks(const RoundModel& model, const PackedLabels& labels,
                           std::span<const ClassId> truths, std::uint32_t classes,
                           const RunContext& context) {
  std::vector<std::size_t> place(truths.size() + 1);  // of a task among those with a truth
  for (std::size_t t = 0; t < truths.size(); ++t) place[t + 1] = place[t] + (truths[t] != kNoClass);
  const std::size_t known = place.back();
  const std::size_t width = context.posterior ? classes : 0;
  std::vector<ClassId> of_known(known);
  std::vector<ClassId> estimates(known);
  std::vector<double> confidences(known);
  std::vector<double> posteriors(known * width);
  struct Room {
    std::vector<Estimate> estimates;
    std::vector<double> posteriors;
  };
  std::vector<Room> rooms(static_cast<std::size_t>(std::max(1, context.threads)));
  labels.for_each(context.threads, "answers", context, [&](const TaskBlock& block, int thread) {
    Room& room = rooms[static_cast<std::size_t>(thread)];
    room.estimates.resize(block.size());
    room.posteriors.resize(block.size() * width);
    model.answer(block, room.estimates, room.posteriors);
    for (TaskId t = block.first(); t < block.last(); ++t) {
      if (truths[t] == kNoClass) continue;
      const std::size_t i = t - block.first();
      of_known[place[t]] = truths[t];
      estimates[place[t]] = room.estimates[i].label;
      confidences[place[t]] = room.estimates[i].confidence;
      std::copy_n(room.posteriors.begin() + static_cast<std::ptrdiff_t>(i * width), width,
                  posteriors.begin() + static_cast<std::ptrdiff_t>(place[t] * width));
    }
  });
  return evaluate(estimates, of_known, classes, confidences, posteriors);
}

}  // namespace

Score score_method(const MethodInfo& method, const Settings& asked, const Labels& labels,
                   std::span<const ClassId> truths, int runs, const RunContext& context) {
  const std::unique_ptr<Method> made = method.make(settings_of_runs(method, asked));
  RunContext with_tables = context;
  // As long as they fit, what classes get that are not the answer counts for the log-loss.
  with_tables.posterior = has_small_posteriors(context, labels.num_tasks(), labels.num_classes());
  return score_runs(runs, with_tables, [&](const RunContext& of_run) -> ScoredRun {
    const TimedResult timed = timed_fit(*made, labels, of_run);
    return {evaluate(timed.result.estimate, truths, labels.num_classes(), timed.result.confidence,
                     timed.result.posterior),
            timed.seconds};
  });
}

struct MethodComparison::Data {
  std::optional<Labels> labels;
  std::optional<PackedLabels> packed;  // if not
  NameTable classes{"classes", kMaxClasses};
  std::vector<ClassId> truths;  // by task
};

MethodComparison::MethodComparison(const ComparisonRequest& request, const RunContext& context,
                                   const AggregateListener& listener)
    : data_(std::make_unique<Data>()) {
  const auto tell = [&](const ReadReport& report) {
    if (listener.on_read) listener.on_read(report);
  };
  const ReadOptions read_known = within(context, request.read_known);
  ReadReport of_truths;
  bool fits = request.spill.empty();
  if (fits) {
    try {
      std::vector<ReadReport> reports;
      data_->labels = read_labels(request.labels, request.read, context, &reports);
      for (const ReadReport& report : reports) tell(report);
    } catch (const LabelsOutOfRoom&) {
      const bool again = std::all_of(request.labels.begin(), request.labels.end(), is_rereadable);
      if (!again) throw;
      fits = false;
    }
  }
  if (fits) {
    data_->truths = read_truths(request.truths, *data_->labels, read_known, &of_truths);
    data_->classes = data_->labels->classes();
  } else {
    const std::string folder =
        request.spill.empty() ? std::filesystem::temp_directory_path().string() : request.spill;
    data_->packed = labels_in_blocks(request.labels, request.read, folder, context, listener);
    data_->classes = data_->packed->classes();
    data_->truths =
        truths_by_task(request.truths, read_known, *data_->packed, data_->classes, context, of_truths);
  }
  tell(of_truths);
}

MethodComparison::~MethodComparison() = default;
MethodComparison::MethodComparison(MethodComparison&&) noexcept = default;

bool MethodComparison::in_memory() const { return data_->labels.has_value(); }
std::uint32_t MethodComparison::num_classes() const { return data_->classes.size(); }

Score MethodComparison::score(const MethodInfo& method, const Settings& asked, int runs,
                              const RunContext& context) const {
  if (in_memory()) return score_method(method, asked, *data_->labels, data_->truths, runs, context);
  const Settings settings = settings_of_runs(method, asked);
  require_rounds(method, settings);
  const PackedLabels& packed = *data_->packed;
  const std::uint32_t classes = num_classes();
  const Knowledge nothing;
  require_known(method.name, method.traits, classes, nothing);
  RunContext with_tables = context;
  with_tables.posterior = has_small_posteriors(context, packed.num_tasks(), classes);
  return score_runs(runs, with_tables, [&](const RunContext& of_run) -> ScoredRun {
    Stopwatch watch;
    const std::unique_ptr<RoundModel> model =
        method.make_rounds(settings, {packed.workers().size(), classes, packed.num_labels(), of_run.seed,
                                      of_run.max_memory, &nothing});
    run_rounds(*model, packed, of_run);
    const Evaluation evaluation = evaluate_blocks(*model, packed, data_->truths, classes, of_run);
    return {evaluation, watch.lap()};
  });
}

}  // namespace crowdfold
