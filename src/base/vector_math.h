// Functions over arrays, in place, with the machine's vector instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace crowdfold {

// Values between -700 and 700.
void vector_exp(std::span<double> values);
// These three: values above 0, normal numbers.
void vector_log(std::span<double> values);
void vector_digamma(std::span<double> values);
void vector_log_gamma(std::span<double> values);
// vector_digamma, and the sum of the logarithms of the gamma function: both for little more than one.
double vector_digamma_and_log_gamma(std::span<double> values);

// Rows of so many numbers that are worked on together lie at this distance: whole vectors, or a share of
// one. What is behind the numbers of a row is worked on as well, so it must have a value.
constexpr std::size_t row_width(std::size_t numbers) {
  constexpr std::size_t kWidest = 8;
  if (numbers > kWidest / 2) return (numbers + kWidest - 1) / kWidest * kWidest;
  return numbers > 2 ? kWidest / 2 : numbers;
}

// Turns rows of logarithms, which are used up, into probabilities that sum to 1, of which none is 0.
struct Normalized {
  double log_sums = 0;  // over rows, of the logarithm of what they were divided by
  double change = 0;    // the largest, of what was in `probabilities` before
};
Normalized normalize_log_rows(std::span<double> logs, std::size_t width,
                              std::span<double> probabilities);
// The same, quicker for few rows.
void softmax_log_rows(std::span<double> logs, std::size_t width, std::span<double> probabilities);

// Adds all rows to `sum`, of the same width.
void add_up_rows(std::span<const double> rows, std::span<double> sum);

}  // namespace crowdfold
