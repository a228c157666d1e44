// Labels that a worker gave before, as counts in a confusion matrix.
#pragma once

#include <algorithm>
#include <cstdint>

#include "crowdfold/worker_state.h"

namespace crowdfold {

// The classes share a history evenly; a class's wrong labels are shared evenly by the other classes.
struct SpreadHistory {
  double right = 0;   // in each cell of the diagonal
  double wrong = 0;   // in each other cell
  double in_row = 0;  // sum over a row
};

inline SpreadHistory spread_history(const WorkerCounts& history, std::uint32_t classes) {
  const double k = classes;
  return {history.correct / k, (history.seen - history.correct) / (k * std::max(1.0, k - 1)),
          history.seen / k};
}

}  // namespace crowdfold
