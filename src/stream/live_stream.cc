// The live stream: open tasks and worker counts in memory, everything in the store.
//
// A task is judged by the one-coin posterior (see methods/vote.h) with the means of its workers' Beta
// posteriors as qualities. While it is open it counts for nobody. When it closes, it enters the counts:
// every label is one seen, and one right if it is the estimate. Whatever happens to a closed task, it
// leaves the counts first, is judged without itself, and enters again.
//
// With a half-life, counts fade: a worker's time ticks with every label that begins to count, and a
// label that began at tick s is worth 2^(-(now - s) / half_life). It keeps its tick when it leaves and
// enters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "crowdfold/error.h"
#include "crowdfold/names.h"
#include "stream/judging.h"
#include "stream/store.h"

namespace crowdfold {

class LiveStream::Engine {
 public:
  Engine(std::shared_ptr<StreamStore> store, const StopRule& stop, StreamListener listener)
      : store_(std::move(store)),
        stop_(stop),
        listener_(std::move(listener)),
        config_(store_->config()),
        fading_(config_.half_life > 0 ? std::exp2(-1 / config_.half_life) : 1) {
    store_->for_classes([&](std::string_view name) { classes_.intern(name); });
    store_->for_workers([&](std::string_view name, const StreamWorker& worker) {
      worker_names_.intern(name);
      workers_.push_back({worker});
    });
    store_->for_open_tasks([&](StreamTask task) {
      std::string name = task.name;
      tasks_.emplace(std::move(name), Held{std::move(task)});
      ++open_tasks_;
    });
  }

  void set_alarm(double below) {
    alarm_below_ = below;
    for (Worker& worker : workers_) worker.alarmed = is_below(worker.known.counts);
  }

  void take(const StreamEvent& event) {
    require(!event.task.empty() || event.kind == StreamEvent::Kind::summary, "an event needs a task");
    if (!event.id.empty() && !store_->add_event(event.id)) {
      ++repeated_;
      return;
    }
    ++events_;
    std::string why;
    switch (event.kind) {
      case StreamEvent::Kind::label: why = add_label(event); break;
      case StreamEvent::Kind::retract: why = retract(event); break;
      case StreamEvent::Kind::truth: why = learn_truth(event); break;
      case StreamEvent::Kind::close: why = close_task(event); break;
      case StreamEvent::Kind::summary:
        if (listener_.on_summary) listener_.on_summary(totals());
        break;
    }
    if (why.empty()) return;
    ++refused_;
    if (listener_.on_refusal) listener_.on_refusal(event, why);
  }

  void close_all() {
    // In the order in which they were opened, whatever the table's.
    std::vector<Held*> open;
    for (auto& [name, held] : tasks_) {
      if (!held.task.closed) open.push_back(&held);
    }
    std::sort(open.begin(), open.end(),
              [](const Held* a, const Held* b) { return a->task.id < b->task.id; });
    for (Held* held : open) close_now(*held, "end");
  }

  void judge_closed_again() {
    if (config_.forget_closed)
      throw Error(ErrorCode::usage, "the labels of closed tasks were forgotten (forget-closed)");
    commit();
    std::vector<std::string> names;
    store_->for_closed_tasks([&](const StreamTask& task) { names.push_back(task.name); });
    for (const std::string& name : names) {
      change(*get(name), [&](StreamTask& task) { judge_again(task); });
      if (touched_tasks_.size() >= kTasksAtATime) commit();
    }
  }

  void remember(std::string_view name, const WorkerCounts& history) {
    const WorkerId w = worker_of(name);
    StreamWorker& worker = workers_[w].known;
    worker.counts += history;
    worker.history += faded(history, -static_cast<double>(worker.ticks));
    touch(w);
  }

