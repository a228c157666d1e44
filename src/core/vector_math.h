// Functions over arrays, in place, with the machine's vector instructions.
#pragma once

#include <span>

namespace crowdfold {

// Values between -700 and 700.
void vector_exp(std::span<double> values);
// These three: values above 0, normal numbers.
void vector_log(std::span<double> values);
void vector_digamma(std::span<double> values);
void vector_log_gamma(std::span<double> values);

}  // namespace crowdfold
