// Dirichlet posteriors of variational methods. Parameters lie by component, then by state: one Dirichlet
// per state.
#pragma once

#include <span>

namespace crowdfold {

// The logarithms of the normalising constants, log Gamma(sum) - sum log Gamma, summed over states.
double log_normalizer(std::span<const double> alpha, std::size_t states);

// Puts E[log theta] under Dirichlet(nu) in the place of `nu` and returns KL(Dirichlet(nu) ||
// Dirichlet(alpha)), summed over states. `nu` may hold several sets of parameters one after another, all
// with the prior alpha. The last argument is log_normalizer(alpha, states), for callers that have it.
double expect_logarithms(std::span<double> nu, std::span<const double> alpha, std::size_t states,
                         double log_normalizer_of_alpha);
inline double expect_logarithms(std::span<double> nu, std::span<const double> alpha,
                                std::size_t states) {
  return expect_logarithms(nu, alpha, states, log_normalizer(alpha, states));
}

}  // namespace crowdfold
