// Whether a table is wide, a row per task and a column per worker, by the values in a glimpse of it: the
// columns of workers share their classes, and agree.
#pragma once

#include <optional>
#include <string>
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
  // One of them that may be no worker, as it may be computed from the others or says one thing only,
  // and why: "the median of the others in 40 of 41 rows where these disagree".
  std::size_t doubtful = kUnknown;
  std::string why_doubtful = {};
};
// `task` is the column of tasks, if it is known. `asked`: the user says that the table is wide.
WideGuess guess_wide(const Glimpse& glimpse, std::size_t task, bool asked);

// The column of people, where there is a row per person and a column per question; kUnknown otherwise.
std::size_t person_of_rows(const Glimpse& glimpse);

}  // namespace crowdfold
