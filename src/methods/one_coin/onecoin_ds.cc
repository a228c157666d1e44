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
// Cost: O(N + T K) an iteration; memory O(M) beside the labels.
#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/one_coin/one_coin.h"

namespace crowdfold {
namespace {

struct OneCoinDawidSkene {
  struct Options : Stopping {
    Options() : Stopping{100, 1e-5} {}
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(stopping_options<Options>(kObjectiveGrows, 0), {});
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return OneCoinModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class OneCoinDawidSkeneModel final : public OneCoinModel {
 public:
  OneCoinDawidSkeneModel(const OneCoinDawidSkene::Options& options, const RoundsInput& input)
      : OneCoinModel({.name = "onecoin_ds", .stopping = options, .watches_probabilities = false},
                     input) {}

 private:
  double m_step(const EmSums& sums, OneCoinTables& tables, int /*threads*/) const override {
    tables.set_log_shares(log_shares(sums.shares()));
    tables.learn(sums);
    return 0;
  }
};

std::unique_ptr<RoundModel> OneCoinDawidSkene::start(const Options& options, const RoundsInput& input) {
  return std::make_unique<OneCoinDawidSkeneModel>(options, input);
}

}  // namespace

MethodInfo onecoin_ds_method() {
  return rounds_method<OneCoinDawidSkene>(
      "onecoin_ds", "one-coin Dawid-Skene: one quality for every worker and a class prior, by EM",
      "Zhang, Chen, Zhou, Jordan: Spectral Methods Meet EM (JMLR 2016)",
      {.has_confusion = true, .has_trace = true, .climbs = true, .by_shares = true});
}

}  // namespace crowdfold
