#include "io/label_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <filesystem>

#include "crowdfold/words.h"
#include "io/exports/export_format.h"
#include "io/label_notes.h"
#include "io/packed/read_packed.h"
#include "io/room.h"
#include "labels/grouping/ordered_grouper.h"
#include "labels/grouping/partitioned_grouper.h"
#include "labels/interner.h"

namespace crowdfold {
namespace {

// Rows per partition, as measured: with fewer, rows are written to too many places at a time, with more,
// a partition's tasks do not stay within a core's own cache.
constexpr double kRowsPerPartition = 320'000;
constexpr double kPartitionsPerThread = 8;  // so that no thread waits long for another
constexpr unsigned kMostPartitionBits = 10;
// How much larger labels are than their compressed file, roughly: only the number of partitions and the
// first size of arrays depend on it.
constexpr double kCompression = 5;

std::vector<Role> label_roles() { return {task_role(), worker_role(), label_role()}; }

// Pairs of a task and a worker, by their ids.
struct PairSlot {
  std::uint64_t pair = kFree;

  static constexpr std::uint64_t kFree = ~std::uint64_t{0};
  static constexpr std::size_t kRoom = 2;
  bool free() const { return pair == kFree; }
  bool matches(std::uint64_t other) const { return pair == other; }
  static std::uint64_t hash_of(std::uint64_t pair) {
    const std::uint64_t product = pair * 0x9E37'79B9'7F4A'7C15;
    return product ^ product >> 32;
  }
  std::uint64_t hash() const { return hash_of(pair); }
};

Labels read_ordered(LabelReader& reader, const LabelBlock& first, const ReadOptions& options,
                    const RunContext& context, TasksAhead* ahead) {
  OrderedGrouper grouper(options.duplicates, ahead);
  // A little more than it seems: pages that are never touched cost nothing, arrays that move do.
  const auto expected = [&](std::size_t in_first) {
    return static_cast<std::uint64_t>(1.05 * reader.blocks() * static_cast<double>(in_first));
  };
  constexpr std::uint64_t kTaskBytes = 32;  // with its place in the index, whose pages are touched
  if (context.max_memory == 0 || kTaskBytes * expected(first.num_runs()) <= context.max_memory) {
    grouper.reserve(expected(first.workers.size()), expected(first.num_runs()),
                    expected(first.names.size()));
  }
  std::vector<BlockWriter> writers = make_writers(options, context);
  reader.run([&](int thread) -> BlockWriter& { return writers[static_cast<std::size_t>(thread)]; },
             [&](const LabelBlock& block) {
               grouper.append(block);
               require_room_for_labels(reader.source(), grouper.bytes(), context.max_memory);
             });
  return grouper.finish(context.threads);
}

Labels read_partitioned(LabelReader& reader, const LabelBlock& first, const ReadOptions& options,
                        const RunContext& context, TasksAhead* ahead) {
  const double rows = reader.blocks() * static_cast<double>(first.rows);
  const auto partitions = static_cast<std::uint64_t>(
      std::max(rows / kRowsPerPartition, kPartitionsPerThread * context.threads));
  const unsigned bits = std::min(kMostPartitionBits, static_cast<unsigned>(std::bit_width(partitions)));
  PartitionedGrouper grouper(options.duplicates, bits, std::max(1, context.threads), options.abstain,
                             head_of(first));
  reader.run([&](int thread) -> RowPacker& { return grouper.packer(thread); },
             [&](const BlockSummary& block) {
               grouper.append(block);
               require_room_for_labels(reader.source(), grouper.bytes(), context.max_memory);
             });
  return grouper.finish(context, ahead);
}

}  // namespace

NameHead head_of(const LabelBlock& block) {
  std::vector<std::string_view> names;
  for (std::size_t run = 0; run < block.num_runs(); ++run) names.push_back(block.name(run));
  return NameHead(names);
}

bool looks_grouped(const LabelBlock& block) {
  NameTable tasks;
  for (std::size_t run = 0; run < block.num_runs(); ++run) {
    if (tasks.intern(block.name(run), block.hashes[run]) != run) return false;
  }
  return true;
}

void require_no_export_options(const std::string& path, const ReadOptions& options) {
  if (options.question.empty() && !options.with_predictions) return;
  throw Error(
      ErrorCode::usage, Location{display_name(path), 0, 0},
      fmt::format("{} is for exports of platforms, and this is a table; --format NAME says which "
                  "export it is",
                  options.question.empty() ? "--with-predictions" : "--question"));
}

std::vector<BlockWriter> make_writers(const ReadOptions& options, const RunContext& context) {
  std::vector<BlockWriter> writers;
  for (int reader = 0; reader < std::max(1, context.threads); ++reader)
    writers.emplace_back(reader, options.abstain);
  return writers;
}

LabelReader::Input::Input(std::unique_ptr<ByteSource> text, const std::string& path,
                          const ReadOptions& options, std::size_t place, int threads)
    : number(place),
      table(std::move(text), path, options, label_roles()),
      rows(table.format(), options.without_workers) {
  for (int thread = 0; thread < std::max(1, threads); ++thread) parsers.push_back(table.make_parser());
}

LabelReader::LabelReader(const std::vector<std::string>& paths, const ReadOptions& options,
                         const RunContext& context, OpenedPipes pipes)
    : context_(context),
      paths_(paths),
      options_(within(context, options)),
      pipes_(std::move(pipes)),
      source_(paths.size() == 1 ? display_name(paths[0]) : fmt::format("{} files", paths.size())),
      reports_(paths.size()),
      spellings_(options) {
  open_next();
}

void LabelReader::open_next() {
  const std::string& path = paths_[opened_];
  input_ = std::make_shared<Input>(pipes_.take(path), path, options_, opened_, context_.threads);
  reports_[opened_++] = input_->table.report();
  const std::vector<std::string>& header = input_->table.format().header();
  header_.insert(header_.end(), header.begin(), header.end());
}

bool LabelReader::next(TextBlock& block) {
  while (!input_->table.next(block)) {
    if (opened_ == paths_.size()) return false;
    open_next();
  }
  return true;
}

void LabelReader::settle(Input& input, const BlockOutcome& outcome, BlockSummary& block) {
  input.table.settle(outcome);
  input.labels += block.rows;
  reports_[input.number] = input.table.report();
  reports_[input.number].rows = input.labels;
  abstained_ |= block.abstained;
  for (std::string& name : block.new_classes) name = spellings_.class_of(name);
}

std::vector<std::string> LabelReader::unmet_abstentions() const {
  std::vector<std::string> unmet;
  for (std::size_t i = 0; i < options_.abstain.size(); ++i) {
    if ((abstained_ >> i % 64 & 1) == 0) unmet.push_back(options_.abstain[i]);
  }
  return unmet;
}

void LabelReader::append_twins(std::vector<std::string>& notes) const {
  constexpr std::size_t kMostCompared = 200;
  const std::size_t count = std::min(paths_.size(), kMostCompared);
  for (std::size_t i = 1; i < count; ++i) {
    const auto end = paths_.begin() + static_cast<std::ptrdiff_t>(i);
    const bool twin = paths_[i] != "-" && std::any_of(paths_.begin(), end, [&](const std::string& path) {
                        return is_same_file(path, paths_[i]);
                      });
    if (twin) notes.push_back(display_name(paths_[i]) + " is given twice: its labels are read twice");
  }
}

LabelBlock LabelReader::peek() {
  LabelBlock labels;
  BlockWriter writer;
  writer.begin(labels);
  first_.emplace();
  if (next(*first_)) {
    first_bytes_ = first_->size;
    parse(*input_, *first_, 0, writer);
  } else {
    first_.reset();
  }
  return labels;
}

double LabelReader::blocks() const {
  const ByteSource& source = input_->table.source();
  const double factor = *source.compression() == '\0' ? 1 : kCompression;
  auto bytes = static_cast<double>(source.file_size());
  for (std::size_t i = opened_; i < paths_.size(); ++i) {
    std::error_code unknown;
    const auto more = std::filesystem::file_size(paths_[i], unknown);
    if (!unknown) bytes += static_cast<double>(more);
  }
  return factor * bytes / static_cast<double>(std::max<std::size_t>(1, first_bytes_));
}

void rethrow_with_place(const DuplicateLabel& error, const std::vector<std::string>& paths,
                        const ReadOptions& options) {
  if (std::all_of(paths.begin(), paths.end(), is_rereadable)) {
    Interner tasks("tasks", kMaxTasks);
    Interner workers("workers", kMaxWorkers);
    SlotTable<PairSlot> pairs;
    for (const std::string& path : paths) {
      TableInput input(path, options, label_roles());
      const LabelRows rows(input.format(), options.without_workers);
      BlockOutcome left_out;
      input.for_each_row([&](Row row, bool) -> Complaint {
        Complaint second;
        rows.read(
            row, left_out, [&](std::string_view task, std::string_view worker, std::string_view label) {
              const bool abstains =
                  label.empty() || std::find(options.abstain.begin(), options.abstain.end(), label) !=
                                       options.abstain.end();
              if (abstains || second.field != 0) return;
              const std::uint64_t pair =
                  std::uint64_t{tasks.intern(task)} << 32 | workers.intern(worker);
              if (pairs.find(pair, PairSlot::hash_of(pair)) != nullptr)
                second = {input.format().is_wide() ? 1U : 3U, DuplicateLabel(task, worker).what(), true};
              else
                pairs.insert({pair});
            });
        return second;
      });
    }
  }
  throw DuplicateLabel(error.task, error.worker,
                       Location{paths.size() == 1 ? display_name(paths[0]) : "", 0, 0});
}

Labels read_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                   const RunContext& context, std::vector<ReadReport>* reports) {
  return read_labels(paths, options, context, reports, nullptr);
}

