#include "io/label_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "crowdfold/exports.h"
#include "crowdfold/words.h"
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
constexpr const char* kKeepLess = "; a file that is grouped by task can be read with --low-memory";

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

// Whether no task comes back within the block: then, most likely, the input is grouped by task.
bool looks_grouped(const LabelBlock& block) {
  NameTable tasks;
  for (std::size_t run = 0; run < block.num_runs(); ++run) {
    if (tasks.intern(block.name(run), block.hashes[run]) != run) return false;
  }
  return true;
}

Labels read_ordered(LabelReader& reader, const LabelBlock& first, const ReadOptions& options,
                    const RunContext& context) {
  OrderedGrouper grouper(options.duplicates);
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
               require_room(reader.input().report().source, grouper.bytes(), kKeepLess, context);
             });
  return grouper.finish(context.threads);
}

Labels read_partitioned(LabelReader& reader, const LabelBlock& first, const ReadOptions& options,
                        const RunContext& context) {
  std::vector<std::string_view> names;
  for (std::size_t run = 0; run < first.num_runs(); ++run) names.push_back(first.name(run));
  const double rows = reader.blocks() * static_cast<double>(first.rows);
  const auto partitions = static_cast<std::uint64_t>(
      std::max(rows / kRowsPerPartition, kPartitionsPerThread * context.threads));
  const unsigned bits = std::min(kMostPartitionBits, static_cast<unsigned>(std::bit_width(partitions)));
  PartitionedGrouper grouper(options.duplicates, bits, std::max(1, context.threads), options.abstain,
                             NameHead(names));
  reader.run([&](int thread) -> RowPacker& { return grouper.packer(thread); },
             [&](const BlockSummary& block) {
               grouper.append(block);
               require_room(reader.input().report().source, grouper.bytes(), kKeepLess, context);
             });
  return grouper.finish(context);
}

// Error(usage) if options are given that a table does not have.
void require_no_export_options(const std::string& path, const ReadOptions& options) {
  if (options.question.empty() && !options.with_predictions) return;
  throw Error(
      ErrorCode::usage, Location{display_name(path), 0, 0},
      fmt::format("{} is for exports of platforms, and this is a table; --format NAME says which "
                  "export it is",
                  options.question.empty() ? "--with-predictions" : "--question"));
}

ReadOptions cancelled_with(const RunContext& context, ReadOptions options) {
  if (options.cancelled == nullptr) options.cancelled = context.cancelled;
  return options;
}

}  // namespace

std::vector<BlockWriter> make_writers(const ReadOptions& options, const RunContext& context) {
  std::vector<BlockWriter> writers;
  for (int reader = 0; reader < std::max(1, context.threads); ++reader)
    writers.emplace_back(reader, options.abstain);
  return writers;
}

LabelReader::LabelReader(const std::string& path, const ReadOptions& options, const RunContext& context)
    : context_(context), input_(path, cancelled_with(context, options), label_roles()) {
  for (int thread = 0; thread < std::max(1, context.threads); ++thread)
    parsers_.push_back(input_.make_parser());
}

LabelBlock LabelReader::peek() {
  LabelBlock labels;
  BlockWriter writer;
  writer.begin(labels);
  first_.emplace();
  if (input_.next(*first_)) {
    first_bytes_ = first_->size;
    parse(*first_, 0, writer);
  } else {
    first_.reset();
  }
  return labels;
}

double LabelReader::blocks() const {
  const double factor = *input_.source().compression() == '\0' ? 1 : kCompression;
  return factor * static_cast<double>(input_.source().file_size()) /
         static_cast<double>(std::max<std::size_t>(1, first_bytes_));
}

void require_room(const std::string& source, std::uint64_t bytes, const std::string& advice,
                  const RunContext& context) {
  if (context.max_memory == 0 || bytes <= context.max_memory) return;
  throw Error(ErrorCode::usage, Location{source, 0, 0},
              fmt::format("its labels need more memory than the {} that may be used: allow more with "
                          "--max-memory{}",
                          memory_size(context.max_memory), advice));
}

void rethrow_with_place(const DuplicateLabel& error, const std::string& path,
                        const ReadOptions& options) {
  if (is_rereadable(path)) {
    TableInput input(path, options, label_roles());
    Interner tasks("tasks", kMaxTasks);
    Interner workers("workers", kMaxWorkers);
    SlotTable<PairSlot> pairs;
    input.for_each_row([&](Row row, bool) -> Complaint {
      const bool abstains = row[2].empty() || row[2] == options.abstain;
      if (abstains || row[0].empty() || row[1].empty()) return {};
      const std::uint64_t pair = std::uint64_t{tasks.intern(row[0])} << 32 | workers.intern(row[1]);
      if (pairs.find(pair, PairSlot::hash_of(pair)) != nullptr)
        return {3, DuplicateLabel(row[0], row[1]).what(), true};
      pairs.insert({pair});
      return {};
    });
  }
  throw DuplicateLabel(error.task, error.worker, Location{display_name(path), 0, 0});
}

Labels read_labels(const std::string& path, const ReadOptions& options, const RunContext& context,
                   ReadReport* report) {
  if (is_export(path, options)) {
    ImportedLabels imported = import_labels({path}, options, context);
    if (report != nullptr) *report = std::move(imported.report);
    return std::move(imported.labels);
  }
  require_no_export_options(path, options);
  LabelReader reader(path, options, context);
  try {
    const LabelBlock first = reader.peek();
    Labels labels = looks_grouped(first) ? read_ordered(reader, first, options, context)
                                         : read_partitioned(reader, first, options, context);
    const ReadReport& read = reader.input().report();
    if (report != nullptr) *report = read;
    if (labels.rows().read == 0) {
      throw Error(ErrorCode::data, Location{read.source, 0, 0},
                  "no labels: there is no row but the header");
    }
    return std::move(labels).with_skipped_rows(read.skipped_rows);
  } catch (const DuplicateLabel& error) {
    rethrow_with_place(error, path, options);
  }
}

}  // namespace crowdfold
