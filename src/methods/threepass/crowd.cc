#include "methods/threepass/crowd.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/vector_math.h"
#include "methods/spread_history.h"

namespace crowdfold {
namespace {

// The prior accuracy of a crowd, and how many labels it is worth.
constexpr double kPriorAccuracy = .7;
constexpr double kPriorLabels = 20;
constexpr double kLeastChance = 1e-4;  // accuracies stay so far from 0 and 1
constexpr double kLeastError = 1e-6;   // of the crowd, on a class

double clip(double chance) { return std::clamp(chance, kLeastChance, 1 - kLeastChance); }
double odds(double chance) { return chance / (1 - chance); }

}  // namespace

void learn_crowd(const PooledLabels& pooled, double prior_labels, double class_power, bool all_errors,
                 CrowdEffects& crowd, std::span<float> log_prior) {
  const std::span<const double> mass = pooled.counts.class_mass();
  const auto classes = static_cast<std::uint32_t>(mass.size());
  const SpreadHistory before = spread_history(pooled.history, classes);
  // With more classes than the prior has labels, it would have none for most cells.
  prior_labels = std::max(prior_labels, 2.0 * classes);
  const double others = std::max(1.0, classes - 1.0);
  double right = pooled.history.correct + kPriorAccuracy * kPriorLabels;
  const auto end = static_cast<ClassId>(classes);
  for (ClassId k = 0; k < end; ++k) right += pooled.counts.cell(k, k);
  const double accuracy = right / (pooled.history.seen + pooled.labels + kPriorLabels);
  crowd.accuracy = accuracy;
  crowd.symmetric_errors = prior_labels * (1 - accuracy) / others + before.wrong;
  const double tasks = std::accumulate(mass.begin(), mass.end(), 0.0);
  for (ClassId k = 0; k < end; ++k) {
    const double total = pooled.counts.total(k) + before.in_row + prior_labels;
    const double on_class = (pooled.counts.cell(k, k) + before.right + prior_labels * accuracy) / total;
    const double error = std::max(1 - on_class, kLeastError);
    const double log_class = std::log((mass[k] + 1) / (tasks + classes));
    crowd.ease[k] = static_cast<float>(odds(clip(on_class)) / odds(accuracy));
    crowd.error_scale[k] = static_cast<float>(1 / (total * error));
    crowd.correct_right[k] = static_cast<float>(std::log(accuracy / on_class));
    crowd.correct_wrong[k] = static_cast<float>(std::log((1 - accuracy) / error));
    crowd.log_classes[k] = static_cast<float>(log_class);
    log_prior[k] = static_cast<float>(class_power * log_class);
  }
  std::fill(log_prior.begin() + classes, log_prior.end(), kNoChance);
  if (!all_errors) return;
  const std::size_t width = log_prior.size();
  crowd.errors.resize(classes * width);
  for (ClassId l = 0; l < end; ++l) {
    for (ClassId k = 0; k < end; ++k)
      crowd.errors[l * width + k] =
          crowd.error_scale[k] * static_cast<float>(pooled.counts.cell(l, k) + crowd.symmetric_errors);
  }
}

double symmetry_of(double strength, double c0, std::uint32_t classes) {
  return strength / (strength + c0 * classes);
}

double ability_of(const CrowdEffects& crowd, const WorkerCounts& counts, double own) {
  return odds(clip((counts.correct + own * crowd.accuracy) / (counts.seen + own)));
}

double centre_of(const CrowdEffects& crowd, const PooledCounts& pooled, double ability, std::size_t k,
                 std::size_t l) {
  const double wrong = 1 / (1 + ability * static_cast<double>(crowd.ease[k]));
  if (k == l) return 1 - wrong;
  if (!crowd.errors.empty()) return wrong * static_cast<double>(crowd.errors[l * crowd.ease.size() + k]);
  const double cell = pooled.cell(static_cast<ClassId>(l), static_cast<ClassId>(k));
  return wrong * static_cast<double>(crowd.error_scale[k]) * (cell + crowd.symmetric_errors);
}

double log_of_unnamed(double ability, std::uint32_t classes) {
  return -std::log((1 + ability) * std::max(1.0, classes - 1.0));
}

// With many classes, all those that nobody named for the task get the same score. Where most cells have
// next to no prior, psi would call every new error impossible; the logarithm of the mean does not.
void write_sparse_row(const CrowdEffects& crowd, const PooledCounts& pooled,
                      const CreditedCounts& counts, const SparseWorker& worker,
                      std::span<const ClassId> named, ClassId label, std::span<float> row) {
  const auto classes = static_cast<std::uint32_t>(pooled.class_mass().size());
  const SpreadHistory before = spread_history(worker.history, classes);
  const double in_row = before.in_row + worker.strength;
  std::fill(row.begin(), row.end(), static_cast<float>(log_of_unnamed(worker.ability, classes)));
  for (const ClassId k : named) {
    const double prior = worker.strength * centre_of(crowd, pooled, worker.ability, k, label) +
                         (k == label ? before.right : before.wrong);
    const double mean = (std::max(counts.cell(worker.id, label, k), 0.0) + prior) /
                        (std::max(counts.total(worker.id, k), 0.0) + in_row);
    const float correction = k == label ? crowd.correct_right[k] : crowd.correct_wrong[k];
    row[k] = static_cast<float>(std::log(std::max(mean, kLeastCentre)) +
                                crowd.symmetry * static_cast<double>(correction));
  }
}

HeldOut likelihoods_of(const CrowdEffects& crowd, double class_power, std::uint32_t classes,
                       std::span<const float> scores, std::span<const float> mean) {
  constexpr std::size_t kLittleShares = kTemperatures.size();
  constexpr std::size_t kFullShares = kLittleShares + 1;
  std::array<Curve, kFullShares + 1> curves;
  for (std::size_t c = 0; c < kTemperatures.size(); ++c)
    curves[c].beta = static_cast<float>(kTemperatures[c]);
  curves[kLittleShares].power = static_cast<float>(little_power(classes) - class_power);
  curves[kFullShares].power = static_cast<float>(kFullPower - class_power);
  std::array<double, kFullShares + 1> likelihoods{};
  compute_likelihoods(scores.data(), crowd.log_classes.data(), mean.data(), scores.size(), curves,
                      likelihoods.data());
  vector_log(likelihoods);
  HeldOut of_label;
  for (std::size_t i = 0; i < kTemperatures.size(); ++i) of_label.by_temperature[i] = likelihoods[i];
  of_label.little_shares = likelihoods[kLittleShares];
  of_label.full_shares = likelihoods[kFullShares];
  of_label.labels = 1;
  return of_label;
}

void CountedRows::clear() {
  counts_.clear();
  centres_.clear();
  totals_.clear();
}

void CountedRows::add(double count, double centre) {
  counts_.push_back(count);
  centres_.push_back(std::max(centre, kLeastCentre));
}

double CountedRows::log_likelihood(double strength) {
  with_.assign(totals_.size(), strength);
  without_.clear();
  for (const double total : totals_) without_.push_back(total + strength);
  for (std::size_t c = 0; c < counts_.size(); ++c) {
    with_.push_back(counts_[c] + strength * centres_[c]);
    without_.push_back(strength * centres_[c]);
  }
  vector_log_gamma(with_);
  vector_log_gamma(without_);
  return std::accumulate(with_.begin(), with_.end(), 0.0) -
         std::accumulate(without_.begin(), without_.end(), 0.0);
}

}  // namespace crowdfold
