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
// Where workers are given weights, a vote counts as much as its worker's weight.
//
// Worker i's quality is a Beta posterior of their agreement with the vote, C_i out of n_i.
// Cost: O(N) time, two numbers per worker.
#include <algorithm>
#include <array>
#include <limits>

#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/option_table.h"
#include "methods/rounds/agreement_rounds.h"
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
    // q (K - 1) / (1 - q); a vote cannot take its crowd to be worse than chance.
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

  // Of whom the workers may be a part.
  void compare_with(const WorkerCounts& crowd) { crowd_ = crowd; }

  ClassId vote(const TaskLabels& labels) const {
    if (PackedVotes::fits(state_.classes, labels)) return PackedVotes(labels).winner(tie_rule(labels));
    return with_ballot(state_.classes, labels, [&](auto& ballot) {
      for (const ClassId c : labels.classes) ballot.add(c, 1);
      return ballot.winner(tie_rule(labels));
    });
  }

 private:
  // The winner's probability. Each vote that a class is behind makes it less likely by the factor
  // `per_vote`.
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

// One round: the vote, and how often each worker agrees with it.
class MajorityVoteModel final : public AgreementModel {
 public:
  MajorityVoteModel(const MajorityVote::Options& options, const RoundsInput& input)
      : AgreementModel(input), options_(options), vote_(options, input.seed) {
    vote_.expect(input.workers, input.classes);
  }

  const char* stage() const override { return "mv"; }
  void answer(const TaskBlock& block, std::span<Estimate> estimates,
              std::span<double> posteriors) const override {
    judge_each(vote_, block, estimates, posteriors);
  }
  void report(const RunContext& /*context*/, Result& result) const override {
    result.learned = vote_.state();
  }
  void exchange(Archive& archive) override {
    AgreementModel::exchange(archive);
    if (archive.reads()) count();
  }

 private:
  ClassId choose(const TaskLabels& task) const override { return vote_.vote(task); }
  bool next(bool /*rests*/) override {
    count();
    return false;
  }
  void count() {
    vote_.restore(state(options_.alpha, options_.beta));
    vote_.compare_with(crowd());
  }

  MajorityVote::Options options_;
  MajorityVote vote_;
};

// With weights for workers, a class's probability is its share of the weights.
class GivenWeights final : public WeightedVote {
 public:
  GivenWeights(Ties ties, const Extra& weight, const RoundsInput& input)
      : WeightedVote({.name = "mv", .ties = ties}, input) {
    weights().assign(weight.values.begin(), weight.values.end());
  }
};

struct MajorityVoteInRounds {
  using Options = MajorityVote::Options;
  static const OptionTable<Options>& option_table() { return MajorityVote::option_table(); }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return AgreementModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input) {
    const Extra* const weight =
        input.given != nullptr ? find_extra(input.given->extras, "weight") : nullptr;
    if (weight != nullptr) return std::make_unique<GivenWeights>(options.ties, *weight, input);
    return std::make_unique<MajorityVoteModel>(options, input);
  }
};

}  // namespace

MethodInfo mv_method() {
  return also_online<MajorityVote>(rounds_method<MajorityVoteInRounds>(
      "mv", "majority vote: the class with the most labels", "folklore",
      {.takes_workers = true,
       .takes = {{"weight", Per::worker, 0, "of a worker's votes, 1 otherwise"}},
       .by_shares = true}));
}

}  // namespace crowdfold
