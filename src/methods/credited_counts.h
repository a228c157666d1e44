// How often every worker said l where the truth is k, as far as tasks were credited with classes:
// n_w[k, l]. One table of numbers if it is small; of a large one, where most cells are 0, only the
// others.
//
// In the table, beside every row of counts, there is room for a row of what follows from them: as both
// are used together, a task waits for memory once.
#pragma once

#include <boost/container/flat_map.hpp>
#include <span>
#include <vector>

#include "core/vector_math.h"
#include "crowdfold/labels.h"
#include "methods/confusion_rows.h"

namespace crowdfold {

class CreditedCounts {
 public:
  // Credits below this are left out where only some cells are stored.
  static constexpr double kLeastCredit = 1e-3;

  CreditedCounts(std::uint32_t workers, std::uint32_t classes);

  std::uint32_t workers() const { return workers_; }
  // Whether all cells are stored, and how many numbers that takes.
  bool dense() const { return is_dense(workers_, classes_); }
  static bool is_dense(std::uint64_t workers, std::uint64_t classes) {
    return classes <= kMostClasses && numbers(workers, classes) <= kMostNumbers;
  }
  static std::uint64_t numbers(std::uint64_t workers, std::uint64_t classes) {
    return workers * classes * 2 * row_width(classes);
  }
  // From one row of counts to the next one of the same worker.
  std::size_t distance() const { return 2 * width_; }
  double* row(WorkerId w, std::size_t label) {
    return dense_.data() + (w * static_cast<std::size_t>(classes_) + label) * distance();
  }
  const double* row(WorkerId w, std::size_t label) const {
    return dense_.data() + (w * static_cast<std::size_t>(classes_) + label) * distance();
  }
  const double* row_beside(WorkerId w, std::size_t label) const { return row(w, label) + width_; }
  double* row_beside(WorkerId w, std::size_t label) { return row(w, label) + width_; }

  // Makes room for more workers and classes.
  void expect(std::uint32_t workers, std::uint32_t classes);

  // If all cells are stored: a row, and the one beside it, into the cache.
  void prefetch(WorkerId w, ClassId label) const {
    __builtin_prefetch(row(w, label), 1);
    __builtin_prefetch(row_beside(w, label));
  }
  // Adds what a task is credited with, by class, to the counts of its labels.
  void add(const TaskLabels& task, std::span<const double> credit);
  void add(WorkerId w, ClassId label, ClassId truth, double count);

  double cell(WorkerId w, ClassId label, ClassId truth) const;
  // Adds n_w[k, label] to row[k].
  void add_row(WorkerId w, ClassId label, std::span<double> row) const;
  // Adds the sums over labels, N_w[k], to totals[k].
  void add_totals(WorkerId w, std::span<double> totals) const;
  // N_w[truth], where not all cells are stored.
  double total(WorkerId w, ClassId truth) const;
  // The sum of n_w[k, k].
  double right(WorkerId w) const;

  // body(truth, label, count) for the cells of a worker that are above 0.
  template <class Body>
  void for_cells(WorkerId w, const Body& body) const;

 private:
  static constexpr std::uint64_t kMostNumbers = 1 << 26;  // 512 MB
  static constexpr std::uint64_t kMostClasses = 64;

  using Cells = boost::container::flat_map<ClassId, double>;  // by truth
  struct OfWorker {
    boost::container::flat_map<ClassId, Cells> rows;  // by label
    Cells totals;
    double right = 0;
  };

  std::uint32_t workers_;
  std::uint32_t classes_;
  std::size_t width_;
  FlatArray<double> dense_;  // by worker, label and truth
  std::vector<OfWorker> sparse_;
};

template <class Body>
void CreditedCounts::for_cells(WorkerId w, const Body& body) const {
  constexpr double kRounding = 1e-9;  // what is left where as much was taken away as added
  if (!dense()) {
    for (const auto& [label, cells] : sparse_[w].rows) {
      for (const auto& [truth, count] : cells) {
        if (count > kRounding) body(truth, label, count);
      }
    }
    return;
  }
  for (std::size_t label = 0; label < classes_; ++label) {
    const double* const cells = row(w, label);
    for (std::size_t truth = 0; truth < classes_; ++truth) {
      if (cells[truth] > kRounding)
        body(static_cast<ClassId>(truth), static_cast<ClassId>(label), cells[truth]);
    }
  }
}

}  // namespace crowdfold
