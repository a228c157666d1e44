#include "methods/threepass/softening.h"

#include <cmath>

#include "methods/rounds/units.h"

namespace crowdfold {
namespace {

// In logarithms: between two values of a grid, and how much the best values of the paper's data sets
// differ.
constexpr double kSoftenStep = .2;
constexpr double kSoftenSpread = .4;
constexpr double kDoubtStep = .5;
constexpr double kDoubtSpread = 1.2;

}  // namespace

double SofteningFit::grid(double middle, double step, std::size_t place) {
  return middle * std::exp(step * (static_cast<double>(place) - static_cast<double>(kMiddle)));
}

// Normal around the default.
std::array<double, SofteningFit::kSize> SofteningFit::log_prior(double spread, double step) {
  std::array<double, kSize> logs{};
  for (std::size_t i = 0; i < kSize; ++i) {
    const double away = std::log(grid(1, step, i));
    logs[i] = -away * away / (2 * spread * spread);
  }
  return logs;
}

// For a value that was set: all on the two places beside it.
std::array<double, SofteningFit::kSize> SofteningFit::log_prior_at(double set, double middle,
                                                                   double step) {
  std::array<double, kSize> logs{};
  const double reach = static_cast<double>(kMiddle) * step;
  const double at = std::clamp(std::log(std::max(set, 1e-9) / middle), -reach, reach);
  for (std::size_t i = 0; i < kSize; ++i)
    logs[i] = std::log(std::max(0.0, 1 - std::abs(std::log(grid(1, step, i)) - at) / step));
  return logs;
}

void SofteningFit::add(std::span<const float> scores, double beta, ClassId truth) {
  const float highest = *std::max_element(scores.begin(), scores.end());
  const auto classes = static_cast<double>(scores.size());
  for (std::size_t i = 0; i < kSize; ++i) {
    const double temperature =
        Softening{.soften = grid(Softening{}.soften, kSoftenStep, i)}.temperature(beta);
    const auto power = [&](float score) {
      return std::exp(temperature * static_cast<double>(score - highest));
    };
    double sum = 0;
    for (const float score : scores) sum += power(score);
    const double share = power(scores[truth]) / sum;
    for (std::size_t j = 0; j < kSize; ++j) {
      const double doubt = grid(Softening{}.doubt, kDoubtStep, j);
      log_likelihood_[i * kSize + j] += std::log(with_doubt(share, doubt, classes));
    }
  }
  ++truths_;
}

void SofteningFit::add_in_units(const SofteningFit& other) {
  for (std::size_t i = 0; i < log_likelihood_.size(); ++i)
    log_likelihood_[i] += in_whole_units(other.log_likelihood_[i]);
  truths_ += other.truths_;
}

Softening SofteningFit::fitted(const Softening& set) const {
  if (truths_ == 0) return set;
  const Softening usual;
  const auto by_soften = set.soften_is_set ? log_prior_at(set.soften, usual.soften, kSoftenStep)
                                           : log_prior(kSoftenSpread, kSoftenStep);
  const auto by_doubt = set.doubt_is_set ? log_prior_at(set.doubt, usual.doubt, kDoubtStep)
                                         : log_prior(kDoubtSpread, kDoubtStep);
  std::array<double, kSize* kSize> logs = log_likelihood_;
  for (std::size_t i = 0; i < logs.size(); ++i) logs[i] += by_soften[i / kSize] + by_doubt[i % kSize];
  const double highest = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  double soften = 0;
  double doubt = 0;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    const double weight = std::exp(logs[i] - highest);
    sum += weight;
    soften += weight * std::log(grid(1, kSoftenStep, i / kSize));
    doubt += weight * std::log(grid(1, kDoubtStep, i % kSize));
  }
  Softening fitted = set;
  if (!set.soften_is_set) fitted.soften *= std::exp(soften / sum);
  if (!set.doubt_is_set) fitted.doubt *= std::exp(doubt / sum);
  return fitted;
}

std::vector<double> SofteningFit::save() const {
  std::vector<double> saved(log_likelihood_.begin(), log_likelihood_.end());
  saved.push_back(truths_);
  return saved;
}

SofteningFit SofteningFit::load(std::span<const double> saved) {
  std::vector<double> all(saved.begin(), saved.end());
  all.resize(kSize * kSize + 1);
  SofteningFit fit;
  std::copy_n(all.begin(), fit.log_likelihood_.size(), fit.log_likelihood_.begin());
  fit.truths_ = all.back();
  return fit;
}

}  // namespace crowdfold
