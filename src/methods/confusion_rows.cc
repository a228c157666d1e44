// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "methods/confusion_rows.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "methods/confusion_rows.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<double>;
using Vector = hn::Vec<Lanes>;

// Where in a table the row of a label begins.
struct RowOf {
  const Labels& labels;
  std::size_t states;
  std::size_t classes = labels.num_classes();
  HWY_INLINE std::size_t operator()(const TaskLabels& task, std::size_t j) const {
    return (task.workers[j] * classes + task.classes[j]) * states;
  }
};

void add_up(const Labels& labels, TaskId first, TaskId last, const double* start, std::size_t states,
            const double* table, double* rows) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  const RowOf row_of{labels, states};
  for (TaskId t = first; t < last; ++t, rows += states) {
    const TaskLabels task = labels.task(t);
    std::size_t i = 0;
    // Four sums at a time, so that their additions overlap.
    for (; i + 4 * lanes <= states; i += 4 * lanes) {
      Vector a = hn::LoadU(d, start + i);
      Vector b = hn::LoadU(d, start + i + lanes);
      Vector c = hn::LoadU(d, start + i + 2 * lanes);
      Vector e = hn::LoadU(d, start + i + 3 * lanes);
      for (std::size_t j = 0; j < task.size(); ++j) {
        const double* const add = table + row_of(task, j) + i;
        a = hn::Add(a, hn::LoadU(d, add));
        b = hn::Add(b, hn::LoadU(d, add + lanes));
        c = hn::Add(c, hn::LoadU(d, add + 2 * lanes));
        e = hn::Add(e, hn::LoadU(d, add + 3 * lanes));
      }
      hn::StoreU(a, d, rows + i);
      hn::StoreU(b, d, rows + i + lanes);
      hn::StoreU(c, d, rows + i + 2 * lanes);
      hn::StoreU(e, d, rows + i + 3 * lanes);
    }
    for (; i + lanes <= states; i += lanes) {
      Vector sum = hn::LoadU(d, start + i);
      for (std::size_t j = 0; j < task.size(); ++j)
        sum = hn::Add(sum, hn::LoadU(d, table + row_of(task, j) + i));
      hn::StoreU(sum, d, rows + i);
    }
    for (; i < states; ++i) {
      double sum = start[i];
      for (std::size_t j = 0; j < task.size(); ++j) sum += table[row_of(task, j) + i];
      rows[i] = sum;
    }
  }
}

void add_to(const Labels& labels, TaskId first, TaskId last, const double* rows, std::size_t states,
            double* table) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  const RowOf row_of{labels, states};
  for (TaskId t = first; t < last; ++t, rows += states) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      double* const to = table + row_of(task, j);
      std::size_t i = 0;
      for (; i + lanes <= states; i += lanes)
        hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, rows + i)), d, to + i);
      for (; i < states; ++i) to[i] += rows[i];
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(add_up);
HWY_EXPORT(add_to);

void add_up_labels(const Labels& labels, TaskId first, TaskId last, std::span<const double> start,
                   const double* table, std::span<double> rows) {
  HWY_DYNAMIC_DISPATCH(add_up)(labels, first, last, start.data(), start.size(), table, rows.data());
}

void add_to_labels(const Labels& labels, TaskId first, TaskId last, std::span<const double> rows,
                   double* table) {
  if (first == last) return;
  HWY_DYNAMIC_DISPATCH(add_to)
  (labels, first, last, rows.data(), rows.size() / (last - first), table);
}

}  // namespace crowdfold
#endif