  void merge(const StreamStore& other) {
    StreamConfig theirs = other.config();
    theirs.classes = config_.classes;
    require(theirs == config_ && config_.half_life == 0,
            "states can be merged that were made with the same options, and without a half-life");
    std::vector<std::string> classes;
    other.for_classes([&](std::string_view name) {
      classes.emplace_back(name);
      require(class_of(name) != kNoClass, "states can be merged that have the same classes");
    });
    std::vector<std::string> workers;
    std::vector<WorkerCounts> elsewhere;  // what their closed tasks do not tell
    other.for_workers([&](std::string_view name, const StreamWorker& worker) {
      workers.emplace_back(name);
      elsewhere.push_back(worker.counts);
      worker_of(name);
    });
    const auto take_over = [&](const StreamTask& theirs_task) {
      StreamTask task = theirs_task;
      const auto to_ours = [&](ClassId c) { return c == kNoClass ? c : class_of(classes[c]); };
      task.truth = to_ours(task.truth);
      task.estimate.label = to_ours(task.estimate.label);
      for (StreamLabel& label : task.labels) {
        if (task.closed)
          elsewhere[label.worker] += {label.label == theirs_task.estimate.label ? -1.0 : 0.0, -1.0};
        label = {worker_of(workers[label.worker]), to_ours(label.label), 0};
      }
      std::sort(task.labels.begin(), task.labels.end(),
                [](const StreamLabel& a, const StreamLabel& b) { return a.worker < b.worker; });
      join(std::move(task));
    };
    other.for_closed_tasks(take_over);
    other.for_open_tasks(take_over);
    for (std::size_t w = 0; w < workers.size(); ++w) {
      if (elsewhere[w].seen > 0) remember(workers[w], elsewhere[w]);
    }
    events_ += other.events();
    commit();
  }

  void commit() {
    write_changes();
    store_->commit();
  }

  const StreamConfig& config() const { return config_; }

  StreamTotals totals() const {
    StreamTotals totals;
    totals.events = store_->events() + events_;
    totals.repeated = repeated_;
    totals.refused = refused_;
    totals.workers = workers_.size();
    totals.classes = classes_.size();
    totals.open_tasks = open_tasks_;
    totals.closed_tasks = store_->closed_tasks() + closed_tasks_;
    return totals;
  }

  std::vector<WorkerSummary> workers() const {
    std::vector<WorkerSummary> all;
    for (WorkerId w = 0; w < workers_.size(); ++w) all.push_back(summary_of(w));
    return all;
  }

  std::vector<OpenTask> next_tasks(std::size_t most) const {
    const double quality = usual_quality();
    std::vector<OpenTask> all;
    std::vector<double> posterior(possible_classes());
    for (const auto& [name, held] : tasks_) {
      const StreamTask& task = held.task;
      if (task.closed || task.truth != kNoClass) continue;
      judge(task, posterior);
      OpenTask open{task.name, name_of(task.estimate.label), task.estimate.confidence, task.num_labels,
                    gain_of_a_label(posterior, quality)};
      all.push_back(std::move(open));
    }
    std::sort(all.begin(), all.end(), [](const OpenTask& a, const OpenTask& b) {
      return a.gain != b.gain ? a.gain > b.gain : a.task < b.task;
    });
    if (all.size() > most) all.resize(most);
    return all;
  }

  std::vector<std::string> problems() {
    std::vector<std::string> found = store_->problems();
    if (config_.forget_closed || !found.empty()) return found;
    constexpr double kRounding = 1e-6;
    const std::vector<WorkerCounts> counts = recount();
    for (WorkerId w = 0; w < counts.size(); ++w) {
      const WorkerCounts& known = workers_[w].known.counts;
      if (std::abs(counts[w].seen - known.seen) <= kRounding * (1 + known.seen) &&
          std::abs(counts[w].correct - known.correct) <= kRounding * (1 + known.seen))
        continue;
      found.push_back(fmt::format("worker {} has {} of {} labels right, the closed tasks say {} of {}",
                                  worker_names_[w], known.correct, known.seen, counts[w].correct,
                                  counts[w].seen));
    }
    return found;
  }

  std::vector<WorkerCounts> recount() {
    if (config_.forget_closed)
      throw Error(ErrorCode::usage, "the labels of closed tasks were forgotten (forget-closed)");
    write_changes();
    std::vector<WorkerCounts> counts;
    for (const Worker& worker : workers_)
      counts.push_back(faded(worker.known.history, static_cast<double>(worker.known.ticks)));
    store_->for_closed_tasks([&](const StreamTask& task) {
      for (const StreamLabel& label : task.labels) {
        const double worth = worth_of(label);
        counts[label.worker] += {label.label == task.estimate.label ? worth : 0, worth};
      }
    });
    return counts;
  }

 private:
  static constexpr std::size_t kTasksAtATime = 10'000;

  struct Held {
    StreamTask task;
    bool touched = false;  // since the last commit()
  };
  struct Worker {
    StreamWorker known;
    bool touched = false;
    bool alarmed = false;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const { return NameTable::hash(name); }
  };

  static void require(bool holds, const char* message) {
    if (!holds) throw Error(ErrorCode::usage, message);
  }
  std::string name_of(ClassId c) const { return c == kNoClass ? "" : std::string(classes_[c]); }

  // Events. What they return is why they are refused, if they are.

