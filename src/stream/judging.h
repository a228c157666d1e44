// How a live stream judges a task, and when a task is done.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

#include "crowdfold/stream.h"
#include "methods/vote.h"

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

// The one-coin posterior (see methods/vote.h), with the means of Beta posteriors as qualities. `labels`
// have a worker and a label each; counts_of(worker) are counts. The answer is the most probable of
// the classes that were named; of several, the lowest.
template <class Labels, class CountsOf>
Estimate judge_by_qualities(const Labels& labels, std::uint32_t classes, double alpha, double beta,
                            const CountsOf& counts_of, std::span<double> posterior) {
  const double others = std::max(1.0, classes - 1.0);
  return with_ballot(std::max(classes, 1U), labels.size(), [&](auto& ballot) {
    for (const auto& one : labels) {
      const WorkerCounts& counts = counts_of(one.worker);
      const double right = (counts.correct + alpha) * others;
      const double wrong = counts.seen - counts.correct + beta;
      ballot.add(one.label, std::log(right / wrong), right, wrong);
    }
    return outcome(ballot, TieRule{}, posterior);
  });
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
