// Streaming Bayesian inference for two classes: Fast SBIC, one pass over the tasks.
//
// E. Manino, L. Tran-Thanh, N. R. Jennings: Streaming Bayesian Inference for Crowdsourced
// Classification. NeurIPS 2019.
//
// Model: one coin. Worker i is right with probability p_i, whose belief is a Beta(alpha, beta) to start
// with. Unlike onepass, a worker is credited with the probability that a label was right, not with a
// decision.
//
//   p_i   = (C_i + alpha) / (n_i + alpha + beta)                  the posterior's mean
//   z_t   = log q / (1 - q)  +  sum_i  s_it log p_i / (1 - p_i)   log-odds of the first class; s_it is 1
//                                                                 if i said it, and -1 otherwise
//   C_i  += 1 / (1 + exp(-s_it z_t)),   n_i += 1                  for the workers who labelled t
//
// q is the probability of the first class in the data, `first`.
// Cost: O(N) time; the state is two numbers per worker, and nothing else is kept of a task.
#include <algorithm>
#include <cmath>

#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/option_table.h"

namespace crowdfold {
namespace {

constexpr std::uint32_t kTwo = 2;
constexpr double kRounding = 1e-12;  // log-odds as small as this come from rounding
constexpr double kMost = 690;        // log-odds: no class is ruled out

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

class StreamingInference final : public OnlineMethod {
 public:
  struct Options : VoteOptions {
    Options() { beta = 1; }
    double first = .5;
    Order order = Order::given;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        vote_options<Options>(),
        {real("first", &Options::first, 1e-6, 1 - 1e-6, "prior probability of the class seen first"),
         order_option<Options>()});
    return table;
  }

  StreamingInference(const Options& options, std::uint64_t seed) : options_(options), seed_(seed) {
    state_.alpha = options.alpha;
    state_.beta = options.beta;
  }

  void expect(std::uint32_t workers, std::uint32_t classes) override {
    require_classes("sbic", kTwo, classes);
    state_.expect(workers, classes);
  }

  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    const double z = log_odds(labels);
    const double of_first = state_.classes < kTwo ? 1 : sigmoid(z);
    const double of_second = sigmoid(-z);
    if (!posterior.empty()) posterior[0] = of_first;
    if (posterior.size() == kTwo) posterior[1] = of_second;
    if (labels.size() == 0) return {};
    const TieRule rule{options_.ties, seed_, labels.index};
    const bool second = state_.classes == kTwo &&
                        (std::abs(z) <= kRounding ? rule.draws() && rule.draw(kTwo) == 1 : z < 0);
    return second ? Estimate{1, of_second} : Estimate{0, of_first};
  }

  void learn(const TaskLabels& labels, const Answer& answer) override {
    // As long as one class was seen, it is not certain that there are no others.
    const bool is_given = answer.label != kNoClass && state_.classes == kTwo;
    const Answer judged = is_given ? answer : Estimate{0, sigmoid(log_odds(labels))};
    for (std::size_t j = 0; j < labels.size(); ++j) {
      const bool agrees = labels.classes[j] == judged.label;
      state_.counts[labels.workers[j]] += {agrees ? judged.confidence : 1 - judged.confidence, 1};
    }
  }

  bool judges_after_learning() const override { return false; }

  WorkerState state() const override { return state_; }
  void restore(WorkerState state) override {
    state.require_prior(options_.alpha, options_.beta);
    state_ = std::move(state);
  }
  void merge(const WorkerState& other) override { state_.merge(other); }

 private:
  // z_t
  double log_odds(const TaskLabels& labels) const {
    double z = std::log(options_.first / (1 - options_.first));
    for (std::size_t j = 0; j < labels.size(); ++j) {
      const BetaQuality quality = state_.quality(labels.workers[j]);
      const double weight = std::log(quality.alpha / quality.beta);
      z += labels.classes[j] == 0 ? weight : -weight;
    }
    return std::clamp(z, -kMost, kMost);
  }

  Options options_;
  std::uint64_t seed_;
  WorkerState state_;
};

}  // namespace

MethodInfo sbic_method() {
  return online_method<StreamingInference>(
      "sbic", "one pass for two classes: workers are credited with the probability of being right",
      "Manino, Tran-Thanh, Jennings: Streaming Bayesian Inference for Crowdsourced Classification "
      "(NeurIPS 2019)",
      {.most_classes = kTwo, .trusts_first_tasks = true});
}

}  // namespace crowdfold
