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
// Cost: O(N + T K) an iteration; memory O(M) beside the labels.
#include "methods/batch.h"
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
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return OneCoinModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class ZenCrowdModel final : public OneCoinModel {
 public:
  ZenCrowdModel(const ZenCrowd::Options& options, const RoundsInput& input)
      : OneCoinModel({.name = "zc", .stopping = options, .starts_with_votes = false}, input) {
    tables().set_quality(options.start);
  }

 private:
  double m_step(const EmSums& sums, OneCoinTables& tables, int /*threads*/) const override {
    tables.learn(sums);
    return 0;
  }
};

std::unique_ptr<RoundModel> ZenCrowd::start(const Options& options, const RoundsInput& input) {
  return std::make_unique<ZenCrowdModel>(options, input);
}

}  // namespace

MethodInfo zc_method() {
  return rounds_method<ZenCrowd>(
      "zc", "ZenCrowd: one quality for every worker, by EM",
      "Demartini, Difallah, Cudré-Mauroux: ZenCrowd (WWW 2012)",
      {.has_confusion = true, .has_trace = true, .climbs = true, .by_shares = true});
}

}  // namespace crowdfold
