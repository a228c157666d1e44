// RowGrouper: rows with dense ids -> Labels.
#include "crowdfold/row_grouper.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "crowdfold/error.h"
#include "labels/duplicates.h"

namespace crowdfold {

RowGrouper::RowGrouper(Duplicates duplicates, Rows rows) : rule_(duplicates), rows_(rows) {}

void RowGrouper::reserve(std::uint64_t labels) {
  worker_.reserve(labels);
  class_.reserve(labels);
}

void RowGrouper::add(const IdRows& rows) {
  num_rows_ += rows.size();
  std::size_t at = 0;
  if (grouped_) add_grouped(rows, at);
  if (!grouped_) add_other(rows, at);
}

// Up to the first task that comes back.
void RowGrouper::add_grouped(const IdRows& rows, std::size_t& at) {
  std::uint16_t any = 0;
  for (const ClassId c : rows.classes) any |= c == kNoClass ? 1 : 0;  // by vectors
  const bool abstains = any != 0;
  while (at < rows.size()) {
    const TaskId task = rows.tasks[at];
    if (task == sizes_.size()) {
      sizes_.push_back(0);
    } else if (task + 1ULL != sizes_.size()) {
      break;
    }
    const std::size_t begin = at;
    while (at < rows.size() && rows.tasks[at] == task) ++at;
    sizes_.back() += static_cast<std::uint32_t>(at - begin);
    if (!abstains) continue;
    const auto absent = std::count(rows.classes.begin() + static_cast<std::ptrdiff_t>(begin),
                                   rows.classes.begin() + static_cast<std::ptrdiff_t>(at), kNoClass);
    sizes_.back() -= static_cast<std::uint32_t>(absent);
    abstentions_ += static_cast<std::uint64_t>(absent);
  }
  append({rows.tasks.first(at), rows.workers.first(at), rows.classes.first(at)}, abstains);
  if (at < rows.size()) stop_being_grouped();
}

void RowGrouper::append(const IdRows& rows, bool abstains) {
  if (!abstains) {
    worker_.insert(worker_.end(), rows.workers.begin(), rows.workers.end());
    class_.insert(class_.end(), rows.classes.begin(), rows.classes.end());
    return;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.classes[i] == kNoClass) continue;
    worker_.push_back(rows.workers[i]);
    class_.push_back(rows.classes[i]);
  }
}

void RowGrouper::stop_being_grouped() {
  grouped_ = false;
  if (rows_ == Rows::twice) {
    worker_ = {};
    class_ = {};
    return;
  }
  task_.reserve(worker_.capacity());
  for (std::size_t t = 0; t < sizes_.size(); ++t)
    task_.resize(task_.size() + sizes_[t], static_cast<TaskId>(t));
}

// Counts labels, and keeps them if they do not come again.
void RowGrouper::add_other(const IdRows& rows, std::size_t at) {
  for (; at < rows.size(); ++at) {
    const TaskId task = rows.tasks[at];
    if (task >= sizes_.size()) sizes_.resize(task + 1ULL, 0);
    if (rows.classes[at] == kNoClass) {
      ++abstentions_;
      continue;
    }
    ++sizes_[task];
    if (rows_ == Rows::twice) continue;
    task_.push_back(task);
    worker_.push_back(rows.workers[at]);
    class_.push_back(rows.classes[at]);
  }
}

std::vector<std::uint64_t> RowGrouper::offsets() const {
  std::vector<std::uint64_t> offsets(sizes_.size() + 1, 0);
  std::inclusive_scan(sizes_.begin(), sizes_.end(), offsets.begin() + 1, std::plus<>(),
                      std::uint64_t{0});
  return offsets;
}

void RowGrouper::add_again(const IdRows& rows) {
  if (cursor_.empty()) {
    cursor_ = offsets();
    worker_.resize(cursor_.back());
    class_.resize(cursor_.back());
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.classes[i] == kNoClass) continue;
    const std::uint64_t to = cursor_[rows.tasks[i]]++;
    worker_[to] = rows.workers[i];
    class_[to] = rows.classes[i];
  }
}

// Brings the labels of a task together, in input order.
void RowGrouper::sort() {
  std::vector<std::uint64_t> cursor = offsets();
  FlatArray<WorkerId> workers(worker_.size());
  FlatArray<ClassId> classes(class_.size());
  for (std::size_t i = 0; i < task_.size(); ++i) {
    const std::uint64_t to = cursor[task_[i]]++;
    workers[to] = worker_[i];
    classes[to] = class_[i];
  }
  worker_ = std::move(workers);
  class_ = std::move(classes);
  task_ = {};
}

Labels RowGrouper::build(LabelNames names, int threads) {
  if (!grouped_ && rows_ == Rows::once) sort();
  Labels labels = grouped_labels(rule_, sizes_, std::move(worker_), std::move(class_), std::move(names),
                                 {num_rows_, abstentions_}, threads);
  *this = RowGrouper(rule_, rows_);
  return labels;
}

Labels grouped_labels(Duplicates duplicates, std::span<const std::uint32_t> sizes,
                      FlatArray<WorkerId> workers, FlatArray<ClassId> classes, LabelNames names,
                      RowCounts rows, int threads) {
  FlatArray<std::uint64_t> offsets(sizes.size() + 1, 0);
  std::inclusive_scan(sizes.begin(), sizes.end(), offsets.begin() + 1, std::plus<>(), std::uint64_t{0});
  if (offsets.back() != workers.size() || sizes.size() > names.tasks.size())
    throw Error(ErrorCode::internal, "rows that were to come again did not, or ids have no names");
  offsets.resize(names.tasks.size() + 1ULL, offsets.back());
  rows.duplicates =
      drop_duplicates(duplicates, threads, names.tasks, names.workers, offsets, workers, classes);
  return {std::move(names), {std::move(offsets), std::move(workers), std::move(classes)}, rows};
}

}  // namespace crowdfold
