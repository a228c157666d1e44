#include "crowdfold/worker_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>
#include <utility>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

template <class Number>
void append(std::vector<Number>& to, std::span<const Number> from) {
  to.insert(to.end(), from.begin(), from.end());
}

void add_up(std::span<const double> from, std::span<double> into) {
  for (std::size_t i = 0; i < from.size(); ++i) into[i] += from[i];
}

void require_adding(const std::vector<StateSection>& sections) {
  const auto found = std::ranges::find(sections, false, &StateSection::adds);
  if (found == sections.end()) return;
  throw Error(ErrorCode::usage,
              fmt::format("what a {} has learned cannot be merged: let one of them learn from all tasks",
                          found->name));
}

}  // namespace

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

void StateSection::renumber(std::span<const std::uint32_t> workers,
                            std::span<const std::uint32_t> classes) {
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = (axes[i % axes.size()] == Axis::worker ? workers : classes)[keys[i]];
  std::vector<std::size_t> order(rows());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::ranges::lexicographical_compare(key(a), key(b));
  });
  const StateSection before = *this;
  keys.clear();
  values.clear();
  for (const std::size_t i : order) {
    append(keys, before.key(i));
    append(values, before.row(i));
  }
}

void StateSection::merge(const StateSection& other) {
  if (axes != other.axes || width != other.width)
    throw Error(ErrorCode::usage, fmt::format("two states have different kinds of '{}'", name));
  const StateSection ours = *this;
  keys.clear();
  values.clear();
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < ours.rows() || j < other.rows()) {
    const bool has_both = i < ours.rows() && j < other.rows();
    const bool is_same = has_both && std::ranges::equal(ours.key(i), other.key(j));
    const bool is_ours = is_same || j == other.rows() ||
                         (has_both && std::ranges::lexicographical_compare(ours.key(i), other.key(j)));
    append(keys, is_ours ? ours.key(i) : other.key(j));
    append(values, is_ours ? ours.row(i) : other.row(j));
    if (is_same) add_up(other.row(j), std::span(values).last(width));
    i += is_ours ? 1 : 0;
    j += is_same || !is_ours ? 1 : 0;
  }
}

const StateSection* WorkerState::find(std::string_view section) const {
  const auto found = std::ranges::find(sections, section, &StateSection::name);
  return found != sections.end() ? &*found : nullptr;
}

void WorkerState::renumber(std::span<const std::uint32_t> worker_ids,
                           std::span<const std::uint32_t> class_ids) {
  const std::vector<WorkerCounts> before = std::exchange(counts, {});
  for (std::size_t w = 0; w < before.size(); ++w) {
    expect(worker_ids[w] + 1, 0);
    counts[worker_ids[w]] = before[w];
  }
  for (const std::uint32_t id : class_ids) expect(0, id + 1);
  for (StateSection& section : sections) section.renumber(worker_ids, class_ids);
}

void WorkerState::merge(const WorkerState& other) {
  other.require_prior(alpha, beta);
  require_adding(sections);
  require_adding(other.sections);
  for (const StateSection& section : other.sections) {
    const auto ours = std::ranges::find(sections, section.name, &StateSection::name);
    if (ours != sections.end())
      ours->merge(section);
    else
      sections.push_back(section);
  }
  expect(static_cast<std::uint32_t>(other.counts.size()), other.classes);
  for (std::size_t w = 0; w < other.counts.size(); ++w) counts[w] += other.counts[w];
}

}  // namespace crowdfold
