#include "labels/worker_major.h"

#include <algorithm>
#include <vector>

#include "base/parallel.h"

namespace crowdfold {

// A counting sort. Every thread has a range of tasks and, for each worker, a place for the labels of its
// range behind those of the ranges before.
WorkerMajor::WorkerMajor(const Labels& labels, int threads)
    : offsets_(labels.num_workers() + 1ULL), tasks_(labels.num_labels()), classes_(labels.num_labels()) {
  const auto ranges = static_cast<std::size_t>(std::max(1, threads));
  const std::size_t grain = labels.num_tasks() / ranges + 1;
  std::vector<std::vector<std::uint64_t>> place(ranges);
  parallel_ranges(threads, labels.num_tasks(), grain, [&](std::size_t first, std::size_t last, int) {
    std::vector<std::uint64_t>& count = place[first / grain];
    count.assign(labels.num_workers(), 0);
    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
      for (const WorkerId w : labels.task(t).workers) ++count[w];
    }
  });

  std::uint64_t at = 0;
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    offsets_[w] = at;
    for (std::vector<std::uint64_t>& of_range : place) {
      if (of_range.empty()) continue;
      const std::uint64_t count = of_range[w];
      of_range[w] = at;
      at += count;
    }
  }
  offsets_.back() = at;

  parallel_ranges(threads, labels.num_tasks(), grain, [&](std::size_t first, std::size_t last, int) {
    std::vector<std::uint64_t>& next = place[first / grain];
    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
      const TaskLabels task = labels.task(t);
      for (std::size_t j = 0; j < task.size(); ++j) {
        const std::uint64_t to = next[task.workers[j]]++;
        tasks_[to] = t;
        classes_[to] = task.classes[j];
      }
    }
  });
}

}  // namespace crowdfold
