// Where a curve is highest, if its height is known, or can be computed, at some places.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace crowdfold {

// The top of the parabola through the highest point and the two beside it, in logarithms of places.
template <std::size_t kSize>
double peak(const std::array<double, kSize>& places, const std::array<double, kSize>& heights) {
  const auto best =
      static_cast<std::size_t>(std::max_element(heights.begin(), heights.end()) - heights.begin());
  if (best == 0 || best + 1 == kSize) return places[best];
  const double left = std::log(places[best - 1] / places[best]);
  const double right = std::log(places[best + 1] / places[best]);
  const double down_left = heights[best - 1] - heights[best];
  const double down_right = heights[best + 1] - heights[best];
  const double curvature = down_left * right - down_right * left;
  if (curvature == 0) return places[best];
  const double off = (down_left * right * right - down_right * left * left) / (2 * curvature);
  return places[best] * std::exp(std::clamp(off, left, right));
}

// The same for a curve with one top and costly heights: starts at the place `near` and computes few.
template <std::size_t kSize, class Height>
double climb(const std::array<double, kSize>& places, double near, const Height& height) {
  std::array<double, kSize> heights;
  heights.fill(-std::numeric_limits<double>::infinity());
  const auto at = [&](std::size_t i) {
    if (std::isinf(heights[i])) heights[i] = height(places[i]);
    return heights[i];
  };
  std::size_t best = 0;
  while (best + 1 < kSize && places[best + 1] <= near) ++best;
  at(best);
  while (best + 1 < kSize && at(best + 1) > at(best)) ++best;
  while (best > 0 && at(best - 1) > at(best)) --best;
  return peak(places, heights);
}

}  // namespace crowdfold
