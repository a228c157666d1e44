#include "methods/one_coin.h"

namespace crowdfold {

void OneCoin::report(const WorkerMajor& by_worker, const RunContext& context, Result& result) const {
  const std::uint32_t classes = labels_.num_classes();
  result.workers.expect(labels_.num_workers(), classes);
  if (context.confusion) result.confusion.resize(quality_.size() * classes * classes);
  for (WorkerId w = 0; w < quality_.size(); ++w) {
    const auto seen = static_cast<double>(by_worker.worker(w).size());
    result.workers.workers[w] = {quality_[w] * seen, seen};
    if (!context.confusion) continue;
    double* const matrix = result.confusion.data() + static_cast<std::size_t>(w) * classes * classes;
    for (std::uint32_t k = 0; k < classes; ++k) {
      for (std::uint32_t l = 0; l < classes; ++l)
        matrix[k * classes + l] = k == l ? quality_[w] : (1 - quality_[w]) / others_;
    }
  }
}

}  // namespace crowdfold
