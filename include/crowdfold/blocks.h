// Blocks: labels by some tasks at a time, wherever they are kept: in memory, or packed in a file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>

#include "crowdfold/labels.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

// Consecutive tasks: a view of labels that lie elsewhere. Tasks go by their numbers in the data set.
class TaskBlock {
 public:
  TaskBlock() = default;
  // The labels of the i-th task lie at offsets[i] up to offsets[i + 1] of `workers` and `classes`.
  // `truths`: by place in the block, kNoClass where not known; or empty. `numbers`: those of the tasks
  // in the data set, by place, where they are not consecutive; or empty.
  TaskBlock(TaskId first, std::span<const std::uint64_t> offsets, const WorkerId* workers,
            const ClassId* classes, std::span<const ClassId> truths = {},
            std::span<const std::int64_t> numbers = {})
      : first_(first),
        offsets_(offsets),
        workers_(workers),
        classes_(classes),
        truths_(truths),
        numbers_(numbers) {}

  TaskId first() const { return first_; }
  TaskId last() const { return first_ + size(); }  // the one behind
  TaskId size() const { return offsets_.empty() ? 0 : static_cast<TaskId>(offsets_.size() - 1); }
  TaskLabels task(TaskId t) const {
    const std::uint64_t begin = offsets_[t - first_];
    const auto count = static_cast<std::size_t>(offsets_[t - first_ + 1] - begin);
    const std::uint64_t number = numbers_.empty() ? t : static_cast<std::uint64_t>(numbers_[t - first_]);
    return {number, {workers_ + begin, count}, {classes_ + begin, count}};
  }
  ClassId truth(TaskId t) const { return t - first_ < truths_.size() ? truths_[t - first_] : kNoClass; }
  bool knows_truths() const { return !truths_.empty(); }
  // Whether it is to be judged.
  bool is_open(TaskId t) const { return truth(t) == kNoClass && task(t).size() > 0; }

 private:
  TaskId first_ = 0;
  std::span<const std::uint64_t> offsets_;
  const WorkerId* workers_ = nullptr;
  const ClassId* classes_ = nullptr;
  std::span<const ClassId> truths_;
  std::span<const std::int64_t> numbers_;
};

// Tasks first up to last - 1. `truths`: of all tasks; those behind its end are not known.
inline TaskBlock block_of(const Labels& labels, TaskId first, TaskId last,
                          std::span<const ClassId> truths = {}) {
  const LabelArrays& arrays = labels.arrays();
  const auto size = static_cast<std::size_t>(last - first);
  truths = truths.subspan(std::min<std::size_t>(first, truths.size()));
  return {first, std::span(arrays.offsets).subspan(first, size + 1), arrays.workers.data(),
          arrays.classes.data(), truths.first(std::min(size, truths.size()))};
}

// Where blocks come from.
class TaskBlocks {
 public:
  virtual ~TaskBlocks() = default;
  virtual std::uint64_t num_tasks() const = 0;
  virtual std::uint64_t num_labels() const = 0;
  // body(block, thread) for all tasks, in no order, on up to so many threads. Tells context.progress how
  // far it is, and stops when cancelled.
  using Body = std::function<void(const TaskBlock& block, int thread)>;
  virtual void for_each(int threads, const char* stage, const RunContext& context,
                        const Body& body) const = 0;
};

// Labels in memory.
class LabelBlocks final : public TaskBlocks {
 public:
  // Both must outlive it. `truths`: by task, or empty.
  explicit LabelBlocks(const Labels& labels, std::span<const ClassId> truths = {})
      : labels_(labels), truths_(truths) {}
  std::uint64_t num_tasks() const override { return labels_.num_tasks(); }
  std::uint64_t num_labels() const override { return labels_.num_labels(); }
  void for_each(int threads, const char* stage, const RunContext& context,
                const Body& body) const override;

 private:
  const Labels& labels_;
  std::span<const ClassId> truths_;
};

}  // namespace crowdfold
