// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "methods/confusion/confusion_rows.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "methods/confusion/confusion_rows.h"

#include "base/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {

// Where in a table the row of a label begins.
struct RowOf {
  std::size_t classes;
  std::size_t width;
  std::size_t distance = width;  // from one row to the next
  HWY_INLINE std::size_t operator()(const TaskLabels& task, std::size_t j) const {
    return (task.workers[j] * classes + task.classes[j]) * distance;
  }
};

// kVectors of a row, from its i-th number on: their additions overlap, and a task's labels are gone
// through once.
template <std::size_t kVectors, class D>
HWY_INLINE void add_up_part(D d, const TaskLabels& task, const RowOf& row_of, std::size_t i,
                            const double* start, const double* table, double* row) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::LoadU(d, start + i + v * lanes);
  for (std::size_t j = 0; j < task.size(); ++j) {
    const double* const add = table + row_of(task, j) + i;
    for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::Add(sum[v], hn::LoadU(d, add + v * lanes));
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, row + i + v * lanes);
}

template <class D>
HWY_INLINE void add_up_task(D d, const TaskLabels& task, const RowOf& row_of, const double* start,
                            const double* table, double* row) {
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= row_of.width; i += 4 * lanes)
    add_up_part<4>(d, task, row_of, i, start, table, row);
  switch ((row_of.width - i) / lanes) {
    case 3: add_up_part<3>(d, task, row_of, i, start, table, row); break;
    case 2: add_up_part<2>(d, task, row_of, i, start, table, row); break;
    case 1: add_up_part<1>(d, task, row_of, i, start, table, row); break;
    default: break;
  }
}

template <class D, class Number>
HWY_INLINE void add_to_task(D d, const TaskLabels& task, const RowOf& row_of, const Number* row,
                            Number* table) {
  for (std::size_t j = 0; j < task.size(); ++j) {
    Number* const to = table + row_of(task, j);
    for (std::size_t i = 0; i < row_of.width; i += hn::Lanes(d))
      hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, row + i)), d, to + i);
  }
}

void add_up(const TaskBlock& block, std::size_t classes, TaskId first, TaskId last, const double* start,
            std::size_t width, const double* table, double* rows) {
  with_vectors_of(RowLanes(), width, [&](auto d) {
    for (TaskId t = first; t < last; ++t, rows += width)
      add_up_task(d, block.task(t), {classes, width}, start, table, rows);
  });
}

void add_to(const TaskBlock& block, std::size_t classes, TaskId first, TaskId last, const double* rows,
            std::size_t width, double* table) {
  with_vectors_of(RowLanes(), width, [&](auto d) {
    for (TaskId t = first; t < last; ++t, rows += width)
      add_to_task(d, block.task(t), {classes, width}, rows, table);
  });
}

void add_units_to(const TaskBlock& block, std::size_t classes, TaskId first, TaskId last,
                  const std::uint64_t* rows, std::size_t width, std::uint64_t* table) {
  with_vectors_of(hn::RebindToUnsigned<RowLanes>(), width, [&](auto d) {
    for (TaskId t = first; t < last; ++t, rows += width)
      add_to_task(d, block.task(t), {classes, width}, rows, table);
  });
}

void add_up_one(const TaskLabels& task, std::size_t classes, std::size_t distance, const double* start,
                std::size_t width, const double* table, double* row) {
  with_vectors_of(RowLanes(), width, [&](auto d) {
    add_up_task(d, task, {classes, width, distance}, start, table, row);
  });
}

void add_up_listed(const Labels& labels, std::span<const TaskId> tasks, std::size_t distance,
                   const double* start, std::size_t width, const double* table, double* rows) {
  constexpr std::size_t kAhead = 4;  // tasks, whose rows are fetched from memory meanwhile
  const RowOf row_of{labels.num_classes(), width, distance};
  with_vectors_of(RowLanes(), width, [&](auto d) {
    for (std::size_t i = 0; i < tasks.size(); ++i, rows += width) {
      if (i + kAhead < tasks.size()) {
        const TaskLabels soon = labels.task(tasks[i + kAhead]);
        for (std::size_t j = 0; j < soon.size(); ++j) __builtin_prefetch(table + row_of(soon, j));
      }
      add_up_task(d, labels.task(tasks[i]), row_of, start, table, rows);
    }
  });
}

void add_to_one(const TaskLabels& task, std::size_t classes, std::size_t distance, const double* row,
                std::size_t width, double* table) {
  with_vectors_of(RowLanes(), width, [&](auto d) {
    add_to_task(d, task, {classes, width, distance}, row, table);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(add_up);
HWY_EXPORT(add_to);
HWY_EXPORT(add_units_to);
HWY_EXPORT(add_up_one);
HWY_EXPORT(add_up_listed);
HWY_EXPORT(add_to_one);

void add_up_labels(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                   std::span<const double> start, const double* table, std::span<double> rows) {
  HWY_DYNAMIC_DISPATCH(add_up)
  (block, classes, first, last, start.data(), start.size(), table, rows.data());
}

void add_to_labels(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                   std::span<const double> rows, double* table) {
  if (first == last) return;
  HWY_DYNAMIC_DISPATCH(add_to)
  (block, classes, first, last, rows.data(), rows.size() / (last - first), table);
}

void add_to_labels(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                   std::span<const std::uint64_t> rows, std::uint64_t* table) {
  if (first == last) return;
  HWY_DYNAMIC_DISPATCH(add_units_to)
  (block, classes, first, last, rows.data(), rows.size() / (last - first), table);
}

void add_up_labels(const TaskLabels& task, std::uint32_t classes, std::size_t distance,
                   std::span<const double> start, const double* table, std::span<double> row) {
  HWY_DYNAMIC_DISPATCH(add_up_one)
  (task, classes, distance, start.data(), start.size(), table, row.data());
}

void add_up_labels(const Labels& labels, std::span<const TaskId> tasks, std::size_t distance,
                   std::span<const double> start, const double* table, std::span<double> rows) {
  HWY_DYNAMIC_DISPATCH(add_up_listed)
  (labels, tasks, distance, start.data(), start.size(), table, rows.data());
}

void add_to_labels(const TaskLabels& task, std::uint32_t classes, std::size_t distance,
                   std::span<const double> row, double* table) {
  HWY_DYNAMIC_DISPATCH(add_to_one)(task, classes, distance, row.data(), row.size(), table);
}

}  // namespace crowdfold
#endif
