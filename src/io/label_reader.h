// Label files as LabelBlocks, parsed in parallel, given out in input order.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/grouping.h"
#include "core/parallel.h"
#include "crowdfold/io.h"
#include "io/table.h"

namespace crowdfold {

class LabelReader {
 public:
  LabelReader(const std::string& path, const ReadOptions& options, const RunContext& context);

  // Parses the next block on the calling thread; false at the end.
  bool next(LabelBlock& block);

  // All further blocks. work(labels) runs in parallel, consume(labels) in input order.
  template <class Work, class Consume>
  void run(const Work& work, const Consume& consume);

  const TableInput& input() const { return input_; }

 private:
  BlockOutcome parse(const Block& block, LabelBlock& labels, std::size_t thread);

  const RunContext& context_;
  TableInput input_;
  std::vector<BlockParser> parsers_;  // by thread
  std::vector<BlockWriter> writers_;
  Block first_;
  std::uint32_t next_sequence_ = 0;
};

template <class Work, class Consume>
void LabelReader::run(const Work& work, const Consume& consume) {
  struct Item {
    Block block;
    LabelBlock labels;
    BlockOutcome outcome;
  };
  run_pipeline<Item>(
      context_.threads, parsers_.size() + 1,
      [&](Item& item) {
        context_.throw_if_cancelled();
        context_.report("reading", input_.source().file_position(), input_.source().file_size());
        item.labels.sequence = next_sequence_++;
        return input_.next(item.block);
      },
      [&](Item& item, int thread) {
        item.outcome = parse(item.block, item.labels, static_cast<std::size_t>(thread));
        if (!item.outcome.failed) work(item.labels);
      },
      [&](Item& item) {
        input_.settle(item.outcome);
        consume(item.labels);
      });
}

// The place of a worker's second label on a task, read again from the start. The error comes back
// without a place if the input cannot be read twice.
[[noreturn]] void rethrow_with_place(const DuplicateLabel& error, const std::string& path,
                                     const ReadOptions& options);

}  // namespace crowdfold
