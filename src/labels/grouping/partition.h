// Grouping the rows of one partition of the tasks, wherever they were packed: in memory, or in files.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "labels/duplicates.h"
#include "labels/grouping/byte_pool.h"
#include "labels/grouping/row_packer.h"
#include "labels/interner.h"

namespace crowdfold {

// One partition's tasks, grouped, in order of first appearance within the partition. The arrays lie in
// the pool of whoever grouped it.
struct GroupedPartition {
  std::span<const char> names;
  std::span<const std::uint32_t> name_ends;
  std::span<const std::uint64_t> first_row;  // by task: the row where it appears first
  std::span<std::uint32_t> label_ends;
  std::span<WorkerId> workers;
  std::span<ClassId> classes;
  WorkerId offender = Deduplicator::kNobody;  // under Duplicates::error, of the last task

  std::size_t num_tasks() const { return first_row.size(); }
  std::uint32_t name_begin(std::size_t task) const { return task == 0 ? 0 : name_ends[task - 1]; }
  std::string_view name(std::size_t task) const {
    return {names.data() + name_begin(task), name_ends[task] - name_begin(task)};
  }
  std::uint32_t label_begin(std::size_t task) const { return task == 0 ? 0 : label_ends[task - 1]; }
};

// What a thread needs to group a partition, kept for the next one.
struct PartitionScratch {
  PartitionScratch(Duplicates rule, std::size_t num_workers) : deduplicator(rule, num_workers) {}

  struct Read {
    PackedRow row;
    std::uint64_t hash = 0;
  };
  std::array<Read, 64> batch;

  // Tasks, of which nobody knows how many there will be: as in GroupedPartition.
  Interner tasks{"tasks", kMaxTasks};
  FlatArray<char> names;
  FlatArray<std::uint32_t> name_ends;
  FlatArray<std::uint64_t> first_row;
  void add_task(std::string_view name, std::uint64_t row);
  void clear();

  // Labels in input order, each with its task.
  struct Label {
    TaskId task;
    WorkerId worker;
    ClassId label;
  };
  std::vector<Label> labels;
  std::vector<std::uint32_t> cursor;
  Deduplicator deduplicator;
};

// What rows are told by.
struct RowMeanings {
  const IdMap& ids;
  const std::vector<std::uint64_t>& first_row;  // by block: rows in the blocks before
  const NameHead& head;
  unsigned partition_bits;
};

// The pieces of a partition, by reader, each in input order; the arrays go into the pool. Under
// Duplicates::error it ends with the first task that has a second label.
GroupedPartition group_partition(std::span<const std::vector<RowPacker::Piece>* const> readers,
                                 const RowMeanings& meanings, PartitionScratch& scratch, BytePool& pool);

}  // namespace crowdfold
