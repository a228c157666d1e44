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
// Cost: O(N) an iteration; memory O(N).
#include "methods/batch.h"
#include "methods/em.h"
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
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return WeightedVote::bytes(labels);
  }

  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context) {
    const double classes = labels.num_classes();
    WeightedVote election(labels, given, options.ties, context);
    std::vector<double> v(labels.num_workers(), 1);
    election.vote(v);

    Result result;
    const Stopping stopping{options.iterations, 1e-9};
    iterate("iwmv", stopping, context, result, [&] {
      for (WorkerId i = 0; i < v.size(); ++i) {
        const WorkerCounts& agreed = election.agreement()[i];
        v[i] = agreed.seen > 0 ? classes * agreed.correct / agreed.seen - 1 : 0;
      }
      const std::uint64_t changed = election.vote(v);
      return Step{mean_agreement(election.agreement()), static_cast<double>(changed)};
    });
    election.report_exponential(v, classes / std::max(1.0, classes - 1), result);
    return result;
  }
};

}  // namespace

MethodInfo iwmv_method() {
  return batch_method<IterativeWeightedVote>(
      "iwmv", "votes weighted by agreement with the last vote, until nothing changes",
      "Li, Yu: Error Rate Bounds and Iterative Weighted Majority Voting for Crowdsourcing (2014)",
      {.takes_workers = true, .has_trace = true, .by_shares = true, .estimate_is_argmax = false});
}

}  // namespace crowdfold
