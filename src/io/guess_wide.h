// Whether a table is wide, a row per task and a column per worker, by the values in a glimpse of it: the
// columns of workers share their classes, and agree.
#pragma once

#include <optional>
#include <vector>

#include "io/glimpse.h"

namespace crowdfold {

struct WideColumns {
  std::size_t task = kUnknown;
  std::vector<std::size_t> workers;
};
struct WideGuess {
  std::optional<WideColumns> best;
  bool clear = false;
  bool named = false;  // the columns have names of workers
};
// `task` is the column of tasks, if it is known. `asked`: the user says that the table is wide.
WideGuess guess_wide(const Glimpse& glimpse, std::size_t task, bool asked);

}  // namespace crowdfold
