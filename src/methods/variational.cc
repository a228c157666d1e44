#include "methods/variational.h"

namespace crowdfold {

double learn_confusion(const WorkerMajor& by_worker, const PriorCounts& prior, const Posteriors& q,
                       Confusion& expected_logs, int threads) {
  return sum_over_workers(by_worker.num_workers(), threads, [&](std::size_t first, std::size_t last) {
    std::vector<double> before(expected_logs.size());
    double divergence = 0;
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      prior.put(w, before);
      const std::span<double> nu = expected_logs.of(w);
      std::copy(before.begin(), before.end(), nu.begin());
      add_expected_counts(by_worker.worker(w), q, nu);
      divergence += expect_logarithms(nu, before, q.states());
    }
    return divergence;
  });
}

void report_posterior_workers(const WorkerMajor& by_worker, const PriorCounts& prior,
                              const Posteriors& q, Confusion& confusion, const RunContext& context,
                              Result& result) {
  for_worker_blocks(by_worker.num_workers(), context.threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const std::span<double> pi = confusion.of(w);
      prior.put(w, pi);
      add_expected_counts(by_worker.worker(w), q, pi);
      normalize_over_labels(pi, q.states(), [](std::size_t, std::size_t) { return kLeastProbability; });
    }
  });
  report_workers(by_worker, prior.given, confusion, q.totals(context.threads), context, result);
}

}  // namespace crowdfold
