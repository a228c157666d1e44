// Majority vote: the class with the most labels.
//
//   y_t = argmax_k  n_tk          n_tk: labels of class k on task t
//
// A majority vote treats all workers as equally good. Taken as a one-coin model (see vote.h) with one
// quality q for the whole crowd, the posterior of class k is proportional to (q (K - 1) / (1 - q))^n_tk:
// it has the same winner, and unlike a share of votes it is a probability: four labels out of four say
// more than one out of one. q is the crowd's agreement with the vote. `posterior=shares` gives the
// shares of votes instead, as most tools do.
//
// Where workers are given weights, their votes count so much.
//
// Worker i's quality is a Beta posterior of their agreement with the vote, C_i out of n_i.
// Cost: O(N) time, two numbers per worker.
#include <algorithm>
#include <array>
#include <limits>

#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/option_table.h"
#include "methods/vote.h"
#include "methods/votes/weighted_vote.h"

namespace crowdfold {
namespace {

enum class Probability { one_coin, shares };

// The votes on a task, for a few classes: a byte each, all in one register.
class PackedVotes {
 public:
  static constexpr std::uint32_t kClasses = 8;
  static bool fits(std::uint32_t classes, const TaskLabels& labels) {
    return classes <= kClasses && labels.size() > 0 && labels.size() <= 0xFF;
  }

  explicit PackedVotes(const TaskLabels& labels) {
    for (const ClassId c : labels.classes) votes_ += 1ULL << (8 * c);
    for (std::uint32_t c = 0; c < kClasses; ++c) most_ = std::max(most_, count(c));
  }

  std::uint32_t count(std::uint32_t c) const {
    return static_cast<std::uint32_t>(votes_ >> (8 * c)) & 0xFF;
  }
  std::uint32_t most() const { return most_; }

  ClassId winner(const TieRule& rule) const {
    std::uint32_t winners = 0;
    for (std::uint32_t c = 0; c < kClasses; ++c)
      winners |= static_cast<std::uint32_t>(count(c) == most_) << c;
    return rule.choose(winners);
  }

 private:
  std::uint64_t votes_ = 0;
  std::uint32_t most_ = 0;
};

class MajorityVote final : public OnlineMethod {
 public:
  struct Options : VoteOptions {
    Probability posterior = Probability::one_coin;
    static constexpr Order order = Order::given;  // a vote does not depend on it
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        vote_options<Options>(),
        {choice("posterior", &Options::posterior, {"one_coin", "shares"},
                "probabilities: of a model with one quality for the crowd, or shares of votes")});
    return table;
  }

  MajorityVote(const Options& options, std::uint64_t seed) : options_(options), seed_(seed) {
    state_.alpha = options.alpha;
    state_.beta = options.beta;
  }

  void expect(std::uint32_t workers, std::uint32_t classes) override { state_.expect(workers, classes); }

  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    // q (K - 1) / (1 - q); a vote cannot think its crowd worse than chance.
    const double odds = std::max(1.0, (crowd_.correct + state_.alpha) * (state_.classes - 1.0) /
                                          (crowd_.seen - crowd_.correct + state_.beta));
    Estimate estimate;
    if (PackedVotes::fits(state_.classes, labels)) {
      const PackedVotes votes(labels);
      estimate = {votes.winner(tie_rule(labels)), probability(votes, 1 / odds, posterior)};
    } else {
      estimate = with_ballot(state_.classes, labels, [&](auto& ballot) {
        for (const ClassId c : labels.classes) ballot.add(c, 1, odds, 1);
        return outcome(ballot, tie_rule(labels), posterior);
      });
    }
    if (options_.posterior == Probability::one_coin || estimate.label == kNoClass) return estimate;
    return {estimate.label, shares(labels, estimate.label, posterior)};
  }

  void learn(const TaskLabels& labels, const Answer& answer) override {
    const ClassId y = answer.label != kNoClass ? answer.label : vote(labels);
    state_.add(labels, y);
    crowd_.correct += static_cast<double>(std::count(labels.classes.begin(), labels.classes.end(), y));
    crowd_.seen += static_cast<double>(labels.size());
  }

