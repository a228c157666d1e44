#include "crowdfold/state_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "methods/live/live_model.h"
#include "stream/store.h"

namespace crowdfold {

class StateView::Reader {
 public:
  explicit Reader(const std::string& path) : store_(open_store_to_read(path)) { learn_names(); }

  void look_again() {
    store_->commit();
    store_->look_again();
    learn_names();
  }
  void rest() { store_->commit(); }

  StreamTotals totals() const {
    StreamTotals totals;
    totals.events = store_->events();
    totals.workers = workers_.size();
    totals.classes = classes_.size();
    totals.closed_tasks = store_->closed_tasks();
    totals.open_tasks = store_->tasks() - totals.closed_tasks;
    return totals;
  }

  std::vector<ViewedTask> tasks(const TaskQuery& query) const {
    std::vector<ViewedTask> found;
    store_->for_tasks(query, [&](const StreamTask& task) { found.push_back(viewed(task)); });
    return found;
  }

  std::vector<std::vector<ViewedLabel>> labels(const std::vector<ViewedTask>& tasks) {
    std::vector<std::vector<ViewedLabel>> found;
    for (const ViewedTask& task : tasks) {
      std::vector<ViewedLabel>& labels = found.emplace_back();
      const std::optional<StreamTask> stored = store_->find_task(task.task);
      if (!stored) store_->damaged("the index of tasks");
      for (const LiveLabel& label : stored->labels)
        labels.push_back({workers_[label.worker], classes_[label.label]});
    }
    return found;
  }

  std::optional<TaskStory> find_task(std::string_view name) {
    std::optional<StreamTask> stored = store_->find_task(name);
    if (!stored) return std::nullopt;
    TaskStory story;
    story.task = viewed(*stored);
    for (const LiveLabel& label : stored->labels)
      story.labels.push_back({workers_[label.worker], classes_[label.label]});
    LiveModel model = model_of(*stored);
    if (stored->closed) model.leave(*stored);  // it is judged without itself
    weigh(model, *stored, story);
    return story;
  }

  std::vector<ViewedWorker> workers(std::uint64_t from, std::size_t most) const {
    std::vector<ViewedWorker> found;
    const std::uint64_t end = std::min<std::uint64_t>(workers_.size(), from + most);
    for (std::uint64_t w = from; w < end; ++w) found.push_back(viewed(static_cast<WorkerId>(w)));
    return found;
  }

  std::optional<WorkerStory> find_worker(std::string_view name) {
    const std::optional<WorkerId> worker = store_->find_worker(name);
    if (!worker) return std::nullopt;
    WorkerStory story{viewed(*worker), {}};
    SparseConfusion now;
    SparseConfusion history;
    store_->fetch_confusion(*worker, {now, history});
    for (const SparseConfusion::Cell& cell : now.cells()) {
      if (cell.count > 0)
        story.confusion.push_back({classes_[cell.truth], classes_[cell.label], cell.count});
    }
    return story;
  }

  LiveStream& stream() {
    if (!stream_ || stream_events_ != store_->events()) {
      stream_ = std::make_unique<LiveStream>(store_, StopRule{}, StreamListener{});
      stream_events_ = store_->events();
    }
    return *stream_;
  }

 private:
  // Those that came since: ids and names never change.
  void learn_names() {
    store_->for_names_of_workers(workers_.size(),
                                 [&](std::string_view name) { workers_.emplace_back(name); });
    if (store_->num_classes() == classes_.size()) return;
    classes_.clear();
    store_->for_classes([&](std::string_view name) { classes_.emplace_back(name); });
  }

  std::string name_of(ClassId c) const { return c == kNoClass ? "" : classes_[c]; }
  ViewedTask viewed(const StreamTask& task) const {
    return {task.id,
            task.name,
            name_of(task.estimate.label),
            task.estimate.confidence,
            task.num_labels,
            task.closed,
            task.reason,
            name_of(task.truth)};
  }
  ViewedWorker viewed(WorkerId w) const {
    const WorkerCounts counts = store_->worker(w).now;
    const StreamConfig& config = store_->config();
    const BetaQuality quality{counts.correct + config.alpha, counts.seen - counts.correct + config.beta};
    return {workers_[w], counts, quality.mean(), quality.credible_interval()};
  }

