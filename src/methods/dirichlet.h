// Dirichlet posteriors of variational methods.
#pragma once

#include <span>

namespace crowdfold {

// `nu` holds the parameters of Dirichlets by component, then by state: one Dirichlet per state. Puts
// E[log theta] in their place and returns KL(Dirichlet(nu) || Dirichlet(alpha)), summed over states.
double expect_logarithms(std::span<double> nu, std::span<const double> alpha, std::size_t states);

}  // namespace crowdfold
