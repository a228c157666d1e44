// A whole table whose rows are grouped by task, as most are: read by several threads, each a range of
// rows, straight to where labels stay.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "crowdfold/columns.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

inline constexpr std::size_t kRowsPerStep = 1 << 12;  // rows on their way at a time: they fit the cache
inline constexpr std::uint64_t kRowsPerReport = 1 << 18;

inline bool any_missing(std::span<const std::uint32_t> ids) {
  std::uint32_t any = 0;
  for (const std::uint32_t id : ids) any |= id == ValueIds::kMissing ? 1U : 0U;  // by vectors
  return any != 0;
}

struct TableIds {
  ValueIds tasks{"tasks", kMaxTasks};
  ValueIds workers{"workers", kMaxWorkers};
  ValueIds classes{"classes", kMaxClasses};

  LabelNames release_names() {
    return {std::move(tasks.names), std::move(workers.names), std::move(classes.names)};
  }
  FirstRows release_first_rows() {
    return {std::move(tasks.first_rows), std::move(workers.first_rows), std::move(classes.first_rows)};
  }
};

// The labels, the same for any number of threads. Nothing if a task comes back after others, a worker
// abstains, or a row is at fault: then rows have to be read one after another. Columns must be of one
// length and not bound to a thread.
std::optional<ColumnLabels> read_grouped(const LabelColumns& columns, Duplicates duplicates,
                                         const RunContext& context);

}  // namespace crowdfold
