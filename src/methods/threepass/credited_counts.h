// n_w[k, l]: how often worker w said l where the truth is k, as far as tasks were credited with classes.
// A small table stores all cells; a large one, where most cells are 0, only the others.
//
// In the table, each row of counts is followed by a row for the numbers that the model derives from it.
// For up to eight classes both are in one cache line, so that a label waits for memory once. Therefore
// they are in single precision. A small credit would be lost in a large count there: the counts of
// workers with many labels are settled from time to time, that is, moved to where they are in double
// precision.
#pragma once

#include <boost/container/flat_map.hpp>
#include <span>
#include <vector>

#include "base/vector_math.h"
#include "crowdfold/flat_array.h"
#include "crowdfold/labels.h"
#include "methods/threepass/threepass_kernels.h"

namespace crowdfold {

class CreditedCounts {
 public:
  // Where only some cells are stored, smaller credits are dropped.
  static constexpr float kLeastCredit = 1e-3F;
  // With more classes, not all cells are stored.
  static constexpr std::uint64_t kMostClasses = 64;
  // Counts of a worker with this many labels should be settled, and again after as many more at the
  // latest.
  static constexpr std::uint32_t kSettleLabels = 1 << 15;

  CreditedCounts(std::uint32_t workers, std::uint32_t classes)
      : CreditedCounts(workers, classes, is_dense(workers, classes)) {}
  // `dense`: whether all cells are stored. If not, they will not be.
  CreditedCounts(std::uint32_t workers, std::uint32_t classes, bool dense);

  std::uint32_t workers() const { return workers_; }
  // Whether all cells are stored, and how many numbers that takes.
  bool dense() const { return stores_all_; }
  static bool is_dense(std::uint64_t workers, std::uint64_t classes) {
    return classes <= kMostClasses && numbers(workers, classes) <= kMostNumbers;
  }
  static std::uint64_t numbers(std::uint64_t workers, std::uint64_t classes) {
    return workers * classes * 2 * row_width(classes);
  }

  // Makes room for more workers and classes.
  void expect(std::uint32_t workers, std::uint32_t classes);

  // If all cells are stored.
  CrowdLayout layout() const { return {classes_, width_}; }
  const float* rows() const { return dense_.data(); }
  float* rows() { return dense_.data(); }
  const float* row_beside(WorkerId w, std::size_t label) const { return row(w, label) + width_; }
  float* row_beside(WorkerId w, std::size_t label) { return rows() + offset(w, label) + width_; }
  void prefetch(WorkerId w, ClassId label) const {
    constexpr std::size_t kLine = 16;
    __builtin_prefetch(row(w, label));
    if (width_ >= kLine) __builtin_prefetch(row_beside(w, label));
  }
  void settle(WorkerId w);
  // A worker's counts in rows: where they are, or if a part is settled, copied to `room`.
  const float* counts(WorkerId w, std::vector<float>& room) const;

  // If not all are stored: adds a task's credit, by class, to the counts of its labels.
  void add(const TaskLabels& task, std::span<const float> credit);
  // N_w[truth]
  double total(WorkerId w, ClassId truth) const;

  // In double precision.
  void add(WorkerId w, ClassId label, ClassId truth, double count);
  double cell(WorkerId w, ClassId label, ClassId truth) const;
  // Adds n_w[k, label] to row[k].
  void add_row(WorkerId w, ClassId label, std::span<double> row) const;
  // Adds the sums over labels, N_w[k], to totals[k].
  void add_totals(WorkerId w, std::span<double> totals) const;
  // The sum of n_w[k, k].
  double right(WorkerId w) const;

  // body(truth, label, count) for the cells of a worker that are above 0.
  template <class Body>
  void for_cells(WorkerId w, const Body& body) const;

 private:
  static constexpr std::uint64_t kMostNumbers = 1 << 27;  // 512 MB

  using Cells = boost::container::flat_map<ClassId, double>;  // by truth
  struct SparseCounts {
    boost::container::flat_map<ClassId, Cells> rows;  // by label
    Cells totals;
    double right = 0;
  };

