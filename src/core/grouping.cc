#include "core/grouping.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "core/parallel.h"

namespace crowdfold {
namespace {

constexpr std::size_t kPrefetch = 16;        // look-ups ahead whose cache lines are asked for
constexpr std::size_t kTaskGrain = 1 << 14;  // tasks per item of parallel work

// offsets[i] holds the size of i - 1; afterwards where i begins.
void sizes_to_offsets(FlatArray<std::uint64_t>& offsets) {
  for (std::size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
}

}  // namespace

DuplicateLabel::DuplicateLabel(std::string_view task_name, std::string_view worker_name,
                               Location location)
    : Error(
          ErrorCode::data, std::move(location),
          fmt::format(
              "worker '{}' labels task '{}' a second time (--duplicates last, first or keep accepts it)",
              worker_name, task_name)),
      task(task_name),
      worker(worker_name) {}

// ---------------------------------------------------------------- OrderedGrouper

OrderedGrouper::OrderedGrouper(Duplicates duplicates)
    : rule_(duplicates), tasks_("tasks", kMaxTasks), offsets_(1, 0) {}

void OrderedGrouper::reserve(std::uint64_t labels, std::uint64_t tasks, std::uint64_t name_bytes) {
  worker_.reserve(labels);
  class_.reserve(labels);
  offsets_.reserve(tasks + 1);
  tasks_.reserve(tasks, name_bytes);
}

void OrderedGrouper::append(const LabelBlock& block) {
  ids_.absorb(block);
  const std::vector<WorkerId>& worker_of = ids_.workers_of(block.reader);
  const std::vector<ClassId>& class_of = ids_.classes_of(block.reader);

  const std::size_t base = worker_.size();
  const std::size_t count = block.workers.size();
  worker_.resize(base + count);
  class_.resize(base + count);
  for (std::size_t j = 0; j < count; ++j) worker_[base + j] = worker_of[block.workers[j]];
  for (std::size_t j = 0; j < count; ++j) class_[base + j] = class_of[block.classes[j]];

  for (std::size_t run = 0; run < block.num_runs(); ++run) {
    if (run + kPrefetch < block.num_runs()) tasks_.prefetch(block.hashes[run + kPrefetch]);
    const TaskId known = tasks_.size();
    const TaskId task = tasks_.intern(block.name(run), block.hashes[run]);
    const std::uint64_t end = base + block.label_ends[run];
    const std::size_t runs = offsets_.size() - 1;
    const TaskId previous = task_of_run_.empty() ? known - 1 : task_of_run_.back();
    if (runs > 0 && task < known && task == previous) {  // a run cut by the end of a block
      offsets_.back() = end;
      continue;
    }
    if (task < known && task_of_run_.empty()) {  // the first task that comes back
      task_of_run_.resize(runs);
      for (std::size_t r = 0; r < runs; ++r) task_of_run_[r] = static_cast<TaskId>(r);
    }
    offsets_.push_back(end);
    if (task < known || !task_of_run_.empty()) task_of_run_.push_back(task);
  }
}

// Brings the runs of a task together, in input order.
void OrderedGrouper::regroup() {
  FlatArray<std::uint64_t> begin(tasks_.size() + 1ULL, 0);
  for (std::size_t run = 0; run < task_of_run_.size(); ++run) {
    begin[task_of_run_[run] + 1ULL] += offsets_[run + 1] - offsets_[run];
  }
  sizes_to_offsets(begin);
  FlatArray<WorkerId> workers(worker_.size());
  FlatArray<ClassId> classes(class_.size());
  std::vector<std::uint64_t> cursor(begin.begin(), begin.end() - 1);
  for (std::size_t run = 0; run < task_of_run_.size(); ++run) {
    std::uint64_t& to = cursor[task_of_run_[run]];
    for (std::uint64_t j = offsets_[run]; j < offsets_[run + 1]; ++j, ++to) {
      workers[to] = worker_[j];
      classes[to] = class_[j];
    }
  }
  offsets_ = std::move(begin);
  worker_ = std::move(workers);
  class_ = std::move(classes);
  task_of_run_ = {};
}

Labels OrderedGrouper::finish(int threads) {
  tasks_.drop_index();
  if (!task_of_run_.empty()) regroup();

  std::uint64_t duplicates = 0;
  if (rule_ != Duplicates::keep && tasks_.size() > 0) {
    std::vector<Deduplicator> deduplicators(static_cast<std::size_t>(std::max(1, threads)),
                                            Deduplicator(rule_, ids_.workers.size()));
    std::vector<std::vector<std::pair<TaskId, std::uint32_t>>> shortened(
        (tasks_.size() + kTaskGrain - 1) / kTaskGrain);  // by range: (task, labels left)
    parallel_ranges(
        threads, tasks_.size(), kTaskGrain, [&](std::size_t first, std::size_t last, int thread) {
          Deduplicator& deduplicator = deduplicators[static_cast<std::size_t>(thread)];
          for (std::size_t t = first; t < last; ++t) {
            const std::uint64_t begin = offsets_[t];
            const auto count = static_cast<std::size_t>(offsets_[t + 1] - begin);
            const std::size_t left =
                deduplicator.apply(worker_.data() + begin, class_.data() + begin, count);
            if (deduplicator.offender != Deduplicator::kNobody) {
              throw DuplicateLabel(tasks_[static_cast<TaskId>(t)], ids_.workers[deduplicator.offender]);
            }
            if (left < count) {
              shortened[first / kTaskGrain].emplace_back(static_cast<TaskId>(t),
                                                         static_cast<std::uint32_t>(left));
            }
          }
        });
    for (const Deduplicator& d : deduplicators) duplicates += d.duplicates;
    if (duplicates > 0) {  // close the gaps
      std::uint64_t to = 0;
      std::size_t range = 0;
      std::size_t next = 0;
      for (TaskId t = 0; t < tasks_.size(); ++t) {
        if (t / kTaskGrain != range) {
          range = t / kTaskGrain;
          next = 0;
        }
        const std::uint64_t from = offsets_[t];
        std::uint64_t count = offsets_[t + 1ULL] - from;
        if (next < shortened[range].size() && shortened[range][next].first == t) {
          count = shortened[range][next++].second;
        }
        std::copy_n(worker_.begin() + static_cast<std::ptrdiff_t>(from), count,
                    worker_.begin() + static_cast<std::ptrdiff_t>(to));
        std::copy_n(class_.begin() + static_cast<std::ptrdiff_t>(from), count,
                    class_.begin() + static_cast<std::ptrdiff_t>(to));
        offsets_[t] = to;
        to += count;
      }
      offsets_.back() = to;
      worker_.resize(to);
      class_.resize(to);
    }
  }

  Labels labels;
  labels.tasks = std::move(tasks_);
  labels.workers = std::move(ids_.workers);
  labels.classes = std::move(ids_.classes);
  labels.rows = ids_.rows;
  labels.abstentions = ids_.abstentions;
  labels.duplicates = duplicates;
  labels.adopt(std::move(offsets_), std::move(worker_), std::move(class_));
  return labels;
}

// ------------------------------------------------------------ PartitionedGrouper

namespace {

// LEB128: seven bits a byte, the upper one says that more follow. Most numbers here are small.
std::size_t varint_size(std::uint32_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

std::uint32_t run_header(std::size_t name_size, std::uint32_t labels) {
  return static_cast<std::uint32_t>(2 * name_size) + (labels == 1 ? 0 : 1);
}

char* put_varint(char* to, std::uint32_t value) {
  while (value >= 0x80) {
    *to++ = static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *to++ = static_cast<char>(value);
  return to;
}

const char* get_varint(const char* from, std::uint32_t& value) {
  std::uint32_t result = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*from++);
    result |= static_cast<std::uint32_t>(byte & 0x7F) << shift;
    if (byte < 0x80) break;
  }
  value = result;
  return from;
}

}  // namespace

// One partition's tasks, grouped, in order of first appearance within the partition.
struct PartitionedGrouper::Partition {
  FlatArray<char> names;
  std::vector<std::uint32_t> name_ends;
  std::vector<std::uint64_t> first_run;  // by task: the run where it appears first
  std::vector<std::uint32_t> label_ends;
  FlatArray<WorkerId> workers;
  FlatArray<ClassId> classes;

