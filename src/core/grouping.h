// Grouping: blocks of runs in input order -> Labels. In linear time, by one of two ways:
//
//   OrderedGrouper      appends runs as they come and looks each task up once per run. Nothing is
//                       moved when the input is grouped by task; otherwise a counting sort at the end.
//   PartitionedGrouper  for input in any order: rows are packed by a hash of their task into pieces
//                       whose tables fit the cache, which are then grouped one by one, in parallel.
//                       A bitmap of the rows where a task appears for the first time restores the
//                       order of first appearance: a task's id is the rank of its row.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/label_block.h"
#include "core/page_pool.h"
#include "crowdfold/error.h"
#include "crowdfold/labels.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

// Error(data) under Duplicates::error. A reader that can read its input again adds the place.
class DuplicateLabel : public Error {
 public:
  DuplicateLabel(std::string_view task_name, std::string_view worker_name, Location location = {});

  std::string task;
  std::string worker;
};

class OrderedGrouper {
 public:
  explicit OrderedGrouper(Duplicates duplicates);

  // Room for so many labels, so that arrays need not move while they grow.
  void reserve(std::uint64_t labels, std::uint64_t tasks, std::uint64_t name_bytes);
  void append(const LabelBlock& block);
  Labels finish(int threads);

 private:
  void regroup();

  Duplicates rule_;
  IdMap ids_;
  NameTable tasks_;
  FlatArray<std::uint64_t> offsets_;  // of runs, which are tasks until one comes back
  FlatArray<WorkerId> worker_;
  FlatArray<ClassId> class_;
  std::vector<TaskId> task_of_run_;  // empty until a task comes back
};

class PartitionedGrouper {
 public:
  PartitionedGrouper(Duplicates duplicates, unsigned partition_bits, int readers);
  ~PartitionedGrouper();

  // Packs a block's runs by partition. Readers may do this side by side, each with its own blocks in
  // order.
  void pack(const LabelBlock& block);
  // Afterwards, one after another in input order.
  void append(const LabelBlock& block);
  Labels finish(const RunContext& context);

 private:
  // A block's runs in one partition. Per run: twice the name's length, plus one if there is not just one
  // label; name; number of the run in its block; label count, if not one; (worker, class)…
  struct Piece {
    std::uint32_t sequence = 0;
    std::uint32_t size = 0;
    const char* bytes = nullptr;
  };
  // One reader's pieces of a partition.
  struct Shelf {
    char* make_room(std::size_t size, PagePool& pool);

    std::vector<Piece> pieces;
    std::size_t left = 0;  // at the end of the last chunk
    char* free = nullptr;
  };
  struct Partition;
  struct Scratch;

  std::size_t num_partitions() const { return std::size_t{1} << bits_; }
  Partition group(std::size_t partition, Scratch& scratch) const;
  void decode(const Piece& piece, int reader, Partition& partition, Scratch& scratch) const;
  Labels join(std::vector<Partition> partitions, const RunContext& context);

  Duplicates rule_;
  unsigned bits_;
  IdMap ids_;
  std::vector<PagePool> pools_;              // by reader
  std::vector<std::vector<Shelf>> shelves_;  // by reader, by partition
  std::vector<std::uint64_t> first_run_;     // by block: runs in the blocks before
  std::uint64_t num_runs_ = 0;
};

}  // namespace crowdfold
