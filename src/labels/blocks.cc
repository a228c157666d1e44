#include "crowdfold/blocks.h"

#include <atomic>

#include "base/parallel.h"

namespace crowdfold {

void LabelBlocks::for_each(int threads, const char* stage, const RunContext& context,
                           const Body& body) const {
  constexpr std::size_t kTasksPerBlock = 1 << 12;
  std::atomic<std::uint64_t> done = 0;
  parallel_ranges(
      threads, labels_.num_tasks(), kTasksPerBlock,
      [&](std::size_t first, std::size_t last, int thread) {
        context.throw_if_cancelled();
        if (thread == 0) context.report(stage, done, labels_.num_tasks());
        body(block_of(labels_, static_cast<TaskId>(first), static_cast<TaskId>(last), truths_), thread);
        done += last - first;
      });
}

}  // namespace crowdfold
