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
  return !(std::abs(a - b) <= kRounding * (1 + std::abs(a)));  // also if one is not a number
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
  stored_.push_back({false, false, worker.now});
  model_.expect(stored_.size(), 0);
  model_.worker(w).counts = worker.now;
  model_.worker(w).history = worker.history;
  model_.worker(w).ticks = worker.ticks;
}

void StoredModel::load(std::uint32_t classes) {
  model_.expect(stored_.size(), classes);
  store_->for_crowd(
      [&](ClassId truth, ClassId label, double count) { model_.add_to_crowd(truth, label, count); });
  for (std::size_t truth = 0; truth < model_.num_rows(); ++truth) {
    SparseConfusion& row = model_.row(static_cast<ClassId>(truth));
    row.take_touched([](SparseConfusion::Part) {});
    crowd_hashes_.push_back(hash_of_crowd(row));
  }
  model_.remember(store_->hard_tasks());
  if (stored_.size() > kFewWorkers) return;
  store_->fetch_confusions(stored_.size(), [&](WorkerId w) {
    return Confusions{model_.worker(w).confusion, stored_[w].history};
  });
  for (WorkerId w = 0; w < stored_.size(); ++w) {
    stored_[w].fetched = true;
    stored_[w].hash = hash_of_worker(w);
  }
  has_confusions_ = true;
}

void StoredModel::save() {
  for (const WorkerId w : touched_workers_) {
    Stored& stored = stored_[w];
    LiveWorker& worker = model_.worker(w);
    stored.touched = false;
    // A task that was judged again and has the answer it had changed no counts.
    if (worker.ticks > 0 || stored.counts != worker.counts)
      store_->put_worker(w, {worker.counts, worker.history, worker.ticks});
    stored.counts = worker.counts;
    worker.confusion.take_touched(
        [&](SparseConfusion::Part part) { store_->put_confusion(w, part, stored.history); });
    const std::uint64_t hash = hash_of_worker(w);
    store_->put_hash(std::exchange(stored.hash, hash), hash);
  }
  touched_workers_.clear();
  for (const ClassId truth : touched_rows_) {
    is_row_touched_[truth] = false;
    model_.row(truth).take_touched([&](SparseConfusion::Part part) { store_->put_crowd(part); });
    if (truth >= crowd_hashes_.size()) crowd_hashes_.resize(truth + std::size_t{1});
    const std::uint64_t hash = hash_of_crowd(model_.row(truth));
    store_->put_hash(std::exchange(crowd_hashes_[truth], hash), hash);
  }
  touched_rows_.clear();
  if (std::exchange(hard_touched_, false)) store_->put_hard_tasks(model_.hard_tasks());
}

void StoredModel::fetch(WorkerId w) {
  Stored& stored = stored_[w];
  if (stored.fetched) return;
  SparseConfusion now;
  SparseConfusion history;
  store_->fetch_confusion(w, {now, history});
  model_.worker(w).confusion = std::move(now);
  stored.history = std::move(history);
  stored.fetched = true;
  stored.hash = hash_of_worker(w);
}
std::uint64_t StoredModel::hash_of_worker(WorkerId w) const {
  const LiveWorker& worker = model_.worker(w);
  return hash_of(w, {worker.counts, worker.history, worker.ticks}, worker.confusion, stored_[w].history);
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
  stored_[w].history.add(history.confusion);
  stored_[w].counts.reset();  // the store does not have the history
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
  for (std::string& difference : differences(other.hard_tasks())) found.push_back(std::move(difference));
  return found;
}
std::vector<std::string> StoredModel::differences(const HardTasks& other) const {
  const HardTasks& here = model_.hard_tasks();
  if (!differ(here.hard, other.hard) && !differ(here.all, other.all)) return {};
  return {fmt::format("{} of {} tasks are hard, the closed tasks say {} of {}", here.hard, here.all,
                      other.hard, other.all)};
}

LiveModel recounted(const StreamStore& store) {
  LiveModel model = empty_model(store.config());
  std::vector<WorkerRecord> histories;
  store.for_workers([&](std::string_view, const StreamWorker& worker) {
    histories.push_back({worker.history, {}});
    model.expect(histories.size(), 0);
    model.worker(static_cast<WorkerId>(histories.size() - 1)).ticks = worker.ticks;
  });
  std::vector<SparseConfusion> now(histories.size());
  store.fetch_confusions(histories.size(), [&](WorkerId w) {
    return Confusions{now[w], histories[w].confusion};
  });
  for (WorkerId w = 0; w < histories.size(); ++w) model.remember(w, histories[w]);
  store.for_closed_tasks([&](StreamTask task) { model.enter(task); });
  return model;
}

}  // namespace crowdfold
