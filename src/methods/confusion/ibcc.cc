// Independent Bayesian classifier combination: Dawid-Skene with priors on everything, by mean-field
// variational inference.
//
// H.-C. Kim, Z. Ghahramani: Bayesian Classifier Combination. AISTATS 2012.
//
//   rho ~ Dirichlet(a)          p(y_t = k) = rho_k
//   pi_i[k] ~ Dirichlet(a_i[k]) p(x_it = l | y_t = k) = pi_i[k][l]
//
//   rho        ~  Dirichlet(a + sum_t q_t)
//   pi_i[k]    ~  Dirichlet(a_i[k][l] + sum_t q_t(k) [x_it = l])
//   q_t(k)     ~  exp( E log rho_k + sum_i E log pi_i[k][x_it] )
//
// a_i is `right` on the diagonal and `wrong` beside it, plus a worker's history where it is given.
// Starts with shares of votes for q. The objective is the evidence lower bound.
//
// Cost: O(N K + M K^2) an iteration; memory O(M K^2) beside the labels.
#include "methods/batch.h"
#include "methods/confusion/confusion_rounds.h"
#include "methods/confusion/variational.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

struct Ibcc {
  struct Options : Stopping {
    Options() : Stopping{500, 1e-3} {}
    double right = 4;
    double wrong = 1;
    double classes = 1;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kPosteriorsMove),
        {real("right", &Options::right, 1e-3, 1e9,
              "prior of confusion matrices: Dirichlet, on the diagonal"),
         real("wrong", &Options::wrong, 1e-3, 1e9,
              "prior of confusion matrices: Dirichlet, off the diagonal"),
         real("classes", &Options::classes, 1e-3, 1e9, "prior of the classes: Dirichlet")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return ConfusionModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class IbccModel final : public ConfusionModel {
 public:
  IbccModel(const Ibcc::Options& options, const RoundsInput& input)
      : ConfusionModel({.name = "ibcc", .stopping = options}, input), options_(options) {}

 private:
  PriorCounts prior() const { return {options_.right, options_.wrong, classes(), history()}; }

  double m_step(const EmSums& sums, ConfusionTables& tables, int threads) const override {
    std::vector<double> rho = sums.shares();
    for (double& value : rho) value += options_.classes;
    const std::vector<double> class_prior(classes(), options_.classes);
    const double divergence = expect_logarithms(rho, class_prior, 1);
    std::copy(rho.begin(), rho.end(), tables.log_rho().begin());
    return -(divergence + learn_confusion(said(sums), prior(), tables.log_pi(), threads));
  }
  void report_workers(const EmSums& sums, const RunContext& context, Result& result) const override {
    Confusion pi = tables().log_pi();
    report_posterior_workers(said(sums), prior(), said(sums).labels(), sums.shares(), pi, context,
                             result);
  }

  Ibcc::Options options_;
};

std::unique_ptr<RoundModel> Ibcc::start(const Options& options, const RoundsInput& input) {
  return std::make_unique<IbccModel>(options, input);
}

}  // namespace

MethodInfo ibcc_method() {
  return rounds_method<Ibcc>(
      "ibcc", "Bayesian Dawid-Skene: priors on confusion matrices and classes, variational",
      "Kim, Ghahramani: Bayesian Classifier Combination (AISTATS 2012)",
      {.takes_workers = true,
       .has_confusion = true,
       .has_trace = true,
       .climbs = true,
       .has_free_matrices = true});
}

}  // namespace crowdfold