  std::string add_label(const StreamEvent& event) {
    require(!event.worker.empty(), "a label needs a worker");
    if (event.label.empty()) return "";  // an abstention
    const ClassId label = class_of(event.label);
    if (label == kNoClass) return unknown_class(event.label);
    Held& held = get_or_open(event.task);
    const bool forgotten = is_forgotten(held.task);
    if (forgotten && held.task.truth == kNoClass) return kForgotten;
    const WorkerId worker = worker_of(event.worker);
    change(held, [&](StreamTask& task) {
      StreamLabel added{worker, label, 0};
      if (forgotten) {  // of a known truth: it counts, and is forgotten too
        enter(task, added);
        ++task.num_labels;
        return;
      }
      const auto place = find(task, worker);
      if (place != task.labels.end() && place->worker == worker) {
        if (place->label == label) return;
        place->label = label;
        store_->put_label(task.id, *place);
      } else {
        store_->put_label(task.id, *task.labels.insert(place, added));
        ++task.num_labels;
      }
      judge_again(task);
    });
    return "";
  }

  std::string retract(const StreamEvent& event) {
    require(!event.worker.empty(), "a retraction needs a worker");
    Held* const held = get(event.task);
    if (held == nullptr) return "there is no such task";
    if (is_forgotten(held->task)) return kForgotten;
    const std::optional<std::uint32_t> worker = worker_names_.find(event.worker);
    if (!worker || !has_label(held->task, *worker)) return "this worker has no label on the task";
    change(*held, [&](StreamTask& task) {
      task.labels.erase(find(task, *worker));
      --task.num_labels;
      store_->remove_label(task.id, *worker);
      judge_again(task);
    });
    return "";
  }

  std::string learn_truth(const StreamEvent& event) {
    require(!event.label.empty(), "a truth needs a label");
    const ClassId truth = class_of(event.label);
    if (truth == kNoClass) return unknown_class(event.label);
    Held& held = get_or_open(event.task);
    if (is_forgotten(held.task) && held.task.num_labels > 0) return kForgotten;
    change(held, [&](StreamTask& task) {
      task.truth = truth;
      judge_again(task);
    });
    return "";
  }

  std::string close_task(const StreamEvent& event) {
    Held* const held = get(event.task);
    if (held == nullptr) return "there is no such task";
    if (!held->task.closed) close_now(*held, "event");
    return "";
  }
  void close_now(Held& held, const char* reason) {
    change(held, [&](StreamTask& task) {
      judge_again(task);
      close(task, reason);
    });
  }

  static constexpr const char* kForgotten =
      "the task is closed and its labels were forgotten (forget-closed)";
  std::string unknown_class(std::string_view label) const {
    return fmt::format("'{}' is none of the {} classes given", label, config_.classes.size());
  }
  bool is_forgotten(const StreamTask& task) const { return task.closed && config_.forget_closed; }

  // Names.

  ClassId class_of(std::string_view name) {
    if (const auto known = classes_.find(name)) return static_cast<ClassId>(*known);
    if (!config_.classes.empty()) return kNoClass;
    const auto id = static_cast<ClassId>(classes_.intern(name));
    store_->add_class(id, name);
    return id;
  }
  WorkerId worker_of(std::string_view name) {
    const WorkerId id = worker_names_.intern(name);
    if (id == workers_.size()) {
      workers_.push_back({});
      store_->add_worker(id, name);
    }
    return id;
  }
  Held* get(std::string_view name) {
    if (const auto found = tasks_.find(name); found != tasks_.end()) return &found->second;
    std::optional<StreamTask> stored = store_->find_task(name);
    if (!stored) return nullptr;
    return hold(std::move(*stored));
  }
  Held& get_or_open(std::string_view name) {
    if (Held* const held = get(name)) return *held;
    StreamTask task;
    task.id = store_->add_task(name);
    task.name = name;
    ++open_tasks_;
    return *hold(std::move(task));
  }
  Held* hold(StreamTask task) {
    std::string name = task.name;
    Held& held = tasks_.emplace(std::move(name), Held{std::move(task)}).first->second;
    touch(held);
    return &held;
  }
  void touch(Held& held) {
    if (std::exchange(held.touched, true)) return;
    touched_tasks_.push_back(&held);
  }
  void touch(WorkerId w) {
    if (std::exchange(workers_[w].touched, true)) return;
    touched_workers_.push_back(w);
  }

