#include "stream/stored_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace crowdfold {
namespace {

// The confusions of this many workers are fetched at once. Those of more are fetched one by one when
// they are needed: most may never be.
constexpr std::size_t kFewWorkers = 100'000;

// One class alone would be certain, however few the labels.
LiveModel empty_model(const StreamConfig& config) {
  return LiveModel(config, config.classes.empty() ? 2 : 0);
}

bool differ(double a, double b) {
  constexpr double kRounding = 1e-6;
  return std::abs(a - b) > kRounding * (1 + std::abs(a));
}
// Whether `a` has every cell of `b`.
bool covers(const SparseConfusion& a, const SparseConfusion& b) {
  return std::none_of(b.cells().begin(), b.cells().end(), [&](const SparseConfusion::Cell& cell) {
    return differ(a.at(cell.truth, cell.label), cell.count);
  });
}
bool differ(const SparseConfusion& a, const SparseConfusion& b) {
  return !covers(a, b) || !covers(b, a);
}

}  // namespace

StoredModel::StoredModel(std::shared_ptr<StreamStore> store)
    : store_(std::move(store)), model_(empty_model(store_->config())) {}

void StoredModel::add(const StreamWorker& worker) {
  const auto w = static_cast<WorkerId>(stored_.size());
  stored_.push_back({false, false, worker.now, {worker.history, {}}});
  model_.expect(stored_.size(), 0);
  model_.worker(w).counts = worker.now;
  model_.worker(w).ticks = worker.ticks;
}

void StoredModel::load(std::uint32_t classes) {
  model_.expect(stored_.size(), classes);
  store_->for_crowd(
      [&](ClassId truth, ClassId label, double count) { model_.add_to_crowd(truth, label, count); });
  for (std::size_t truth = 0; truth < model_.num_rows(); ++truth)
    model_.row(static_cast<ClassId>(truth)).take_touched([](SparseConfusion::Part) {});
  model_.remember(store_->hard_tasks());
  if (stored_.size() > kFewWorkers) return;
  store_->fetch_confusions(stored_.size(), [&](WorkerId w) {
    return Confusions{model_.worker(w).confusion, stored_[w].history.confusion};
  });
  for (Stored& stored : stored_) stored.fetched = true;
  has_confusions_ = true;
}

void StoredModel::save() {
  for (const WorkerId w : touched_workers_) {
    Stored& stored = stored_[w];
    LiveWorker& worker = model_.worker(w);
    stored.touched = false;
    // A task that was judged again and has the answer it had changed no counts.
    if (worker.ticks > 0 || stored.counts != worker.counts)
      store_->put_worker(w, {worker.counts, stored.history.counts, worker.ticks});
    stored.counts = worker.counts;
    worker.confusion.take_touched(
        [&](SparseConfusion::Part part) { store_->put_confusion(w, part, stored.history.confusion); });
  }
  touched_workers_.clear();
  for (const ClassId truth : touched_rows_) {
    is_row_touched_[truth] = false;
    model_.row(truth).take_touched([&](SparseConfusion::Part part) { store_->put_crowd(part); });
  }
  touched_rows_.clear();
  if (std::exchange(hard_touched_, false)) store_->put_hard_tasks(model_.hard_tasks());
}

void StoredModel::fetch(WorkerId w) {
  Stored& stored = stored_[w];
  if (std::exchange(stored.fetched, true)) return;
  store_->fetch_confusion(w, {model_.worker(w).confusion, stored.history.confusion});
}
void StoredModel::touch(WorkerId w) {
  if (!std::exchange(stored_[w].touched, true)) touched_workers_.push_back(w);
}
void StoredModel::touch_row(ClassId truth) {
  if (truth >= is_row_touched_.size()) is_row_touched_.resize(truth + std::size_t{1});
  if (is_row_touched_[truth]) return;
  is_row_touched_[truth] = true;
  touched_rows_.push_back(truth);
}
void StoredModel::touch(const LiveTask& task) {
  for (const LiveLabel& label : task.labels) touch(label.worker);
  for (const Credit& credit : task.credits) touch_row(credit.truth);
  hard_touched_ = true;
}

