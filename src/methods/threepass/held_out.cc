#include "methods/threepass/held_out.h"

#include <algorithm>
#include <cmath>

#include "methods/threepass/peak.h"

namespace crowdfold {

HeldOut& HeldOut::operator+=(const HeldOut& other) {
  for (std::size_t i = 0; i < by_temperature.size(); ++i) by_temperature[i] += other.by_temperature[i];
  little_shares += other.little_shares;
  full_shares += other.full_shares;
  labels += other.labels;
  return *this;
}

bool HeldOut::favours_full_shares(double margin) const {
  constexpr double kByChance = 3;  // nats: a factor of twenty
  return full_shares - little_shares > std::max(kByChance, margin * labels);
}

double HeldOut::best_temperature() const {
  // Before anything was held out, log beta is believed to be 0, give or take one.
  constexpr double kSpread = 1;
  auto heights = by_temperature;
  for (std::size_t i = 0; i < heights.size(); ++i)
    heights[i] -= std::pow(std::log(kTemperatures[i]) / kSpread, 2) / 2;
  return peak(kTemperatures, heights);
}

std::vector<double> HeldOut::save() const {
  std::vector<double> saved(by_temperature.begin(), by_temperature.end());
  saved.insert(saved.end(), {little_shares, full_shares, labels});
  return saved;
}

HeldOut HeldOut::load(std::span<const double> saved) {
  constexpr std::size_t kOthers = kTemperatures.size();
  std::vector<double> all(saved.begin(), saved.end());
  all.resize(kOthers + 3);
  HeldOut held_out;
  std::copy_n(all.begin(), kOthers, held_out.by_temperature.begin());
  held_out.little_shares = all[kOthers];
  held_out.full_shares = all[kOthers + 1];
  held_out.labels = all[kOthers + 2];
  return held_out;
}

}  // namespace crowdfold
