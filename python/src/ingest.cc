#include "ingest.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "crowdfold/error.h"

namespace crowdfold::python {
namespace {

constexpr std::size_t kBlock = 1 << 12;  // rows that are on their way at a time: they fit the cache
constexpr std::uint64_t kRowsPerReport = 1 << 18;

void require_all(std::span<const std::uint32_t> ids, std::uint64_t first_row, const char* what) {
  std::uint32_t any = 0;
  for (const std::uint32_t id : ids) any |= id == kMissing ? 1U : 0U;  // by vectors
  if (any == 0) return;
  const auto missing = std::find(ids.begin(), ids.end(), kMissing);
  throw Error(ErrorCode::data,
              fmt::format("row {} (from 0): no {}: the value is missing or empty",
                          first_row + static_cast<std::uint64_t>(missing - ids.begin()), what));
}

}  // namespace

Ingest::Ingest(Duplicates duplicates)
    : tasks("tasks", kMaxTasks),
      workers("workers", kMaxWorkers),
      classes("classes", kMaxClasses),
      duplicates_(duplicates),
      grouper_(duplicates) {}

void Ingest::add_all(Column& task_column, Column& worker_column, Column& label_column,
                     const RunContext& context) {
  const bool cheap = task_column.is_cheap() && worker_column.is_cheap() && label_column.is_cheap();
  grouper_ = RowGrouper(duplicates_, cheap ? RowGrouper::Rows::twice : RowGrouper::Rows::once);
  grouper_.reserve(task_column.size());
  read(task_column, worker_column, label_column, context, &RowGrouper::add);
  if (grouper_.wants_rows_again())
    read(task_column, worker_column, label_column, context, &RowGrouper::add_again);
}

void Ingest::add(Column& task_column, Column& worker_column, Column& label_column,
                 const RunContext& context) {
  for (Ids* ids : {&tasks, &workers, &classes}) ids->first_rows.clear();
  read(task_column, worker_column, label_column, context, &RowGrouper::add);
  rows_before_ += task_column.size();
}

void Ingest::read(Column& task_column, Column& worker_column, Column& label_column,
                  const RunContext& context, void (RowGrouper::*take)(const IdRows&)) {
  const std::uint64_t rows = task_column.size();
  if (worker_column.size() != rows || label_column.size() != rows) {
    throw Error(ErrorCode::data, fmt::format("columns differ in length: {} tasks, {} workers, {} labels",
                                             rows, worker_column.size(), label_column.size()));
  }
  std::array<std::uint32_t, kBlock> task, worker, label;
  std::array<ClassId, kBlock> class_of;
  for (std::uint64_t at = 0; at < rows; at += kBlock) {
    const std::size_t count = std::min<std::size_t>(kBlock, rows - at);
    task_column.read(at, {task.data(), count}, tasks);
    require_all({task.data(), count}, rows_before_ + at, "task");
    worker_column.read(at, {worker.data(), count}, workers);
    require_all({worker.data(), count}, rows_before_ + at, "worker");
    label_column.read(at, {label.data(), count}, classes);
    for (std::size_t i = 0; i < count; ++i) class_of[i] = static_cast<ClassId>(label[i]);
    static_assert(static_cast<ClassId>(kMissing) == kNoClass);
    (grouper_.*take)({{task.data(), count}, {worker.data(), count}, {class_of.data(), count}});
    if (at % kRowsPerReport == 0) {
      context.throw_if_cancelled();
      context.report("reading", at, rows);
    }
  }
}

Labels Ingest::build(int threads) {
  return grouper_.build(std::move(tasks.names), std::move(workers.names), std::move(classes.names),
                        threads);
}

}  // namespace crowdfold::python
