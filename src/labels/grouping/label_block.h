// A LabelBlock is what a reader makes of a piece of input that seems to be grouped by task: runs of rows
// with the same task.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/labels.h"
#include "labels/grouping/reader_ids.h"
#include "labels/name_key.h"

namespace crowdfold {

struct LabelBlock : BlockSummary {
  // Runs: the task's name, its hash, and its labels, which end at label_ends[run].
  FlatArray<char> names;
  std::vector<std::uint32_t> name_ends;
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint32_t> label_ends;

  // Labels, in the order of the rows, by the reader's ids.
  FlatArray<std::uint32_t> workers;
  FlatArray<ClassId> classes;

  std::size_t num_runs() const { return label_ends.size(); }
  std::string_view name(std::size_t run) const {
    const std::uint32_t begin = run == 0 ? 0 : name_ends[run - 1];
    return {names.data() + begin, name_ends[run] - begin};
  }
  std::uint32_t label_begin(std::size_t run) const { return run == 0 ? 0 : label_ends[run - 1]; }

  void restart(int by_reader);
};

// Fills blocks. One per reader.
class BlockWriter {
 public:
  using Block = LabelBlock;

  explicit BlockWriter(int reader = 0, std::vector<std::string> abstain = {})
      : reader_(reader), ids_(std::move(abstain)) {}

  void begin(LabelBlock& block);
  void add(const RowBatch& rows);

 private:
  bool continues_run(std::string_view task) const {
    if (task.size() > NameKey::kMostBytes) return task == last_long_task_;
    return NameKey::of(task) == last_task_;
  }
  void start_run(std::string_view task);

  int reader_;
  ReaderIds ids_;
  LabelBlock* block_ = nullptr;
  NameKey last_task_;  // the present run's task, if its name is short
  std::string last_long_task_;
};

}  // namespace crowdfold
