// Labels: everything a crowd said, grouped by task. Immutable: threads may share one.
// LabelsBuilder makes one from rows in any order.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "crowdfold/flat_array.h"
#include "crowdfold/names.h"

namespace crowdfold {

using TaskId = std::uint32_t;
using WorkerId = std::uint32_t;
using ClassId = std::uint16_t;  // two bytes: labels are what memory is spent on

inline constexpr ClassId kNoClass = 0xFFFF;  // no estimate, no truth
inline constexpr std::uint64_t kMaxTasks = 0xFFFF'FFFE;
inline constexpr std::uint64_t kMaxWorkers = 0xFFFF'FFFE;
inline constexpr std::uint64_t kMaxClasses = 0xFFFE;

// One task's labels: workers[j] said classes[j]. `index` is the task's number in its data
// set or stream; methods use it for nothing but seeded choices.
struct TaskLabels {
  std::uint64_t index = 0;
  std::span<const WorkerId> workers;
  std::span<const ClassId> classes;

  std::size_t size() const { return workers.size(); }
};

// What to do with a worker's second label on the same task.
enum class Duplicates { last, first, error, keep };

// What the input held beside labels that count.
struct RowCounts {
  std::uint64_t read = 0;         // rows that were understood
  std::uint64_t abstentions = 0;  // rows without a label
  std::uint64_t duplicates = 0;   // second and further labels of a worker on a task
  std::uint64_t skipped = 0;      // malformed rows that the caller chose to skip

  bool operator==(const RowCounts&) const = default;
};

// What ids stand for, each table in order of first appearance.
struct LabelNames {
  NameTable tasks{"tasks", kMaxTasks};
  NameTable workers{"workers", kMaxWorkers};
  NameTable classes{"classes", kMaxClasses};
};

// The labels of task t lie at offsets[t] up to offsets[t + 1] of workers and classes.
struct LabelArrays {
  FlatArray<std::uint64_t> offsets = FlatArray<std::uint64_t>(1, 0);
  FlatArray<WorkerId> workers;
  FlatArray<ClassId> classes;
};

class Labels {
 public:
  Labels() = default;  // no tasks
  // There must be a name for every id, and an offset more than there are tasks. Tasks may all be without
  // names, where somebody else keeps these. Error(data) for a name that holds a NUL character.
  Labels(LabelNames names, LabelArrays arrays, const RowCounts& rows);

  TaskId num_tasks() const { return static_cast<TaskId>(arrays_.offsets.size() - 1); }
  WorkerId num_workers() const { return names_.workers.size(); }
  std::uint32_t num_classes() const { return names_.classes.size(); }
  std::uint64_t num_labels() const { return arrays_.offsets.back(); }

  TaskLabels task(TaskId t) const {
    const std::uint64_t begin = arrays_.offsets[t];
    const auto count = static_cast<std::size_t>(arrays_.offsets[t + 1] - begin);
    return {t, {arrays_.workers.data() + begin, count}, {arrays_.classes.data() + begin, count}};
  }

  const LabelArrays& arrays() const { return arrays_; }

  const NameTable& tasks() const { return names_.tasks; }
  const NameTable& workers() const { return names_.workers; }
  const NameTable& classes() const { return names_.classes; }
  const RowCounts& rows() const { return rows_; }

  // The same labels with workers or classes added that no label names: the tables begin with the present
  // names. Or with another number of skipped rows, which the grouping does not see.
  Labels with_workers(NameTable workers) &&;
  Labels with_classes(NameTable classes) &&;
  Labels with_skipped_rows(std::uint64_t skipped) &&;
  // The same labels with the present class order[c] as class c: `order` holds every class once.
  Labels with_class_order(std::span<const ClassId> order) &&;

 private:
  LabelNames names_;
  LabelArrays arrays_;
  RowCounts rows_;
};

// Without rows that say again what the same worker said of the same task; rows that contradict stay. For
// labels that were read with Duplicates::keep.
Labels drop_exact_duplicates(const Labels& labels);
// Of a worker's labels on a task only the last: what Duplicates::last would have kept.
Labels keep_last_labels(const Labels& labels);

// Takes rows in any order; groups them by task in time linear in their number.
class LabelsBuilder {
 public:
  explicit LabelsBuilder(Duplicates duplicates = Duplicates::last);
  ~LabelsBuilder();
  LabelsBuilder(LabelsBuilder&&) noexcept;
  LabelsBuilder& operator=(LabelsBuilder&&) noexcept;

  // An empty label is an abstention. Throws Error(data) for a second label under Duplicates::error.
  void add(std::string_view task, std::string_view worker, std::string_view label);

  // The grouped labels; the builder is empty afterwards.
  Labels build();

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace crowdfold
