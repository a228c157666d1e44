// Dawid-Skene: every worker has a confusion matrix; maximum likelihood by EM.
//
// A. P. Dawid, A. M. Skene: Maximum Likelihood Estimation of Observer Error-Rates Using the EM
// Algorithm. Applied Statistics 28, 1979.
//
//   p(y_t = k) = rho_k           p(x_it = l | y_t = k) = pi_i[k][l]
//
//   E   q_t(k)      ~  rho_k  prod_i pi_i[k][x_it]
//   M   rho_k       =  mean_t q_t(k)
//       pi_i[k][l]  =  sum_t q_t(k) [x_it = l]  /  sum_t q_t(k)         t: tasks that i labelled
//
// Starts at the E-step, with pi of .7 on the diagonal and the rest shared by the other classes, and all
// classes equally likely. A row of pi that no task speaks for goes back to that start. Where matrices
// are given, it starts with those, or with the M-step of shares of votes and the counts given, and with
// rho of the votes. Cost: O(N K) an iteration; memory O(N + T K + M K^2).
#include "base/vector_math.h"
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

struct DawidSkene {
  struct Options : Stopping {
    double start = 0.7;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kPosteriorsMove),
        {real("start", &Options::start, 0.01, 0.99, "probability of a right label to start from")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return Posteriors::bytes(labels) + Confusion::bytes(labels) + ExpectedCounts::bytes(labels);
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

// A worker's matrix, by truth and label, on top of counts by label and state.
void add_matrix(const Extra& extra, WorkerId w, const States& states, std::span<double> counts) {
  const double* const matrix = extra.values.data() + w * extra.width;
  for (std::size_t k = 0; k < states.size(); ++k) {
    for (std::size_t l = 0; l < states.size(); ++l)
      counts[l * states.width() + k] += matrix[k * states.size() + l];
  }
}

Result DawidSkene::fit(const Options& options, const Labels& labels, const Knowledge& given,
                       const RunContext& context) {
  const std::uint32_t classes = labels.num_classes();
  Posteriors q(labels, given);
  q.start_from_votes(context.threads);
  std::vector<double> log_rho(classes, -std::log(classes));
  Confusion log_pi(labels.num_workers(), classes, q.states());
  ExpectedCounts said(labels, q.states());

  // pi[k][l] to start from
  const auto start = [&](std::size_t k, std::size_t l) {
    if (classes == 1) return 1.0;
    return k == l ? options.start : (1 - options.start) / (classes - 1);
  };
  const Extra* const confusion = find_extra(given.extras, "confusion");
  const Extra* const counts = find_extra(given.extras, "counts");
  if (counts != nullptr) q.teach(context.threads, said);
  if (confusion != nullptr || counts != nullptr) log_rho = log_shares(q.totals(context.threads));
  for_worker_blocks(labels.num_workers(), context.threads, [&](std::size_t first, std::size_t last) {
    const std::span<double> block = log_pi.of(first, last);
    std::fill(block.begin(), block.end(), 0.0);
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      if (counts != nullptr) said.add_to(w, log_pi.of(w));
      for (const Extra* const extra : {confusion, counts}) {
        if (extra != nullptr) add_matrix(*extra, w, q.states(), log_pi.of(w));
      }
      normalize_over_labels(log_pi.of(w), log_pi.states(), start);
    }
    vector_log(block);
  });

  const PriorCounts no_prior{0, 0, classes, given};
  Result result;
  iterate(
      "ds", options, context, result,
      [&] {
        const auto judged = q.judge(context.threads, ConfusionScore(labels, log_rho, log_pi), said);

        log_rho = log_shares(judged.totals);
        learn_shares(said, no_prior, start, log_pi, context.threads);
        return Step(judged);
      },
      kOnlyRounding);

  q.report(context, result);
  report_learned(labels, given, std::move(log_pi), std::move(log_rho), context, result);
  return result;
}

}  // namespace

MethodInfo ds_method() {
  return batch_method<DawidSkene>(
      "ds", "Dawid-Skene: a confusion matrix for every worker, by EM",
      "Dawid, Skene: Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm "
      "(Applied Statistics 1979)",
      {.takes = {{"confusion", Per::worker, 2, "pi to start from, by truth and label"},
                 {"counts", Per::worker, 2, "labels that are added to those of a vote to start from"}},
       .has_confusion = true,
       .has_trace = true,
       .climbs = true,
       .by_shares = true,
       .has_free_matrices = true});
}

}  // namespace crowdfold
