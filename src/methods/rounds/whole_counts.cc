#include "methods/rounds/whole_counts.h"

#include <algorithm>
#include <cmath>

#include "base/large_pages.h"

namespace crowdfold {

WholeCounts::WholeCounts(std::uint32_t workers, std::uint32_t classes, std::uint32_t crowd)
    : workers_(workers),
      classes_(classes),
      width_(row_width(classes)),
      dense_(CreditedCounts::is_dense(crowd, classes)),
      sparse_(dense_ ? 0 : workers, classes, /*dense=*/false) {
  if (!dense()) return;
  const std::size_t size = workers * classes * width_;
  cells_.reserve(size);
  prefer_large_pages(cells_.data(), size * sizeof(std::uint32_t));
  cells_.resize(size, 0);
}

void WholeCounts::carry(std::size_t row) {
  if (carried_.empty()) carried_.resize(cells_.size());
  for (std::size_t at = row; at < row + width_; ++at) {
    carried_[at] += cells_[at] >> kBits;
    cells_[at] &= kFull - 1;
  }
}

void WholeCounts::add(const TaskLabels& task, std::span<const std::int32_t> credit) {
  if (!dense()) {
    for (std::size_t k = 0; k < classes_; ++k) {
      if (credit[k] == 0) continue;
      for (std::size_t j = 0; j < task.size(); ++j)
        sparse_.add(task.workers[j], task.classes[j], static_cast<ClassId>(k), credit[k] / kUnits);
    }
    return;
  }
  for (std::size_t j = 0; j < task.size(); ++j) {
    const std::size_t first = row(task.workers[j], task.classes[j]);
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < width_; ++k)
      all |= cells_[first + k] += static_cast<std::uint32_t>(credit[k]);
    if (all >= kFull) [[unlikely]]
      carry(first);
  }
}

void WholeCounts::add(const WholeCounts& other) {
  if (!dense()) {
    for (WorkerId w = 0; w < workers_; ++w)
      other.for_cells(
          w, [&](ClassId truth, ClassId label, double count) { sparse_.add(w, label, truth, count); });
    return;
  }
  for (std::size_t first = 0; first < cells_.size(); first += width_) {
    std::uint32_t all = 0;
    for (std::size_t k = 0; k < width_; ++k) all |= cells_[first + k] += other.cells_[first + k];
    if (all >= kFull) [[unlikely]]
      carry(first);
  }
  if (other.carried_.empty()) return;
  if (carried_.empty()) carried_.resize(cells_.size());
  for (std::size_t at = 0; at < cells_.size(); ++at) carried_[at] += other.carried_[at];
}

void WholeCounts::add(WorkerId w, ClassId label, ClassId truth, double count) {
  if (!dense()) return sparse_.add(w, label, truth, count);
  const std::size_t at = row(w, label) + truth;
  const std::uint64_t sum = units(at) + static_cast<std::uint64_t>(std::llround(count * kUnits));
  cells_[at] = static_cast<std::uint32_t>(sum & (kFull - 1));
  if (carried_.empty() && sum < kFull) return;
  if (carried_.empty()) carried_.resize(cells_.size());
  carried_[at] = static_cast<std::uint32_t>(sum >> kBits);
}

void WholeCounts::add_row(WorkerId w, ClassId label, std::span<double> into) const {
  if (!dense()) return sparse_.add_row(w, label, into);
  for (ClassId k = 0; k < classes_; ++k) into[k] += cell(w, label, k);
}

void WholeCounts::add_totals(WorkerId w, std::span<double> totals) const {
  if (!dense()) return sparse_.add_totals(w, totals);
  for (ClassId label = 0; label < classes_; ++label) add_row(w, label, totals);
}

void WholeCounts::exchange(Archive& archive) {
  if (dense()) {
    archive.rows(cells_, width_, classes_);
    archive.rows(carried_, width_, classes_);
    return;
  }
  sparse_cells(archive);
}

// By worker in the crowd. Those of workers who are not in the part are passed over.
void WholeCounts::sparse_cells(Archive& archive) {
  struct Cell {
    WorkerId worker;
    ClassId label;
    ClassId truth;
    double count;
  };
  std::vector<Cell> cells;
  if (!archive.reads()) {
    for (WorkerId w = 0; w < workers_; ++w)
      for_cells(w, [&](ClassId truth, ClassId label, double count) {
        cells.push_back({static_cast<WorkerId>(archive.part().number(w)), label, truth, count});
      });
  }
  archive.arrays(cells);
  if (!archive.reads()) return;
  for (const Cell& cell : cells) {
    const std::size_t place = archive.part().place(cell.worker);
    if (place >= workers_ || cell.label >= classes_ || cell.truth >= classes_) continue;
    sparse_.add(static_cast<WorkerId>(place), cell.label, cell.truth, cell.count);
  }
}

int WholeCounts::tables_at_once(std::uint64_t workers, std::uint64_t classes) {
  constexpr std::uint64_t kMostBytes = 1 << 29;
  constexpr std::uint64_t kMost = 1 << 10;
  return static_cast<int>(std::clamp<std::uint64_t>(
      kMostBytes / std::max<std::uint64_t>(1, bytes(workers, classes)), 1, kMost));
}

void WholeCounts::write_rows(WorkerId w, float* rows) const {
  const std::size_t first = row(w, 0);
  const std::size_t size = classes_ * width_;
  if (carried_.empty()) {
    for (std::size_t i = 0; i < size; ++i)
      rows[i] = static_cast<float>(static_cast<double>(cells_[first + i]) / kUnits);
    return;
  }
  for (std::size_t i = 0; i < size; ++i)
    rows[i] = static_cast<float>(static_cast<double>(units(first + i)) / kUnits);
}

}  // namespace crowdfold
