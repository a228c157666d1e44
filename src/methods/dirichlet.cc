#include "methods/dirichlet.h"

#include <vector>

#include "core/vector_math.h"

namespace crowdfold {
namespace {

// By state: the sum over components.
std::vector<double> sums_over_components(std::span<const double> values, std::size_t states) {
  std::vector<double> sums(states);
  for (std::size_t i = 0; i < values.size(); i += states) {
    for (std::size_t s = 0; s < states; ++s) sums[s] += values[i + s];
  }
  return sums;
}

}  // namespace

double log_normalizer(std::span<const double> alpha, std::size_t states) {
  std::vector<double> sums = sums_over_components(alpha, states);
  std::vector<double> terms(alpha.begin(), alpha.end());
  return vector_digamma_and_log_gamma(sums) - vector_digamma_and_log_gamma(terms);
}

double expect_logarithms(std::span<double> nu, std::span<const double> alpha, std::size_t states,
                         double log_normalizer_of_alpha) {
  const std::vector<double> parameters(nu.begin(), nu.end());
  std::vector<double> sums = sums_over_components(nu, states);
  double divergence = vector_digamma_and_log_gamma(sums) - vector_digamma_and_log_gamma(nu);
  divergence -= log_normalizer_of_alpha;
  for (std::size_t i = 0; i < nu.size(); i += states) {
    for (std::size_t s = 0; s < states; ++s) {
      nu[i + s] -= sums[s];
      divergence += (parameters[i + s] - alpha[i + s]) * nu[i + s];
    }
  }
  return divergence;
}

}  // namespace crowdfold
