// One-coin Dawid-Skene: one quality per worker, and a class prior; maximum likelihood by EM.
//
// Y. Zhang, X. Chen, D. Zhou, M. I. Jordan: Spectral Methods Meet EM: A Provably Optimal Algorithm for
// Crowdsourcing. JMLR 17, 2016 (the homogeneous model).
//
//   p(y_t = k) = rho_k      p(x_it = l | y_t = k)  =  w_i if l = k, (1 - w_i) / (K - 1) otherwise
//
//   M   rho_k   =  mean_t q_t(k)
//       w_i     =  mean_t q_t(x_it)                 t: tasks that i labelled
//   E   q_t(k)  ~  rho_k  prod_i p(x_it | y_t = k)
//
// Starts at the M-step, with shares of votes for q.
// Cost: O(N + T K) an iteration; memory O(N + T K + M).
#include "methods/batch.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/one_coin/one_coin.h"

namespace crowdfold {
namespace {

struct OneCoinDawidSkene {
  struct Options : Stopping {
    Options() : Stopping{100, 1e-5} {}
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(stopping_options<Options>(kObjectiveGrows), {});
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return Posteriors::bytes(labels) + OneCoin::bytes(labels);
  }

  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context) {
    Posteriors q(labels, given);
    q.start_from_votes(context.threads);
    OneCoin coins(labels, 1);
    q.teach(context.threads, coins);

    std::vector<double> totals = q.totals(context.threads);
    Result result;
    Growth growth(labels);
    iterate("onecoin_ds", options, context, result, [&] {
      const std::vector<double> log_rho = log_shares(std::move(totals));
      coins.learn();
      const auto score = [&](TaskId t, std::span<double> row) {
        std::copy(log_rho.begin(), log_rho.end(), row.begin());
        coins.add_to(t, row);
      };
      auto judged = q.judge(context.threads, score, coins);
      totals = std::move(judged.totals);
      return growth(judged.evidence);
    });
    q.report(context, result);
    coins.report(context, result);
    return result;
  }
};

}  // namespace

MethodInfo onecoin_ds_method() {
  return batch_method<OneCoinDawidSkene>(
      "onecoin_ds", "one-coin Dawid-Skene: one quality for every worker and a class prior, by EM",
      "Zhang, Chen, Zhou, Jordan: Spectral Methods Meet EM (JMLR 2016)",
      {.has_confusion = true, .has_trace = true, .climbs = true, .by_shares = true});
}

}  // namespace crowdfold
