// ScatteredRows: rows in any order -> tasks in the order of their first rows, within a limit of memory.
// Rows are packed by a hash of their task, as PartitionedGrouper has them; where they are too many, they
// wait in temporary files. Partitions are then grouped one by one, and merged by their tasks' first
// rows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/run_context.h"
#include "io/temporary_file.h"
#include "labels/grouping/partition.h"
#include "labels/grouping/row_packer.h"

namespace crowdfold {

class ScatteredRows {
 public:
  struct Options {
    Duplicates duplicates = Duplicates::last;
    std::vector<std::string> abstain;
    NameHead head;             // what the names of most tasks begin with
    double rows = 0;           // about; 0: unknown
    std::uint64_t memory = 0;  // bytes that all of this may take, about; 0: no limit
    std::string folder;        // of temporary files
  };
  ScatteredRows(Options options, const RunContext& context);

  // Packs one reader's rows, and writes them to a file once they take its share of memory.
  class Writer {
   public:
    using Block = BlockSummary;
    Writer(RowPacker packer, std::uint64_t share, const std::string& folder);

    void begin(BlockSummary& block);
    void add(const RowBatch& rows) { packer_.add(rows); }

   private:
    friend class ScatteredRows;
    struct Segment {
      std::uint64_t place = 0;
      std::uint64_t bytes = 0;
    };
    void spill();

    RowPacker packer_;
    std::uint64_t share_;
    const std::string& folder_;
    std::unique_ptr<TemporaryFile> file_;         // null: all rows are in memory
    std::vector<std::vector<Segment>> segments_;  // by partition, in input order
    std::string buffer_;
  };
  Writer& writer(int reader) { return writers_[static_cast<std::size_t>(reader)]; }
  // Afterwards, one block after another in input order.
  void append(const BlockSummary& block);

  using OnTask = std::function<void(std::string_view task, std::span<const WorkerId> workers,
                                    std::span<const ClassId> classes)>;
  // All tasks. DuplicateLabel under Duplicates::error.
  void finish(const OnTask& on_task);

  const IdMap& ids() const { return ids_; }
  std::uint64_t duplicates() const { return duplicates_; }
  // Whether rows were written to files so far.
  bool spilled() const;

  // Whether about so many rows, with names like these, will be; and what that takes on the disk.
  static std::uint64_t space_needed(double rows, double name_bytes, std::uint64_t memory);

 private:
  class Run;

  std::size_t num_partitions() const { return std::size_t{1} << bits_; }
  GroupedPartition group(std::size_t partition, PartitionScratch& scratch, BytePool& pool);
  void note_offender(const GroupedPartition& partition);
  void merge(std::vector<Run>& runs, const OnTask& on_task) const;

  Options options_;
  const RunContext& context_;
  unsigned bits_;
  std::vector<Writer> writers_;           // by reader
  std::vector<std::uint64_t> first_row_;  // by block: rows in the blocks before
  IdMap ids_;
  std::uint64_t duplicates_ = 0;

  // Under Duplicates::error, of all tasks with a second label the one that appears first.
  struct Offender {
    std::uint64_t row = 0;
    std::string task;
    WorkerId worker = 0;
  };
  std::optional<Offender> offender_;
};

}  // namespace crowdfold
