// RowGrouper: rows with dense ids -> Labels.
#include "labels/grouping/row_grouper.h"

#include <algorithm>
#include <utility>

#include "crowdfold/error.h"
#include "labels/duplicates.h"
#include "labels/grouping/counting_sort.h"

namespace crowdfold {
namespace {

// Where the labels of tasks begin. A size that ran over its 32 bits counts too few.
FlatArray<std::uint64_t> checked_begins(std::span<const std::uint32_t> sizes, std::uint64_t labels) {
  FlatArray<std::uint64_t> begins = begins_of(sizes);
  if (begins.back() < labels)
    throw Error(ErrorCode::data, "a task has more than 4294967295 labels: they do not fit");
  return begins;
}

}  // namespace

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

void RowGrouper::add_again(const IdRows& rows) {
  if (next_.empty()) {
    next_ = checked_begins(sizes_, num_rows_ - abstentions_);
    worker_.resize(next_.back());
    class_.resize(next_.back());
  }
  const LabelPlaces<std::uint64_t> places{next_.data(), worker_.data(), class_.data()};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.classes[i] != kNoClass) places.write(rows.tasks[i], rows.workers[i], rows.classes[i]);
  }
}

// Brings the labels of a task together, in input order.
void RowGrouper::sort() {
  FlatArray<std::uint64_t> next = checked_begins(sizes_, worker_.size());
  FlatArray<WorkerId> workers(worker_.size());
  FlatArray<ClassId> classes(class_.size());
  const LabelPlaces<std::uint64_t> places{next.data(), workers.data(), classes.data()};
  for (std::size_t i = 0; i < task_.size(); ++i) places.write(task_[i], worker_[i], class_[i]);
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
  FlatArray<std::uint64_t> offsets = checked_begins(sizes, workers.size());
  if (offsets.back() != workers.size() || sizes.size() > names.tasks.size())
    throw Error(ErrorCode::internal, "rows that were to come again did not, or ids have no names");
  offsets.resize(names.tasks.size() + 1ULL, offsets.back());
  rows.duplicates =
      drop_duplicates(duplicates, threads, names.tasks, names.workers, offsets, workers, classes);
  return {std::move(names), {std::move(offsets), std::move(workers), std::move(classes)}, rows};
}

}  // namespace crowdfold
