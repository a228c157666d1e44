// The live stream: open tasks and what is known of workers in memory, everything in the store.
//
// While a task is open it counts for nobody. When it closes, it enters the counts of its workers (see
// crowd.h). Whatever happens to a closed task, it leaves the counts first, is judged without itself, and
// enters again.
//
// With a half-life, counts fade: a worker's time ticks with every label that begins to count, and a
// label that began at tick s is worth 2^(-(now - s) / half_life). It keeps its tick when it leaves and
// enters.
#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/names.h"
#include "stream/crowd.h"
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
        crowd_(config_, [store = store_](WorkerId w, StreamWorker& worker) {
          store->fetch_confusion(w, worker);
        }) {
    store_->for_classes([&](std::string_view name) { classes_.intern(name); });
    store_->for_workers([&](std::string_view name, const StreamWorker& worker) {
      worker_names_.intern(name);
      crowd_.add(worker);
    });
    crowd_.load(*store_);
    store_->for_open_tasks([&](StreamTask task) {
      std::string name = task.name;
      tasks_.emplace(std::move(name), OpenEntry{std::move(task)});
      ++open_tasks_;
    });
  }

  // Once the store failed in the middle of something, what is in memory is not what is stored, and there
  // is no going on.
  template <class Work>
  auto guarded(const Work& work) {
    if (has_failed_)
      throw Error(ErrorCode::io,
                  "the stream failed before; open its state again: what was committed is there");
    try {
      return work();
    } catch (const Error& error) {
      has_failed_ = error.code() != ErrorCode::usage;
      throw;
    }
  }

  void set_alarm(double below) {
    alarm_below_ = below;
    alarmed_.clear();
    for (WorkerId w = 0; w < crowd_.size(); ++w) {
      if (is_below(crowd_.counts(w))) alarmed_.insert(w);
    }
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

  void take(std::span<const StreamEvent> events) {
    while (!events.empty()) {
      const std::span<const StreamEvent> some = events.first(std::min(events.size(), kEventsAhead));
      events = events.subspan(some.size());
      bool is_ahead = false;
      for (std::size_t i = 0; i < some.size(); ++i) {
        take(some[i]);
        if (is_ahead || !store_->waits_for_disk()) continue;
        read_ahead(some.subspan(i + 1));
        is_ahead = true;
      }
    }
  }

  void close_all() {
    // In the order in which they were opened, whatever the table's.
    std::vector<OpenEntry*> open;
    for (auto& [name, held] : tasks_) {
      if (!held.task.closed) open.push_back(&held);
    }
    std::sort(open.begin(), open.end(),
              [](const OpenEntry* a, const OpenEntry* b) { return a->task.id < b->task.id; });
    for (OpenEntry* held : open) close_now(*held, "end");
  }

  void rejudge() {
    if (config_.forget_closed)
      throw Error(ErrorCode::usage, "the labels of closed tasks were forgotten (forget-closed)");
    commit();
    std::vector<std::string> names;
    store_->for_closed_tasks([&](const StreamTask& task) { names.push_back(task.name); });
    for (const std::string& name : names) {
      change(*get(name), [&](StreamTask& task) { rejudge(task); });
      if (touched_tasks_.size() >= kTasksAtATime) commit();
    }
  }

  void remember(std::string_view name, const WorkerCounts& history) {
    crowd_.remember(worker_of(name), {history, {}});
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
    // What their closed tasks do not tell.
    std::vector<WorkerRecord> elsewhere;
    HardTasks hard = other.hard_tasks();
    other.for_workers([&](std::string_view name, const StreamWorker& worker) {
      workers.emplace_back(name);
      elsewhere.push_back(worker.now);
      worker_of(name);
    });
    const auto to_ours = [&](ClassId c) { return c == kNoClass ? c : class_of(classes[c]); };
    for (WorkerId w = 0; w < workers.size(); ++w) {
      StreamWorker worker;
      other.fetch_confusion(w, worker);
      for (const SparseConfusion::Cell& cell : worker.now.confusion.cells())
        elsewhere[w].confusion.add(to_ours(cell.truth), to_ours(cell.label), cell.count);
    }
    const auto take_over = [&](const StreamTask& theirs_task) {
      StreamTask task = theirs_task;
      task.truth = to_ours(task.truth);
      task.estimate.label = to_ours(task.estimate.label);
      for (Credit& credit : task.credits) credit.truth = to_ours(credit.truth);
      for (StreamLabel& label : task.labels) {
        const WorkerId theirs_worker = label.worker;
        label = {worker_of(workers[theirs_worker]), to_ours(label.label), 0};
        if (!task.closed) continue;
        WorkerRecord& rest = elsewhere[theirs_worker];
        rest.counts += {label.label == task.estimate.label ? -1.0 : 0.0, -1.0};
        for (const Credit& credit : task.credits)
          rest.confusion.add(credit.truth, label.label, -credit.share / kWhole);
      }
      if (task.closed && task.num_labels > 0) {  // also where they were forgotten
        hard.hard -= task.hard / kWhole;
        hard.all -= 1;
      }
      std::sort(task.labels.begin(), task.labels.end(),
                [](const StreamLabel& a, const StreamLabel& b) { return a.worker < b.worker; });
      join(std::move(task));
    };
    other.for_closed_tasks(take_over);
    other.for_open_tasks(take_over);
    for (std::size_t w = 0; w < workers.size(); ++w) {
      if (elsewhere[w].counts.seen > 0) crowd_.remember(worker_of(workers[w]), elsewhere[w]);
    }
    crowd_.remember(hard);
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
    totals.workers = crowd_.size();
    totals.classes = classes_.size();
    totals.open_tasks = open_tasks_;
    totals.closed_tasks = store_->closed_tasks() + closed_tasks_;
    totals.hard_share = crowd_.hard_share();
    return totals;
  }

  std::vector<WorkerSummary> workers() const {
    std::vector<WorkerSummary> all;
    for (WorkerId w = 0; w < crowd_.size(); ++w) all.push_back(summary_of(w));
    return all;
  }

  std::vector<OpenTask> next_tasks(std::size_t most) {
    const double quality = crowd_.usual_quality();
    std::vector<OpenTask> all;
    std::vector<double> posterior(classes().possible);
    for (const auto& [name, held] : tasks_) {
      const StreamTask& task = held.task;
      if (task.closed || task.truth != kNoClass) continue;
      crowd_.put_posterior(task, classes(), posterior);
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
    write_changes();
    LiveModel counted = crowd_.recounted(*store_);
    return crowd_.differences(counted, [&](WorkerId w) { return worker_names_[w]; });
  }

  std::vector<WorkerCounts> recount() {
    if (config_.forget_closed)
      throw Error(ErrorCode::usage, "the labels of closed tasks were forgotten (forget-closed)");
    write_changes();
    const LiveModel counted = crowd_.recounted(*store_);
    std::vector<WorkerCounts> counts;
    for (WorkerId w = 0; w < counted.size(); ++w) counts.push_back(counted.counts(w));
    return counts;
  }

 private:
  static constexpr std::size_t kTasksAtATime = 10'000;
  // So many of them tell the store what they need, where it waits for a disk.
  static constexpr std::size_t kEventsAhead = 5'000;

  struct OpenEntry {
    StreamTask task;
    bool touched = false;  // since the last commit()
    bool stored = true;
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
    OpenEntry& held = get_or_open(event.task);
    const bool forgotten = is_forgotten(held.task);
    if (forgotten && held.task.truth == kNoClass) return kForgotten;
    const WorkerId worker = worker_of(event.worker);
    change(held, [&](StreamTask& task) {
      StreamLabel added{worker, label, 0};
      if (forgotten) {  // of a known truth: it counts, and is forgotten too
        crowd_.enter(task, added);
        ++task.num_labels;
        watch(worker);
        return;
      }
      const auto place = find(task, worker);
      if (place != task.labels.end() && place->worker == worker) {
        if (place->label == label) return;
        place->label = label;
      } else {
        task.labels.insert(place, added);
        ++task.num_labels;
      }
      rejudge(task);
    });
    return "";
  }

  std::string retract(const StreamEvent& event) {
    require(!event.worker.empty(), "a retraction needs a worker");
    OpenEntry* const held = get(event.task);
    if (held == nullptr) return "there is no such task";
    if (is_forgotten(held->task)) return kForgotten;
    const std::optional<std::uint32_t> worker = worker_names_.find(event.worker);
    if (!worker || !has_label(held->task, *worker)) return "this worker has no label on the task";
    change(*held, [&](StreamTask& task) {
      task.labels.erase(find(task, *worker));
      --task.num_labels;
      rejudge(task);
    });
    return "";
  }

  std::string learn_truth(const StreamEvent& event) {
    require(!event.label.empty(), "a truth needs a label");
    const ClassId truth = class_of(event.label);
    if (truth == kNoClass) return unknown_class(event.label);
    OpenEntry& held = get_or_open(event.task);
    if (is_forgotten(held.task) && held.task.num_labels > 0) return kForgotten;
    change(held, [&](StreamTask& task) {
      task.truth = truth;
      rejudge(task);
    });
    return "";
  }

  std::string close_task(const StreamEvent& event) {
    OpenEntry* const held = get(event.task);
    if (held == nullptr) return "there is no such task";
    if (!held->task.closed) close_now(*held, "event");
    return "";
  }
  void close_now(OpenEntry& held, const char* reason) {
    change(held, [&](StreamTask& task) {
      rejudge(task);
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
    if (id == crowd_.size()) {
      crowd_.expect(id + std::size_t{1});
      store_->add_worker(id, name);
    }
    return id;
  }
  OpenEntry* get(std::string_view name) {
    if (const auto found = tasks_.find(name); found != tasks_.end()) return &found->second;
    std::optional<StreamTask> stored = store_->find_task(name);
    if (!stored) return nullptr;
    return hold(std::move(*stored));
  }
  void read_ahead(std::span<const StreamEvent> events) {
    std::vector<Expected> expected;
    for (const StreamEvent& event : events) {
      const bool is_known = tasks_.find(event.task) != tasks_.end();
      if (is_known && event.id.empty()) continue;
      expected.push_back({std::string(is_known ? std::string_view() : event.task), std::string(event.id),
                          !crowd_.has_confusions()});
    }
    store_->read_ahead(std::move(expected));
  }
  OpenEntry& get_or_open(std::string_view name) {
    if (OpenEntry* const held = get(name)) return *held;
    StreamTask task;
    task.id = store_->next_task();
    task.name = name;
    ++open_tasks_;
    OpenEntry& held = *hold(std::move(task));
    held.stored = false;
    return held;
  }
  OpenEntry* hold(StreamTask task) {
    std::string name = task.name;
    OpenEntry& held = tasks_.emplace(std::move(name), OpenEntry{std::move(task)}).first->second;
    touch(held);
    return &held;
  }
  void touch(OpenEntry& held) {
    if (std::exchange(held.touched, true)) return;
    touched_tasks_.push_back(&held);
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
  void change(OpenEntry& held, const Body& body) {
    StreamTask& task = held.task;
    touch(held);
    const ClassId answer = task.estimate.label;
    const bool was_closed = task.closed;
    if (was_closed) crowd_.leave(task);
    body(task);
    if (was_closed)
      enter(task);
    else if (!task.closed)
      close_if_due(task);
    if (task.estimate.label != answer || task.closed != was_closed) tell(task);
  }

  void rejudge(StreamTask& task) { crowd_.judge(task, classes()); }

  // One class alone would be certain, however few the labels.
  LiveModel::Classes classes() const {
    const auto known = static_cast<std::uint32_t>(classes_.size());
    return {known, config_.classes.empty() ? std::max(2U, known) : known};
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
    if (config_.forget_closed) task.labels.clear();
  }

  // A task of another stream, with our ids.
  void join(StreamTask task) {
    if (OpenEntry* const held = get(task.name)) {
      change(*held, [&](StreamTask& ours) {
        for (const StreamLabel& label : task.labels) {
          const auto place = find(ours, label.worker);
          if (place != ours.labels.end() && place->worker == label.worker) continue;
          ours.labels.insert(place, label);
          ++ours.num_labels;
        }
        if (ours.truth == kNoClass) ours.truth = task.truth;
        rejudge(ours);
      });
      return;
    }
    task.id = store_->next_task();
    if (task.closed) {
      ++closed_tasks_;
      enter(task);
    } else {
      ++open_tasks_;
    }
    hold(std::move(task))->stored = false;
  }

  void enter(StreamTask& task) {
    crowd_.enter(task);
    for (const StreamLabel& label : task.labels) watch(label.worker);
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
    const WorkerCounts& counts = crowd_.counts(w);
    const BetaQuality quality = quality_of(counts);
    return {worker_names_[w], counts, quality.mean(), quality.credible_interval()};
  }
  bool is_below(const WorkerCounts& counts) const {
    const BetaQuality quality = quality_of(counts);
    return quality.mean() < alarm_below_ && quality.credible_interval().upper < alarm_below_;
  }
  void watch(WorkerId w) {
    if (alarm_below_ <= 0) return;
    const WorkerCounts& counts = crowd_.counts(w);
    if (is_below(counts)) {
      if (alarmed_.insert(w).second && listener_.on_alarm) listener_.on_alarm(summary_of(w));
    } else if (quality_of(counts).mean() >= alarm_below_) {
      alarmed_.erase(w);  // who goes to and fro at the line is told of once
    }
  }

  // Brings the store up to date; closed tasks need not be in memory any longer.
  void write_changes() {
    crowd_.save(*store_);
    for (OpenEntry* const held : touched_tasks_) {
      if (std::exchange(held->stored, true))
        store_->put_task(held->task);
      else
        store_->add_task(held->task);
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
  double alarm_below_ = 0;
  bool has_failed_ = false;

  NameTable classes_{"classes", kMaxClasses};
  NameTable worker_names_{"workers"};
  LiveModel crowd_;
  std::unordered_set<WorkerId> alarmed_;
  std::unordered_map<std::string, OpenEntry, Hash, std::equal_to<>> tasks_;  // open, or touched
  std::vector<OpenEntry*> touched_tasks_;
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
void LiveStream::take(const StreamEvent& event) {
  engine_->guarded([&] { engine_->take(event); });
}
void LiveStream::take(std::span<const StreamEvent> events) {
  engine_->guarded([&] { engine_->take(events); });
}
void LiveStream::close_all() {
  engine_->guarded([&] { engine_->close_all(); });
}
void LiveStream::rejudge() {
  engine_->guarded([&] { engine_->rejudge(); });
}
void LiveStream::remember(std::string_view worker, const WorkerCounts& history) {
  engine_->guarded([&] { engine_->remember(worker, history); });
}
void LiveStream::merge(const StreamStore& other) {
  engine_->guarded([&] { engine_->merge(other); });
}
void LiveStream::commit() {
  engine_->guarded([&] { engine_->commit(); });
}
const StreamConfig& LiveStream::config() const { return engine_->config(); }
StreamTotals LiveStream::totals() const { return engine_->totals(); }
std::vector<WorkerSummary> LiveStream::workers() const { return engine_->workers(); }
std::vector<OpenTask> LiveStream::next_tasks(std::size_t most) const {
  return engine_->guarded([&] { return engine_->next_tasks(most); });
}
std::vector<std::string> LiveStream::problems() {
  return engine_->guarded([&] { return engine_->problems(); });
}
std::vector<WorkerCounts> LiveStream::recount() {
  return engine_->guarded([&] { return engine_->recount(); });
}

}  // namespace crowdfold
