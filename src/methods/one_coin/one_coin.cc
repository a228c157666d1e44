#include "methods/one_coin/one_coin.h"

namespace crowdfold {

void report_qualities(const Labels& labels, std::span<const double> quality, const RunContext& context,
                      Result& result) {
  const std::uint32_t classes = labels.num_classes();
  const std::vector<double> seen = numbers_of_labels(labels);
  const double others = std::max(1.0, classes - 1.0);
  const auto workers = static_cast<std::uint32_t>(quality.size());
  result.learned.expect(workers, classes);
  if (context.confusion) result.confusion.resize(quality.size() * classes * classes);
  for (WorkerId w = 0; w < workers; ++w) {
    result.learned.counts[w] = {quality[w] * seen[w], seen[w]};
    if (!context.confusion) continue;
    double* const matrix = result.confusion.data() + static_cast<std::size_t>(w) * classes * classes;
    for (std::uint32_t k = 0; k < classes; ++k) {
      for (std::uint32_t l = 0; l < classes; ++l)
        matrix[k * classes + l] = k == l ? quality[w] : (1 - quality[w]) / others;
    }
  }
}

}  // namespace crowdfold
