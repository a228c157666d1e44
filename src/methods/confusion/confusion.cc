#include "methods/confusion/confusion.h"

#include <numeric>

#include "base/vector_math.h"

namespace crowdfold {

void report_confusion(std::span<const double> labels, std::span<const WorkerCounts> histories,
                      const Confusion& confusion, std::span<const double> prior,
                      const RunContext& context, Result& result) {
  const std::size_t classes = confusion.labels();
  const States& states = confusion.states();
  const double total = std::accumulate(prior.begin(), prior.end(), 0.0);
  const auto workers = static_cast<std::uint32_t>(labels.size());
  result.learned.counts.assign(histories.begin(), histories.end());
  result.learned.expect(workers, static_cast<std::uint32_t>(classes));
  if (context.confusion) result.confusion.assign(workers * classes * classes, 0);
  for_worker_blocks(workers, context.threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const std::span<const double> table = confusion.of(w);
      double accuracy = 0;
      for (std::size_t s = 0; s < states.size(); ++s)
        accuracy += prior[s] / total * table[states.class_of(s) * states.width() + s];
      result.learned.counts[w] += {std::min(accuracy, 1.0) * labels[w], labels[w]};
      if (!context.confusion) continue;
      // A class is a mixture of its subtypes.
      double* const to = result.confusion.data() + w * classes * classes;
      std::size_t s = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const std::span<const double> in_class = prior.subspan(s, states.ends()[k] - s);
        const double all = std::accumulate(in_class.begin(), in_class.end(), 0.0);
        for (; s < states.ends()[k]; ++s) {
          const double share = all > 0 ? prior[s] / all : 1.0 / static_cast<double>(in_class.size());
          for (std::size_t l = 0; l < classes; ++l)
            to[k * classes + l] += share * table[l * states.width() + s];
        }
        // Numbers that were kept above 0 for their logarithm become 0 again.
        for (std::size_t l = 0; l < classes; ++l) {
          double& probability = to[k * classes + l];
          if (probability < kNothing) probability = 0;
        }
      }
    }
  });
}

void report_learned(std::span<const double> labels, std::span<const WorkerCounts> histories,
                    Confusion log_confusion, std::vector<double> log_prior, const RunContext& context,
                    Result& result) {
  vector_exp(log_prior);
  vector_exp(log_confusion.of(0, labels.size()));
  report_confusion(labels, histories, log_confusion, log_prior, context, result);
}

}  // namespace crowdfold
