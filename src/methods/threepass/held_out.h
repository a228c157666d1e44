// How likely held-out labels were, as sums of logarithms, and the choices that follow. No truth is used.
#pragma once

#include <array>
#include <span>
#include <vector>

namespace crowdfold {

inline constexpr std::array kTemperatures = {.05, .1, .2, .35, .5, .7, 1., 1.4, 2.};

struct HeldOut {
  std::array<double, kTemperatures.size()> by_temperature{};
  double little_shares = 0;  // at temperature 1, had class shares counted little
  double full_shares = 0;    // and had they counted in full
  double labels = 0;

  HeldOut& operator+=(const HeldOut& other);

  // Whether full class shares make a label likelier by `margin` nats, and not by chance.
  bool favours_full_shares(double margin) const;
  double best_temperature() const;

  // For a state. Numbers missing in `saved` are 0.
  std::vector<double> save() const;
  static HeldOut load(std::span<const double> saved);
};

}  // namespace crowdfold
