// When a task is done, and what one label more would bring.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "crowdfold/stream.h"

namespace crowdfold {

// Why a task with so many labels, whose answer is so probable, is to be closed; null if it is not.
inline const char* why_to_close(const StopRule& stop, std::uint64_t labels, double confidence) {
  if (labels == 0) return nullptr;
  if (stop.labels_per_task > 0 && labels >= stop.labels_per_task) return "labels";
  if (stop.confidence > 0 && labels >= stop.min_labels && confidence >= stop.confidence)
    return "confidence";
  if (stop.max_labels > 0 && labels >= stop.max_labels) return "most";
  return nullptr;
}

// What one label more, of a worker like most, brings: the expected rise of the highest probability.
inline double gain_of_a_label(std::span<const double> posterior, double quality) {
  if (posterior.size() < 2) return 0;
  const double wrong = (1 - quality) / static_cast<double>(posterior.size() - 1);
  // The two highest, as a label for a class leaves the best of the others.
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

}  // namespace crowdfold
