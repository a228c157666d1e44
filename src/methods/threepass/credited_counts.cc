#include "methods/threepass/credited_counts.h"

#include <algorithm>

#include "base/large_pages.h"

namespace crowdfold {

CreditedCounts::CreditedCounts(std::uint32_t workers, std::uint32_t classes, bool dense)
    : workers_(workers), classes_(classes), width_(row_width(classes)), stores_all_(dense) {
  if (dense) {
    make_room(numbers(workers, classes));
    settled_.resize(workers);
    is_settled_.resize(workers);
  } else {
    sparse_.resize(workers);
  }
}

void CreditedCounts::expect(std::uint32_t workers, std::uint32_t classes) {
  if (workers <= workers_ && classes <= classes_) return;
  workers = std::max(workers, workers_);
  classes = std::max(classes, classes_);
  if (classes == classes_ && dense() == is_dense(workers, classes)) {
    // Rows stay where they are.
    if (dense()) {
      make_room(numbers(workers, classes));
      settled_.resize(workers);
      is_settled_.resize(workers);
    } else {
      sparse_.resize(workers);
    }
    workers_ = workers;
    return;
  }
  CreditedCounts grown(workers, classes);
  for (WorkerId w = 0; w < workers_; ++w)
    for_cells(w, [&](ClassId truth, ClassId label, double count) { grown.add(w, label, truth, count); });
  *this = std::move(grown);
}

void CreditedCounts::make_room(std::size_t size) {
  if (size > dense_.capacity()) {
    dense_.reserve(std::max(size, 2 * dense_.size()));
    prefer_large_pages(dense_.data() + dense_.size(),
                       (dense_.capacity() - dense_.size()) * sizeof(float));
  }
  dense_.resize(size, 0);
}

void CreditedCounts::settle(WorkerId w) {
  std::vector<double>& cells = settled(w);
  for (std::size_t label = 0; label < classes_; ++label) {
    float* const recent = rows() + offset(w, label);
    for (std::size_t truth = 0; truth < classes_; ++truth) {
      cells[label * classes_ + truth] += static_cast<double>(recent[truth]);
      recent[truth] = 0;
    }
  }
}

const float* CreditedCounts::counts(WorkerId w, std::vector<float>& room) const {
  if (!is_settled(w)) return row(w, 0);
  const std::size_t distance = layout().distance();
  room.assign(classes_ * distance, 0);
  for (ClassId label = 0; label < classes_; ++label) {
    for (ClassId truth = 0; truth < classes_; ++truth)
      room[label * distance + truth] = static_cast<float>(cell(w, label, truth));
  }
  return room.data();
}

void CreditedCounts::add(const TaskLabels& task, std::span<const float> credit) {
  for (std::size_t k = 0; k < classes_; ++k) {
    if (credit[k] == 0) continue;
    for (std::size_t j = 0; j < task.size(); ++j)
      add(task.workers[j], task.classes[j], static_cast<ClassId>(k), static_cast<double>(credit[k]));
  }
}

void CreditedCounts::add(WorkerId w, ClassId label, ClassId truth, double count) {
  if (dense()) {
    settled(w)[label * classes_ + truth] += count;
    return;
  }
  SparseCounts& worker = sparse_[w];
  worker.rows[label][truth] += count;
  worker.totals[truth] += count;
  if (truth == label) worker.right += count;
}

double CreditedCounts::cell(WorkerId w, ClassId label, ClassId truth) const {
  if (dense()) return static_cast<double>(row(w, label)[truth]) + settled(w, label, truth);
  const auto cells = sparse_[w].rows.find(label);
  if (cells == sparse_[w].rows.end()) return 0;
  const auto found = cells->second.find(truth);
  return found != cells->second.end() ? found->second : 0;
}

void CreditedCounts::add_row(WorkerId w, ClassId label, std::span<double> into) const {
  if (dense()) {
    const float* const recent = row(w, label);
    for (std::size_t k = 0; k < classes_; ++k) into[k] += static_cast<double>(recent[k]);
    if (!is_settled(w)) return;
    const double* const settled = settled_[w].data() + static_cast<std::size_t>(label) * classes_;
    for (std::size_t k = 0; k < classes_; ++k) into[k] += settled[k];
    return;
  }
  const auto found = sparse_[w].rows.find(label);
  if (found == sparse_[w].rows.end()) return;
  for (const auto& [truth, count] : found->second) into[truth] += count;
}

void CreditedCounts::add_totals(WorkerId w, std::span<double> totals) const {
  if (dense()) {
    for (ClassId label = 0; label < classes_; ++label) add_row(w, label, totals);
    return;
  }
  for (const auto& [truth, count] : sparse_[w].totals) totals[truth] += count;
}

double CreditedCounts::total(WorkerId w, ClassId truth) const {
  const auto found = sparse_[w].totals.find(truth);
  return found != sparse_[w].totals.end() ? found->second : 0;
}

double CreditedCounts::right(WorkerId w) const {
  if (!dense()) return sparse_[w].right;
  const float* diagonal = row(w, 0);
  double right = 0;
  for (std::size_t k = 0; k < classes_; ++k, diagonal += layout().distance() + 1)
    right += static_cast<double>(*diagonal);
  if (!is_settled(w)) return right;
  for (std::size_t k = 0; k < classes_; ++k) right += settled(w, k, k);
  return right;
}

void PooledCounts::expect(std::uint32_t classes) {
  settle();
  PooledCounts grown;
  grown.classes_ = classes;
  grown.width_ = row_width(classes);
  grown.class_mass_.resize(classes);
  std::copy(class_mass_.begin(), class_mass_.end(), grown.class_mass_.begin());
  if (grown.is_table()) {
    grown.table_.resize(classes * grown.width_);
    grown.totals_.resize(classes);
    grown.recent_.assign((classes + 1) * grown.width_, 0);
  } else {
    grown.cells_.expect(1, classes);
  }
  const auto copy = [&](ClassId truth, ClassId label, double count) { grown.add(label, truth, count); };
  if (!is_table()) cells_.for_cells(0, copy);
  const auto end = static_cast<ClassId>(classes_);
  for (ClassId label = 0; is_table() && label < end; ++label) {
    for (ClassId truth = 0; truth < end; ++truth) copy(truth, label, cell(label, truth));
  }
  *this = std::move(grown);
}

void PooledCounts::add(const TaskLabels& task, std::span<const float> credit) {
  for (std::size_t k = 0; k < classes_; ++k) {
    if (credit[k] == 0) continue;
    class_mass_[k] += static_cast<double>(credit[k]);
    for (const ClassId label : task.classes)
      add(label, static_cast<ClassId>(k), static_cast<double>(credit[k]));
  }
}

void PooledCounts::add(ClassId label, ClassId truth, double count) {
  if (!is_table()) return cells_.add(0, label, truth, count);
  table_[label * width_ + truth] += count;
  totals_[truth] += count;
}

void PooledCounts::add(const PooledCounts& other) {
  if (!is_table()) {
    other.cells_.for_cells(
        0, [&](ClassId truth, ClassId label, double count) { add(label, truth, count); });
    return;
  }
  for (std::size_t i = 0; i < table_.size(); ++i) table_[i] += other.table_[i];
  for (std::size_t k = 0; k < classes_; ++k) totals_[k] += other.totals_[k];
}

void PooledCounts::add_class_mass(std::span<const double> tasks) {
  for (std::size_t k = 0; k < tasks.size(); ++k) class_mass_[k] += tasks[k];
}

void PooledCounts::settle() {
  if (!is_table()) return;
  const auto end = static_cast<ClassId>(classes_);
  for (ClassId label = 0; label < end; ++label) {
    for (ClassId truth = 0; truth < end; ++truth)
      add(label, truth, static_cast<double>(recent_[label * width_ + truth]));
  }
  for (std::size_t k = 0; k < classes_; ++k) class_mass_[k] += static_cast<double>(recent_mass()[k]);
  std::fill(recent_.begin(), recent_.end(), 0.0F);
  unsettled_ = 0;
}

}  // namespace crowdfold
