#include "crowdfold/worker_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <iterator>
#include <tuple>
#include <utility>

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

namespace {

template <class Number>
void add_up(const std::vector<Number>& from, std::vector<Number>& into) {
  into.resize(std::max(into.size(), from.size()));
  for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

}  // namespace

void ConfusionState::merge(const ConfusionState& other) {
  const auto place = [](const Cell& c) { return std::tuple(c.worker, c.label, c.truth); };
  const std::vector<Cell> ours = std::exchange(cells, {});
  std::merge(ours.begin(), ours.end(), other.cells.begin(), other.cells.end(), std::back_inserter(cells),
             [&](const Cell& a, const Cell& b) { return place(a) < place(b); });
  std::size_t kept = 0;
  for (const Cell& cell : cells) {
    if (kept > 0 && place(cells[kept - 1]) == place(cell))
      cells[kept - 1].count += cell.count;
    else
      cells[kept++] = cell;
  }
  cells.resize(kept);
  add_up(other.history, history);
  add_up(other.class_counts, class_counts);
  add_up(other.held_out, held_out);
}

void WorkerState::merge(const WorkerState& other) {
  other.require_prior(alpha, beta);
  if (!network.empty() || !other.network.empty()) {
    throw Error(ErrorCode::usage,
                "what networks have learned cannot be merged: let one of them learn from all tasks");
  }
  classes = std::max(classes, other.classes);
  // Counts that came without matrices are histories beside those that came with them.
  if (confusion.empty() && !other.confusion.empty()) confusion.history = workers;
  if (!confusion.empty() && other.confusion.empty()) add_up(other.workers, confusion.history);
  add_up(other.workers, workers);
  confusion.merge(other.confusion);
}

}  // namespace crowdfold
