#include "io/column_agreement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace crowdfold {
namespace {

constexpr double kManyRepeats = 10;  // of two groups

double pairs_of(double n) { return n * (n - 1) / 2; }

// Counts of the pairs of values that come together in a row.
std::vector<std::uint32_t> pair_counts(const GlimpseColumn& a, const GlimpseColumn& b,
                                       std::size_t rows) {
  std::vector<std::uint64_t> pairs;
  for (std::size_t row = 0; row < rows; ++row) {
    if (a.ids[row] == GlimpseColumn::kNothing || b.ids[row] == GlimpseColumn::kNothing) continue;
    pairs.push_back(std::uint64_t{a.ids[row]} << 32 | b.ids[row]);
  }
  std::sort(pairs.begin(), pairs.end());
  std::vector<std::uint32_t> counts;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    if (i == 0 || pairs[i] != pairs[i - 1]) counts.push_back(0);
    ++counts.back();
  }
  return counts;
}

}  // namespace

ColumnAgreement agreement_within(const GlimpseColumn& group, const GlimpseColumn& value,
                                 std::size_t rows) {
  std::vector<std::uint32_t> group_sizes(group.distinct());
  std::vector<std::uint32_t> value_sizes(value.distinct());
  for (std::size_t row = 0; row < rows; ++row) {
    if (group.ids[row] == GlimpseColumn::kNothing || value.ids[row] == GlimpseColumn::kNothing) continue;
    ++group_sizes[group.ids[row]];
    ++value_sizes[value.ids[row]];
  }
  double all = 0;
  double within = 0;
  double repeats = 0;  // rows that are not the first of their group
  double large_groups = 0;
  for (const std::uint32_t n : group_sizes) {
    all += n;
    within += pairs_of(n);
    repeats += n > 0 ? n - 1 : 0;
    large_groups += n > 1 ? 1 : 0;
  }
  double same = 0;
  for (const std::uint32_t n : value_sizes) same += pairs_of(n);
  double same_within = 0;
  for (const std::uint32_t n : pair_counts(group, value, rows)) same_within += pairs_of(n);
  if (within == 0 || all < 2) return {};
  const double chance = same / pairs_of(all);
  if (chance >= 1) return {};
  const double share = same_within / within;
  const double deviation = std::sqrt(std::max(chance * (1 - chance), 0.01) / repeats);
  ColumnAgreement agreement;
  agreement.kappa = (share - chance) / (1 - chance);
  agreement.deviations = std::abs(share - chance) / deviation;
  agreement.certainty = std::min(agreement.deviations / 2, 1.0);
  agreement.groups = large_groups;
  agreement.repeats = repeats;
  agreement.complete = same_within == within && (large_groups >= 3 || repeats >= kManyRepeats);
  return agreement;
}

double unique_pairs(const GlimpseColumn& task, const GlimpseColumn& worker, std::size_t rows) {
  const std::vector<std::uint32_t> counts = pair_counts(task, worker, rows);
  double total = 0;
  for (const std::uint32_t n : counts) total += n;
  return total == 0 ? 0 : static_cast<double>(counts.size()) / total;
}

double unevenness(const GlimpseColumn& column) {
  if (column.filled == 0) return 0;
  const double mean = static_cast<double>(column.filled) / static_cast<double>(column.distinct());
  double squares = 0;
  for (const std::uint32_t count : column.counts) squares += (count - mean) * (count - mean);
  return std::sqrt(squares / static_cast<double>(column.distinct())) / mean;
}

GlimpseColumn joined(const GlimpseColumn& a, const GlimpseColumn& b) {
  GlimpseColumn both;
  for (std::size_t row = 0; row < a.ids.size(); ++row) {
    const bool filled = a.ids[row] != GlimpseColumn::kNothing && b.ids[row] != GlimpseColumn::kNothing;
    both.add(filled ? fmt::format("{} {}", a.ids[row], b.ids[row]) : "");
  }
  return both;
}

bool are_bijective(const GlimpseColumn& a, const GlimpseColumn& b) {
  if (a.distinct() != b.distinct()) return false;
  std::vector<std::uint32_t> other(a.distinct(), GlimpseColumn::kNothing);
  for (std::size_t row = 0; row < a.ids.size(); ++row) {
    if ((a.ids[row] == GlimpseColumn::kNothing) != (b.ids[row] == GlimpseColumn::kNothing)) return false;
    if (a.ids[row] == GlimpseColumn::kNothing) continue;
    std::uint32_t& known = other[a.ids[row]];
    if (known == GlimpseColumn::kNothing) known = b.ids[row];
    if (known != b.ids[row]) return false;
  }
  return true;
}

}  // namespace crowdfold
