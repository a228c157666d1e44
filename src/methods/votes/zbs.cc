// Zero-based skill: skills that follow agreement with the weighted vote, in smaller and smaller steps.
//
// As in crowd-kit (Ustalov, Pavlichenko, Tseitlin: Learning from Crowds with Crowd-Kit. JOSS 9, 2024).
//
//   s_i  =  1 / K + excess to start with
//   y_t  =  argmax_k  sum_i s_i [x_it = k]
//   s_i +=  rate * (share of i's labels that agree with y - s_i)
//
// The rate starts at 1 and is multiplied by a factor every 20 iterations. A class's probability is its
// share of the skills. Cost: O(N) an iteration; memory O(N).
#include "methods/batch.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/votes/weighted_vote.h"

namespace crowdfold {
namespace {

struct ZeroBasedSkill {
  struct Options {
    int iterations = 100;
    double rate = 1;
    int halve_after = 20;
    double factor = 0.5;
    double excess = 1e-5;
    Ties ties = Ties::first;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {
        integer("iterations", &Options::iterations, 1, 1'000'000, "steps"),
        real("rate", &Options::rate, 1e-6, 1,
             "initial rate: share of the way from a skill to the agreement"),
        integer("halve_after", &Options::halve_after, 1, 1'000'000,
                "steps between reductions of the rate"),
        real("factor", &Options::factor, 1e-6, 1, "factor of each reduction"),
        real("excess", &Options::excess, 0, 1, "initial excess of a skill over chance"),
        ties_option<Options>()};
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return WeightedVote::bytes(labels);
  }

  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context) {
    WeightedVote election(labels, given, options.ties, context);
    std::vector<double> s(labels.num_workers(), 1.0 / labels.num_classes() + options.excess);
    double rate = options.rate;
    int steps = 0;

    Result result;
    iterate("zbs", Stopping{options.iterations, 0}, context, result, [&] {
      if (++steps % options.halve_after == 0) rate *= options.factor;
      election.vote(s);
      for (WorkerId i = 0; i < s.size(); ++i) {
        const WorkerCounts& agreed = election.agreement()[i];
        if (agreed.seen > 0) s[i] += rate * (agreed.correct / agreed.seen - s[i]);
      }
      return Step{mean_agreement(election.agreement()), 0};
    });
    election.vote(s);
    election.report_shares(s, result);
    return result;
  }
};

}  // namespace

MethodInfo zbs_method() {
  return batch_method<ZeroBasedSkill>(
      "zbs", "zero-based skill: weights that follow agreement with the weighted vote",
      "Ustalov, Pavlichenko, Tseitlin: Learning from Crowds with Crowd-Kit (JOSS 2024)",
      {.takes_workers = true, .has_trace = true, .by_shares = true});
}

}  // namespace crowdfold
