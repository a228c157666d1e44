// Functions over arrays, in place, with the machine's vector instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace crowdfold {

// Values between -700 and 700.
void vector_exp(std::span<double> values);
// These three take normal numbers above 0.
void vector_log(std::span<double> values);
void vector_digamma(std::span<double> values);
void vector_log_gamma(std::span<double> values);
// vector_digamma(); returns the sum of the log-gammas of the old values. Costs little more than one of
// them.
double vector_digamma_and_log_gamma(std::span<double> values);

// Row stride: `numbers` rounded up to whole vectors, or to a fraction of one vector. The functions on
// rows compute on the padding too, so initialise it.
constexpr std::size_t row_width(std::size_t numbers) {
  constexpr std::size_t kWidest = 8;
  if (numbers > kWidest / 2) return (numbers + kWidest - 1) / kWidest * kWidest;
  return numbers > 2 ? kWidest / 2 : numbers;
}

// Of a log-likelihood: sums up to 2^35 fit into 64 bits.
inline constexpr double kEvidenceUnits = 0x1p28;

// Turns rows of logarithms into probabilities above 0 that sum to 1. Overwrites the logarithms.
struct Normalized {
  double log_sums = 0;  // sum over rows of the logarithm of their divisor
  double change = 0;    // the largest difference to the old `probabilities`
};
Normalized normalize_log_rows(std::span<double> logs, std::size_t width,
                              std::span<double> probabilities);
// The same; each row's logarithm is rounded to whole units, whose sum is exact in any order.
struct NormalizedInUnits {
  std::int64_t log_sums = 0;
  double change = 0;
};
NormalizedInUnits normalize_log_rows_in_units(std::span<double> logs, std::size_t width,
                                              std::span<double> probabilities);
// The same as the first, faster for few rows.
void softmax_log_rows(std::span<double> logs, std::size_t width, std::span<double> probabilities);

// Probabilities, rounded to units of 2^-32.
void write_units(std::span<const double> probabilities, std::span<std::uint64_t> units);

// Adds all rows to `sum`, a row of the same width.
void add_up_rows(std::span<const double> rows, std::span<double> sum);

}  // namespace crowdfold
