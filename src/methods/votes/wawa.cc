// Worker agreement with aggregate: a vote weighted by how often a worker agrees with the majority.
//
// A rule of crowdsourcing platforms; described by Appen as the "trust score" of contributors.
//
//   w_i  =  share of i's labels that agree with a majority vote
//   y_t  =  argmax_k  sum_i w_i [x_it = k]
//
// A class's probability is its share of the weights.
// Cost: O(N).
#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/votes/weighted_vote.h"

namespace crowdfold {
namespace {

struct Wawa {
  struct Options {
    Ties ties = Ties::first;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {ties_option<Options>()};
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return WeightedVote::bytes(labels);
  }

  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context) {
    WeightedVote election(labels, given, options.ties, context);
    std::vector<double> w(labels.num_workers(), 1);
    context.report("wawa", 0, 2);
    election.vote(w);
    context.report("wawa", 1, 2);
    for (WorkerId i = 0; i < w.size(); ++i) {
      const WorkerCounts& agreed = election.agreement()[i];
      w[i] = agreed.seen > 0 ? agreed.correct / agreed.seen : 0;
    }
    election.vote(w);
    Result result;
    election.report_shares(w, result);
    return result;
  }
};

}  // namespace

MethodInfo wawa_method() {
  return batch_method<Wawa>("wawa", "a vote weighted by agreement with the majority", "folklore",
                            {.takes_workers = true, .by_shares = true});
}

}  // namespace crowdfold
