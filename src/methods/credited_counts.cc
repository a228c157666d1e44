#include "methods/credited_counts.h"

#include <algorithm>

#include "methods/threepass_rows.h"

namespace crowdfold {

CreditedCounts::CreditedCounts(std::uint32_t workers, std::uint32_t classes)
    : workers_(workers), classes_(classes), width_(row_width(classes)) {
  if (dense())
    dense_.assign(numbers(workers, classes), 0);
  else
    sparse_.resize(workers);
}

void CreditedCounts::expect(std::uint32_t workers, std::uint32_t classes) {
  if (workers <= workers_ && classes <= classes_) return;
  workers = std::max(workers, workers_);
  classes = std::max(classes, classes_);
  if (classes == classes_ && dense() == is_dense(workers, classes)) {
    // Rows stay where they are.
    if (dense())
      dense_.resize(numbers(workers, classes), 0);
    else
      sparse_.resize(workers);
    workers_ = workers;
    return;
  }
  CreditedCounts grown(workers, classes);
  for (WorkerId w = 0; w < workers_; ++w)
    for_cells(w, [&](ClassId truth, ClassId label, double count) { grown.add(w, label, truth, count); });
  *this = std::move(grown);
}

void CreditedCounts::add(const TaskLabels& task, std::span<const double> credit) {
  if (dense()) return add_to_labels(task, classes_, distance(), credit, dense_.data());
  for (std::size_t k = 0; k < classes_; ++k) {
    if (credit[k] == 0) continue;
    for (std::size_t j = 0; j < task.size(); ++j)
      add(task.workers[j], task.classes[j], static_cast<ClassId>(k), credit[k]);
  }
}

void CreditedCounts::add(WorkerId w, ClassId label, ClassId truth, double count) {
  if (dense()) {
    dense_[(w * static_cast<std::size_t>(classes_) + label) * distance() + truth] += count;
    return;
  }
  OfWorker& of = sparse_[w];
  of.rows[label][truth] += count;
  of.totals[truth] += count;
  if (truth == label) of.right += count;
}

double CreditedCounts::cell(WorkerId w, ClassId label, ClassId truth) const {
  if (dense()) return row(w, label)[truth];
  const auto cells = sparse_[w].rows.find(label);
  if (cells == sparse_[w].rows.end()) return 0;
  const auto found = cells->second.find(truth);
  return found != cells->second.end() ? found->second : 0;
}

void CreditedCounts::add_row(WorkerId w, ClassId label, std::span<double> into) const {
  if (dense()) {
    const double* const cells = row(w, label);
    for (std::size_t k = 0; k < classes_; ++k) into[k] += cells[k];
    return;
  }
  const auto found = sparse_[w].rows.find(label);
  if (found == sparse_[w].rows.end()) return;
  for (const auto& [truth, count] : found->second) into[truth] += count;
}

void CreditedCounts::add_totals(WorkerId w, std::span<double> totals) const {
  if (dense()) return add_up_rows(row(w, 0), classes_, distance(), width_, totals.data());
  for (const auto& [truth, count] : sparse_[w].totals) totals[truth] += count;
}

double CreditedCounts::total(WorkerId w, ClassId truth) const {
  const auto found = sparse_[w].totals.find(truth);
  return found != sparse_[w].totals.end() ? found->second : 0;
}

double CreditedCounts::right(WorkerId w) const {
  if (!dense()) return sparse_[w].right;
  double right = 0;
  const double* cell = row(w, 0);
  for (std::size_t k = 0; k < classes_; ++k, cell += distance() + 1) right += *cell;
  return right;
}

}  // namespace crowdfold
