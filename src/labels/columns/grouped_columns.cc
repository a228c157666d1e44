#include "labels/columns/grouped_columns.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "labels/grouping/row_grouper.h"

namespace crowdfold {
namespace {

constexpr std::uint64_t kRowsPerThread = 1 << 16;  // fewer are read before another thread has started

// Most tasks have several labels.
constexpr std::size_t kAtOnce = 16;
bool are_all(std::span<const std::uint32_t, kAtOnce> ids, std::uint32_t wanted) {
  std::uint32_t differs = 0;
  for (const std::uint32_t id : ids) differs |= id ^ wanted;  // by vectors
  return differs == 0;
}

// What one thread reads, by ids of its own.
class Range {
 public:
  Range(const LabelColumns& columns, std::uint64_t begin, std::uint64_t end)
      : begin_(begin),
        end_(end),
        tasks_(columns.tasks.fresh_copy()),
        workers_(columns.workers.fresh_copy()),
        labels_(columns.labels.fresh_copy()) {}

  // False if the table is not of this kind, or another thread found that it is not.
  bool read(WorkerId* worker, ClassId* label, const std::atomic<bool>& failed,
            const RunContext& context) {
    std::array<std::uint32_t, kRowsPerStep> task, label_id;
    for (std::uint64_t at = begin_; at < end_ && !failed; at += kRowsPerStep) {
      context.throw_if_cancelled();
      if (begin_ == 0 && at % kRowsPerReport == 0) context.report("reading", at, end_);
      const std::size_t count = std::min<std::size_t>(kRowsPerStep, end_ - at);
      tasks_->read(at, {task.data(), count}, ids.tasks);
      if (any_missing({task.data(), count}) || !count_labels({task.data(), count})) return false;
      workers_->read(at, {worker + at, count}, ids.workers);
      labels_->read(at, {label_id.data(), count}, ids.classes);
      if (any_missing({worker + at, count}) || any_missing({label_id.data(), count})) return false;
      for (std::size_t i = 0; i < count; ++i) label[at + i] = static_cast<ClassId>(label_id[i]);
    }
    return !failed;
  }

  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }

  TableIds ids;
  std::vector<std::uint32_t> sizes;  // labels by task

 private:
  bool count_labels(std::span<const std::uint32_t> tasks) {
    for (std::size_t at = 0; at < tasks.size();) {
      const std::uint32_t task = tasks[at];
      const std::size_t first = at;
      while (at + kAtOnce <= tasks.size() && are_all(tasks.subspan(at).first<kAtOnce>(), task))
        at += kAtOnce;
      while (at < tasks.size() && tasks[at] == task) ++at;
      if (task == sizes.size())
        sizes.push_back(0);
      else if (task + 1ULL != sizes.size())
        return false;
      sizes.back() += static_cast<std::uint32_t>(at - first);
    }
    return true;
  }

  std::uint64_t begin_;
  std::uint64_t end_;
  std::unique_ptr<ValueColumn> tasks_;
  std::unique_ptr<ValueColumn> workers_;
  std::unique_ptr<ValueColumn> labels_;
};

// Ids there -> ids here; names that are new follow those that are known.
std::vector<std::uint32_t> add_names(const ValueIds& from, ValueIds& to) {
  std::vector<std::uint32_t> ids(from.names.size());
  for (std::uint32_t id = 0; id < ids.size(); ++id)
    ids[id] = to.intern(from.names[id], from.first_rows[id]);
  return ids;
}

// The tasks of the next range. Its first one may go on from the range before.
bool add_tasks(const Range& from, ValueIds& ids, std::vector<std::uint32_t>& sizes) {
  for (std::uint32_t task = 0; task < from.sizes.size(); ++task) {
    const std::uint32_t id = ids.intern(from.ids.tasks.names[task], from.ids.tasks.first_rows[task]);
    if (id == sizes.size())
      sizes.push_back(from.sizes[task]);
    else if (task == 0 && id + 1ULL == sizes.size())
      sizes.back() += from.sizes[task];
    else
      return false;
  }
  return true;
}

template <class Id>
void renumber(std::span<Id> ids, const std::vector<std::uint32_t>& to) {
  for (Id& id : ids) id = static_cast<Id>(to[id]);
}

}  // namespace

std::optional<ColumnLabels> read_grouped(const LabelColumns& columns, Duplicates duplicates,
                                         const RunContext& context) {
  const std::uint64_t rows = columns.tasks.size();
  // Where values are cheap to read, joining what was read costs more than threads save.
  const int readers = columns.are_cheap() ? 1 : std::max(1, context.threads);
  const std::size_t count =
      std::clamp<std::size_t>(rows / kRowsPerThread, 1, static_cast<std::size_t>(readers));
  std::vector<Range> ranges;
  for (std::size_t i = 0; i < count; ++i)
    ranges.emplace_back(columns, rows * i / count, rows * (i + 1) / count);
  FlatArray<WorkerId> worker(rows);
  FlatArray<ClassId> label(rows);
  std::atomic<bool> failed = false;
  run_on_threads(static_cast<int>(count), [&](int thread) {
    const auto i = static_cast<std::size_t>(thread);
    try {
      if (!ranges[i].read(worker.data(), label.data(), failed, context)) failed = true;
    } catch (...) {
      failed = true;  // reading row by row finds the same fault, and the first of its kind
    }
  });
  if (failed) return std::nullopt;

  TableIds all = std::move(ranges[0].ids);
  std::vector<std::uint32_t> sizes = std::move(ranges[0].sizes);
  std::vector<std::vector<std::uint32_t>> worker_ids(count), class_ids(count);
  std::size_t num_tasks = 0;
  for (const Range& range : ranges) num_tasks += range.ids.tasks.names.size();
  if (count > 1) all.tasks.reserve(num_tasks);
  for (std::size_t i = 1; i < count; ++i) {
    if (!add_tasks(ranges[i], all.tasks, sizes)) return std::nullopt;
    worker_ids[i] = add_names(ranges[i].ids.workers, all.workers);
    class_ids[i] = add_names(ranges[i].ids.classes, all.classes);
  }
  run_on_threads(static_cast<int>(count), [&](int thread) {
    const auto i = static_cast<std::size_t>(thread);
    if (i == 0) return;
    const std::size_t begin = ranges[i].begin();
    const std::size_t size = ranges[i].end() - begin;
    renumber(std::span(worker).subspan(begin, size), worker_ids[i]);
    renumber(std::span(label).subspan(begin, size), class_ids[i]);
  });
  FirstRows first_rows = all.release_first_rows();
  return ColumnLabels{grouped_labels(duplicates, sizes, std::move(worker), std::move(label),
                                     all.release_names(), {rows}, context.threads),
                      std::move(first_rows)};
}

}  // namespace crowdfold
