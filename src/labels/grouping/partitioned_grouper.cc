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
constexpr std::uint32_t kNowhere = 0xFFFF'FFFF;

// Places within a partition have 32 bits.
void require_place(std::uint64_t count, const char* what) {
  if (count <= 0xFFFF'FFFF) return;
  throw Error(ErrorCode::data,
              fmt::format("more than {} {} in one of many parts: they do not fit; group the rows by "
                          "task, or give fewer",
                          0xFFFF'FFFFU, what));
}

}  // namespace

// One partition's tasks, grouped, in order of first appearance within the partition. The arrays lie in
// a thread's pool.
struct PartitionedGrouper::Partition {
  std::span<const char> names;
  std::span<const std::uint32_t> name_ends;
  std::span<const std::uint64_t> first_row;  // by task: the row where it appears first
  std::span<std::uint32_t> label_ends;
  std::span<WorkerId> workers;
  std::span<ClassId> classes;
  WorkerId offender = Deduplicator::kNobody;  // under Duplicates::error, of the last task

  std::size_t num_tasks() const { return first_row.size(); }
  std::uint32_t name_begin(std::size_t task) const { return task == 0 ? 0 : name_ends[task - 1]; }
  std::string_view name(std::size_t task) const {
    return {names.data() + name_begin(task), name_ends[task] - name_begin(task)};
  }
  std::uint32_t label_begin(std::size_t task) const { return task == 0 ? 0 : label_ends[task - 1]; }
};

// What a thread needs to group a partition, kept for the next one.
struct PartitionedGrouper::Scratch {
  Scratch(Duplicates rule, std::size_t num_workers) : deduplicator(rule, num_workers) {}

  struct Read {
    PackedRow row;
    std::uint64_t hash = 0;
  };
  std::array<Read, 64> batch;

  // Tasks, of which nobody knows how many there will be: as in Partition.
  Interner tasks{"tasks", kMaxTasks};
  FlatArray<char> names;
  FlatArray<std::uint32_t> name_ends;
  FlatArray<std::uint64_t> first_row;
  void add_task(std::string_view name, std::uint64_t row) {
    const std::size_t at = names.size();
    require_place(at + name.size(), "bytes of names of tasks");
    names.resize(at + name.size());
    copy_name(names.data() + at, name);
    name_ends.push_back(static_cast<std::uint32_t>(names.size()));
    first_row.push_back(row);
  }
  void clear() {
    tasks.clear();
    names.clear();
    name_ends.clear();
    first_row.clear();
    labels.clear();
  }

  // Labels in input order, each with its task.
  struct Label {
    TaskId task;
    WorkerId worker;
    ClassId label;
  };
  std::vector<Label> labels;
  std::vector<std::uint32_t> cursor;
  Deduplicator deduplicator;
};

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

void PartitionedGrouper::unpack(const RowPacker::Piece& piece, int reader, Scratch& scratch) const {
  const std::vector<WorkerId>& worker_of = ids_.workers_of(reader);
  const std::vector<ClassId>& class_of = ids_.classes_of(reader);
  const std::uint64_t first_row = first_row_[piece.sequence] + piece.first_row;
  for (const char* at = piece.begin; at != piece.end;) {
    // By the dozen: the table's cache lines are asked for before they are needed.
    std::size_t count = 0;
    for (; count < scratch.batch.size() && at != piece.end; ++count) {
      auto& [row, hash] = scratch.batch[count];
      at = row.read(at);
      if (row.name.number != kNoNumber) continue;
      hash = row.name.hash();
      scratch.tasks.prefetch(row.name, hash);
    }
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [row, hash] = scratch.batch[i];
      const TaskId task = scratch.tasks.intern(within_partition(row.name, bits_), hash);
      if (task == scratch.first_row.size())
        scratch.add_task(head_.restore(row.name), first_row + row.row);
      if (row.label != kNoClass)
        scratch.labels.push_back({task, worker_of[row.worker], class_of[row.label]});
    }
  }
}

PartitionedGrouper::Partition PartitionedGrouper::group(std::size_t p, Scratch& scratch,
                                                        BytePool& pool) {
  scratch.clear();
  // The readers' pieces, in input order.
  struct ReaderPieces {
    const std::vector<RowPacker::Piece>* pieces;
    std::size_t next = 0;
    bool empty() const { return next == pieces->size(); }
    const RowPacker::Piece& front() const { return (*pieces)[next]; }
  };
  std::vector<ReaderPieces> readers;
  for (RowPacker& packer : packers_) readers.push_back({&packer.finish(p)});
  for (;;) {
    ReaderPieces* first = nullptr;
    for (ReaderPieces& reader : readers) {
      if (reader.empty()) continue;
      if (first == nullptr || reader.front().sequence < first->front().sequence) first = &reader;
    }
    if (first == nullptr) break;
    unpack(first->front(), static_cast<int>(first - readers.data()), scratch);
    ++first->next;
  }

  // Counting sort by task.
  require_place(scratch.labels.size(), "labels");
  const std::size_t num_tasks = scratch.first_row.size();
  std::vector<std::uint32_t>& cursor = scratch.cursor;
  cursor.assign(num_tasks + 1, 0);
  for (const Scratch::Label& label : scratch.labels) ++cursor[label.task + 1ULL];
  std::partial_sum(cursor.begin(), cursor.end(), cursor.begin());
  Partition partition;
  partition.names = pool.copy_of(scratch.names);
  partition.name_ends = pool.copy_of(scratch.name_ends);
  partition.first_row = pool.copy_of(scratch.first_row);
  partition.label_ends = pool.array<std::uint32_t>(num_tasks);
  partition.workers = pool.array<WorkerId>(scratch.labels.size());
  partition.classes = pool.array<ClassId>(scratch.labels.size());
  const LabelPlaces<std::uint32_t> places{cursor.data(), partition.workers.data(),
                                          partition.classes.data()};
  for (const Scratch::Label& label : scratch.labels) places.write(label.task, label.worker, label.label);

  // The rule for duplicates, which closes its gaps as it goes.
  WorkerId* const workers = partition.workers.data();
  ClassId* const classes = partition.classes.data();
  std::uint32_t to = 0;
  std::uint32_t begin = 0;
  for (std::size_t t = 0; t < num_tasks; ++t) {
    const auto left = static_cast<std::uint32_t>(
        scratch.deduplicator.apply(workers + begin, classes + begin, cursor[t] - begin));
    partition.offender = std::exchange(scratch.deduplicator.offender, Deduplicator::kNobody);
    if (partition.offender != Deduplicator::kNobody) {
      partition.first_row = partition.first_row.first(t + 1);
      return partition;
    }
    if (to < begin) {
      std::copy_n(workers + begin, left, workers + to);
      std::copy_n(classes + begin, left, classes + to);
    }
    begin = cursor[t];
    partition.label_ends[t] = to += left;
  }
  return partition;
}

Labels PartitionedGrouper::finish(const RunContext& context) {
  std::vector<Partition> partitions(num_partitions());
  const auto threads = static_cast<std::size_t>(std::max(1, context.threads));
  std::vector<BytePool> pools(threads);
  std::vector<Scratch> scratch;
  for (std::size_t i = 0; i < threads; ++i) scratch.emplace_back(rule_, ids_.workers.size());
  parallel_for(context.threads, num_partitions(), [&](std::size_t p, int thread) {
    context.throw_if_cancelled();
    const auto i = static_cast<std::size_t>(thread);
    partitions[p] = group(p, scratch[i], pools[i]);
  });
  refuse_offenders(partitions);
  std::uint64_t duplicates = 0;
  for (const Scratch& s : scratch) duplicates += s.deduplicator.duplicates;
  scratch.clear();
  packers_.clear();
  return join(partitions, duplicates, context);
}

// Of all tasks with a second label the one that appears first: how many partitions there are must not
// matter.
void PartitionedGrouper::refuse_offenders(const std::vector<Partition>& partitions) const {
  const Partition* first = nullptr;
  for (const Partition& partition : partitions) {
    if (partition.offender == Deduplicator::kNobody) continue;
    if (first == nullptr || partition.first_row.back() < first->first_row.back()) first = &partition;
  }
  if (first != nullptr)
    throw DuplicateLabel(first->name(first->num_tasks() - 1), ids_.workers[first->offender]);
}

// Brings the partitions' tasks into the order of their first rows. Ranges of rows are independent of one
// another as soon as it is known what comes before each of them.
Labels PartitionedGrouper::join(const std::vector<Partition>& partitions, std::uint64_t duplicates,
                                const RunContext& context) {
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
  parallel_for(context.threads, num_ranges, [&](std::size_t range, int) {
    // The range's tasks by row, then one after another.
    struct Place {
      std::uint32_t partition = kNowhere;
      std::uint32_t task = 0;
    };
    std::vector<Place> places(kRowsPerRange);
    for (std::uint32_t p = 0; p < partitions.size(); ++p) {
      for (std::uint32_t t = begins[range][p]; t < begins[range + 1][p]; ++t)
        places[partitions[p].first_row[t] % kRowsPerRange] = {p, t};
    }
    Before at = before[range];
    for (const Place& place : places) {
      if (place.partition == kNowhere) continue;
      const Partition& partition = partitions[place.partition];
      const std::string_view name = partition.name(place.task);
      copy_name(names.data() + at.name_bytes, name);
      const std::uint32_t begin = partition.label_begin(place.task);
      const std::uint32_t count = partition.label_begin(place.task + 1) - begin;
      std::copy_n(partition.workers.data() + begin, count, workers.data() + at.labels);
      std::copy_n(partition.classes.data() + begin, count, classes.data() + at.labels);
      name_ends[at.tasks] = at.name_bytes += name.size();
      offsets[++at.tasks] = at.labels += count;
    }
  });

  NameTable tasks("tasks", kMaxTasks, std::move(names), std::move(name_ends));
  return {{std::move(tasks), std::move(ids_.workers), std::move(ids_.classes)},
          {std::move(offsets), std::move(workers), std::move(classes)},
          {ids_.rows, ids_.abstentions, duplicates}};
}

}  // namespace crowdfold