  std::size_t num_tasks() const { return first_run.size(); }
  std::string_view name(std::size_t task) const {
    const std::uint32_t begin = task == 0 ? 0 : name_ends[task - 1];
    return {names.data() + begin, name_ends[task] - begin};
  }
  std::uint32_t label_begin(std::size_t task) const { return task == 0 ? 0 : label_ends[task - 1]; }
  std::uint32_t num_labels(std::size_t task) const { return label_ends[task] - label_begin(task); }
};

// What a thread needs to group a partition, kept for the next one.
struct PartitionedGrouper::Scratch {
  Scratch(Duplicates rule, std::size_t num_workers) : deduplicator(rule, num_workers) {}

  Interner tasks{"tasks", kMaxTasks};
  // Labels in input order, each with its task.
  std::vector<TaskId> task_of;
  std::vector<WorkerId> workers;
  std::vector<ClassId> classes;
  std::vector<std::uint32_t> cursor;
  Deduplicator deduplicator;
};

PartitionedGrouper::PartitionedGrouper(Duplicates duplicates, unsigned partition_bits, int readers)
    : rule_(duplicates), bits_(std::max(1U, partition_bits)) {
  pools_.resize(static_cast<std::size_t>(readers));
  shelves_.assign(static_cast<std::size_t>(readers), std::vector<Shelf>(num_partitions()));
}

PartitionedGrouper::~PartitionedGrouper() = default;

char* PartitionedGrouper::Shelf::make_room(std::size_t size, PagePool& pool) {
  constexpr std::size_t kChunk = 1 << 14;
  if (size > left) {
    left = std::max(kChunk, size);
    free = pool.take(left);
  }
  left -= size;
  return std::exchange(free, free + size);
}

void PartitionedGrouper::pack(const LabelBlock& block) {
  // A partition's table uses the hash's lower bits, so partitions are chosen by the upper ones.
  const auto partition_of = [&](std::size_t run) { return block.hashes[run] >> (64 - bits_); };

  std::vector<std::uint32_t> sizes(num_partitions(), 0);
  for (std::size_t run = 0; run < block.num_runs(); ++run) {
    const std::uint32_t begin = block.label_begin(run);
    const std::uint32_t end = block.label_ends[run];
    const std::size_t name_size = block.name(run).size();
    std::size_t size = varint_size(run_header(name_size, end - begin)) + name_size +
                       varint_size(static_cast<std::uint32_t>(run)) +
                       (end - begin == 1 ? 0 : varint_size(end - begin));
    for (std::uint32_t j = begin; j < end; ++j)
      size += varint_size(block.workers[j]) + varint_size(block.classes[j]);
    sizes[partition_of(run)] += static_cast<std::uint32_t>(size);
  }

  const auto reader = static_cast<std::size_t>(block.reader);
  std::vector<Shelf>& shelves = shelves_[reader];
  std::vector<char*> cursor(num_partitions());
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    if (sizes[p] == 0) continue;
    cursor[p] = shelves[p].make_room(sizes[p], pools_[reader]);
    shelves[p].pieces.push_back({block.sequence, sizes[p], cursor[p]});
  }

