// Labels: everything a crowd said, grouped by task. Immutable and safe to share between
// threads. LabelsBuilder makes one from rows in any order.
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

class Labels {
 public:
  Labels();

  TaskId num_tasks() const { return static_cast<TaskId>(offsets_.size() - 1); }
  WorkerId num_workers() const { return workers.size(); }
  std::uint32_t num_classes() const { return classes.size(); }
  std::uint64_t num_labels() const { return offsets_.back(); }

  TaskLabels task(TaskId t) const {
    const std::uint64_t begin = offsets_[t];
    const auto count = static_cast<std::size_t>(offsets_[t + 1] - begin);
    return {t, {worker_.data() + begin, count}, {class_.data() + begin, count}};
  }

  // Names, in order of first appearance.
  NameTable tasks;
  NameTable workers;
  NameTable classes;

  // What the input held beside labels that count.
  std::uint64_t rows = 0;          // rows that were read and understood
  std::uint64_t abstentions = 0;   // rows without a label
  std::uint64_t duplicates = 0;    // second and further labels of a worker on a task
  std::uint64_t skipped_rows = 0;  // malformed rows that the caller chose to skip

  // The flat arrays, from whoever grouped them. offsets has one entry more than there are tasks.
  void adopt(FlatArray<std::uint64_t> offsets, FlatArray<WorkerId> workers_of_labels,
             FlatArray<ClassId> classes_of_labels);

 private:
  FlatArray<std::uint64_t> offsets_;
  FlatArray<WorkerId> worker_;
  FlatArray<ClassId> class_;
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
