#include "labels/grouping/partitioned_grouper.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "crowdfold/error.h"
#include "labels/duplicates.h"
#include "labels/grouping/counting_sort.h"

namespace crowdfold {
namespace {

constexpr std::size_t kRowsPerRange = 1 << 16;  // that are joined at a time: their places fit the cache
constexpr std::size_t kTasksAhead = 8;          // tasks ahead whose labels are asked for

}  // namespace

PartitionedGrouper::PartitionedGrouper(Duplicates duplicates, unsigned partition_bits, int readers,
                                       const std::vector<std::string>& abstain, NameHead head)
    : rule_(duplicates), bits_(std::max(1U, partition_bits)), head_(std::move(head)) {
  for (int reader = 0; reader < readers; ++reader) packers_.emplace_back(reader, abstain, bits_, head_);
}

void PartitionedGrouper::append(const BlockSummary& block) {
  first_row_.push_back(ids_.rows);
  packed_bytes_ += block.packed_bytes;
  ids_.absorb(block);
}

Labels PartitionedGrouper::finish(const RunContext& context, TasksAhead* ahead) {
  std::vector<GroupedPartition> partitions(num_partitions());
  const auto threads = static_cast<std::size_t>(std::max(1, context.threads));
  std::vector<BytePool> pools(threads);
  std::vector<PartitionScratch> scratch;
  for (std::size_t i = 0; i < threads; ++i) scratch.emplace_back(rule_, ids_.workers.size());
  parallel_for(context.threads, num_partitions(), [&](std::size_t p, int thread) {
    context.throw_if_cancelled();
    std::vector<const std::vector<RowPacker::Piece>*> pieces;
    for (RowPacker& packer : packers_) pieces.push_back(&packer.finish(p));
    const auto i = static_cast<std::size_t>(thread);
    partitions[p] = group_partition(pieces, {ids_, first_row_, head_, bits_}, scratch[i], pools[i]);
  });
  refuse_offenders(partitions);
  std::uint64_t duplicates = 0;
  for (const PartitionScratch& s : scratch) duplicates += s.deduplicator.duplicates;
  scratch.clear();
  packers_.clear();
  return join(partitions, duplicates, context, ahead);
}

// Of all tasks with a second label the one that appears first: how many partitions there are must not
// matter.
void PartitionedGrouper::refuse_offenders(const std::vector<GroupedPartition>& partitions) const {
  const GroupedPartition* first = nullptr;
  for (const GroupedPartition& partition : partitions) {
    if (partition.offender == Deduplicator::kNobody) continue;
    if (first == nullptr || partition.first_row.back() < first->first_row.back()) first = &partition;
  }
  if (first != nullptr)
    throw DuplicateLabel(first->name(first->num_tasks() - 1), ids_.workers[first->offender]);
}

// Brings the partitions' tasks into the order of their first rows. Ranges of rows are independent of one
// another as soon as it is known what comes before each of them.
Labels PartitionedGrouper::join(const std::vector<GroupedPartition>& partitions,
                                std::uint64_t duplicates, const RunContext& context, TasksAhead* ahead) {
  const std::size_t num_ranges = ids_.rows / kRowsPerRange + 1;
  // begins[range][partition]: the first of the partition's tasks that appears in this range, or later.
  std::vector<std::vector<std::uint32_t>> begins(num_ranges + 1,
                                                 std::vector<std::uint32_t>(partitions.size()));
  parallel_for(context.threads, partitions.size(), [&](std::size_t p, int) {
    std::size_t range = 0;
    for (std::uint32_t t = 0; t < partitions[p].num_tasks(); ++t) {
      while (range * kRowsPerRange <= partitions[p].first_row[t]) begins[range++][p] = t;
    }
    while (range <= num_ranges)
      begins[range++][p] = static_cast<std::uint32_t>(partitions[p].num_tasks());
  });

  struct Before {
    std::uint64_t tasks = 0;
    std::uint64_t labels = 0;
    std::uint64_t name_bytes = 0;
  };
  std::vector<Before> before(num_ranges + 1);
  for (std::size_t range = 0; range <= num_ranges; ++range) {
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      const std::uint32_t t = begins[range][p];
      before[range].tasks += t;
      before[range].labels += partitions[p].label_begin(t);
      before[range].name_bytes += partitions[p].name_begin(t);
    }
  }
  const Before& all = before.back();
  if (all.tasks > kMaxTasks) {
    throw Error(ErrorCode::data,
                fmt::format("more than {} different tasks: they do not fit", kMaxTasks));
  }

