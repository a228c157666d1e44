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
// Cost: O(N K) an iteration; memory O(N + T K + M K^2).
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"
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
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return Posteriors::bytes(labels) + Confusion::bytes(labels) + ExpectedCounts::bytes(labels);
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

Result LearningFromCrowds::fit(const Options& options, const Labels& labels, const Knowledge& given,
                               const RunContext& context) {
  const std::uint32_t classes = labels.num_classes();
  Posteriors q(labels, given);
  q.start_from_votes(context.threads);
  std::vector<double> log_rho;
  Confusion log_pi(labels.num_workers(), classes, q.states());
  ExpectedCounts said(labels, q.states());
  q.teach(context.threads, said);
  const PriorCounts prior{options.right, options.wrong, classes, given};

  const auto uniform = [&](std::size_t, std::size_t) { return 1.0 / classes; };
  std::vector<double> totals = q.totals(context.threads);
  Result result;
  iterate(
      "lfc", options, context, result,
      [&] {
        log_rho = log_shares(std::move(totals));
        const double log_prior = learn_shares(said, prior, uniform, log_pi, context.threads);
        auto judged = q.judge(context.threads, ConfusionScore(labels, log_rho, log_pi), said);
        totals = std::move(judged.totals);
        return Step{judged.evidence + log_prior, judged.change};
      },
      kOnlyRounding);

  q.report(context, result);
  report_learned(labels, given, std::move(log_pi), std::move(log_rho), context, result);
  return result;
}

}  // namespace

MethodInfo lfc_method() {
  return batch_method<LearningFromCrowds>(
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
