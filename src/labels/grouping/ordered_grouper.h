// OrderedGrouper: runs in input order -> Labels. Appends runs as they come and looks each task up once
// per run, but for files that are sorted by task. Nothing is moved when the input is grouped by task;
// otherwise a counting sort at the end.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "crowdfold/labels.h"
#include "labels/duplicates.h"
#include "labels/grouping/label_block.h"
#include "labels/grouping/tasks_ahead.h"

namespace crowdfold {

// Whether names ascend, one after another: as texts, or as numbers, shorter ones first. Then none comes
// back.
class Ascent {
 public:
  bool holds() const { return by_text_ || by_number_; }
  void add(std::string_view last, std::string_view name) {
    const bool after = name > last;
    by_text_ = by_text_ && after;
    by_number_ = by_number_ && (name.size() == last.size() ? after : name.size() > last.size());
  }

 private:
  bool by_text_ = true;
  bool by_number_ = true;
};

class OrderedGrouper {
 public:
  // `ahead`, or null, takes tasks as soon as the next one has begun.
  explicit OrderedGrouper(Duplicates duplicates, TasksAhead* ahead = nullptr);

  // Makes room, so that arrays need not move while they grow.
  void reserve(std::uint64_t labels, std::uint64_t tasks, std::uint64_t name_bytes);
  void append(const LabelBlock& block);
  // Of memory, at the end, if no more comes.
  std::uint64_t bytes() const;
  Labels finish(int threads);

 private:
  TaskId intern_task(std::string_view name, std::uint64_t hash);
  void give_ahead(std::size_t whole_tasks);
  void regroup();

  Duplicates rule_;
  IdMap ids_;
  NameTable tasks_;
  Ascent ascent_;                     // of their names
  FlatArray<std::uint64_t> offsets_;  // of runs, which are tasks until one comes back
  FlatArray<WorkerId> worker_;
  FlatArray<ClassId> class_;
  std::vector<TaskId> task_of_run_;  // empty until a task comes back
  TasksAhead* ahead_;                // null once it was told that tasks change
  Deduplicator repeats_;             // of the tasks that are given ahead
  std::size_t given_ = 0;            // how many of them
};

}  // namespace crowdfold