  // Grows dense_ to `size` numbers; the new ones are 0.
  void make_room(std::size_t size);
  std::size_t offset(WorkerId w, std::size_t label) const { return layout().row(w, label); }
  const float* row(WorkerId w, std::size_t label) const { return dense_.data() + offset(w, label); }
  bool is_settled(WorkerId w) const { return is_settled_[w] != 0; }
  double settled(WorkerId w, std::size_t label, std::size_t truth) const {
    return is_settled(w) ? settled_[w][label * classes_ + truth] : 0;
  }
  std::vector<double>& settled(WorkerId w) {
    if (!is_settled(w)) settled_[w].resize(static_cast<std::size_t>(classes_) * classes_);
    is_settled_[w] = 1;
    return settled_[w];
  }

  std::uint32_t workers_;
  std::uint32_t classes_;
  std::size_t width_;
  bool stores_all_;
  FlatArray<float> dense_;                    // by worker, label and truth
  std::vector<char> is_settled_;              // by worker: whether in settled_
  std::vector<std::vector<double>> settled_;  // by worker; then by label and truth, or nothing
  std::vector<SparseCounts> sparse_;
};

template <class Body>
void CreditedCounts::for_cells(WorkerId w, const Body& body) const {
  constexpr double kRounding = 1e-9;  // may be left after taking away as much as was added
  if (!dense()) {
    for (const auto& [label, cells] : sparse_[w].rows) {
      for (const auto& [truth, count] : cells) {
        if (count > kRounding) body(truth, label, count);
      }
    }
    return;
  }
  for (ClassId label = 0; label < classes_; ++label) {
    for (ClassId truth = 0; truth < classes_; ++truth) {
      if (const double count = cell(w, label, truth); count > kRounding) body(truth, label, count);
    }
  }
}

// Their sum over all workers, P[k, l]; and m[k], the tasks credited with class k. A table for up to
// kMostClasses, else only cells that are not 0.
class PooledCounts {
 public:
  // Makes room for more classes.
  void expect(std::uint32_t classes);

  void add(const TaskLabels& task, std::span<const float> credit);
  void add(ClassId label, ClassId truth, double count);
  // What was settled, without the class mass.
  void add(const PooledCounts& other);
  void add_class_mass(std::span<const double> tasks);
  // If there is a table: where to add credits in single precision, by label and truth and as a sum.
  // They count once settle() was called, which added_to_recent() does often enough.
  float* recent() { return recent_.data(); }
  float* recent_mass() { return recent_.data() + classes_ * width_; }
  void added_to_recent() {
    constexpr int kMost = 1 << 12;  // tasks: nothing is lost in so short a sum
    if (++unsettled_ == kMost) settle();
  }
  void settle();

  double cell(ClassId label, ClassId truth) const {
    return is_table() ? table_[label * width_ + truth] : cells_.cell(0, label, truth);
  }
  double total(ClassId truth) const { return is_table() ? totals_[truth] : cells_.total(0, truth); }
  std::span<const double> class_mass() const { return class_mass_; }
  // body(truth, label, count) for the cells that are above 0.
  template <class Body>
  void for_cells(const Body& body) const {
    if (!is_table()) return cells_.for_cells(0, body);
    for (ClassId label = 0; label < classes_; ++label) {
      for (ClassId truth = 0; truth < classes_; ++truth) {
        if (const double count = cell(label, truth); count > 0) body(truth, label, count);
      }
    }
  }

 private:
  bool is_table() const { return classes_ <= CreditedCounts::kMostClasses; }

  std::uint32_t classes_ = 0;
  std::size_t width_ = 0;
  std::vector<double> table_;  // by label and truth
  std::vector<double> totals_;
  std::vector<double> class_mass_;
  FlatArray<float> recent_;  // as table_; then as class_mass_
  int unsettled_ = 0;
  CreditedCounts cells_{1, 0};
};

}  // namespace crowdfold