  // A task's labels are in the order of workers: what is made of them does not depend on when they came.
  static std::vector<StreamLabel>::iterator find(StreamTask& task, WorkerId worker) {
    return std::lower_bound(task.labels.begin(), task.labels.end(), worker,
                            [](const StreamLabel& label, WorkerId w) { return label.worker < w; });
  }
  static bool has_label(const StreamTask& task, WorkerId worker) {
    return std::any_of(task.labels.begin(), task.labels.end(),
                       [&](const StreamLabel& label) { return label.worker == worker; });
  }

  // Judging and counting.

  // body(task) changes a task, which is out of the counts meanwhile. Tells if its answer is another one,
  // or if it closed.
  template <class Body>
  void change(Held& held, const Body& body) {
    StreamTask& task = held.task;
    touch(held);
    const ClassId answer = task.estimate.label;
    const bool was_closed = task.closed;
    if (was_closed) leave(task);
    body(task);
    if (was_closed)
      enter(task);
    else if (!task.closed)
      close_if_due(task);
    if (task.estimate.label != answer || task.closed != was_closed) tell(task);
  }

  void judge_again(StreamTask& task) {
    task.estimate = task.truth != kNoClass ? Estimate{task.truth, 1} : judge(task, {});
  }

  Estimate judge(const StreamTask& task, std::span<double> posterior) const {
    return judge_by_qualities(
        task.labels, possible_classes(), config_.alpha, config_.beta,
        [&](WorkerId w) -> const WorkerCounts& { return workers_[w].known.counts; }, posterior);
  }

  // One class alone would be certain, however few the labels.
  std::uint32_t possible_classes() const {
    return config_.classes.empty() ? std::max(2U, classes_.size()) : classes_.size();
  }

  void close_if_due(StreamTask& task) {
    const char* const why = task.truth != kNoClass && task.num_labels > 0
                                ? "truth"
                                : why_to_close(stop_, task.num_labels, task.estimate.confidence);
    if (why != nullptr) close(task, why);
  }

  void close(StreamTask& task, const char* reason) {
    task.closed = true;
    task.reason = reason;
    ++closed_tasks_;
    --open_tasks_;
    enter(task);
    if (!config_.forget_closed) return;
    store_->remove_labels(task.id);
    task.labels.clear();
  }

  // A task of another stream, with our ids.
  void join(StreamTask task) {
    if (Held* const held = get(task.name)) {
      change(*held, [&](StreamTask& ours) {
        for (const StreamLabel& label : task.labels) {
          const auto place = find(ours, label.worker);
          if (place != ours.labels.end() && place->worker == label.worker) continue;
          store_->put_label(ours.id, *ours.labels.insert(place, label));
          ++ours.num_labels;
        }
        if (ours.truth == kNoClass) ours.truth = task.truth;
        judge_again(ours);
      });
      return;
    }
    task.id = store_->add_task(task.name);
    for (const StreamLabel& label : task.labels) store_->put_label(task.id, label);
    if (task.closed) {
      ++closed_tasks_;
      enter(task);
    } else {
      ++open_tasks_;
    }
    hold(std::move(task));
  }

  // Counts, so many ticks later.
  WorkerCounts faded(const WorkerCounts& counts, double ticks) const {
    const double worth = std::pow(fading_, ticks);
    return {counts.correct * worth, counts.seen * worth};
  }
  // What a label is worth now.
  double worth_of(const StreamLabel& label) const {
    if (fading_ == 1) return 1;
    return std::pow(fading_, static_cast<double>(workers_[label.worker].known.ticks - label.tick));
  }
  void enter(StreamTask& task) {
    for (StreamLabel& label : task.labels) {
      const bool is_first = label.tick == 0;
      enter(task, label);
      if (is_first && fading_ < 1) store_->put_label(task.id, label);
    }
  }
  void enter(const StreamTask& task, StreamLabel& label) {
    StreamWorker& worker = workers_[label.worker].known;
    if (label.tick == 0 && fading_ < 1) {
      worker.counts = {worker.counts.correct * fading_, worker.counts.seen * fading_};
      label.tick = ++worker.ticks;
    }
    add(task, label, 1);
  }
  void leave(const StreamTask& task) {
    for (const StreamLabel& label : task.labels) {
      if (fading_ < 1 && label.tick == 0) continue;
      add(task, label, -1);
    }
  }
  void add(const StreamTask& task, const StreamLabel& label, double times) {
    WorkerCounts& counts = workers_[label.worker].known.counts;
    const double worth = times * worth_of(label);
    counts += {label.label == task.estimate.label ? worth : 0, worth};
    counts.seen = std::max(counts.seen, 0.0);  // of what faded, rounding may leave less
    counts.correct = std::clamp(counts.correct, 0.0, counts.seen);
    touch(label.worker);
    if (times > 0 && alarm_below_ > 0) watch(label.worker);
  }

