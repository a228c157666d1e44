// Label files, parsed in parallel, given out block by block in input order.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "crowdfold/io.h"
#include "io/input_table.h"
#include "io/label_rows.h"
#include "io/spellings.h"
#include "labels/duplicates.h"
#include "labels/grouping/label_block.h"
#include "labels/grouping/tasks_ahead.h"
#include "labels/name_head.h"

namespace crowdfold {

class LabelReader {
 public:
  // Inputs are read one after another, and each is understood by itself. `pipes` among them that were
  // opened before are read from there.
  LabelReader(const std::vector<std::string>& paths, const ReadOptions& options,
              const RunContext& context, OpenedPipes pipes = {});

  // The first block, which run() gives again. Faults in it are reported then.
  LabelBlock peek();
  // How many times as long as that block the inputs are, roughly; 0 where their size is not known.
  double blocks() const;

  // All blocks. writer(thread) fills them, in parallel; consume(block) takes them, in input order.
  // A writer is a BlockWriter, or something like it.
  template <class WriterOf, class Consume>
  void run(const WriterOf& writer, const Consume& consume);

  // Of the inputs, in order; complete after run().
  const std::vector<ReadReport>& reports() const { return reports_; }
  // Names in the headers of all inputs.
  const std::vector<std::string>& header() const { return header_; }
  // How messages call the inputs.
  const std::string& source() const { return source_; }
  // Notes on files that are given twice.
  void append_twins(std::vector<std::string>& notes) const;
  // Values of ReadOptions::abstain that no label had.
  std::vector<std::string> unmet_abstentions() const;

 private:
  struct Input {
    Input(std::unique_ptr<ByteSource> text, const std::string& path, const ReadOptions& options,
          std::size_t place, int threads);

    std::size_t number;  // among the inputs, from 0
    TableInput table;
    LabelRows rows;
    std::vector<BlockParser> parsers;  // by thread
    std::uint64_t labels = 0;          // rows that were settled
  };
  template <class Writer>
  static BlockOutcome parse(Input& input, const TextBlock& block, std::size_t thread, Writer& writer);
  void open_next();
  // The next block, of whichever input has one; false at the end of all.
  bool next(TextBlock& block);
  void settle(Input& input, const BlockOutcome& outcome, BlockSummary& block);

  const RunContext& context_;
  std::vector<std::string> paths_;
  ReadOptions options_;
  OpenedPipes pipes_;
  std::string source_;
  std::shared_ptr<Input> input_;  // the one that is being read
  std::size_t opened_ = 0;
  std::optional<TextBlock> first_;  // if it was peeked at
  std::size_t first_bytes_ = 0;     // its size
  std::vector<std::string> header_;
  std::vector<ReadReport> reports_;  // by input; one is opened while another is settled
  ClassSpellings spellings_;
  std::uint64_t abstained_ = 0;  // see BlockSummary
};

// read_labels() that gives tasks of tables to `ahead` while it reads on; null: to nobody.
Labels read_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                   const RunContext& context, std::vector<ReadReport>* reports, TasksAhead* ahead);
// The same for inputs that are no exports.
Labels read_tables(const std::vector<std::string>& paths, const ReadOptions& options,
                   const RunContext& context, OpenedPipes pipes, std::vector<ReadReport>* reports,
                   TasksAhead* ahead = nullptr);

// What parsers give rows to: take(row, lasting), and take_common(task, worker, label) for most of them.
template <class Take, class TakeCommon>
struct LabelSink {
  const Take& take;
  const TakeCommon& common;

  [[gnu::always_inline]] Complaint operator()(Row row, bool lasting) const { return take(row, lasting); }
  [[gnu::always_inline]] bool take_common(std::string_view task, std::string_view worker,
                                          std::string_view label) const {
    return common(task, worker, label);
  }
};

template <class Writer>
BlockOutcome LabelReader::parse(Input& input, const TextBlock& block, std::size_t thread,
                                Writer& writer) {
  RowBatch batch;
  const auto flush = [&] {
    writer.add(batch);
    batch.size = 0;
  };
  BlockOutcome left_out;
  // Inlined into the parser, so that fields stay in registers and the complaint, which is hardly ever
  // there, costs nothing.
  const auto take_row = [&](Row row, bool lasting) __attribute__((always_inline))->Complaint {
    Complaint complaint = input.rows.read(
        row, left_out, [&](std::string_view task, std::string_view worker, std::string_view label) {
          batch.push(task, worker, label);
          if (batch.full()) flush();
        });
    if (!lasting) flush();
    return complaint;
  };
  const auto take_common = [&](std::string_view task, std::string_view worker, std::string_view label)
      __attribute__((always_inline)) {
    if (!input.rows.is_common(task, worker, label)) return false;
    batch.push(task, worker, label);
    if (batch.full()) flush();
    return true;
  };
  BlockOutcome outcome = input.parsers[thread].parse(
      block, LabelSink<decltype(take_row), decltype(take_common)>{take_row, take_common});
  flush();
  outcome.repeated_headers = left_out.repeated_headers;
  outcome.total_rows = left_out.total_rows;
  outcome.empty_rows = left_out.empty_rows;
  return outcome;
}

template <class WriterOf, class Consume>
void LabelReader::run(const WriterOf& writer, const Consume& consume) {
  using Writer = std::remove_reference_t<decltype(writer(0))>;
  struct Item {
    TextBlock text;
    std::shared_ptr<Input> input;
    typename Writer::Block labels;
    BlockOutcome outcome;
  };
  std::uint32_t sequence = 0;
  run_pipeline<Item>(
      context_.threads, input_->parsers.size() + 1,
      [&](Item& item) {
        context_.throw_if_cancelled();
        context_.report("reading", input_->table.source().file_position(),
                        input_->table.source().file_size());
        item.labels.sequence = sequence++;
        const bool found = first_.has_value() || next(item.text);
        item.input = input_;
        if (!first_) return found;
        item.text = std::move(*first_);
        first_.reset();
        return true;
      },
      [&](Item& item, int thread) {
        writer(thread).begin(item.labels);
        item.outcome = parse(*item.input, item.text, static_cast<std::size_t>(thread), writer(thread));
      },
      [&](Item& item) {
        settle(*item.input, item.outcome, item.labels);
        consume(std::as_const(item.labels));
      });
}

// Whether no task comes back within the block: then, most likely, the input is grouped by task.
bool looks_grouped(const LabelBlock& block);
// What the names of its tasks begin with.
NameHead head_of(const LabelBlock& block);

// Error(usage) if options are given that a table does not have.
void require_no_export_options(const std::string& path, const ReadOptions& options);

// A writer for each of the context's threads.
std::vector<BlockWriter> make_writers(const ReadOptions& options, const RunContext& context);

// The first row that is a worker's second label on a task, read again from the start. The error comes
// back with no more than the input's name if that cannot be read twice.
[[noreturn]] void rethrow_with_place(const DuplicateLabel& error, const std::vector<std::string>& paths,
                                     const ReadOptions& options);

}  // namespace crowdfold
