// Iterative weighted majority vote.
//
// H. Li, B. Yu: Error Rate Bounds and Iterative Weighted Majority Voting for Crowdsourcing.
// arXiv:1411.4086, 2014.
//
//   w_i  =  share of i's labels that agree with the estimates
//   v_i  =  K w_i - 1                         below zero for a worker worse than chance
//   y_t  =  argmax_k  sum_i v_i [x_it = k]    over the classes that got a vote
//
// Starts with a majority vote; ends when no estimate changes. v_i K / (K - 1) is the first-order term of
// the one-coin log-odds of a right label, so a class's probability is proportional to the exponential of
// that much of its score.
// Cost: O(N) an iteration; memory O(M) beside the labels.
#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/votes/weighted_vote.h"

namespace crowdfold {
namespace {

struct IterativeWeightedVote {
  struct Options {
    int iterations = 20;
    Ties ties = Ties::first;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {
        integer("iterations", &Options::iterations, 1, 1'000'000, "weighted votes at most"),
        ties_option<Options>()};
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return WeightedVote::bytes(input);
  }

  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class IterativeWeightedVoteModel final : public WeightedVote {
 public:
  IterativeWeightedVoteModel(const IterativeWeightedVote::Options& options, const RoundsInput& input)
      : WeightedVote({.name = "iwmv",
                      .rounds = options.iterations + 1,
                      .ties = options.ties,
                      .stops_at_rest = true,
                      .rate = input.classes / std::max(1.0, input.classes - 1.0)},
                     input) {}

 private:
  bool is_traced(int round) const override { return round > 0; }
  void weigh() override {
    for (WorkerId i = 0; i < workers(); ++i) {
      const WorkerCounts& agreed = agreement()[i];
      weights()[i] = agreed.seen > 0 ? classes() * agreed.correct / agreed.seen - 1 : 0;
    }
  }
};

std::unique_ptr<RoundModel> IterativeWeightedVote::start(const Options& options,
                                                         const RoundsInput& input) {
  return std::make_unique<IterativeWeightedVoteModel>(options, input);
}

}  // namespace

MethodInfo iwmv_method() {
  return rounds_method<IterativeWeightedVote>(
      "iwmv", "votes weighted by agreement with the last vote, until nothing changes",
      "Li, Yu: Error Rate Bounds and Iterative Weighted Majority Voting for Crowdsourcing (2014)",
      {.takes_workers = true, .has_trace = true, .by_shares = true, .estimate_is_argmax = false});
}

}  // namespace crowdfold