  for (std::size_t run = 0; run < block.num_runs(); ++run) {
    char*& to = cursor[partition_of(run)];
    const std::string_view name = block.name(run);
    const std::uint32_t begin = block.label_begin(run);
    const std::uint32_t end = block.label_ends[run];
    to = put_varint(to, run_header(name.size(), end - begin));
    to = copy_name(to, name);
    to = put_varint(to, static_cast<std::uint32_t>(run));
    if (end - begin != 1) to = put_varint(to, end - begin);
    for (std::uint32_t j = begin; j < end; ++j)
      to = put_varint(put_varint(to, block.workers[j]), block.classes[j]);
  }
}

void PartitionedGrouper::append(const LabelBlock& block) {
  ids_.absorb(block);
  first_run_.push_back(num_runs_);
  num_runs_ += block.num_runs();
}

void PartitionedGrouper::decode(const Piece& piece, int reader, Partition& partition,
                                Scratch& scratch) const {
  const std::vector<WorkerId>& worker_of = ids_.workers_of(reader);
  const std::vector<ClassId>& class_of = ids_.classes_of(reader);
  const char* const end = piece.bytes + piece.size;
  for (const char* at = piece.bytes; at != end;) {
    std::uint32_t header = 0;
    std::uint32_t run = 0;
    std::uint32_t count = 1;
    at = get_varint(at, header);
    const std::string_view name(at, header / 2);
    at = get_varint(at + name.size(), run);
    if (header % 2 != 0) at = get_varint(at, count);
    const TaskId task = scratch.tasks.intern(name);
    if (task == partition.num_tasks()) {
      partition.first_run.push_back(first_run_[piece.sequence] + run);
      partition.names.resize(partition.names.size() + name.size());
      copy_name(partition.names.data() + partition.names.size() - name.size(), name);
      partition.name_ends.push_back(static_cast<std::uint32_t>(partition.names.size()));
    }
    for (std::uint32_t j = 0; j < count; ++j) {
      std::uint32_t w = 0;
      std::uint32_t c = 0;
      at = get_varint(get_varint(at, w), c);
      scratch.task_of.push_back(task);
      scratch.workers.push_back(worker_of[w]);
      scratch.classes.push_back(class_of[c]);
    }
  }
}

PartitionedGrouper::Partition PartitionedGrouper::group(std::size_t p, Scratch& scratch) const {
  Partition partition;
  scratch.tasks.clear();
  scratch.task_of.clear();
  scratch.workers.clear();
  scratch.classes.clear();
  // The readers' pieces, in input order.
  std::vector<std::size_t> next(shelves_.size(), 0);
  for (;;) {
    const Piece* first = nullptr;
    std::size_t reader = 0;
    for (std::size_t r = 0; r < shelves_.size(); ++r) {
      const std::vector<Piece>& pieces = shelves_[r][p].pieces;
      if (next[r] == pieces.size() || (first != nullptr && pieces[next[r]].sequence > first->sequence))
        continue;
      first = &pieces[next[r]];
      reader = r;
    }
    if (first == nullptr) break;
    ++next[reader];
    decode(*first, static_cast<int>(reader), partition, scratch);
  }

  // Counting sort by task.
  const std::size_t num_tasks = partition.num_tasks();
  std::vector<std::uint32_t>& cursor = scratch.cursor;
  cursor.assign(num_tasks + 1, 0);
  for (const TaskId t : scratch.task_of) ++cursor[t + 1ULL];
  for (std::size_t t = 1; t < cursor.size(); ++t) cursor[t] += cursor[t - 1];
  partition.workers.resize(scratch.workers.size());
  partition.classes.resize(scratch.classes.size());
  for (std::size_t j = 0; j < scratch.task_of.size(); ++j) {
    const std::uint32_t to = cursor[scratch.task_of[j]]++;
    partition.workers[to] = scratch.workers[j];
    partition.classes[to] = scratch.classes[j];
  }

  // The rule for duplicates, which closes its gaps as it goes.
  WorkerId* const workers = partition.workers.data();
  ClassId* const classes = partition.classes.data();
  partition.label_ends.resize(num_tasks);
  std::uint32_t to = 0;
  std::uint32_t begin = 0;
  for (std::size_t t = 0; t < num_tasks; ++t) {
    const auto left = static_cast<std::uint32_t>(
        scratch.deduplicator.apply(workers + begin, classes + begin, cursor[t] - begin));
    if (scratch.deduplicator.offender != Deduplicator::kNobody) {
      throw DuplicateLabel(partition.name(t), ids_.workers[scratch.deduplicator.offender]);
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
  std::vector<Scratch> scratch;
  for (int i = 0; i < std::max(1, context.threads); ++i)
    scratch.emplace_back(rule_, ids_.workers.size());
  parallel_for(context.threads, num_partitions(), [&](std::size_t p, int thread) {
    context.throw_if_cancelled();
    partitions[p] = group(p, scratch[static_cast<std::size_t>(thread)]);
  });
  std::uint64_t duplicates = 0;
  for (const Scratch& s : scratch) duplicates += s.deduplicator.duplicates;
  scratch.clear();
  shelves_.clear();
  pools_.clear();
  Labels labels = join(std::move(partitions), context);
  labels.duplicates = duplicates;
  return labels;
}

Labels PartitionedGrouper::join(std::vector<Partition> partitions, const RunContext& context) {
  // A bit for every run where a task appears first; the rank of that bit is the task's id.
  std::vector<std::uint64_t> first((num_runs_ + 63) / 64, 0);
  std::uint64_t num_tasks = 0;
  for (const Partition& partition : partitions) {
    for (const std::uint64_t run : partition.first_run) first[run / 64] |= 1ULL << (run % 64);
    num_tasks += partition.num_tasks();
  }
  if (num_tasks > kMaxTasks) {
    throw Error(ErrorCode::data,
                fmt::format("more than {} different tasks: they do not fit", kMaxTasks));
  }
  std::vector<std::uint32_t> rank_before(first.size());
  std::uint32_t rank = 0;
  for (std::size_t word = 0; word < first.size(); ++word) {
    rank_before[word] = rank;
    rank += static_cast<std::uint32_t>(std::popcount(first[word]));
  }
  const auto task_id = [&](std::uint64_t run) {
    const std::uint64_t below = first[run / 64] & ((1ULL << (run % 64)) - 1);
    return rank_before[run / 64] + static_cast<std::uint32_t>(std::popcount(below));
  };

  FlatArray<std::uint64_t> offsets(num_tasks + 1, 0);
  FlatArray<std::uint64_t> name_begins(num_tasks + 1, 0);
  parallel_for(context.threads, partitions.size(), [&](std::size_t p, int) {
    const Partition& partition = partitions[p];
    for (std::size_t t = 0; t < partition.num_tasks(); ++t) {
      const TaskId id = task_id(partition.first_run[t]);
      offsets[id + 1ULL] = partition.num_labels(t);
      name_begins[id + 1ULL] = partition.name(t).size();
    }
  });
  sizes_to_offsets(offsets);
  sizes_to_offsets(name_begins);

  FlatArray<char> names(name_begins.back());
  FlatArray<WorkerId> workers(offsets.back());
  FlatArray<ClassId> classes(offsets.back());
  parallel_for(context.threads, partitions.size(), [&](std::size_t p, int) {
    const Partition partition = std::move(partitions[p]);  // freed as soon as it is copied
    for (std::size_t t = 0; t < partition.num_tasks(); ++t) {
      const TaskId id = task_id(partition.first_run[t]);
      const std::string_view name = partition.name(t);
      copy_name(names.data() + name_begins[id], name);
      const std::uint32_t begin = partition.label_begin(t);
      std::copy_n(partition.workers.data() + begin, partition.num_labels(t),
                  workers.data() + offsets[id]);
      std::copy_n(partition.classes.data() + begin, partition.num_labels(t),
                  classes.data() + offsets[id]);
    }
  });

  Labels labels;
  name_begins.erase(name_begins.begin());  // where each begins -> where each ends
  labels.tasks = NameTable("tasks", kMaxTasks, std::move(names), std::move(name_begins));
  labels.workers = std::move(ids_.workers);
  labels.classes = std::move(ids_.classes);
  labels.rows = ids_.rows;
  labels.abstentions = ids_.abstentions;
  labels.adopt(std::move(offsets), std::move(workers), std::move(classes));
  return labels;
}

}  // namespace crowdfold
