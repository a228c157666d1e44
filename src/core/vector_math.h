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

// Turns rows of logarithms into probabilities that sum to 1, of which none is 0. Returns the sum over
// rows of the logarithm of what they were divided by.
double normalize_log_rows(std::span<double> rows, std::size_t width);
// The same, and the sums of segments of the rows, by row, then by segment. Segment i ends before column
// ends[i]; the last end is the width.
double normalize_log_rows(std::span<double> rows, std::span<const std::uint32_t> ends,
                          std::span<double> sums);

}  // namespace crowdfold
