// ZenCrowd: one coin per worker, no class prior; EM.
//
// G. Demartini, D. E. Difallah, P. Cudré-Mauroux: ZenCrowd: Leveraging Probabilistic Reasoning and
// Crowdsourcing Techniques for Large-Scale Entity Linking. WWW 2012.
//
//   p(x_it = l | y_t = k)  =  w_i if l = k, (1 - w_i) / (K - 1) otherwise
//
//   E   q_t(k)  ~  prod_i p(x_it | y_t = k)
//   M   w_i     =  mean_t q_t(x_it)                 t: tasks that i labelled
//
// Starts at the E-step, with w of .8.
// Cost: O(N + T K) an iteration; memory O(N + T K + M).
#include "methods/batch.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/one_coin/one_coin.h"

namespace crowdfold {
namespace {

struct ZenCrowd {
  struct Options : Stopping {
    double start = 0.8;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kPosteriorsMove),
        {real("start", &Options::start, 0.01, 0.99, "probability of a right label to start from")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return Posteriors::bytes(labels) + OneCoin::bytes(labels);
  }

  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context) {
    Posteriors q(labels, given);
    q.start_from_votes(context.threads);
    OneCoin coins(labels, options.start);

    const double log_prior = -std::log(labels.num_classes());
    Result result;
    iterate(
        "zc", options, context, result,
        [&] {
          const auto score = [&](TaskId t, std::span<double> row) {
            std::fill(row.begin(), row.end(), log_prior);
            coins.add_to(t, row);
          };
          const auto judged = q.judge(context.threads, score, coins);
          coins.learn();
          return Step(judged);
        },
        kOnlyRounding);
    q.report(context, result);
    coins.report(context, result);
    return result;
  }
};

}  // namespace

MethodInfo zc_method() {
  return batch_method<ZenCrowd>(
      "zc", "ZenCrowd: one quality for every worker, by EM",
      "Demartini, Difallah, Cudré-Mauroux: ZenCrowd (WWW 2012)",
      {.has_confusion = true, .has_trace = true, .climbs = true, .by_shares = true});
}

}  // namespace crowdfold
