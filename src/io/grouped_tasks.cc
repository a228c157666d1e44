#include "io/grouped_tasks.h"

#include <utility>

#include "io/packed/read_packed.h"
#include "io/room.h"

namespace crowdfold {

void TaskSource::count(const TaskLabels& task) {
  ++tasks_;
  labels_ += task.size();
  class_counts_.resize(classes().size());
  for (const ClassId c : task.classes) ++class_counts_[c];
}

GroupedTasks::GroupedTasks(const std::vector<std::string>& paths, const ReadOptions& options,
                           const RunContext& context, std::uint64_t bytes_per_task, OpenedPipes pipes)
    : context_(context),
      bytes_per_task_(bytes_per_task),
      reader_(paths, options, context, std::move(pipes)),
      writers_(make_writers(options, context)),
      deduplicator_(options.duplicates, 0) {}

void GroupedTasks::run(const std::function<bool()>& before_block, const OnTask& on_task) {
  reader_.run([&](int thread) -> BlockWriter& { return writers_[static_cast<std::size_t>(thread)]; },
              [&](const LabelBlock& block) {
                if (stopped_) return;
                ids_.absorb(block);
                deduplicator_.grow(ids_.workers.size());
                stopped_ = !before_block();
                if (!stopped_) take(block, on_task);
                require_room(reader_.source(), "its labels", bytes(), context_.max_memory);
              });
  if (!stopped_ && open_) close(on_task);
}

RowCounts GroupedTasks::rows() const {
  RowCounts rows{ids_.rows, ids_.abstentions, deduplicator_.duplicates};
  for (const ReadReport& report : reader_.reports()) rows.skipped += report.skipped_rows;
  return rows;
}

void GroupedTasks::take(const LabelBlock& block, const OnTask& on_task) {
  const std::vector<WorkerId>& worker_of = ids_.workers_of(block.reader);
  const std::vector<ClassId>& class_of = ids_.classes_of(block.reader);
  for (std::size_t run = 0; run < block.num_runs(); ++run) {
    const std::string_view task = block.name(run);
    if (open_ && task != task_) close(on_task);
    if (!open_) {
      open_ = true;
      task_.assign(task);
      hash_ = block.hashes[run];
    }
    for (std::uint32_t j = block.label_begin(run); j < block.label_ends[run]; ++j) {
      open_workers_.push_back(worker_of[block.workers[j]]);
      open_classes_.push_back(class_of[block.classes[j]]);
    }
  }
}

void GroupedTasks::close(const OnTask& on_task) {
  const std::size_t left =
      deduplicator_.apply(open_workers_.data(), open_classes_.data(), open_workers_.size());
  if (deduplicator_.offender != Deduplicator::kNobody) {
    throw DuplicateLabel(task_, ids_.workers[deduplicator_.offender]);
  }
  const TaskLabels labels{tasks(), std::span(open_workers_).first(left),
                          std::span(open_classes_).first(left)};
  on_task(task_, hash_, labels);
  count(labels);
  open_workers_.clear();
  open_classes_.clear();
  open_ = false;
}

std::uint64_t GroupedTasks::bytes() const {
  return ids_.bytes() + bytes_per_task_ * tasks() +
         (sizeof(WorkerId) + sizeof(ClassId)) * open_workers_.size();
}

PackedTasks::PackedTasks(const std::vector<std::string>& paths, const ReadOptions& options,
                         const RunContext& context)
    : context_(context), options_(options), labels_in_(open_packed_labels(paths, options, context)) {}

void PackedTasks::run(const std::function<bool()>& before_block, const OnTask& on_task) {
  bool stopped = false;
  labels_in_.in_order("aggregating", context_, PackedLabels::Names::yes,
                      [&](const TaskBlock& block, const TaskNames& names) {
                        stopped = stopped || !before_block();
                        if (stopped) return;
                        for (TaskId t = block.first(); t < block.last(); ++t) {
                          const TaskLabels task = block.task(t);
                          on_task(names[t], 0, task);
                          count(task);
                        }
                      });
}

std::vector<ReadReport> PackedTasks::reports() const { return {report_on(labels_in_, options_)}; }

std::unique_ptr<TaskSource> open_tasks(const std::vector<std::string>& paths, const ReadOptions& options,
                                       const RunContext& context, std::uint64_t bytes_per_task,
                                       OpenedPipes pipes) {
  if (any_packed(paths)) return std::make_unique<PackedTasks>(paths, options, context);
  return std::make_unique<GroupedTasks>(paths, options, context, bytes_per_task, std::move(pipes));
}

}  // namespace crowdfold
