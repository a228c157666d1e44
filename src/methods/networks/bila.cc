// BiLA: a network guesses classes from labels, and learns along with a confusion matrix for every
// worker. The method, on whole data sets and chunk by chunk; model, gradients and cost are in
// bila_network.cc.
//
// C. Hong, A. Ghiassi, Y. Zhou, R. Birke, L. Y. Chen: Online Label Aggregation: A Variational Bayesian
// Approach. WWW 2021.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "base/vector_math.h"
#include "methods/batch.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/networks/bila_network.h"
#include "methods/networks/small_counts.h"

namespace crowdfold {
namespace {

using Options = BilaOptions;

const OptionTable<Options>& bila_options() {
  static const OptionTable<Options> table = {
      integer("epochs", &Options::epochs, 0, 1'000'000, "epochs on every chunk"),
      integer("start_epochs", &Options::start_epochs, 0, 1'000'000,
              "additional epochs on the first chunk"),
      integer("batch", &Options::batch, 1, 1'000'000, "tasks per step"),
      real("rate", &Options::rate, 1e-9, 1, "learning rate of RMSProp"),
      real("divergence", &Options::divergence, 0, 1e9,
           "weight of the divergence from the shares of labels"),
      integer("hidden", &Options::hidden, 1, 1'024, "width of the first hidden layer"),
      integer("hidden_2", &Options::hidden_2, 1, 1'024, "width of the second hidden layer"),
      integer("chunk", &Options::chunk, 1, 1'000'000,
              "tasks per chunk when labels are not held in memory"),
      order_option<Options>()};
  return table;
}

// All labels as one chunk.
struct Bila {
  using Options = BilaOptions;
  static const OptionTable<Options>& option_table() { return bila_options(); }
  static std::uint64_t bytes(const Options& options, const Labels& labels) {
    const std::uint64_t classes = labels.num_classes();
    const std::uint64_t of_worker =
        2 * static_cast<std::uint64_t>(options.hidden) + 3 * classes * classes + 8;
    return Posteriors::bytes(labels) + 6 * labels.num_labels() + 40ULL * labels.num_tasks() +
           4 * of_worker * labels.num_workers();
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

// By worker, class and label.
void write_confusion(const BilaNetwork<float>& network, FlatArray<double>& confusion) {
  const std::size_t classes = network.classes();
  confusion.resize(network.workers() * classes * classes);
  double* row = confusion.data();
  for (WorkerId w = 0; w < network.workers(); ++w) {
    for (std::size_t k = 0; k < classes; ++k, row += classes) {
      double sum = 0;  // 1 up to rounding in 32 bits
      for (std::size_t c = 0; c < classes; ++c) sum += row[c] = network.said(w, c, k);
      for (std::size_t c = 0; c < classes; ++c) row[c] /= sum;
    }
  }
}

Result Bila::fit(const Options& options, const Labels& all_labels, const Knowledge& given,
                 const RunContext& context) {
  const Labels labels = keep_last_labels(all_labels);
  BilaChunk chunk;
  if (options.order == Order::shuffled) {
    for (const TaskId t : shuffled_tasks(labels.num_tasks(), context.seed))
      chunk.add(labels.task(t), given.truth(t));
  } else {
    for (TaskId t = 0; t < labels.num_tasks(); ++t) chunk.add(labels.task(t), given.truth(t));
  }
  BilaNetwork<float> network(options, context.seed);
  network.expect(labels.num_workers(), labels.num_classes());
  network.begin(chunk);

  Result result;
  const int epochs = options.start_epochs + options.epochs;
  const auto report = [&] {
    context.throw_if_cancelled();
    context.report("bila", result.trace.size(), static_cast<std::uint64_t>(epochs));
  };
  report();
  network.train(chunk, epochs, [&](double loss) {
    result.trace.push_back(loss);
    report();
  });

  Posteriors q(labels, given);
  q.start_from_votes(context.threads);
  q.judge(context.threads, [&](TaskId t, std::span<double> row) { network.score(labels.task(t), row); });
  q.report(context, result);
  result.learned.expect(labels.num_workers(), labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) result.learned.add(labels.task(t), result.estimate[t]);
  if (context.confusion) write_confusion(network, result.confusion);
  return result;
}

class OnlineBila final : public OnlineMethod {
 public:
  OnlineBila(const Options& options, std::uint64_t seed) : options_(options), network_(options, seed) {}

  void expect(std::uint32_t workers, std::uint32_t classes) override {
    network_.expect(workers, classes);
    counts_.expect(workers, classes);
  }

  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    if (labels.size() == 0) {
      std::fill(posterior.begin(), posterior.end(), 1 / static_cast<double>(posterior.size()));
      return {};
    }
    BilaChunk one;
    one.add(labels);
    const std::vector<double> probabilities = judge(one.task(0));
    std::copy_n(probabilities.begin(), posterior.size(), posterior.begin());
    const auto best = std::max_element(probabilities.begin(), probabilities.end());
    return {static_cast<ClassId>(best - probabilities.begin()), *best};
  }

  void learn(const TaskLabels& labels, const Answer& answer) override {
    learn_chunk({&labels, 1}, {&answer, 1});
  }

  std::size_t chunk_size() const override { return static_cast<std::size_t>(options_.chunk); }
  void learn_chunk(std::span<const TaskLabels> tasks, std::span<const Answer> answers) override {
    BilaChunk chunk;
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const bool known = !answers.empty() && answers[i].is_truth;
      chunk.add(tasks[i], known ? answers[i].label : kNoClass);
    }
    if (chunk.size() == 0) return;
    network_.begin(chunk);
    const bool went_before = std::exchange(has_learned_, true);
    network_.train(chunk, options_.epochs + (went_before ? 0 : options_.start_epochs), [](double) {});
    for (std::size_t t = 0; t < chunk.size(); ++t) count(chunk.task(t), chunk.truths[t]);
  }

  // After the chunk.
  bool judges_after_learning() const override { return true; }

  WorkerState state() const override {
    WorkerState state = counts_;
    if (has_learned_) state.sections = network_.sections();
    return state;
  }
  void restore(WorkerState state) override {
    network_.restore(state);
    has_learned_ = BilaNetwork<float>::is_in(state);
    network_.expect(static_cast<std::uint32_t>(state.counts.size()), state.classes);
    state.sections.clear();
    counts_ = std::move(state);
  }
  void merge(const WorkerState& other) override {
    WorkerState both = state();
    both.merge(other);  // refuses, as soon as one of the two has learned
    restore(std::move(both));
  }

 private:
  std::vector<double> judge(const TaskLabels& labels) const {
    const std::size_t classes = network_.classes();
    std::vector<double> scores(row_width(classes), kImpossible);
    network_.score(labels, std::span(scores).first(classes));
    std::vector<double> probabilities(scores.size());
    softmax_log_rows(scores, scores.size(), probabilities);
    probabilities.resize(classes);
    for (double& p : probabilities) p = std::min(p, 1.0);
    return probabilities;
  }
  void count(const TaskLabels& labels, ClassId truth) {
    counts_.add(labels, truth != kNoClass ? truth : estimate(labels, {}).label);
  }

  Options options_;
  BilaNetwork<float> network_;
  WorkerState counts_;
  bool has_learned_ = false;
};

}  // namespace

MethodInfo bila_method() {
  MethodInfo info = batch_method<Bila>(
      "bila", "a network and a confusion matrix per worker, learned together, chunk by chunk",
      "Hong, Ghiassi, Zhou, Birke, Chen: Online Label Aggregation: A Variational Bayesian Approach (WWW "
      "2021)",
      {.has_confusion = true,
       .has_trace = true,
       .draws = true,
       .online_equals_batch = false,
       .can_merge = false});
  info.make_online = [](const Settings& settings, std::uint64_t seed) -> std::unique_ptr<OnlineMethod> {
    return std::make_unique<OnlineBila>(bila_options().parse("bila", settings), seed);
  };
  return info;
}

}  // namespace crowdfold
