// RowGrouper: Labels of rows that have dense ids already.
#pragma once

#include <cstdint>
#include <span>

#include "crowdfold/labels.h"

namespace crowdfold {

// Rows whose tasks, workers and classes are dense ids already, for callers who have names of their own.
// classes[i] is kNoClass where the worker abstained.
struct IdRows {
  std::span<const TaskId> tasks;
  std::span<const WorkerId> workers;
  std::span<const ClassId> classes;

  std::size_t size() const { return tasks.size(); }
};

// Labels of rows that are grouped already: sizes[t] of task t, one after another. `rows` counts the rows
// they come from; duplicates are counted here. There must be names for all ids.
Labels grouped_labels(Duplicates duplicates, std::span<const std::uint32_t> sizes,
                      FlatArray<WorkerId> workers, FlatArray<ClassId> classes, LabelNames names,
                      RowCounts rows, int threads = 1);

// Groups such rows by task. Tasks must be numbered by first appearance; nothing is moved if they come
// one after another.
class RowGrouper {
 public:
  // Rows that are not grouped are either kept, ten bytes each, or must come a second time.
  enum class Rows { once, twice };

  explicit RowGrouper(Duplicates duplicates = Duplicates::last, Rows rows = Rows::once);

  void reserve(std::uint64_t labels);
  // All rows, in order, a piece at a time.
  void add(const IdRows& rows);
  // Whether all of them have to be given once more, by add_again(). Never with Rows::once.
  bool wants_rows_again() const { return !grouped_ && rows_ == Rows::twice; }
  void add_again(const IdRows& rows);

  // With names for all ids. Error(data) for a second label under Duplicates::error.
  Labels build(LabelNames names, int threads = 1);

 private:
  void add_grouped(const IdRows& rows, std::size_t& at);
  void append(const IdRows& rows, bool abstains);
  void add_other(const IdRows& rows, std::size_t at);
  void stop_being_grouped();
  void sort();

  Duplicates rule_;
  Rows rows_;
  bool grouped_ = true;
  std::uint64_t num_rows_ = 0;
  std::uint64_t abstentions_ = 0;
  FlatArray<std::uint32_t> sizes_;  // labels by task
  // Labels: in input order until build(); in their places after stop_being_grouped() of Rows::twice.
  FlatArray<WorkerId> worker_;
  FlatArray<ClassId> class_;
  FlatArray<TaskId> task_;         // by label, for rows that are kept; empty while grouped
  FlatArray<std::uint64_t> next_;  // by task: where its next label goes; while rows come again
};

}  // namespace crowdfold
