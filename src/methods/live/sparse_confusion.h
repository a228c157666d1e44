// Counts by truth and label, of one worker or of all: the cells that are not 0, in order. Of many
// classes, few are ever mixed up.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

class SparseConfusion {
 public:
  struct Cell {
    ClassId truth = 0;
    ClassId label = 0;
    bool touched = false;  // since the last take_touched()
    double count = 0;
  };

  // The cells of eight truths, which a store writes together: all cells where classes are few, and not
  // too many because of one label where they are many.
  using Part = std::span<const Cell>;
  static ClassId part_of(ClassId truth) { return truth / 8; }

  double at(ClassId truth, ClassId label) const {
    const auto place = find(truth, label);
    return is_at(place, truth, label) ? place->count : 0;
  }
  // The sum over all labels.
  double row(ClassId truth) const {
    double sum = 0;
    for (auto cell = find(truth, 0); cell != cells_.end() && cell->truth == truth; ++cell)
      sum += cell->count;
    return sum;
  }
  void add(ClassId truth, ClassId label, double count) {
    auto place = find(truth, label);
    if (!is_at(place, truth, label)) place = cells_.insert(place, {truth, label});
    const auto cell = cells_.begin() + (place - cells_.cbegin());
    // Faded counts are rounded: a label may leave with a little more than it entered with.
    cell->count = std::max(0.0, cell->count + count);
    cell->touched = true;
  }
  void add(const SparseConfusion& other, double times = 1) {
    for (const Cell& cell : other.cells_) add(cell.truth, cell.label, times * cell.count);
  }
  // Adds an untouched cell behind all others.
  void append(ClassId truth, ClassId label, double count) {
    cells_.push_back({truth, label, false, count});
  }
  void scale(double factor) {
    for (Cell& cell : cells_) {
      cell.count *= factor;
      cell.touched = true;
    }
  }

  const std::vector<Cell>& cells() const { return cells_; }
  // Calls body(part) for each part with a touched cell; no cell is touched afterwards.
  template <class Body>
  void take_touched(const Body& body) {
    for (auto begin = cells_.begin(); begin != cells_.end();) {
      bool touched = false;
      auto end = begin;
      for (; end != cells_.end() && part_of(end->truth) == part_of(begin->truth); ++end)
        touched |= std::exchange(end->touched, false);
      if (touched) body(Part(begin, end));
      begin = end;
    }
  }

 private:
  using Place = std::vector<Cell>::const_iterator;

  Place find(ClassId truth, ClassId label) const {
    return std::lower_bound(
        cells_.begin(), cells_.end(), std::pair(truth, label),
        [](const Cell& cell, const auto& key) { return std::pair(cell.truth, cell.label) < key; });
  }
  bool is_at(Place place, ClassId truth, ClassId label) const {
    return place != cells_.end() && place->truth == truth && place->label == label;
  }

  std::vector<Cell> cells_;
};

}  // namespace crowdfold
