// ColumnReader: columns of tasks, workers and labels -> Labels.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "crowdfold/columns.h"
#include "crowdfold/error.h"
#include "labels/columns/grouped_columns.h"
#include "labels/grouping/row_grouper.h"

namespace crowdfold {
namespace {

void require_all(std::span<const std::uint32_t> ids, std::uint64_t first_row, const char* what) {
  if (!any_missing(ids)) return;
  const auto missing = std::find(ids.begin(), ids.end(), ValueIds::kMissing);
  throw Error(ErrorCode::data,
              fmt::format("row {} (from 0): no {}: the value is missing or empty",
                          first_row + static_cast<std::uint64_t>(missing - ids.begin()), what));
}

void require_same_length(const LabelColumns& columns) {
  const std::uint64_t rows = columns.tasks.size();
  if (columns.workers.size() == rows && columns.labels.size() == rows) return;
  throw Error(ErrorCode::data, fmt::format("columns differ in length: {} tasks, {} workers, {} labels",
                                           rows, columns.workers.size(), columns.labels.size()));
}

// Gives the rows of a table to group(IdRows), some at a time. `rows_before` it are counted in errors.
template <class Group>
void read_rows(const LabelColumns& columns, std::uint64_t rows_before, TableIds& ids,
               const RunContext& context, const Group& group) {
  const std::uint64_t rows = columns.tasks.size();
  std::array<std::uint32_t, kRowsPerStep> task, worker, label;
  std::array<ClassId, kRowsPerStep> class_of;
  for (std::uint64_t at = 0; at < rows; at += kRowsPerStep) {
    const std::size_t count = std::min<std::size_t>(kRowsPerStep, rows - at);
    columns.tasks.read(at, {task.data(), count}, ids.tasks);
    require_all({task.data(), count}, rows_before + at, "task");
    columns.workers.read(at, {worker.data(), count}, ids.workers);
    require_all({worker.data(), count}, rows_before + at, "worker");
    columns.labels.read(at, {label.data(), count}, ids.classes);
    for (std::size_t i = 0; i < count; ++i) class_of[i] = static_cast<ClassId>(label[i]);
    static_assert(static_cast<ClassId>(ValueIds::kMissing) == kNoClass);
    group(IdRows{{task.data(), count}, {worker.data(), count}, {class_of.data(), count}});
    if (at % kRowsPerReport == 0) {
      context.throw_if_cancelled();
      context.report("reading", at, rows);
    }
  }
}

}  // namespace

ColumnLabels read_columns(const LabelColumns& columns, Duplicates duplicates,
                          const RunContext& context) {
  require_same_length(columns);
  if (!columns.are_thread_bound()) {
    if (std::optional<ColumnLabels> grouped = read_grouped(columns, duplicates, context))
      return std::move(*grouped);
  }
  // Rows in another order come a second time if that is cheap.
  RowGrouper grouper(duplicates, columns.are_cheap() ? RowGrouper::Rows::twice : RowGrouper::Rows::once);
  grouper.reserve(columns.tasks.size());
  TableIds ids;
  read_rows(columns, 0, ids, context, [&](const IdRows& rows) { grouper.add(rows); });
  if (grouper.wants_rows_again())
    read_rows(columns, 0, ids, context, [&](const IdRows& rows) { grouper.add_again(rows); });
  FirstRows first_rows = ids.release_first_rows();
  return {grouper.build(ids.release_names(), context.threads), std::move(first_rows)};
}

struct ColumnReader::Rows {
  explicit Rows(Duplicates duplicates) : rule(duplicates), grouper(duplicates) {}

  Duplicates rule;
  RowGrouper grouper;
  TableIds ids;
  std::uint64_t before = 0;  // the present chunk
};

ColumnReader::ColumnReader(Duplicates duplicates) : rows_(std::make_unique<Rows>(duplicates)) {}
ColumnReader::~ColumnReader() = default;
ColumnReader::ColumnReader(ColumnReader&&) noexcept = default;
ColumnReader& ColumnReader::operator=(ColumnReader&&) noexcept = default;

FirstRows ColumnReader::add(const LabelColumns& chunk, const RunContext& context) {
  require_same_length(chunk);
  TableIds& ids = rows_->ids;
  // A chunk that failed may have left some behind.
  for (ValueIds* each : {&ids.tasks, &ids.workers, &ids.classes}) each->first_rows.clear();
  read_rows(chunk, rows_->before, ids, context, [&](const IdRows& rows) { rows_->grouper.add(rows); });
  rows_->before += chunk.tasks.size();
  return ids.release_first_rows();
}

Labels ColumnReader::build(int threads) {
  const std::unique_ptr<Rows> rows = std::exchange(rows_, std::make_unique<Rows>(rows_->rule));
  return rows->grouper.build(rows->ids.release_names(), threads);
}

}  // namespace crowdfold
