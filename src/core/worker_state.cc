#include "crowdfold/worker_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "crowdfold/error.h"

namespace crowdfold {

double BetaQuality::mode() const {
  const double total = alpha + beta - 2;
  return total > 0 ? (alpha - 1) / total : 0.5;
}

Interval BetaQuality::credible_interval(double probability) const {
  const double tail = (1 - probability) / 2;
  return {boost::math::ibeta_inv(alpha, beta, tail), boost::math::ibetac_inv(alpha, beta, tail)};
}

Interval error_bound(double estimate, double seen, double epsilon) {
  if (seen <= 0) return {0, 1};
  const double reach = epsilon / std::sqrt(seen);
  return {std::max(0.0, estimate - reach), std::min(1.0, estimate + reach)};
}

void WorkerState::require_prior(double prior_alpha, double prior_beta) const {
  if (alpha == prior_alpha && beta == prior_beta) return;
  throw Error(ErrorCode::usage,
              fmt::format("the worker state was made with the prior Beta({}, {}), not Beta({}, {})",
                          alpha, beta, prior_alpha, prior_beta));
}

void WorkerState::merge(const WorkerState& other) {
  other.require_prior(alpha, beta);
  classes = std::max(classes, other.classes);
  workers.resize(std::max(workers.size(), other.workers.size()));
  for (std::size_t w = 0; w < other.workers.size(); ++w) workers[w] += other.workers[w];
}

}  // namespace crowdfold
