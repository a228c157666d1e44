// Label files, parsed in parallel, given out block by block in input order.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "crowdfold/io.h"
#include "io/input_table.h"
#include "labels/duplicates.h"
#include "labels/grouping/label_block.h"

namespace crowdfold {

class LabelReader {
 public:
  LabelReader(const std::string& path, const ReadOptions& options, const RunContext& context);

  // The first block, which run() gives again. Faults in it are reported then.
  LabelBlock peek();
  // How many times as long as that block the input is, roughly; 0 where its size is not known.
  double blocks() const;

  // All blocks. writer(thread) fills them, in parallel; consume(block) takes them, in input order.
  // A writer is a BlockWriter, or something like it.
  template <class WriterOf, class Consume>
  void run(const WriterOf& writer, const Consume& consume);

  const TableInput& input() const { return input_; }

 private:
  template <class Writer>
  BlockOutcome parse(const TextBlock& block, std::size_t thread, Writer& writer);

  const RunContext& context_;
  TableInput input_;
  std::vector<BlockParser> parsers_;  // by thread
  std::optional<TextBlock> first_;    // if it was peeked at
  std::size_t first_bytes_ = 0;       // its size
};

template <class Writer>
BlockOutcome LabelReader::parse(const TextBlock& block, std::size_t thread, Writer& writer) {
  RowBatch batch;
  const auto flush = [&] {
    writer.add(batch);
    batch.size = 0;
  };
  BlockOutcome outcome = parsers_[thread].parse(block, [&](Row row, bool lasting) -> Complaint {
    if (row[0].empty()) return {1, "no task: the field is empty"};
    if (row[1].empty()) return {2, "no worker: the field is empty"};
    batch.push(row[0], row[1], row[2]);
    if (batch.full() || !lasting) flush();
    return {};
  });
  flush();
  return outcome;
}

template <class WriterOf, class Consume>
void LabelReader::run(const WriterOf& writer, const Consume& consume) {
  using Writer = std::remove_reference_t<decltype(writer(0))>;
  struct Item {
    TextBlock text;
    typename Writer::Block labels;
    BlockOutcome outcome;
  };
  std::uint32_t sequence = 0;
  run_pipeline<Item>(
      context_.threads, parsers_.size() + 1,
      [&](Item& item) {
        context_.throw_if_cancelled();
        context_.report("reading", input_.source().file_position(), input_.source().file_size());
        item.labels.sequence = sequence++;
        if (!first_) return input_.next(item.text);
        item.text = std::move(*first_);
        first_.reset();
        return true;
      },
      [&](Item& item, int thread) {
        writer(thread).begin(item.labels);
        item.outcome = parse(item.text, static_cast<std::size_t>(thread), writer(thread));
      },
      [&](Item& item) {
        input_.settle(item.outcome);
        consume(std::as_const(item.labels));
      });
}

// A writer for each of the context's threads.
std::vector<BlockWriter> make_writers(const ReadOptions& options, const RunContext& context);

// Error(usage) if what was read of `source` takes more memory than the context allows; `advice` says
// what else to do about it.
void require_room(const std::string& source, std::uint64_t bytes, const std::string& advice,
                  const RunContext& context);

// The first row that is a worker's second label on a task, read again from the start. The error comes
// back with no more than the input's name if that cannot be read twice.
[[noreturn]] void rethrow_with_place(const DuplicateLabel& error, const std::string& path,
                                     const ReadOptions& options);

}  // namespace crowdfold
