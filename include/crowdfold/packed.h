// Packed labels: a file of blocks of tasks, 4 to 6 bytes a label, with a checksum for each part
// (docs/formats.md has it byte by byte). Every command that reads labels takes it; methods that work in
// rounds stream over it, so labels need not fit into memory.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/blocks.h"
#include "crowdfold/io.h"
#include "crowdfold/labels.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

// Whether a path leads to packed labels, of any version: by the first bytes, not by the name.
bool is_packed(const std::string& path);

// The names of a block's tasks.
class TaskNames {
 public:
  TaskNames() = default;
  TaskNames(TaskId first, std::span<const char> text, std::span<const std::uint64_t> ends)
      : first_(first), text_(text), ends_(ends) {}
  // By the task's number in the data set.
  std::string_view operator[](TaskId t) const {
    const std::size_t i = t - first_;
    const std::uint64_t begin = i == 0 ? 0 : ends_[i - 1];
    return {text_.data() + begin, static_cast<std::size_t>(ends_[i] - begin)};
  }

 private:
  TaskId first_ = 0;
  std::span<const char> text_;
  std::span<const std::uint64_t> ends_;
};

// An open file of packed labels, or several as one. What it says is checked before it is used: whatever
// is damaged, cut short, or of another version is an Error(data) that says where. Threads may share it.
class PackedLabels final : public TaskBlocks {
 public:
  explicit PackedLabels(const std::string& path);
  // Several files, the tasks of one after those of another; ids are those that their rows would get. No
  // task may be in two of them, as its labels would have to meet: Error(data) that names one. At least
  // one.
  PackedLabels(const std::vector<std::string>& paths, const RunContext& context);
  // Takes over a descriptor that can be read at any place. `name` is for messages.
  PackedLabels(int descriptor, std::string name);
  ~PackedLabels() override;
  PackedLabels(PackedLabels&&) noexcept;
  PackedLabels& operator=(PackedLabels&&) noexcept;

  std::uint64_t num_tasks() const override;
  std::uint64_t num_labels() const override;
  const NameTable& workers() const;
  const NameTable& classes() const;
  const RowCounts& rows() const;
  Duplicates duplicates() const;     // the rule that the labels went by when they were packed
  std::uint64_t file_bytes() const;  // of all files
  std::uint64_t name_bytes() const;  // of the names of tasks, as they are
  std::size_t num_blocks() const;
  std::string name() const;  // for messages

  // From now on labels by these workers are abstentions, as ReadOptions::without_workers has them; names
  // that nobody has are passed over. Classes that nobody else names are gone, and the others are
  // numbered by their first appearance, task after task. Reads all labels once.
  void leave_out(const std::vector<std::string>& workers, const RunContext& context);
  // Known truths by task, or empty; blocks have them from now on. They must outlive this.
  void set_truths(std::span<const ClassId> truths);

  // Blocks in no order. A block is valid until body returns.
  void for_each(int threads, const char* stage, const RunContext& context,
                const Body& body) const override;
  // Blocks in order, one after another, while other threads read and decode the next ones. Names are
  // empty unless they are asked for; where they are all that is, tasks come without labels.
  enum class Names { no, yes, only };
  using OrderedBody = std::function<void(const TaskBlock& block, const TaskNames& names)>;
  void in_order(const char* stage, const RunContext& context, Names names,
                const OrderedBody& body) const;
  // The same with a step that all threads take side by side, and whose outcome waits for its turn:
  // work(block, names, slot), then body(block, names, slot) in order. Slots are below
  // num_slots(context); nobody else has a block's slot before body returns.
  using SlotBody = std::function<void(const TaskBlock& block, const TaskNames& names, std::size_t slot)>;
  void in_order(const char* stage, const RunContext& context, Names names, const SlotBody& work,
                const SlotBody& body) const;
  static std::size_t num_slots(const RunContext& context);
  // The names of a block's tasks, for whoever keeps estimates by block. body may be called by any
  // thread.
  void names_of(std::size_t block, const std::function<void(const TaskNames&)>& body) const;
  // Of a block: its tasks are first_task(block) up to first_task(block + 1) - 1.
  TaskId first_task(std::size_t block) const;

  // All labels, in memory: decoded by all of the context's threads. Without names, those of tasks stay
  // in the file. Error(usage) if they need more than context.max_memory.
  Labels to_labels(const RunContext& context, Names names = Names::yes) const;

 private:
  struct File;
  void require_tasks_once(const RunContext& context) const;
  std::unique_ptr<File> file_;
};

// What packing does, told while it is done.
struct PackListener {
  // A sentence on the space that temporary files need, before they take it.
  std::function<void(const std::string&)> on_space = {};
};

struct PackRequest {
  std::vector<std::string> labels;  // files, one after another; "-": standard input
  ReadOptions read = {};
  // Where rows wait that are not grouped by task; "": where the output is.
  std::string folder = {};
};

struct PackSummary {
  std::uint64_t labels = 0;
  std::uint64_t tasks = 0;
  std::uint64_t workers = 0;
  std::uint64_t classes = 0;
  RowCounts rows;
  std::uint64_t bytes = 0;  // of the file
  std::vector<ReadReport> reports;
};

// Packs labels into a file, which appears whole or not at all. Memory stays within context.max_memory,
// but for the names of workers and what a single task needs; rows in any order wait in temporary files
// that nobody else sees and that a kill does not leave behind. Ids and their order are those of
// read_labels().
PackSummary pack_labels(const PackRequest& request, const std::string& output, const RunContext& context,
                        const PackListener& listener = {});
// The same into a temporary file in request.folder, which is gone when it is closed.
PackedLabels pack_temporarily(const PackRequest& request, const RunContext& context,
                              PackSummary* summary = nullptr, const PackListener& listener = {});
// Labels that are in memory.
PackSummary write_packed(const Labels& labels, Duplicates duplicates, const std::string& output,
                         const RunContext& context);

}  // namespace crowdfold
