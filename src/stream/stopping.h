// When a task has enough labels, and what one more would bring.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "crowdfold/stream.h"

namespace crowdfold {

// Why a task with `labels` labels and an answer of this certainty closes; null if it stays open.
inline const char* why_to_close(const StopRule& stop, std::uint64_t labels, double certainty) {
  if (labels == 0) return nullptr;
  if (stop.labels_per_task > 0 && labels >= stop.labels_per_task) return "labels";
  if (stop.confidence > 0 && labels >= stop.min_labels && certainty >= stop.confidence)
    return "confidence";
  if (stop.max_labels > 0 && labels >= stop.max_labels) return "max_labels";
  return nullptr;
}

// How much one more label, of a worker of this quality, is expected to raise the highest probability.
inline double gain_of_a_label(std::span<const double> posterior, double quality) {
  if (posterior.size() < 2) return 0;
  const double wrong = (1 - quality) / static_cast<double>(posterior.size() - 1);
  // The two highest: after a label for the first, the second is the best of the others.
  double first = 0;
  double second = 0;
  for (const double p : posterior) {
    second = std::max(second, std::min(first, p));
    first = std::max(first, p);
  }
  double expected = 0;
  bool first_met = false;
  for (const double p : posterior) {
    const bool is_first = !first_met && p == first;
    first_met |= is_first;
    expected += std::max(p * quality, (is_first ? second : first) * wrong);
  }
  return expected - first;
}

// The same for a worker who gives `label` on a task of class `truth` with probability chance(truth,
// label). Of many classes, the most probable ones are looked at; any label but theirs tells one thing.
template <class Chance>
double gain_of_a_label(std::span<const double> posterior, const Chance& chance) {
  constexpr std::size_t kMostClasses = 16;
  std::vector<ClassId> classes(posterior.size());
  std::iota(classes.begin(), classes.end(), ClassId{0});
  const auto looked_at =
      classes.begin() + static_cast<std::ptrdiff_t>(std::min(classes.size(), kMostClasses));
  std::partial_sort(classes.begin(), looked_at, classes.end(), [&](ClassId a, ClassId b) {
    return posterior[a] != posterior[b] ? posterior[a] > posterior[b] : a < b;
  });
  const bool are_all = looked_at == classes.end();
  classes.erase(looked_at, classes.end());
  if (classes.size() < 2) return 0;
  double expected = 0;
  std::vector<double> others(classes.size(), 1);  // of a label that is none of them, by truth
  for (const ClassId label : classes) {
    double most = 0;
    for (std::size_t i = 0; i < classes.size(); ++i) {
      const double both = chance(classes[i], label);
      others[i] -= both;
      most = std::max(most, posterior[classes[i]] * both);
    }
    expected += most;
  }
  double most = 0;
  for (std::size_t i = 0; i < classes.size() && !are_all; ++i)
    most = std::max(most, posterior[classes[i]] * std::max(0.0, others[i]));
  return std::max(0.0, expected + most - posterior[classes.front()]);
}

}  // namespace crowdfold
