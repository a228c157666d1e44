// A worker's earlier counts as counts in a confusion matrix: shared evenly by the classes, and the wrong
// labels by the wrong classes.
#pragma once

#include <algorithm>

#include "crowdfold/worker_state.h"

namespace crowdfold {

struct SpreadHistory {
  double right = 0;   // in every cell on the diagonal
  double wrong = 0;   // in every cell beside it
  double in_row = 0;  // together
};

inline SpreadHistory spread(const WorkerCounts& history, std::uint32_t classes) {
  const double k = classes;
  return {history.correct / k, (history.seen - history.correct) / (k * std::max(1.0, k - 1)),
          history.seen / k};
}

}  // namespace crowdfold