  double usual_quality() const {
    WorkerCounts all;
    for (const Worker& worker : workers_) all += worker.known.counts;
    return (all.correct + config_.alpha) / (all.seen + config_.alpha + config_.beta);
  }

  // Telling.

  void tell(const StreamTask& task) const {
    if (!listener_.on_task) return;
    const std::string_view label =
        task.estimate.label == kNoClass ? std::string_view() : classes_[task.estimate.label];
    listener_.on_task(
        {task.name, label, task.estimate.confidence, task.num_labels, task.closed, task.reason});
  }
  BetaQuality quality_of(const WorkerCounts& counts) const {
    return {counts.correct + config_.alpha, counts.seen - counts.correct + config_.beta};
  }
  WorkerSummary summary_of(WorkerId w) const {
    const WorkerCounts& counts = workers_[w].known.counts;
    const BetaQuality quality = quality_of(counts);
    return {worker_names_[w], counts, quality.mean(), quality.credible_interval()};
  }
  bool is_below(const WorkerCounts& counts) const {
    const BetaQuality quality = quality_of(counts);
    return quality.mean() < alarm_below_ && quality.credible_interval().upper < alarm_below_;
  }
  void watch(WorkerId w) {
    Worker& worker = workers_[w];
    const bool below = is_below(worker.known.counts);
    if (below && !worker.alarmed && listener_.on_alarm) listener_.on_alarm(summary_of(w));
    // Who goes to and fro at the line is told of once.
    const bool above = quality_of(worker.known.counts).mean() >= alarm_below_;
    worker.alarmed = below || (worker.alarmed && !above);
  }

  // Brings the store up to date; closed tasks need not be in memory any longer.
  void write_changes() {
    for (const WorkerId w : touched_workers_) {
      store_->put_worker(w, workers_[w].known);
      workers_[w].touched = false;
    }
    touched_workers_.clear();
    for (Held* const held : touched_tasks_) {
      store_->put_task(held->task);
      held->touched = false;
      if (held->task.closed) tasks_.erase(tasks_.find(held->task.name));
    }
    touched_tasks_.clear();
    store_->count(std::exchange(events_, 0), std::exchange(closed_tasks_, 0));
  }

  std::shared_ptr<StreamStore> store_;
  const StopRule stop_;
  const StreamListener listener_;
  const StreamConfig config_;
  const double fading_;  // of a count, at each tick
  double alarm_below_ = 0;

  NameTable classes_{"classes", kMaxClasses};
  NameTable worker_names_{"workers"};
  std::vector<Worker> workers_;
  std::unordered_map<std::string, Held, Hash, std::equal_to<>> tasks_;  // open, or touched
  std::vector<Held*> touched_tasks_;
  std::vector<WorkerId> touched_workers_;
  std::uint64_t open_tasks_ = 0;
  // Since the last commit().
  std::uint64_t events_ = 0;
  std::uint64_t closed_tasks_ = 0;
  // Since the start.
  std::uint64_t repeated_ = 0;
  std::uint64_t refused_ = 0;
};

LiveStream::LiveStream(std::shared_ptr<StreamStore> store, const StopRule& stop, StreamListener listener)
    : engine_(std::make_unique<Engine>(std::move(store), stop, std::move(listener))) {}
LiveStream::~LiveStream() = default;

void LiveStream::set_alarm(double below) { engine_->set_alarm(below); }
void LiveStream::take(const StreamEvent& event) { engine_->take(event); }
void LiveStream::close_all() { engine_->close_all(); }
void LiveStream::judge_closed_again() { engine_->judge_closed_again(); }
void LiveStream::remember(std::string_view worker, const WorkerCounts& history) {
  engine_->remember(worker, history);
}
void LiveStream::merge(const StreamStore& other) { engine_->merge(other); }
void LiveStream::commit() { engine_->commit(); }
const StreamConfig& LiveStream::config() const { return engine_->config(); }
StreamTotals LiveStream::totals() const { return engine_->totals(); }
std::vector<WorkerSummary> LiveStream::workers() const { return engine_->workers(); }
std::vector<OpenTask> LiveStream::next_tasks(std::size_t most) const {
  return engine_->next_tasks(most);
}
std::vector<std::string> LiveStream::problems() { return engine_->problems(); }
std::vector<WorkerCounts> LiveStream::recount() { return engine_->recount(); }

}  // namespace crowdfold
