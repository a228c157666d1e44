// Grouping the rows of one partition of the tasks, wherever they were packed: in memory, or in files.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "labels/duplicates.h"
#include "labels/grouping/row_packer.h"
#include "labels/interner.h"

namespace crowdfold {

// One partition's tasks, grouped, in order of first appearance within the partition.
struct GroupedPartition {
  FlatArray<char> names;
  std::vector<std::uint32_t> name_ends;
  std::vector<std::uint64_t> first_row;  // by task: the row where it appears first
  std::vector<std::uint32_t> label_ends;
  FlatArray<WorkerId> workers;
  FlatArray<ClassId> classes;
  WorkerId offender = Deduplicator::kNobody;  // under Duplicates::error, of the last task

  std::size_t num_tasks() const { return first_row.size(); }
  std::uint32_t name_begin(std::size_t task) const { return task == 0 ? 0 : name_ends[task - 1]; }
  std::string_view name(std::size_t task) const {
    return {names.data() + name_begin(task), name_ends[task] - name_begin(task)};
  }
  void add_name(std::string_view name);
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

  Interner tasks{"tasks", kMaxTasks};
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
};

// The pieces of a partition, by reader, each in input order. Under Duplicates::error it ends with the
// first task that has a second label.
GroupedPartition group_partition(std::span<const std::vector<RowPacker::Piece>* const> readers,
                                 const RowMeanings& meanings, PartitionScratch& scratch);

}  // namespace crowdfold
