// Tasks on their way into Labels, for those who can begin with some while others are not there yet.
#pragma once

#include <cstdint>
#include <span>

#include "crowdfold/labels.h"

namespace crowdfold {

class TasksAhead {
 public:
  virtual ~TasksAhead() = default;

  // The next tasks, in the order of Labels, each with all of its labels: those of task `first + i` begin
  // at ends[i] and end at ends[i + 1] of both arrays. There were that many workers and classes so far.
  struct Tasks {
    TaskId first;
    std::span<const std::uint64_t> ends;
    const WorkerId* workers;
    const ClassId* classes;
    std::uint32_t num_workers;
    std::uint32_t num_classes;
  };
  virtual void take(const Tasks& tasks) = 0;

  // Labels will not be what was taken: a task came back, or a worker labelled one twice. No more comes.
  virtual void withdraw() = 0;
};

}  // namespace crowdfold
