#include "methods/confusion.h"

#include <numeric>

#include "core/vector_math.h"

namespace crowdfold {
void report_workers(const WorkerMajor& by_worker, const Given& given, const Confusion& confusion,
                    std::span<const double> prior, const RunContext& context, Result& result) {
  const std::size_t classes = confusion.labels();
  const std::size_t states = confusion.states();
  const std::size_t subtypes = states / classes;
  const double total = std::accumulate(prior.begin(), prior.end(), 0.0);
  const std::uint32_t workers = by_worker.num_workers();
  result.workers.workers = given.workers;
  result.workers.expect(workers, static_cast<std::uint32_t>(classes));
  if (context.confusion) result.confusion.assign(workers * classes * classes, 0);
  for_worker_blocks(workers, context.threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const std::span<const double> table = confusion.of(w);
      double accuracy = 0;
      for (std::size_t s = 0; s < states; ++s)
        accuracy += prior[s] / total * table[s / subtypes * states + s];
      const auto seen = static_cast<double>(by_worker.worker(w).size());
      result.workers.workers[w] += {std::min(accuracy, 1.0) * seen, seen};
      if (!context.confusion) continue;
      // A class is a mixture of its subtypes.
      double* const to = result.confusion.data() + w * classes * classes;
      for (std::size_t k = 0; k < classes; ++k) {
        const double in_class =
            std::accumulate(prior.begin() + static_cast<std::ptrdiff_t>(k * subtypes),
                            prior.begin() + static_cast<std::ptrdiff_t>((k + 1) * subtypes), 0.0);
        for (std::size_t s = k * subtypes; s < (k + 1) * subtypes; ++s) {
          const double share = in_class > 0 ? prior[s] / in_class : 1.0 / static_cast<double>(subtypes);
          for (std::size_t l = 0; l < classes; ++l) to[k * classes + l] += share * table[l * states + s];
        }
        // What was kept above 0 for its logarithm is 0 again.
        for (std::size_t l = 0; l < classes; ++l) {
          double& probability = to[k * classes + l];
          if (probability < kNothing) probability = 0;
        }
      }
    }
  });
}

void report_learned(const WorkerMajor& by_worker, const Given& given, Confusion log_confusion,
                    std::vector<double> log_prior, const RunContext& context, Result& result) {
  vector_exp(log_prior);
  vector_exp(log_confusion.of(0, by_worker.num_workers()));
  report_workers(by_worker, given, log_confusion, log_prior, context, result);
}

}  // namespace crowdfold
