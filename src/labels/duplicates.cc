#include "labels/duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/parallel.h"

namespace crowdfold {
namespace {

constexpr std::size_t kTaskGrain = 1 << 14;  // tasks per item of parallel work

// By range of kTaskGrain tasks: those that have fewer labels now, and how many.
using Shortened = std::vector<std::vector<std::pair<TaskId, std::uint32_t>>>;

void close_gaps(const Shortened& shortened, FlatArray<std::uint64_t>& offsets,
                FlatArray<WorkerId>& workers, FlatArray<ClassId>& classes) {
  std::uint64_t to = 0;
  const std::size_t num_tasks = offsets.size() - 1;
  for (std::size_t range = 0; range < shortened.size(); ++range) {
    std::size_t next = 0;
    const std::size_t end = std::min(num_tasks, (range + 1) * kTaskGrain);
    for (std::size_t t = range * kTaskGrain; t < end; ++t) {
      const std::uint64_t from = offsets[t];
      std::uint64_t count = offsets[t + 1] - from;
      if (next < shortened[range].size() && shortened[range][next].first == t)
        count = shortened[range][next++].second;
      std::copy_n(workers.begin() + static_cast<std::ptrdiff_t>(from), count,
                  workers.begin() + static_cast<std::ptrdiff_t>(to));
      std::copy_n(classes.begin() + static_cast<std::ptrdiff_t>(from), count,
                  classes.begin() + static_cast<std::ptrdiff_t>(to));
      offsets[t] = to;
      to += count;
    }
  }
  offsets.back() = to;
  workers.resize(to);
  classes.resize(to);
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

void Deduplicator::begin_task() {
  if (++stamp_ != 0) return;
  std::fill(seen_.begin(), seen_.end(), Seen{});  // wrapped around: forget the old stamps
  stamp_ = 1;
}

// Without a branch: hardly any task has duplicates.
bool Deduplicator::any(const WorkerId* workers, std::size_t count) {
  begin_task();
  Seen* const seen = seen_.data();
  const std::uint32_t stamp = stamp_;
  std::uint32_t any = 0;
  for (std::size_t j = 0; j < count; ++j)
    any |= std::exchange(seen[workers[j]].stamp, stamp) == stamp ? 1U : 0U;
  return any != 0;
}

std::size_t Deduplicator::apply(WorkerId* workers, ClassId* classes, std::size_t count) {
  if (rule_ == Duplicates::keep || !any(workers, count)) return count;
  begin_task();
  std::size_t kept = 0;
  for (std::size_t j = 0; j < count; ++j) {
    Seen& seen = seen_[workers[j]];
    if (seen.stamp == stamp_) {
      ++duplicates;
      if (rule_ == Duplicates::error) {
        offender = workers[j];
        return count;
      }
      if (rule_ == Duplicates::last) classes[seen.position] = classes[j];
      continue;
    }
    seen = {stamp_, static_cast<std::uint32_t>(kept)};
    workers[kept] = workers[j];
    classes[kept] = classes[j];
    ++kept;
  }
  return kept;
}

std::uint64_t drop_duplicates(Duplicates rule, int threads, const NameTable& task_names,
                              const NameTable& worker_names, FlatArray<std::uint64_t>& offsets,
                              FlatArray<WorkerId>& workers, FlatArray<ClassId>& classes) {
  const std::size_t num_tasks = offsets.size() - 1;
  if (rule == Duplicates::keep || num_tasks == 0) return 0;
  std::vector<Deduplicator> deduplicators(static_cast<std::size_t>(std::max(1, threads)),
                                          Deduplicator(rule, worker_names.size()));
  Shortened shortened((num_tasks + kTaskGrain - 1) / kTaskGrain);
  parallel_ranges(threads, num_tasks, kTaskGrain, [&](std::size_t first, std::size_t last, int thread) {
    Deduplicator& deduplicator = deduplicators[static_cast<std::size_t>(thread)];
    for (std::size_t t = first; t < last; ++t) {
      const std::uint64_t begin = offsets[t];
      const auto count = static_cast<std::size_t>(offsets[t + 1] - begin);
      const std::size_t left = deduplicator.apply(workers.data() + begin, classes.data() + begin, count);
      if (deduplicator.offender != Deduplicator::kNobody) {
        throw DuplicateLabel(task_names[static_cast<TaskId>(t)], worker_names[deduplicator.offender]);
      }
      if (left < count) {
        shortened[first / kTaskGrain].emplace_back(static_cast<TaskId>(t),
                                                   static_cast<std::uint32_t>(left));
      }
    }
  });
  std::uint64_t duplicates = 0;
  for (const Deduplicator& d : deduplicators) duplicates += d.duplicates;
  if (duplicates > 0) close_gaps(shortened, offsets, workers, classes);
  return duplicates;
}

}  // namespace crowdfold