  FlatArray<char> names(all.name_bytes);
  FlatArray<std::uint64_t> name_ends(all.tasks);
  FlatArray<std::uint64_t> offsets(all.tasks + 1);
  FlatArray<WorkerId> workers(all.labels);
  FlatArray<ClassId> classes(all.labels);
  offsets[0] = 0;
  const auto join_range = [&](std::size_t range) {
    // The range's tasks by row, then one after another.
    struct Place {
      const GroupedPartition* partition = nullptr;
      std::uint32_t task = 0;
    };
    std::vector<Place> places(kRowsPerRange);
    for (std::size_t p = 0; p < partitions.size(); ++p) {
      for (std::uint32_t t = begins[range][p]; t < begins[range + 1][p]; ++t)
        places[partitions[p].first_row[t] % kRowsPerRange] = {&partitions[p], t};
    }
    std::erase_if(places, [](const Place& place) { return place.partition == nullptr; });
    Before at = before[range];
    for (std::size_t i = 0; i < places.size(); ++i) {
      // Tasks of a partition are far from those of others, and processors do not follow so many at once.
      if (i + 2 * kTasksAhead < places.size()) {
        const auto [partition, task] = places[i + 2 * kTasksAhead];
        __builtin_prefetch(&partition->label_ends[task]);
        __builtin_prefetch(&partition->name_ends[task]);
      }
      if (i + kTasksAhead < places.size()) {
        const auto [partition, task] = places[i + kTasksAhead];
        __builtin_prefetch(partition->workers.data() + partition->label_begin(task));
        __builtin_prefetch(partition->classes.data() + partition->label_begin(task));
        __builtin_prefetch(partition->names.data() + partition->name_begin(task));
      }
      const GroupedPartition& partition = *places[i].partition;
      const std::uint32_t task = places[i].task;
      const std::string_view name = partition.name(task);
      copy_name(names.data() + at.name_bytes, name);
      const std::uint32_t begin = partition.label_begin(task);
      const std::uint32_t count = partition.label_begin(task + 1) - begin;
      std::copy_n(partition.workers.data() + begin, count, workers.data() + at.labels);
      std::copy_n(partition.classes.data() + begin, count, classes.data() + at.labels);
      name_ends[at.tasks] = at.name_bytes += name.size();
      offsets[++at.tasks] = at.labels += count;
    }
  };
  std::size_t next = 0;
  run_pipeline<std::size_t>(
      context.threads, 2 * static_cast<std::size_t>(std::max(1, context.threads)),
      [&](std::size_t& range) { return (range = next++) < num_ranges; },
      [&](const std::size_t& range, int) { join_range(range); },
      [&](const std::size_t& range) {
        const std::uint64_t first = before[range].tasks;
        const std::uint64_t count = before[range + 1].tasks - first;
        if (ahead == nullptr || count == 0) return;
        ahead->take({static_cast<TaskId>(first), std::span(offsets).subspan(first, count + 1),
                     workers.data(), classes.data(), ids_.workers.size(), ids_.classes.size()});
      });

  NameTable tasks("tasks", kMaxTasks, std::move(names), std::move(name_ends));
  return {{std::move(tasks), std::move(ids_.workers), std::move(ids_.classes)},
          {std::move(offsets), std::move(workers), std::move(classes)},
          {ids_.rows, ids_.abstentions, duplicates}};
}

}  // namespace crowdfold
