// WorkerMajor: the same labels as Labels, worker by worker. With both orders at hand, a method reads
// tasks to judge them and workers to learn about them, and each of the two loops runs in parallel
// without a lock.
#pragma once

#include <span>

#include "crowdfold/labels.h"

namespace crowdfold {

// One worker's labels, in the order of the tasks: classes[j] on tasks[j].
struct WorkerLabels {
  std::span<const TaskId> tasks;
  std::span<const ClassId> classes;

  std::size_t size() const { return tasks.size(); }
};

class WorkerMajor {
 public:
  WorkerMajor(const Labels& labels, int threads);

  std::uint32_t num_workers() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  WorkerLabels worker(WorkerId w) const {
    const std::uint64_t begin = offsets_[w];
    const auto count = static_cast<std::size_t>(offsets_[w + 1ULL] - begin);
    return {{tasks_.data() + begin, count}, {classes_.data() + begin, count}};
  }

  static std::uint64_t bytes(const Labels& labels) {
    return labels.num_labels() * (sizeof(TaskId) + sizeof(ClassId)) + labels.num_workers() * 8ULL;
  }

 private:
  FlatArray<std::uint64_t> offsets_;
  FlatArray<TaskId> tasks_;
  FlatArray<ClassId> classes_;
};

}  // namespace crowdfold
