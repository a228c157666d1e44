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
// Cost: O(N K + M K^2) an iteration; memory O(N + T K + M K^2).
#include "methods/batch.h"
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
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return Posteriors::bytes(labels) + Confusion::bytes(labels) + ExpectedCounts::bytes(labels);
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

Result Ibcc::fit(const Options& options, const Labels& labels, const Knowledge& given,
                 const RunContext& context) {
  const std::uint32_t classes = labels.num_classes();
  const PriorCounts prior{options.right, options.wrong, classes, given};
  const std::vector<double> class_prior(classes, options.classes);
  Posteriors q(labels, given);
  q.start_from_votes(context.threads);
  std::vector<double> rho;
  Confusion pi(labels.num_workers(), classes, q.states());
  ExpectedCounts said(labels, q.states());
  q.teach(context.threads, said);

  std::vector<double> totals = q.totals(context.threads);
  Result result;
  iterate("ibcc", options, context, result, [&] {
    rho = std::move(totals);
    for (double& value : rho) value += options.classes;
    double divergence = expect_logarithms(rho, class_prior, 1);
    divergence += learn_confusion(said, prior, pi, context.threads);
    auto judged = q.judge(context.threads, ConfusionScore(labels, rho, pi), said);
    totals = std::move(judged.totals);
    return Step{judged.evidence - divergence, judged.change};
  });

  q.report(context, result);
  report_posterior_workers(said, prior, totals, pi, context, result);
  return result;
}

}  // namespace

MethodInfo ibcc_method() {
  return batch_method<Ibcc>(
      "ibcc", "Bayesian Dawid-Skene: priors on confusion matrices and classes, variational",
      "Kim, Ghahramani: Bayesian Classifier Combination (AISTATS 2012)",
      {.takes_workers = true,
       .has_confusion = true,
       .has_trace = true,
       .climbs = true,
       .has_free_matrices = true});
}

}  // namespace crowdfold
