#include "labels/grouping/ordered_grouper.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "labels/duplicates.h"
#include "labels/grouping/counting_sort.h"

namespace crowdfold {
namespace {

constexpr std::size_t kPrefetch = 16;  // look-ups ahead whose cache lines are asked for
// Labels that are given ahead at a time. Blocks are appended by this thread and that, and what is
// learned moves to its core each time: with a fourth of this, which a block holds, the whole takes 2 %
// more.
constexpr std::uint64_t kGivenAtOnce = 1 << 15;

}  // namespace

OrderedGrouper::OrderedGrouper(Duplicates duplicates, TasksAhead* ahead)
    : rule_(duplicates),
      tasks_("tasks", kMaxTasks),
      offsets_(1, 0),
      ahead_(ahead),
      repeats_(duplicates, 0) {}

void OrderedGrouper::reserve(std::uint64_t labels, std::uint64_t tasks, std::uint64_t name_bytes) {
  worker_.reserve(labels);
  class_.reserve(labels);
  offsets_.reserve(tasks + 1);
  tasks_.reserve(tasks, name_bytes);
}

// Most grouped files were sorted by task, and the name that ascends is new: it is not looked up, and the
// index, whose slots lie all over the memory, is not even built.
TaskId OrderedGrouper::intern_task(std::string_view name, std::uint64_t hash) {
  if (ascent_.holds() && tasks_.size() > 0) {
    const TaskId last = tasks_.size() - 1;
    if (name == tasks_[last]) return last;
    ascent_.add(tasks_[last], name);
  }
  return ascent_.holds() ? tasks_.append(name) : tasks_.intern(name, hash);
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
    const TaskId task = intern_task(block.name(run), block.hashes[run]);
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
  const std::size_t whole_tasks =
      std::max<std::size_t>(1, offsets_.size() - 1) - 1;  // the last run may go on
  if (offsets_[whole_tasks] - offsets_[given_] >= kGivenAtOnce) give_ahead(whole_tasks);
}

// Gives the tasks before number `whole_tasks`, unless they were given: their labels are still in the
// cache. They are looked through for duplicates here; finish() need not do it again.
void OrderedGrouper::give_ahead(std::size_t whole_tasks) {
  if (ahead_ == nullptr || whole_tasks == given_) return;
  repeats_.grow(ids_.workers.size());
  bool changes = !task_of_run_.empty();
  for (std::size_t t = given_; t < whole_tasks && !changes && rule_ != Duplicates::keep; ++t)
    changes = repeats_.any(worker_.data() + offsets_[t], offsets_[t + 1] - offsets_[t]);
  if (changes) {
    std::exchange(ahead_, nullptr)->withdraw();
    return;
  }
  ahead_->take({static_cast<TaskId>(given_),
                std::span(offsets_).subspan(given_, whole_tasks - given_ + 1), worker_.data(),
                class_.data(), ids_.workers.size(), ids_.classes.size()});
  given_ = whole_tasks;
}

std::uint64_t OrderedGrouper::bytes() const {
  const bool sorts = !task_of_run_.empty();
  const std::uint64_t labels = (sizeof(WorkerId) + sizeof(ClassId)) * worker_.size();
  const std::uint64_t sorting = labels + 2 * sizeof(std::uint64_t) * tasks_.size();
  return labels + sizeof(std::uint64_t) * offsets_.size() + sizeof(TaskId) * task_of_run_.size() +
         tasks_.bytes() + ids_.bytes() + (sorts ? sorting : 0);
}

// Brings the runs of a task together, in input order.
void OrderedGrouper::regroup() {
  FlatArray<std::uint64_t> begin(tasks_.size() + 1ULL, 0);
  for (std::size_t run = 0; run < task_of_run_.size(); ++run) {
    begin[task_of_run_[run] + 1ULL] += offsets_[run + 1] - offsets_[run];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  FlatArray<WorkerId> workers(worker_.size());
  FlatArray<ClassId> classes(class_.size());
  FlatArray<std::uint64_t> next(begin.begin(), begin.end() - 1);
  const LabelPlaces<std::uint64_t> places{next.data(), workers.data(), classes.data()};
  for (std::size_t run = 0; run < task_of_run_.size(); ++run) {
    for (std::uint64_t j = offsets_[run]; j < offsets_[run + 1]; ++j)
      places.write(task_of_run_[run], worker_[j], class_[j]);
  }
  offsets_ = std::move(begin);
  worker_ = std::move(workers);
  class_ = std::move(classes);
  task_of_run_ = {};
}

Labels OrderedGrouper::finish(int threads) {
  tasks_.drop_index();
  give_ahead(offsets_.size() - 1);
  if (!task_of_run_.empty()) regroup();

  const std::uint64_t duplicates =
      ahead_ != nullptr
          ? 0
          : drop_duplicates(rule_, threads, tasks_, ids_.workers, offsets_, worker_, class_);
  return {{std::move(tasks_), std::move(ids_.workers), std::move(ids_.classes)},
          {std::move(offsets_), std::move(worker_), std::move(class_)},
          {ids_.rows, ids_.abstentions, duplicates}};
}

}  // namespace crowdfold
