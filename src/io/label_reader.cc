#include "io/label_reader.h"

#include <algorithm>
#include <bit>

#include "labels/grouping/ordered_grouper.h"
#include "labels/grouping/partitioned_grouper.h"

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

double estimated_rows(const TableInput& input) {
  const double factor = *input.source().compression() == '\0' ? 1 : kCompression;
  return factor * static_cast<double>(input.source().file_size()) / input.bytes_per_record();
}

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
  if (first.num_runs() > 0) {
    // A little more than it seems: pages that are never touched cost nothing, arrays that move do.
    const double blocks = 1.05 * estimated_rows(reader.input()) /
                          static_cast<double>(std::max<std::uint64_t>(1, first.rows));
    const auto expected = [&](std::size_t in_first) {
      return static_cast<std::uint64_t>(blocks * static_cast<double>(in_first));
    };
    grouper.reserve(expected(first.workers.size()), expected(first.num_runs()),
                    expected(first.names.size()));
  }
  std::vector<BlockWriter> writers = make_writers(options, context);
  reader.run([&](int thread) -> BlockWriter& { return writers[static_cast<std::size_t>(thread)]; },
             [&](const LabelBlock& block) { grouper.append(block); });
  return grouper.finish(context.threads);
}

Labels read_partitioned(LabelReader& reader, const LabelBlock& first, const ReadOptions& options,
                        const RunContext& context) {
  std::vector<std::string_view> names;
  for (std::size_t run = 0; run < first.num_runs(); ++run) names.push_back(first.name(run));
  const auto partitions = static_cast<std::uint64_t>(std::max(
      estimated_rows(reader.input()) / kRowsPerPartition, kPartitionsPerThread * context.threads));
  const unsigned bits = std::min(kMostPartitionBits, static_cast<unsigned>(std::bit_width(partitions)));
  PartitionedGrouper grouper(options.duplicates, bits, std::max(1, context.threads), options.abstain,
                             NameHead(names));
  reader.run([&](int thread) -> RowPacker& { return grouper.packer(thread); },
             [&](const BlockSummary& block) { grouper.append(block); });
  return grouper.finish(context);
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
    parse(*first_, 0, writer);
  } else {
    first_.reset();
  }
  return labels;
}

void rethrow_with_place(const DuplicateLabel& error, const std::string& path,
                        const ReadOptions& options) {
  if (is_rereadable(path)) {
    TableInput input(path, options, label_roles());
    bool seen = false;
    input.for_each_row([&](Row row, bool) -> Complaint {
      const bool abstains = row[2].empty() || row[2] == options.abstain;
      if (abstains || row[0] != error.task || row[1] != error.worker) return {};
      if (seen) return {3, error.what(), true};
      seen = true;
      return {};
    });
  }
  throw DuplicateLabel(error.task, error.worker, Location{display_name(path), 0, 0});
}

Labels read_labels(const std::string& path, const ReadOptions& options, const RunContext& context,
                   ReadReport* report) {
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