void StoredModel::expect(std::size_t workers, std::uint32_t classes) {
  model_.expect(workers, classes);
  if (stored_.size() < workers) stored_.resize(workers);
}

void StoredModel::judge(LiveTask& task) {
  fetch(task);
  model_.judge(task, weighing_);
}
void StoredModel::write_posterior(const LiveTask& task, std::span<double> posterior) {
  fetch(task);
  model_.weigh(task, weighing_);
  weighing_.write_posterior(posterior);
}

void StoredModel::enter(LiveTask& task) {
  fetch(task);
  model_.enter(task);
  touch(task);
}
void StoredModel::enter(const LiveTask& task, LiveLabel& label) {
  fetch(label.worker);
  model_.enter(task, label);
  touch(label.worker);
  for (const Credit& credit : task.credits) touch_row(credit.truth);
}
void StoredModel::leave(const LiveTask& task) {
  fetch(task);
  model_.leave(task);
  touch(task);
}

void StoredModel::remember(WorkerId w, const WorkerRecord& history) {
  fetch(w);
  Stored& stored = stored_[w];
  const double worth = 1 / model_.worth_of(model_.worker(w).ticks);
  stored.history.counts += {history.counts.correct * worth, history.counts.seen * worth};
  stored.history.confusion.add(history.confusion, worth);
  stored.counts.reset();  // the store does not have the history
  model_.remember(w, history);
  touch(w);
  for (const SparseConfusion::Cell& cell : history.confusion.cells()) touch_row(cell.truth);
}
void StoredModel::remember(const HardTasks& elsewhere) {
  model_.remember(elsewhere);
  hard_touched_ = true;
}

std::vector<std::string> StoredModel::differences(
    const LiveModel& other, const std::function<std::string_view(WorkerId)>& name_of) {
  std::vector<std::string> found;
  for (WorkerId w = 0; w < model_.num_workers(); ++w) {
    fetch(w);
    const LiveWorker& here = model_.worker(w);
    const LiveWorker& there = other.worker(w);
    if (differ(here.counts.seen, there.counts.seen) || differ(here.counts.correct, there.counts.correct))
      found.push_back(fmt::format("worker {} has {} of {} labels right, the closed tasks say {} of {}",
                                  name_of(w), here.counts.correct, here.counts.seen,
                                  there.counts.correct, there.counts.seen));
    if (differ(here.confusion, there.confusion))
      found.push_back(
          fmt::format("the confusion of worker {} is not what the closed tasks say", name_of(w)));
  }
  for (std::size_t truth = 0; truth < std::max(model_.num_rows(), other.num_rows()); ++truth) {
    const auto row = [&](const LiveModel& model) {
      return truth < model.num_rows() ? model.row(static_cast<ClassId>(truth)) : SparseConfusion{};
    };
    if (differ(row(model_), row(other)))
      found.push_back(
          fmt::format("the crowd's row of class {} is not what the closed tasks say", truth));
  }
  const HardTasks& here = model_.hard_tasks();
  const HardTasks& there = other.hard_tasks();
  if (differ(here.hard, there.hard) || differ(here.all, there.all))
    found.push_back(fmt::format("{} of {} tasks are hard, the closed tasks say {} of {}", here.hard,
                                here.all, there.hard, there.all));
  return found;
}

LiveModel recounted(const StreamStore& store) {
  LiveModel model = empty_model(store.config());
  std::vector<std::uint64_t> ticks;
  std::vector<WorkerRecord> histories;
  store.for_workers([&](std::string_view, const StreamWorker& worker) {
    ticks.push_back(worker.ticks);
    histories.push_back({worker.history, {}});
  });
  std::vector<SparseConfusion> now(histories.size());
  store.fetch_confusions(histories.size(), [&](WorkerId w) {
    return Confusions{now[w], histories[w].confusion};
  });
  model.expect(histories.size(), 0);
  for (WorkerId w = 0; w < histories.size(); ++w) {
    model.remember(w, histories[w]);
    model.fade(w, ticks[w]);
  }
  store.for_closed_tasks([&](StreamTask task) { model.enter(task); });
  return model;
}

}  // namespace crowdfold
