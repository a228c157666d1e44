// PartitionedGrouper: rows in any order -> Labels, in linear time. Rows are packed by a hash of their
// task into partitions whose tables fit the cache, which are then grouped one by one, in parallel, and
// joined in the order in which their tasks first appear.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/run_context.h"
#include "labels/grouping/partition.h"
#include "labels/grouping/tasks_ahead.h"

namespace crowdfold {

class PartitionedGrouper {
 public:
  // `head`: what the names of most tasks begin with.
  PartitionedGrouper(Duplicates duplicates, unsigned partition_bits, int readers,
                     const std::vector<std::string>& abstain = {}, NameHead head = {});

  // Readers pack their blocks side by side. A reader's blocks come in input order.
  RowPacker& packer(int reader) { return packers_[static_cast<std::size_t>(reader)]; }
  // Afterwards, one after another in input order.
  void append(const BlockSummary& block);
  // Of memory, at the end, if no more comes: packed rows, and the labels that partitions make of them.
  std::uint64_t bytes() const {
    return packed_bytes_ + (sizeof(WorkerId) + sizeof(ClassId)) * ids_.rows + ids_.bytes();
  }
  // `ahead`, or null, takes tasks while others are joined.
  Labels finish(const RunContext& context, TasksAhead* ahead = nullptr);

 private:
  std::size_t num_partitions() const { return std::size_t{1} << bits_; }
  void refuse_offenders(const std::vector<GroupedPartition>& partitions) const;
  Labels join(const std::vector<GroupedPartition>& partitions, std::uint64_t duplicates,
              const RunContext& context, TasksAhead* ahead);

  Duplicates rule_;
  unsigned bits_;
  NameHead head_;
  IdMap ids_;
  std::vector<RowPacker> packers_;        // by reader
  std::vector<std::uint64_t> first_row_;  // by block: rows in the blocks before
  std::uint64_t packed_bytes_ = 0;
};

}  // namespace crowdfold
