// Whole numbers for sums that are exact in any order.
#pragma once

#include <cmath>

namespace crowdfold {

// A credit of 1 is 2^20 units: sums are exact in 64 bits up to 2^43 tasks, and in double precision up to
// 2^33.
inline constexpr int kUnitBits = 20;
inline constexpr double kUnits = 1 << kUnitBits;
inline double in_whole_units(double value) { return std::round(value * kUnits) / kUnits; }

}  // namespace crowdfold
