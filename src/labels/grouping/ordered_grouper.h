// OrderedGrouper: runs in input order -> Labels. Appends runs as they come and looks each task up once
// per run. Nothing is moved when the input is grouped by task; otherwise a counting sort at the end.
#pragma once

#include <cstdint>
#include <vector>

#include "crowdfold/labels.h"
#include "labels/grouping/label_block.h"

namespace crowdfold {

class OrderedGrouper {
 public:
  explicit OrderedGrouper(Duplicates duplicates);

  // Makes room, so that arrays need not move while they grow.
  void reserve(std::uint64_t labels, std::uint64_t tasks, std::uint64_t name_bytes);
  void append(const LabelBlock& block);
  // Of memory, at the end, if no more comes.
  std::uint64_t bytes() const;
  Labels finish(int threads);

 private:
  void regroup();

  Duplicates rule_;
  IdMap ids_;
  NameTable tasks_;
  FlatArray<std::uint64_t> offsets_;  // of runs, which are tasks until one comes back
  FlatArray<WorkerId> worker_;
  FlatArray<ClassId> class_;
  std::vector<TaskId> task_of_run_;  // empty until a task comes back
};

}  // namespace crowdfold