Labels read_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                   const RunContext& context, std::vector<ReadReport>* reports, TasksAhead* ahead) {
  const ReadOptions bounded = within(context, options);
  if (any_packed(paths)) return read_packed(paths, bounded, context, reports);
  OpenedPipes pipes;
  if (!holds_exports(paths, bounded, pipes))
    return read_tables(paths, options, context, std::move(pipes), reports, ahead);
  ImportedLabels imported = import_exports(paths, bounded, context, std::move(pipes));
  if (reports != nullptr) *reports = {std::move(imported.report)};
  return std::move(imported.labels);
}

Labels read_tables(const std::vector<std::string>& paths, const ReadOptions& options,
                   const RunContext& context, OpenedPipes pipes, std::vector<ReadReport>* reports,
                   TasksAhead* ahead) {
  require_no_export_options(paths[0], options);
  LabelReader reader(paths, options, context, std::move(pipes));
  try {
    const LabelBlock first = reader.peek();
    Labels labels = looks_grouped(first) ? read_ordered(reader, first, options, context, ahead)
                                         : read_partitioned(reader, first, options, context, ahead);
    std::vector<ReadReport> read = reader.reports();
    require_labels(read, labels.rows().read);
    std::uint64_t skipped = 0;
    for (const ReadReport& report : read) skipped += report.skipped_rows;
    LabelTotals totals = totals_of(reader.source(), labels);
    totals.header = reader.header();
    reader.append_twins(read.back().notes);
    append_notes(
        read.back().notes, totals, [&] { return class_counts(labels); }, reader.unmet_abstentions(),
        options);
    if (reports != nullptr) *reports = std::move(read);
    return std::move(labels).with_skipped_rows(skipped);
  } catch (const DuplicateLabel& error) {
    rethrow_with_place(error, paths, options);
  }
}

Labels read_labels(const std::string& path, const ReadOptions& options, const RunContext& context,
                   ReadReport* report) {
  std::vector<ReadReport> reports;
  Labels labels = read_labels(std::vector{path}, options, context, &reports);
  if (report != nullptr) *report = std::move(reports[0]);
  return labels;
}

}  // namespace crowdfold
