// The rule for a worker's second label on a task.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/labels.h"

namespace crowdfold {

// Error(data) under Duplicates::error. A reader that can read its input again adds the place.
class DuplicateLabel : public Error {
 public:
  DuplicateLabel(std::string_view task_name, std::string_view worker_name, Location location = {});

  std::string task;
  std::string worker;
};

// Applies the rule. One per thread.
class Deduplicator {
 public:
  Deduplicator(Duplicates rule, std::size_t num_workers) : rule_(rule), seen_(num_workers) {}

  // Shortens one task's labels in place and returns how many are left.
  // Under Duplicates::error, sets `offender` to the worker and returns at once.
  std::size_t apply(WorkerId* workers, ClassId* classes, std::size_t count);

  // Whether a worker has several of a task's labels.
  bool any(const WorkerId* workers, std::size_t count);

  void grow(std::size_t num_workers) {
    if (num_workers > seen_.size()) seen_.resize(num_workers);
  }

  std::uint64_t duplicates = 0;
  WorkerId offender = kNobody;
  static constexpr WorkerId kNobody = 0xFFFF'FFFF;

 private:
  struct Seen {
    std::uint32_t stamp = 0;
    std::uint32_t position = 0;
  };

  void begin_task();

  Duplicates rule_;
  std::vector<Seen> seen_;  // by worker; stale unless it carries the present stamp
  std::uint32_t stamp_ = 0;
};

// Applies the rule to all tasks: offsets, workers and classes as in LabelArrays. Returns how
// many labels were left out; DuplicateLabel under Duplicates::error.
std::uint64_t drop_duplicates(Duplicates rule, int threads, const NameTable& task_names,
                              const NameTable& worker_names, FlatArray<std::uint64_t>& offsets,
                              FlatArray<WorkerId>& workers, FlatArray<ClassId>& classes);

}  // namespace crowdfold
