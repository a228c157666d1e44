// Ids while reading. Readers work side by side and share no tables, so each gives workers and classes
// ids that only it knows. IdMap turns them into the data set's ids, block after block in input order,
// which makes them dense and numbered by first appearance whatever the number of readers.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/labels.h"
#include "labels/interner.h"
#include "labels/name_head.h"

namespace crowdfold {

// Rows on their way. They come by the dozen, so that each step of interning is a loop of its own, and
// the cache lines of the names are on their way when they are needed.
struct RowBatch {
  static constexpr std::size_t kRows = 64;

  std::size_t size = 0;
  std::array<std::string_view, kRows> tasks;
  std::array<std::string_view, kRows> workers;
  std::array<std::string_view, kRows> labels;

  bool full() const { return size == kRows; }
  void push(std::string_view task, std::string_view worker, std::string_view label) {
    tasks[size] = task;
    workers[size] = worker;
    labels[size] = label;
    ++size;
  }
};

// What a block of input brings besides its labels.
struct BlockSummary {
  int reader = 0;
  std::uint32_t sequence = 0;  // blocks before this one in the input
  std::uint64_t rows = 0;
  std::uint64_t abstentions = 0;
  std::uint64_t packed_bytes = 0;  // memory that its rows take, if they are packed
  std::uint64_t abstained = 0;     // bit i: some row has the value that is abstention number i
  // Names that this reader had not met before, in order.
  std::vector<std::string> new_workers;
  std::vector<std::string> new_classes;

  // Empty again, for its next use by `reader`. The sequence stays.
  void restart(int by_reader);
};

// One reader's ids.
class ReaderIds {
 public:
  // A label that is one of `abstain`, like an empty one, is an abstention.
  explicit ReaderIds(std::vector<std::string> abstain);

  // Looks up a batch, whose ids are then in workers and classes, and adds to the block's summary.
  void look_up(const RowBatch& rows, BlockSummary& block);

  std::array<std::uint32_t, RowBatch::kRows> workers;
  std::array<ClassId, RowBatch::kRows> classes;  // kNoClass where the worker abstains

 private:
  void look_up_workers(const RowBatch& rows, BlockSummary& block);
  void look_up_classes(const RowBatch& rows, BlockSummary& block);
  // Which of abstain_ the label is; their number if none.
  std::size_t abstention(std::string_view label) const {
    std::size_t i = 0;
    while (i < abstain_.size() && abstain_[i] != label) ++i;
    return i;
  }

  // The class of a label that is not empty, kNoClass if it is an abstention.
  ClassId class_of(std::string_view label, BlockSummary& block);

  // Labels that were met, by their first and last eight bytes, which are all of a label that is not
  // long. There are few, and nearly every row has one of them: they are compared, but not hashed.
  struct MetLabel {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::size_t size = 0;  // 0: none
    ClassId id = kNoClass;
  };
  static constexpr std::size_t kMostMetBytes = 16;
  static constexpr unsigned kMetBits = 6;
  static std::size_t met_at(std::uint64_t first, std::uint64_t last) {
    return (first + 3 * last) * 0x9E37'79B9'7F4A'7C15ULL >> (64 - kMetBits);
  }

  std::vector<std::string> abstain_;
  // Of the first workers' names, if all of them have a number behind it: then those that have are known
  // by their numbers, which is quicker.
  std::optional<NameHead> numbered_;
  Interner known_workers_;
  Interner known_classes_;
  std::array<MetLabel, std::size_t{1} << kMetBits> met_;  // one that comes to a place takes it
};

class IdMap {
 public:
  IdMap();

  // Gives ids to the names that are new in this block. Blocks come in input order.
  void absorb(const BlockSummary& block);

  // By the reader's own ids.
  const std::vector<WorkerId>& workers_of(int reader) const {
    return workers_of_[static_cast<std::size_t>(reader)];
  }
  const std::vector<ClassId>& classes_of(int reader) const {
    return classes_of_[static_cast<std::size_t>(reader)];
  }

  // Of memory: names and ids, also those of the readers.
  std::uint64_t bytes() const;

  NameTable workers;
  NameTable classes;
  std::uint64_t rows = 0;
  std::uint64_t abstentions = 0;

 private:
  std::vector<std::vector<WorkerId>> workers_of_;
  std::vector<std::vector<ClassId>> classes_of_;
};

}  // namespace crowdfold