  // All that the task needs of the model: its workers, who get the ids 0, 1, 2, …, and the crowd.
  LiveModel model_of(StreamTask& task) {
    const StreamConfig& config = store_->config();
    LiveModel model(config, config.classes.empty() ? 2 : 0);
    model.expect(task.labels.size(), static_cast<std::uint32_t>(classes_.size()));
    store_->for_crowd(
        [&](ClassId truth, ClassId label, double count) { model.add_to_crowd(truth, label, count); });
    model.remember(store_->hard_tasks());
    for (WorkerId w = 0; w < task.labels.size(); ++w) {
      const WorkerId id = std::exchange(task.labels[w].worker, w);
      const StreamWorker stored = store_->worker(id);
      LiveWorker& worker = model.worker(w);
      worker.counts = stored.now;
      worker.history = stored.history;
      worker.ticks = stored.ticks;
      SparseConfusion history;
      store_->fetch_confusion(id, {worker.confusion, history});
    }
    return model;
  }

  // The posterior, and for each label how much lower the answer's log-odds are without it.
  void weigh(const LiveModel& model, const StreamTask& task, TaskStory& story) const {
    Weighing weighing;
    std::vector<double> posterior(model.num_classes());
    const auto log_odds = [&](const LiveTask& of, ClassId answer) {
      model.weigh(of, weighing);
      weighing.write_posterior(posterior);
      return answer == kNoClass ? 0 : std::log(posterior[answer] / (1 - posterior[answer]));
    };
    const double with_all = log_odds(task, task.estimate.label);
    if (task.truth != kNoClass) {
      std::fill(posterior.begin(), posterior.end(), 0);
      posterior[task.truth] = 1;
    }
    for (std::size_t c = 0; c < classes_.size(); ++c)
      story.posterior.push_back({classes_[c], posterior[c]});
    for (std::size_t i = 0; i < task.labels.size(); ++i) {
      LiveTask without = task;
      without.labels.erase(without.labels.begin() + static_cast<std::ptrdiff_t>(i));
      --without.num_labels;
      story.labels[i].log_odds = with_all - log_odds(without, task.estimate.label);
    }
  }

  std::shared_ptr<StreamStore> store_;
  std::vector<std::string> workers_;
  std::vector<std::string> classes_;
  std::unique_ptr<LiveStream> stream_;  // for what takes all open tasks
  std::uint64_t stream_events_ = 0;     // of the moment that it knows
};

StateView::StateView(const std::string& path) : reader_(std::make_unique<Reader>(path)) {}
StateView::~StateView() = default;
void StateView::look_again() { reader_->look_again(); }
void StateView::rest() { reader_->rest(); }
StreamTotals StateView::totals() { return reader_->totals(); }
std::vector<ViewedTask> StateView::tasks(const TaskQuery& query) { return reader_->tasks(query); }
std::vector<std::vector<ViewedLabel>> StateView::labels(const std::vector<ViewedTask>& tasks) {
  return reader_->labels(tasks);
}
std::optional<TaskStory> StateView::find_task(std::string_view name) { return reader_->find_task(name); }
std::vector<ViewedWorker> StateView::workers(std::uint64_t from, std::size_t most) {
  return reader_->workers(from, most);
}
std::optional<WorkerStory> StateView::find_worker(std::string_view name) {
  return reader_->find_worker(name);
}
std::vector<OpenTask> StateView::next_tasks(std::size_t most) {
  return reader_->stream().next_tasks(most);
}
std::vector<OpenTask> StateView::next_tasks(std::size_t most, std::string_view worker) {
  return reader_->stream().next_tasks(most, worker);
}

}  // namespace crowdfold
