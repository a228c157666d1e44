// A LabelBlock is what a reader makes of a piece of input: runs of rows with the same task, with
// worker and class ids that only this reader knows (provisional: readers work side by side and do
// not share tables). IdMap turns them into the data set's ids, block after block in input order,
// which makes them dense and numbered by first appearance whatever the number of readers.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/interner.h"
#include "core/name_key.h"
#include "crowdfold/labels.h"

namespace crowdfold {

struct LabelBlock {
  int reader = 0;
  std::uint32_t sequence = 0;  // blocks before this one in the input

  // Runs: the task's name, its hash, and its labels, which end at label_ends[run].
  FlatArray<char> names;
  std::vector<std::uint32_t> name_ends;
  std::vector<std::uint64_t> hashes;
  std::vector<std::uint32_t> label_ends;

  // Labels, in the order of the rows.
  FlatArray<std::uint32_t> workers;
  FlatArray<ClassId> classes;

  // Names that this reader had not met before, in order.
  std::vector<std::string> new_workers;
  std::vector<std::string> new_classes;

  std::uint64_t rows = 0;
  std::uint64_t abstentions = 0;

  std::size_t num_runs() const { return label_ends.size(); }
  std::string_view name(std::size_t run) const {
    const std::uint32_t begin = run == 0 ? 0 : name_ends[run - 1];
    return {names.data() + begin, name_ends[run] - begin};
  }
  std::uint32_t label_begin(std::size_t run) const { return run == 0 ? 0 : label_ends[run - 1]; }

  void clear();
};

// Rows on their way into a block. They come by the dozen, so that each step of interning is a loop of
// its own, and the cache lines of the names are on their way when they are needed.
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

// Fills blocks. One per reading thread; it carries the reader's provisional ids from block to block.
class BlockWriter {
 public:
  // A label equal to `abstain`, like an empty one, is an abstention.
  explicit BlockWriter(int reader = 0, std::string abstain = {});

  void begin(LabelBlock& block);
  void add(const RowBatch& rows);

 private:
  // Names that were looked up and found to be new are noted in the block.
  std::uint32_t note(std::uint32_t id, std::uint32_t& known, std::string_view name,
                     std::vector<std::string>& names) {
    if (id == known) [[unlikely]] {
      ++known;
      names.emplace_back(name);
    }
    return id;
  }
  bool continues_run(std::string_view task) const {
    if (task.size() > NameKey::kMostBytes) return task == last_long_task_;
    return NameKey::of(task) == last_task_;
  }
  void start_run(std::string_view task);

  int reader_;
  std::string abstain_;
  Interner workers_;
  Interner classes_;
  std::uint32_t known_workers_ = 0;
  std::uint32_t known_classes_ = 0;

  LabelBlock* block_ = nullptr;
  NameKey last_task_;  // the present run's task, if its name is short
  std::string last_long_task_;
};

class IdMap {
 public:
  IdMap();

  // Gives ids to the names that are new in this block. Blocks come in input order.
  void absorb(const LabelBlock& block);

  const std::vector<WorkerId>& workers_of(int reader) const {
    return workers_of_[static_cast<std::size_t>(reader)];
  }
  const std::vector<ClassId>& classes_of(int reader) const {
    return classes_of_[static_cast<std::size_t>(reader)];
  }

  NameTable workers;
  NameTable classes;
  std::uint64_t rows = 0;
  std::uint64_t abstentions = 0;

 private:
  std::vector<std::vector<WorkerId>> workers_of_;  // by reader, by provisional id
  std::vector<std::vector<ClassId>> classes_of_;
};

// Applies the rule for a worker's second label on a task. One per thread.
class Deduplicator {
 public:
  Deduplicator(Duplicates rule, std::size_t num_workers) : rule_(rule), seen_(num_workers) {}

  // Shortens one task's labels in place and returns how many are left.
  // Under Duplicates::error, sets `offender` to the worker and returns at once.
  std::size_t apply(WorkerId* workers, ClassId* classes, std::size_t count);

  void grow(std::size_t num_workers) {
    if (num_workers > seen_.size()) seen_.resize(num_workers);
  }

  std::uint64_t duplicates = 0;
  WorkerId offender = kNobody;
  static constexpr WorkerId kNobody = 0xFFFF'FFFF;

 private:
  struct Seen {
    std::uint32_t stamp = 0;
    std::uint32_t position = 0;
  };

  Duplicates rule_;
  std::vector<Seen> seen_;  // by worker; stale unless it carries the present stamp
  std::uint32_t stamp_ = 0;
};

}  // namespace crowdfold
