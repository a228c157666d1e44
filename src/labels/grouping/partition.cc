#include "labels/grouping/partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "crowdfold/error.h"
#include "labels/grouping/counting_sort.h"

namespace crowdfold {
namespace {

// Places within a partition have 32 bits.
void require_place(std::uint64_t count, const char* what) {
  if (count <= 0xFFFF'FFFF) return;
  throw Error(ErrorCode::data,
              fmt::format("more than {} {} in one of many parts: they do not fit; group the rows by "
                          "task, or give fewer",
                          0xFFFF'FFFFU, what));
}

void unpack(const RowPacker::Piece& piece, int reader, const RowMeanings& meanings,
            PartitionScratch& scratch) {
  const std::vector<WorkerId>& worker_of = meanings.ids.workers_of(reader);
  const std::vector<ClassId>& class_of = meanings.ids.classes_of(reader);
  const std::uint64_t first_row = meanings.first_row[piece.sequence] + piece.first_row;
  const auto add = [&](const PackedRow& row, TaskId task) __attribute__((always_inline)) {
    if (task == scratch.first_row.size()) [[unlikely]]
      scratch.add_task(meanings.head.restore(row.name), first_row + row.row);
    if (row.label != kNoClass)
      scratch.labels.push_back({task, worker_of[row.worker], class_of[row.label]});
  };
  for (const char* at = piece.begin; at != piece.end;) {
    // Numbered tasks, which most are, need no hash: the row stays in registers.
    while (at != piece.end && PackedRow::is_numbered(at)) {
      PackedRow row;
      at = row.read(at);
      add(row, scratch.tasks.intern_number(within_partition(row.name, meanings.partition_bits).number));
    }
    // Others by the dozen: the table's cache lines are asked for before they are needed.
    std::size_t count = 0;
    for (; count < scratch.batch.size() && at != piece.end && !PackedRow::is_numbered(at); ++count) {
      auto& [row, hash] = scratch.batch[count];
      at = row.read(at);
      hash = row.name.hash();
      scratch.tasks.prefetch(row.name, hash);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [row, hash] = scratch.batch[i];
      add(row, scratch.tasks.intern(row.name, hash));
    }
  }
}

}  // namespace

void PartitionScratch::add_task(std::string_view name, std::uint64_t row) {
  const std::size_t at = names.size();
  require_place(at + name.size(), "bytes of names of tasks");
  names.resize(at + name.size());
  copy_name(names.data() + at, name);
  name_ends.push_back(static_cast<std::uint32_t>(names.size()));
  first_row.push_back(row);
}

void PartitionScratch::clear() {
  tasks.clear();
  names.clear();
  name_ends.clear();
  first_row.clear();
  labels.clear();
}

GroupedPartition group_partition(std::span<const std::vector<RowPacker::Piece>* const> pieces,
                                 const RowMeanings& meanings, PartitionScratch& scratch,
                                 BytePool& pool) {
  scratch.clear();
  // The readers' pieces, in input order.
  struct ReaderPieces {
    const std::vector<RowPacker::Piece>* pieces;
    std::size_t next = 0;
    bool empty() const { return next == pieces->size(); }
    const RowPacker::Piece& front() const { return (*pieces)[next]; }
  };
  std::vector<ReaderPieces> readers;
  for (const std::vector<RowPacker::Piece>* of_reader : pieces) readers.push_back({of_reader});
  for (;;) {
    ReaderPieces* first = nullptr;
    for (ReaderPieces& reader : readers) {
      if (reader.empty()) continue;
      if (first == nullptr || reader.front().sequence < first->front().sequence) first = &reader;
    }
    if (first == nullptr) break;
    unpack(first->front(), static_cast<int>(first - readers.data()), meanings, scratch);
    ++first->next;
  }

  // Counting sort by task.
  require_place(scratch.labels.size(), "labels");
  const std::size_t num_tasks = scratch.first_row.size();
  std::vector<std::uint32_t>& cursor = scratch.cursor;
  cursor.assign(num_tasks + 1, 0);
  for (const PartitionScratch::Label& label : scratch.labels) ++cursor[label.task + 1ULL];
  std::partial_sum(cursor.begin(), cursor.end(), cursor.begin());
  GroupedPartition partition;
  partition.names = pool.copy_of(scratch.names);
  partition.name_ends = pool.copy_of(scratch.name_ends);
  partition.first_row = pool.copy_of(scratch.first_row);
  partition.label_ends = pool.array<std::uint32_t>(num_tasks);
  partition.workers = pool.array<WorkerId>(scratch.labels.size());
  partition.classes = pool.array<ClassId>(scratch.labels.size());
  const LabelPlaces<std::uint32_t> places{cursor.data(), partition.workers.data(),
                                          partition.classes.data()};
  for (const PartitionScratch::Label& label : scratch.labels)
    places.write(label.task, label.worker, label.label);

  // The rule for duplicates, which closes its gaps as it goes.
  WorkerId* const workers = partition.workers.data();
  ClassId* const classes = partition.classes.data();
  std::uint32_t to = 0;
  std::uint32_t begin = 0;
  for (std::size_t t = 0; t < num_tasks; ++t) {
    const auto left = static_cast<std::uint32_t>(
        scratch.deduplicator.apply(workers + begin, classes + begin, cursor[t] - begin));
    partition.offender = std::exchange(scratch.deduplicator.offender, Deduplicator::kNobody);
    if (partition.offender != Deduplicator::kNobody) {
      partition.first_row = partition.first_row.first(t + 1);
      return partition;
    }
    if (to < begin) {
      std::copy_n(workers + begin, left, workers + to);
      std::copy_n(classes + begin, left, classes + to);
    }
    begin = cursor[t];
    partition.label_ends[t] = to += left;
  }
  return partition;
}

}  // namespace crowdfold
