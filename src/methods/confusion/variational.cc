#include "methods/confusion/variational.h"

namespace crowdfold {

double learn_confusion(const ExpectedCounts& said, const PriorCounts& prior, Confusion& expected_logs,
                       int threads) {
  const States& states = said.states();
  const std::uint32_t workers = said.labels().num_workers();
  return sum_over_workers(workers, threads, [&](std::size_t first, std::size_t last) {
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

void report_posterior_workers(const ExpectedCounts& said, const PriorCounts& prior,
                              std::span<const double> state_prior, Confusion& confusion,
                              const RunContext& context, Result& result) {
  const Labels& labels = said.labels();
  for_worker_blocks(labels.num_workers(), context.threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const std::span<double> pi = confusion.of(w);
      prior.put(w, said.states(), pi);
      said.add_to(w, pi);
      normalize_over_labels(pi, said.states(),
                            [](std::size_t, std::size_t) { return kLeastProbability; });
    }
  });
  report_workers(labels, prior.given, confusion, state_prior, context, result);
}

}  // namespace crowdfold
