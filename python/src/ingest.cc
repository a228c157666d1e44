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

void require_same_length(const TableColumns& columns) {
  const std::uint64_t rows = columns.tasks.size();
  if (columns.workers.size() == rows && columns.labels.size() == rows) return;
  throw Error(ErrorCode::data, fmt::format("columns differ in length: {} tasks, {} workers, {} labels",
                                           rows, columns.workers.size(), columns.labels.size()));
}

}  // namespace

Ingest::Ingest(Duplicates duplicates) : duplicates_(duplicates), grouper_(duplicates) {}

Labels Ingest::read_all(const TableColumns& columns, int threads, const RunContext& context) {
  require_same_length(columns);
  if (!columns.are_python()) {
    if (std::optional<Labels> labels = read_grouped(columns, duplicates_, threads, context, ids))
      return std::move(*labels);
  }
  // Rows in another order may come a second time if that is cheap.
  grouper_ =
      RowGrouper(duplicates_, columns.are_cheap() ? RowGrouper::Rows::twice : RowGrouper::Rows::once);
  grouper_.reserve(columns.tasks.size());
  read(columns, context, &RowGrouper::add);
  if (grouper_.wants_rows_again()) read(columns, context, &RowGrouper::add_again);
  return build(threads);
}

void Ingest::add(const TableColumns& columns, const RunContext& context) {
  require_same_length(columns);
  for (Ids* each : {&ids.tasks, &ids.workers, &ids.classes}) each->first_rows.clear();
  read(columns, context, &RowGrouper::add);
  rows_before_ += columns.tasks.size();
}

void Ingest::read(const TableColumns& columns, const RunContext& context,
                  void (RowGrouper::*take)(const IdRows&)) {
  const std::uint64_t rows = columns.tasks.size();
  std::array<std::uint32_t, kBlock> task, worker, label;
  std::array<ClassId, kBlock> class_of;
  for (std::uint64_t at = 0; at < rows; at += kBlock) {
    const std::size_t count = std::min<std::size_t>(kBlock, rows - at);
    columns.tasks.read(at, {task.data(), count}, ids.tasks);
    require_all({task.data(), count}, rows_before_ + at, "task");
    columns.workers.read(at, {worker.data(), count}, ids.workers);
    require_all({worker.data(), count}, rows_before_ + at, "worker");
    columns.labels.read(at, {label.data(), count}, ids.classes);
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
  return grouper_.build(
      {std::move(ids.tasks.names), std::move(ids.workers.names), std::move(ids.classes.names)}, threads);
}

}  // namespace crowdfold::python
