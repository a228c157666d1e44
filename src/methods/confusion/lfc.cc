// Learning from crowds: Dawid-Skene with a Dirichlet prior on every row of a confusion matrix; maximum a
// posteriori by EM.
//
// V. C. Raykar, S. Yu, L. H. Zhao, G. H. Valadez, C. Florin, L. Bogoni, L. Moy: Learning From Crowds.
// JMLR 11, 2010.
//
//   p(y_t = k) = rho_k      p(x_it = l | y_t = k) = pi_i[k][l]      pi_i[k] ~ Dirichlet(1 + a_i[k])
//
//   M   rho_k       =  mean_t q_t(k)
//       pi_i[k][l]  ~  a_i[k][l] + sum_t q_t(k) [x_it = l]
//   E   q_t(k)      ~  rho_k  prod_i pi_i[k][x_it]
//
// The prior's counts a are `right` on the diagonal and `wrong` beside it, and a worker's history where
// it is given: right labels evenly on the diagonal, wrong ones evenly beside it. Starts at the M-step,
// with shares of votes for q.
//
// Cost: O(N K) an iteration; memory O(M K^2) beside the labels.
#include "methods/batch.h"
#include "methods/confusion/confusion_rounds.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

struct LearningFromCrowds {
  struct Options : Stopping {
    double right = 0;
    double wrong = 0;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kPosteriorsMove),
        {real("right", &Options::right, 0, 1e9, "right labels added to every worker's, per class"),
         real("wrong", &Options::wrong, 0, 1e9,
              "wrong labels added to every worker's, per class and wrong class")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return ConfusionModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class LearningFromCrowdsModel final : public ConfusionModel {
 public:
  LearningFromCrowdsModel(const LearningFromCrowds::Options& options, const RoundsInput& input)
      : ConfusionModel({.name = "lfc", .stopping = options}, input),
        right_(options.right),
        wrong_(options.wrong) {}

 private:
  double m_step(const EmSums& sums, ConfusionTables& tables, int threads) const override {
    return learn_with({right_, wrong_, classes(), history()}, sums, tables, threads);
  }

  double right_;
  double wrong_;
};

std::unique_ptr<RoundModel> LearningFromCrowds::start(const Options& options, const RoundsInput& input) {
  return std::make_unique<LearningFromCrowdsModel>(options, input);
}

}  // namespace

MethodInfo lfc_method() {
  return rounds_method<LearningFromCrowds>(
      "lfc", "learning from crowds: Dawid-Skene with a prior on confusion matrices",
      "Raykar, Yu, Zhao, Valadez, Florin, Bogoni, Moy: Learning From Crowds (JMLR 2010)",
      {.takes_workers = true,
       .has_confusion = true,
       .has_trace = true,
       .climbs = true,
       .by_shares = true,
       .has_free_matrices = true});
}

}  // namespace crowdfold
