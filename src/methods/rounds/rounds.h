// Rounds: with what is known of the crowd now, judge every task alone; add up what the judgements say of
// the crowd; know more; repeat. A method of this shape gives the same bytes however its tasks are split
// into blocks, and whoever judges which block in what order.
//
//   Model     what is known before a round. Nothing changes it while the round lasts.
//   Summary   what tasks say of the crowd, under a model. Summaries add, and a new one says nothing.
//             All of their numbers are whole multiples of kUnit, so that sums are exact in any order.
//
//   Model::nothing()              a new Summary
//   Model::judge(block, summary)  adds what the block's tasks say; const, so blocks go side by side
//   Model::learn(summary)         what is known before the next round
//   Model::is_done()              nothing more is to be learned
//   Model::stage()                the round's name, for progress
//   Model::summaries_at_once()    so many that they do not fill the memory
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "crowdfold/method.h"

namespace crowdfold {

// A credit of 1 is 2^20 units: sums are exact in 64 bits up to 2^43 tasks, and in double precision up to
// 2^33.
inline constexpr int kUnitBits = 20;
inline constexpr double kUnits = 1 << kUnitBits;
inline double in_whole_units(double value) { return std::round(value * kUnits) / kUnits; }

// Consecutive tasks, and what is known of them besides their labels.
class Block {
 public:
  Block(const Labels& labels, const Knowledge& given, TaskId first, TaskId last)
      : labels_(labels), given_(given), first_(first), last_(last) {}

  TaskId first() const { return first_; }
  TaskId last() const { return last_; }
  TaskLabels task(TaskId t) const { return labels_.task(t); }
  ClassId truth(TaskId t) const { return given_.truth(t); }
  bool is_open(TaskId t) const { return truth(t) == kNoClass && task(t).size() > 0; }

 private:
  const Labels& labels_;
  const Knowledge& given_;
  TaskId first_;
  TaskId last_;
};

// body(block, thread) for all tasks, a block at a time. Tells how far it is, and stops when cancelled.
template <class Body>
void for_blocks(const Labels& labels, const Knowledge& given, int threads, const RunContext& context,
                const char* stage, const Body& body) {
  constexpr std::size_t kTasksPerBlock = 1 << 12;
  std::atomic<std::uint64_t> done = 0;
  parallel_ranges(
      threads, labels.num_tasks(), kTasksPerBlock, [&](std::size_t first, std::size_t last, int thread) {
        context.throw_if_cancelled();
        if (thread == 0) context.report(stage, done, labels.num_tasks());
        body(Block(labels, given, static_cast<TaskId>(first), static_cast<TaskId>(last)), thread);
        done += last - first;
      });
}

// What all tasks say. Each thread adds up the blocks that it happens to judge.
template <class Model>
typename Model::Summary sum_of_round(const Model& model, const Labels& labels, const Knowledge& given,
                                     const RunContext& context) {
  const int threads = std::clamp(context.threads, 1, model.summaries_at_once());
  std::vector<typename Model::Summary> sums;
  for (int thread = 0; thread < threads; ++thread) sums.push_back(model.nothing());
  for_blocks(labels, given, threads, context, model.stage(), [&](const Block& block, int thread) {
    model.judge(block, sums[static_cast<std::size_t>(thread)]);
  });
  for (std::size_t i = 1; i < sums.size(); ++i) sums[0].add(sums[i]);
  return std::move(sums[0]);
}

// Round after round, until nothing more is to be learned.
template <class Model>
void run_rounds(Model& model, const Labels& labels, const Knowledge& given, const RunContext& context) {
  while (!model.is_done()) model.learn(sum_of_round(model, labels, given, context), context.threads);
}

}  // namespace crowdfold
