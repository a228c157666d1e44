#include "methods/dirichlet.h"

#include <vector>

#include "base/vector_math.h"

namespace crowdfold {
namespace {

// By set of `size` parameters and state: the sum over components.
std::vector<double> sums_over_components(std::span<const double> values, std::size_t size,
                                         std::size_t states) {
  std::vector<double> sums(values.size() / size * states);
  double* sum = sums.data();
  for (std::size_t set = 0; set < values.size(); set += size, sum += states) {
    for (const double* value = &values[set]; value != &values[set] + size; value += states) {
      for (std::size_t s = 0; s < states; ++s) sum[s] += value[s];
    }
  }
  return sums;
}

}  // namespace

double log_normalizer(std::span<const double> alpha, std::size_t states) {
  std::vector<double> sums = sums_over_components(alpha, alpha.size(), states);
  std::vector<double> terms(alpha.begin(), alpha.end());
  return vector_digamma_and_log_gamma(sums) - vector_digamma_and_log_gamma(terms);
}

double expect_logarithms(std::span<double> nu, std::span<const double> alpha, std::size_t states,
                         double log_normalizer_of_alpha) {
  const std::vector<double> parameters(nu.begin(), nu.end());
  std::vector<double> sums = sums_over_components(nu, alpha.size(), states);
  double divergence = vector_digamma_and_log_gamma(sums) - vector_digamma_and_log_gamma(nu);
  const double* sum = sums.data();
  for (std::size_t set = 0; set < nu.size(); set += alpha.size(), sum += states) {
    divergence -= log_normalizer_of_alpha;
    for (std::size_t i = 0; i < alpha.size(); i += states) {
      for (std::size_t s = 0; s < states; ++s) {
        double& log = nu[set + i + s];
        log -= sum[s];
        divergence += (parameters[set + i + s] - alpha[i + s]) * log;
      }
    }
  }
  return divergence;
}

}  // namespace crowdfold
