// Shared by variational methods with confusion matrices: Dirichlet posteriors of their rows.
#pragma once

#include "methods/confusion/confusion.h"
#include "methods/dirichlet.h"
#include "methods/em.h"

namespace crowdfold {

// The Dirichlet posteriors of all confusion matrices, as E[log pi] in `expected_logs`. Returns their
// divergence from the prior.
template <class Counts>
double learn_confusion(const Counts& said, const PriorCounts& prior, Confusion& expected_logs,
                       int threads) {
  const States& states = said.states();
  return sum_over_workers(said.workers(), threads, [&](std::size_t first, std::size_t last) {
    std::vector<double> alpha(expected_logs.size());
    double divergence = 0;
    // Runs of workers with the same prior: few have one for themselves.
    for (auto w = static_cast<WorkerId>(first); w < last;) {
      const WorkerId run = w;
      prior.put(run, states, alpha);
      for (; w < last && prior.of(w) == prior.of(run); ++w) {
        const std::span<double> nu = expected_logs.of(w);
        std::copy(alpha.begin(), alpha.end(), nu.begin());
        said.add_to(w, nu);
      }
      divergence += expect_logarithms(expected_logs.of(run, w), alpha, states.width());
    }
    return divergence;
  });
}

// report_confusion() with the posterior means of pi, which it writes over `confusion`.
template <class Counts>
void report_posterior_workers(const Counts& said, const PriorCounts& prior,
                              std::span<const double> labels, std::span<const double> state_prior,
                              Confusion& confusion, const RunContext& context, Result& result) {
  for_worker_blocks(said.workers(), context.threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const std::span<double> pi = confusion.of(w);
      prior.put(w, said.states(), pi);
      said.add_to(w, pi);
      normalize_over_labels(pi, said.states(),
                            [](std::size_t, std::size_t) { return kLeastProbability; });
    }
  });
  report_confusion(labels, prior.histories, confusion, state_prior, context, result);
}

}  // namespace crowdfold
