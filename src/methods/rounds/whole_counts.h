// n_i[k, l] in whole units: how often worker i said l where the truth is k, as far as tasks were
// credited with classes. Adding is exact, so it may be done in any order.
//
// A table of all cells has 32 bits for each, and 31 more beside it once a worker has thousands of
// labels. Where that would be much, only cells that are not 0 are stored, in double precision: it is
// exact, too.
#pragma once

#include <span>
#include <vector>

#include "crowdfold/flat_array.h"
#include "crowdfold/labels.h"
#include "crowdfold/rounds.h"
#include "methods/rounds/units.h"
#include "methods/threepass/credited_counts.h"

namespace crowdfold {

class WholeCounts {
 public:
  // `crowd`: of how many workers in all these are a part; that decides what is stored.
  WholeCounts(std::uint32_t workers, std::uint32_t classes, std::uint32_t crowd);
  WholeCounts(std::uint32_t workers, std::uint32_t classes) : WholeCounts(workers, classes, workers) {}

  std::uint32_t workers() const { return workers_; }
  bool dense() const { return dense_; }

  // Adds a task's credit, in units by class, to the counts of its labels. Not more than 2^20 in each.
  void add(const TaskLabels& task, std::span<const std::int32_t> credit);
  void add(const WholeCounts& other);
  // If dense: rows by worker and label, for those who add to them themselves. When a cell has reached
  // 2^31, carry() makes room in all of the task's.
  std::uint32_t* cells() { return cells_.data(); }
  void carry(const TaskLabels& task) {
    for (std::size_t j = 0; j < task.size(); ++j) carry(row(task.workers[j], task.classes[j]));
  }
  void prefetch(WorkerId w, ClassId label) const {
    __builtin_prefetch(cells_.data() + row(w, label), /*rw=*/1);
  }

  // In labels from here on.
  void add(WorkerId w, ClassId label, ClassId truth, double count);
  // As in CreditedCounts.
  void add_row(WorkerId w, ClassId label, std::span<double> row) const;
  void add_totals(WorkerId w, std::span<double> totals) const;
  double cell(WorkerId w, ClassId label, ClassId truth) const {
    if (!dense()) return sparse_.cell(w, label, truth);
    return static_cast<double>(units(row(w, label) + truth)) / kUnits;
  }
  // If dense: all rows of a worker, by label and truth, `width` numbers each.
  void write_rows(WorkerId w, float* rows) const;
  // body(truth, label, count) for the cells of a worker that are above 0.
  template <class Body>
  void for_cells(WorkerId w, const Body& body) const {
    if (!dense()) return sparse_.for_cells(w, body);
    for (ClassId label = 0; label < classes_; ++label) {
      for (ClassId truth = 0; truth < classes_; ++truth) {
        if (const double count = cell(w, label, truth); count > 0) body(truth, label, count);
      }
    }
  }
  const CreditedCounts& sparse() const { return sparse_; }
  void exchange(Archive& archive);

  // How many of them may be there at once, one for each thread, and the bytes of one; of dense ones.
  static int tables_at_once(std::uint64_t workers, std::uint64_t classes);
  static std::uint64_t bytes(std::uint64_t workers, std::uint64_t classes) {
    return workers * classes * row_width(classes) * sizeof(std::uint32_t);
  }

 private:
  static constexpr int kBits = 31;  // of a cell, before it is carried over
  static constexpr std::uint32_t kFull = 1U << kBits;

  std::size_t row(WorkerId w, std::size_t label) const { return (w * classes_ + label) * width_; }
  std::uint64_t units(std::size_t at) const {
    return cells_[at] + (carried_.empty() ? 0 : std::uint64_t{carried_[at]} << kBits);
  }
  void carry(std::size_t row);
  void sparse_cells(Archive& archive);

  std::uint32_t workers_;
  std::uint32_t classes_;
  std::size_t width_;
  bool dense_;
  FlatArray<std::uint32_t> cells_;      // by worker, label and truth
  std::vector<std::uint32_t> carried_;  // multiples of 2^31 beyond; empty as long as there are none
  CreditedCounts sparse_;
};

}  // namespace crowdfold
