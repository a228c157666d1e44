#include "methods/dirichlet.h"

#include <vector>

#include "core/vector_math.h"

namespace crowdfold {
namespace {

// log of the Dirichlet's normalising constant: log Gamma(sum) - sum log Gamma, over all states.
double log_normalizer(std::span<const double> parameters, std::size_t states) {
  std::vector<double> terms(parameters.begin(), parameters.end());
  std::vector<double> sums(states);
  for (std::size_t i = 0; i < parameters.size(); ++i) sums[i % states] += parameters[i];
  vector_log_gamma(terms);
  vector_log_gamma(sums);
  double total = 0;
  for (const double sum : sums) total += sum;
  for (const double term : terms) total -= term;
  return total;
}

}  // namespace

double expect_logarithms(std::span<double> nu, std::span<const double> alpha, std::size_t states) {
  double divergence = log_normalizer(nu, states) - log_normalizer(alpha, states);
  const std::vector<double> parameters(nu.begin(), nu.end());
  std::vector<double> sums(states);
  for (std::size_t i = 0; i < nu.size(); ++i) sums[i % states] += nu[i];
  vector_digamma(nu);
  vector_digamma(sums);
  for (std::size_t i = 0; i < nu.size(); ++i) {
    nu[i] -= sums[i % states];
    divergence += (parameters[i] - alpha[i]) * nu[i];
  }
  return divergence;
}

}  // namespace crowdfold
