// Runs one method from several random starts and keeps the best.
#pragma once

#include <algorithm>
#include <mutex>
#include <optional>

#include "base/parallel.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

// run(start, context) fits from one start and returns a value with an objective(). Starts run in
// parallel, each on one thread, if memory allows `shared` bytes plus `of_one` for each; otherwise one
// after another, each on all threads.
template <class Fitted, class Run>
Fitted best_of_starts(const char* stage, int starts, std::uint64_t shared, std::uint64_t of_one,
                      const RunContext& context, const Run& run) {
  const int at_once = std::clamp(context.threads, 1, starts);
  const auto held = static_cast<std::uint64_t>(at_once) + 1;  // the best so far is kept
  const bool side_by_side = context.max_memory == 0 || shared + held * of_one <= context.max_memory;
  RunContext of_start = context;
  of_start.progress = nullptr;
  if (side_by_side) of_start.threads = 1;

  std::mutex mutex;
  std::optional<Fitted> best;
  std::size_t best_start = 0;
  std::uint64_t done = 0;
  parallel_for(side_by_side ? at_once : 1, static_cast<std::size_t>(starts),
               [&](std::size_t start, int) {
                 Fitted fitted = run(start, of_start);
                 const std::lock_guard lock(mutex);
                 const bool better = !best || fitted.objective() > best->objective() ||
                                     (fitted.objective() == best->objective() && start < best_start);
                 if (better) {
                   best.emplace(std::move(fitted));
                   best_start = start;
                 }
                 context.report(stage, ++done, static_cast<std::uint64_t>(starts));
               });
  return std::move(*best);
}

}  // namespace crowdfold
