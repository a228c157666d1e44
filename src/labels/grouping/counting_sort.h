// Counting sort of labels by task. It keeps the order of a task's labels and costs one write per label.
#pragma once

#include <cstdint>
#include <functional>
#include <numeric>
#include <span>

#include "crowdfold/labels.h"

namespace crowdfold {

// By task, where its labels begin; at the end, the number of all labels.
inline FlatArray<std::uint64_t> begins_of(std::span<const std::uint32_t> sizes) {
  FlatArray<std::uint64_t> begins(sizes.size() + 1, 0);
  std::inclusive_scan(sizes.begin(), sizes.end(), begins.begin() + 1, std::plus<>(), std::uint64_t{0});
  return begins;
}

// Writes labels to their places. next[t] is where the next label of task t goes; at first, where the
// task begins.
template <class Place>
struct LabelPlaces {
  Place* next;
  WorkerId* workers;
  ClassId* classes;

  void write(TaskId task, WorkerId worker, ClassId label) const {
    const Place to = next[task]++;
    workers[to] = worker;
    classes[to] = label;
  }
};

}  // namespace crowdfold
