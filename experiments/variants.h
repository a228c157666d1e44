// Variants of threepass, to see whether they are better.
#pragma once

#include <string>

#include "crowdfold/method.h"

namespace crowdfold {

// `variant` is one of
//   plain        threepass itself, by the slower code of the variants
//   discount     workers who are wrong together with others more often than most count for less
//   prior        class shares count to the power with which held-out labels are likeliest
//   difficulty   every task has a temperature of its own, by its own held-out labels
// Tasks are in an order drawn by the seed.
Result fit_variant(const std::string& variant, const Labels& labels, const RunContext& context);

}  // namespace crowdfold