  // Not for the label, which does not change, but for q, which should not depend on the order of tasks.
  bool judges_after_learning() const override { return true; }

  WorkerState state() const override { return state_; }

  void restore(WorkerState state) override {
    state.require_prior(options_.alpha, options_.beta);
    state_ = std::move(state);
    count_crowd();
  }

  void merge(const WorkerState& other) override {
    state_.merge(other);
    count_crowd();
  }

 private:
  ClassId vote(const TaskLabels& labels) const {
    if (PackedVotes::fits(state_.classes, labels)) return PackedVotes(labels).winner(tie_rule(labels));
    return with_ballot(state_.classes, labels, [&](auto& ballot) {
      for (const ClassId c : labels.classes) ballot.add(c, 1);
      return ballot.winner(tie_rule(labels));
    });
  }

  // Of the winner. Every vote that a class is behind makes it less likely by the factor `per_vote`.
  double probability(const PackedVotes& votes, double per_vote, std::span<double> posterior) const {
    std::array<double, 0x100> behind;
    behind[0] = 1;
    for (std::uint32_t n = 1; n <= votes.most(); ++n) {
      behind[n] = std::max(behind[n - 1] * per_vote, std::numeric_limits<double>::min());  // never 0
    }
    double total = 0;
    for (std::uint32_t c = 0; c < state_.classes; ++c) total += behind[votes.most() - votes.count(c)];
    for (std::uint32_t c = 0; c < posterior.size(); ++c)
      posterior[c] = behind[votes.most() - votes.count(c)] / total;
    return 1 / total;
  }

  TieRule tie_rule(const TaskLabels& labels) const { return {options_.ties, seed_, labels.index}; }

  static double shares(const TaskLabels& labels, ClassId y, std::span<double> posterior) {
    const double share = 1.0 / static_cast<double>(labels.size());
    std::fill(posterior.begin(), posterior.end(), 0.0);
    if (!posterior.empty()) {
      for (const ClassId c : labels.classes) posterior[c] += share;
    }
    return share * static_cast<double>(std::count(labels.classes.begin(), labels.classes.end(), y));
  }

  void count_crowd() {
    crowd_ = {};
    for (const WorkerCounts& counts : state_.counts) crowd_ += counts;
  }

  Options options_;
  std::uint64_t seed_;
  WorkerState state_;
  WorkerCounts crowd_;  // the sum over the workers
};

// The vote, or with weights for workers a weighted one, in which a class's probability is its share of
// the weights.
class Vote final : public Method {
 public:
  Vote(Traits traits, Ties ties, std::unique_ptr<Method> unweighted)
      : traits_(std::move(traits)), ties_(ties), unweighted_(std::move(unweighted)) {}

  Result fit(const Labels& labels, const Knowledge& given, const RunContext& context) const override {
    require_fit("mv", traits_, labels, given);
    const Extra* const weight = find_extra(given.extras, "weight");
    if (weight == nullptr) return unweighted_->fit(labels, given, context);
    if (labels.num_classes() == 0) return no_labels(labels, context);
    require_memory("mv", WeightedVote::bytes(labels), context);
    WeightedVote election(labels, given, ties_, context);
    election.vote(weight->values);
    Result result;
    election.report_shares(weight->values, result);
    return result;
  }

 private:
  Traits traits_;
  Ties ties_;
  std::unique_ptr<Method> unweighted_;
};

}  // namespace

MethodInfo mv_method() {
  MethodInfo info = online_method<MajorityVote>(
      "mv", "majority vote: the class with the most labels", "folklore",
      {.takes = {{"weight", Per::worker, 0, "of a worker's votes, 1 otherwise"}}, .by_shares = true});
  info.make = [traits = info.traits, make = info.make](const Settings& settings) {
    const Ties ties = MajorityVote::option_table().parse("mv", settings).ties;
    return std::make_unique<Vote>(traits, ties, make(settings));
  };
  return info;
}

}  // namespace crowdfold
