// The live stream: open tasks and the model are in memory, everything is in the store.
//
// An open task counts for nobody. When it closes, it enters the counts of its workers (see LiveModel).
// Whatever happens to a closed task, it leaves the counts first, is judged without itself, and enters
// again.
//
// With a half-life, counts fade: a worker's time ticks with every label that begins to count, and a
// label that began at tick s counts 2^(-(now - s) / half_life). It keeps its tick when it leaves and
// enters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/names.h"
#include "crowdfold/words.h"
#include "io/label_notes.h"
#include "methods/one_label.h"
#include "stream/prospect.h"
#include "stream/required_fields.h"
#include "stream/stopping.h"
#include "stream/store.h"
#include "stream/stored_model.h"

namespace crowdfold {

class LiveStream::Engine {
 public:
  Engine(std::shared_ptr<StreamStore> store, const StopRule& stop, StreamListener listener)
      : store_(std::move(store)),
        stop_(stop),
        listener_(std::move(listener)),
        config_(store_->config()),
        model_(store_) {
    store_->for_classes([&](std::string_view name) { add_name(*store_, classes_, name); });
    store_->for_workers([&](std::string_view name, const StreamWorker& worker) {
      add_name(*store_, worker_names_, name);
      model_.add(worker);
    });
    model_.load(classes_.size());
    store_->for_open_tasks([&](StreamTask task) {
      std::string name = task.name;
      if (!tasks_.emplace(name, OpenEntry{std::move(task)}).second) store_->damaged(twice(name));
      ++open_tasks_;
    });
  }

  // Once the store failed in the middle of something, memory and store differ, and the stream cannot go
  // on.
  template <class Work>
  auto guarded(const Work& work) {
    if (failure_)
      throw Error(ErrorCode::io,
                  fmt::format("the stream failed before ({}); open its state again: what was committed "
                              "is there",
                              *failure_));
    try {
      return work();
    } catch (const Error& error) {
      const bool is_whole = std::exchange(is_whole_, false);
      if (error.code() != ErrorCode::usage && !is_whole) failure_ = error.what();
      throw;
    } catch (const std::exception& error) {
      failure_ = error.what();
      throw;
    }
  }

  void set_alarm(double below) {
    alarm_below_ = below;
    alarmed_.clear();
    for (WorkerId w = 0; w < worker_names_.size(); ++w) {
      if (is_below(model_.counts(w))) alarmed_.insert(w);
    }
  }

  void consume(std::span<const StreamEvent> events) {
    while (!events.empty()) {
      const std::span<const StreamEvent> some = events.first(std::min(events.size(), kEventsAhead));
      events = events.subspan(some.size());
      bool is_ahead = false;
      for (std::size_t i = 0; i < some.size(); ++i) {
        consume(some[i]);
        const std::span<const StreamEvent> coming = some.subspan(i + 1);
        if (is_ahead || coming.empty() || !store_->waits_for_disk()) continue;
        read_ahead(coming);
        is_ahead = true;
      }
    }
  }

  void consume(const StreamEvent& event) {
    if (const char* const missing = missing_field(event)) throw Error(ErrorCode::usage, missing);
    if (!event.id.empty() && !store_->add_event(event.id)) {
      ++repeated_;
      return;
    }
    ++events_;
    is_changed_ = false;
    std::string why;
    try {
      why = apply(event);
    } catch (const Error&) {
      if (!is_changed_) leave_out(event);
      throw;
    }
    if (why.empty()) return;
    ++refused_;
    if (listener_.on_refusal) listener_.on_refusal(event, why);
  }

  std::vector<Refusal> refusals(std::span<const StreamEvent> events) {
    require(!config_.forget_closed,
            "a state that forgets the labels of closed tasks (forget-closed) takes events one by one, "
            "not batches that are refused as a whole");
    return Prospect({[&](std::string_view id) { return store_->has_event(id); },
                     [&](std::string_view task) { return workers_of(task); },
                     [&](std::string_view name) { return classes_.find(name).has_value(); },
                     config_.classes.empty() ? kMaxClasses - classes_.size() : 0,
                     [&](std::string_view name) { return unknown_class(name); }})
        .refusals(events);
  }

  void close_all() {
    // In the order in which tasks were opened: that of the table is arbitrary.
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
      OpenEntry* const held = get(name);
      if (held == nullptr) store_->damaged(fmt::format("the index of task '{}'", name));
      change(*held, [&](StreamTask& task) { model_.judge(task); });
      if (touched_tasks_.size() >= kTasksAtATime) commit();
    }
  }

  void remember(std::string_view name, const WorkerCounts& history) {
    require(std::isfinite(history.seen) && history.correct >= 0 && history.correct <= history.seen,
            "of the labels that a worker brings along, from none to all can be right");
    model_.remember(worker_of(name), {history, {}});
  }

  void merge(StreamStore& other) {
    require(!other.is_same(*store_),
            "a state cannot be merged with itself: everything would count twice");
    other.look_again();
    StreamConfig theirs = other.config();
    theirs.classes = config_.classes;
    require(theirs == config_ && config_.half_life == 0,
            "states can be merged that were made with the same options, and without a half-life");
    NameTable classes("classes", kMaxClasses);
    other.for_classes([&](std::string_view name) {
      add_name(other, classes, name);
      require(class_of(name) != kNoClass, "states can be merged that have the same classes");
    });
    NameTable workers("workers");
    // What workers brought along: their counts without those of the closed tasks.
    std::vector<WorkerRecord> elsewhere;
    HardTasks hard = other.hard_tasks();
    other.for_workers([&](std::string_view name, const StreamWorker& worker) {
      add_name(other, workers, name);
      elsewhere.push_back({worker.now, {}});
      worker_of(name);
    });
    const auto to_ours = [&](ClassId c) { return c == kNoClass ? c : class_of(classes[c]); };
    for (WorkerId w = 0; w < workers.size(); ++w) {
      SparseConfusion now;
      SparseConfusion history;
      other.fetch_confusion(w, {now, history});
      for (const SparseConfusion::Cell& cell : now.cells())
        elsewhere[w].confusion.add(to_ours(cell.truth), to_ours(cell.label), cell.count);
    }
    const auto take_over = [&](const StreamTask& theirs_task) {
      StreamTask task = theirs_task;
      task.truth = to_ours(task.truth);
      task.estimate.label = to_ours(task.estimate.label);
      for (Credit& credit : task.credits) credit.truth = to_ours(credit.truth);
      for (LiveLabel& label : task.labels) {
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
                [](const LiveLabel& a, const LiveLabel& b) { return a.worker < b.worker; });
      std::sort(task.credits.begin(), task.credits.end(),
                [](const Credit& a, const Credit& b) { return a.truth < b.truth; });
      join(std::move(task));
    };
    other.for_closed_tasks(take_over);
    other.for_open_tasks(take_over);
    for (WorkerId w = 0; w < workers.size(); ++w) {
      WorkerCounts& rest = elsewhere[w].counts;
      rest.correct = std::clamp(rest.correct, 0.0, std::max(0.0, rest.seen));  // differences are rounded
      if (rest.seen > 0) model_.remember(worker_of(workers[w]), elsewhere[w]);
    }
    model_.remember(hard);
    events_ += other.events();
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
    totals.workers = worker_names_.size();
    totals.classes = classes_.size();
    totals.open_tasks = open_tasks_;
    totals.closed_tasks = store_->closed_tasks() + static_cast<std::uint64_t>(closed_tasks_);
    totals.hard_share = model_.model().hard_share();
    return totals;
  }

  std::vector<WorkerSummary> workers() const {
    std::vector<WorkerSummary> all;
    for (WorkerId w = 0; w < worker_names_.size(); ++w) all.push_back(summary_of(w));
    return all;
  }

  // Of labels that count already. With many workers not all confusions are at hand: those are people.
  bool one_label_prevails() const {
    OneLabelCounts counts;
    for (WorkerId w = 0; w < worker_names_.size() && model_.has_confusions(); ++w) {
      for (const SparseConfusion::Cell& cell : model_.model().worker(w).confusion.cells()) {
        if (cell.count > 0) counts.add(w, cell.label, cell.count);
      }
    }
    return counts.prevail();
  }

  std::vector<std::string> notes() const { return notes_on_classes(classes_); }

  using AnswerBody = std::function<void(const TaskUpdate&)>;
  void for_answers(const AnswerBody& body) {
    write_changes();
    store_->for_all_tasks([&](const StreamTask& task) { body(answer_of(task)); });
  }
  bool find_answer(std::string_view name, const AnswerBody& body) {
    write_changes();
    const std::optional<StreamTask> task = store_->find_task(name);
    if (task) body(answer_of(*task));
    return task.has_value();
  }

  std::vector<OpenTask> next_tasks(std::size_t most) {
    const double quality = model_.model().usual_quality();
    return next_tasks(
        most, [](const StreamTask&) { return true; },
        [&](std::span<const double> posterior) { return gain_of_a_label(posterior, quality); });
  }
  std::vector<OpenTask> next_tasks(std::size_t most, std::string_view name) {
    const std::optional<std::uint32_t> worker = worker_names_.find(name);
    if (worker) model_.fetch(*worker);
    const LiveWorker newcomer;
    const LiveWorker& asked = worker ? model_.model().worker(*worker) : newcomer;
    const auto chance = [&](ClassId truth, ClassId label) {
      return model_.model().chance_of_label(asked, truth, label);
    };
    return next_tasks(
        most, [&](const StreamTask& task) { return !worker || !has_label(task, *worker); },
        [&](std::span<const double> posterior) { return gain_of_a_label(posterior, chance); });
  }
  // Of the tasks that suit: suits(task), gain(posterior).
  template <class Suits, class Gain>
  std::vector<OpenTask> next_tasks(std::size_t most, const Suits& suits, const Gain& gain) {
    std::vector<OpenTask> all;
    std::vector<double> posterior(model_.model().num_classes());
    for (const auto& [name, held] : tasks_) {
      const StreamTask& task = held.task;
      if (task.closed || task.truth != kNoClass || !suits(task)) continue;
      model_.write_posterior(task, posterior);
      // No label takes the doubt away.
      for (double& p : posterior) p = certainty(p);
      OpenTask open{task.name, name_of(task.estimate.label), task.estimate.confidence, task.num_labels,
                    gain(posterior)};
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
    if (!found.empty()) return found;
    write_changes();
    try {
      const LiveModel counted = recounted(*store_);
      found = config_.forget_closed
                  ? model_.differences(counted.hard_tasks())
                  : model_.differences(counted, [&](WorkerId w) { return worker_names_[w]; });
      if (!store_->has_right_checksum())
        found.emplace_back(
            "the rows are not those that were written: a value was changed, or a row was "
            "added or is missing");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::data) throw;
      found.emplace_back(error.what());
    }
    return found;
  }

 private:
  static constexpr std::size_t kTasksAtATime = 10'000;
  // Where the store waits for a disk, it is told what the rest of this many events need.
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
  static std::string twice(std::string_view name) {
    return fmt::format("'{}', which is there twice,", name);
  }
  // The next of a store's names.
  static void add_name(const StreamStore& store, NameTable& table, std::string_view name) {
    const std::uint32_t id = table.size();
    if (table.intern(name) != id) store.damaged(twice(name));
  }
  std::string name_of(ClassId c) const { return c == kNoClass ? "" : std::string(classes_[c]); }

  // Events. The functions return why an event is refused; empty: it is not. What may be damaged is read
  // before anything changes.

  std::string apply(const StreamEvent& event) {
    switch (event.kind) {
      case StreamEvent::Kind::label: return add_label(event);
      case StreamEvent::Kind::retract: return retract(event);
      case StreamEvent::Kind::truth: return learn_truth(event);
      case StreamEvent::Kind::close: return close_task(event);
      case StreamEvent::Kind::reopen: return reopen(event);
      case StreamEvent::Kind::summary:
        if (listener_.on_summary) listener_.on_summary(totals());
        return "";
    }
    return "";
  }

  // An event that failed and changed nothing: those before it are whole, and can be committed.
  void leave_out(const StreamEvent& event) {
    --events_;
    if (!event.id.empty()) store_->remove_event(event.id);
    is_whole_ = true;
  }

  std::string add_label(const StreamEvent& event) {
    if (event.label.empty()) return "";  // an abstention
    if (!may_be_class(event.label)) return unknown_class(event.label);
    OpenEntry* const known = get(event.task);
    const bool forgotten = known != nullptr && is_forgotten(known->task);
    if (forgotten && known->task.truth == kNoClass) return kForgotten;
    if (known != nullptr) model_.fetch(known->task);
    fetch(event.worker);
    const ClassId label = class_of(event.label);
    OpenEntry& held = known != nullptr ? *known : open(event.task);
    const WorkerId worker = worker_of(event.worker);
    change(held, [&](StreamTask& task) {
      LiveLabel added{worker, label, 0};
      if (forgotten) {  // of a known truth: it counts, and is forgotten too
        model_.enter(task, added);
        ++task.num_labels;
        watch(worker);
        return;
      }
      const auto place = find(task, worker);
      if (place != task.labels.end() && place->worker == worker) {
        if (place->label == label) {
          // It may close all the same: it was reopened, or the stop rule is another one than before.
          // What it counts for is not kept while a task is open.
          if (!task.closed && why_to_close(task) != nullptr) model_.judge(task);
          return;
        }
        place->label = label;
      } else {
        task.labels.insert(place, added);
        ++task.num_labels;
      }
      model_.judge(task);
    });
    return "";
  }

  std::string retract(const StreamEvent& event) {
    OpenEntry* const held = get(event.task);
    if (held == nullptr) return Prospect::kNoTask;
    if (is_forgotten(held->task)) return kForgotten;
    const std::optional<std::uint32_t> worker = worker_names_.find(event.worker);
    if (!worker || !has_label(held->task, *worker)) return Prospect::kNoLabel;
    change(*held, [&](StreamTask& task) {
      task.labels.erase(find(task, *worker));
      --task.num_labels;
      model_.judge(task);
    });
    return "";
  }

  std::string learn_truth(const StreamEvent& event) {
    if (!may_be_class(event.label)) return unknown_class(event.label);
    OpenEntry* const known = get(event.task);
    if (known != nullptr && is_forgotten(known->task) && known->task.num_labels > 0) return kForgotten;
    if (known != nullptr) model_.fetch(known->task);
    const ClassId truth = class_of(event.label);
    change(known != nullptr ? *known : open(event.task), [&](StreamTask& task) {
      task.truth = truth;
      model_.judge(task);
    });
    return "";
  }

  std::string close_task(const StreamEvent& event) {
    OpenEntry* const held = get(event.task);
    if (held == nullptr) return Prospect::kNoTask;
    if (!held->task.closed) close_now(*held, "event");
    return "";
  }
  // It leaves the counts, and stays open until its next label, however certain it is.
  std::string reopen(const StreamEvent& event) {
    OpenEntry* const held = get(event.task);
    if (held == nullptr) return Prospect::kNoTask;
    if (is_forgotten(held->task)) return kForgotten;
    StreamTask& task = held->task;
    if (!task.closed) return "";
    model_.fetch(task);
    touch(*held);
    is_changed_ = true;
    model_.leave(task);
    task.closed = false;
    task.reason.clear();
    model_.judge(task);
    --closed_tasks_;
    ++open_tasks_;
    tell(task);
    return "";
  }
  void close_now(OpenEntry& held, const char* reason) {
    change(held, [&](StreamTask& task) {
      model_.judge(task);
      close(task, reason);
    });
  }

  static constexpr const char* kForgotten =
      "the task is closed and its labels were forgotten (forget-closed)";
  std::string unknown_class(std::string_view label) const {
    if (config_.classes.empty())
      return fmt::format("'{}' would be one class more than the {} that there can be", label,
                         kMaxClasses);
    return fmt::format("'{}' is none of the {} classes given{}", label, config_.classes.size(),
                       did_you_mean(label, config_.classes));
  }
  bool is_forgotten(const StreamTask& task) const { return task.closed && config_.forget_closed; }

  // Names.

  bool may_be_class(std::string_view name) const {
    return (config_.classes.empty() && classes_.size() < kMaxClasses) || classes_.find(name).has_value();
  }
  ClassId class_of(std::string_view name) {
    if (const auto known = classes_.find(name)) return static_cast<ClassId>(*known);
    if (!config_.classes.empty()) return kNoClass;
    const auto id = static_cast<ClassId>(classes_.intern(name));
    is_changed_ = true;
    model_.expect(0, classes_.size());
    store_->add_class(id, name);
    return id;
  }
  WorkerId worker_of(std::string_view name) {
    const WorkerId known = worker_names_.size();
    const WorkerId id = worker_names_.intern(name);
    if (id == known) {
      is_changed_ = true;
      model_.expect(worker_names_.size(), 0);
      store_->add_worker(id, name);
    }
    return id;
  }
  OpenEntry* get(std::string_view name) {
    if (const auto found = tasks_.find(name); found != tasks_.end()) return &found->second;
    std::optional<StreamTask> stored = store_->find_task(name);
    if (!stored) return nullptr;
    if (!stored->closed) store_->damaged("the index of open tasks");
    return hold(std::move(*stored));
  }
  // Nothing is held of a task that is only looked at.
  std::optional<std::vector<std::string_view>> workers_of(std::string_view name) {
    const auto held = tasks_.find(name);
    std::optional<StreamTask> stored;
    if (held == tasks_.end() && !(stored = store_->find_task(name))) return std::nullopt;
    std::vector<std::string_view> names;
    for (const LiveLabel& label : stored ? stored->labels : held->second.task.labels)
      names.push_back(worker_names_[label.worker]);
    return names;
  }
  void read_ahead(std::span<const StreamEvent> events) {
    std::vector<Expected> expected;
    for (const StreamEvent& event : events) {
      const bool is_known = tasks_.find(event.task) != tasks_.end();
      if (is_known && event.id.empty()) continue;
      expected.push_back({std::string(is_known ? std::string_view() : event.task), std::string(event.id),
                          !model_.has_confusions()});
    }
    store_->read_ahead(std::move(expected));
  }
  // A new task.
  OpenEntry& open(std::string_view name) {
    StreamTask task;
    task.id = store_->next_task();
    task.name = name;
    is_changed_ = true;
    ++open_tasks_;
    OpenEntry& held = *hold(std::move(task));
    held.stored = false;
    return held;
  }
  // A worker's confusion, if it is in the store.
  void fetch(std::string_view worker) {
    if (model_.has_confusions()) return;
    if (const std::optional<std::uint32_t> known = worker_names_.find(worker)) model_.fetch(*known);
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

  // A task's labels are in the order of workers, so that answers do not depend on when labels came.
  static std::vector<LiveLabel>::iterator find(StreamTask& task, WorkerId worker) {
    return std::lower_bound(task.labels.begin(), task.labels.end(), worker,
                            [](const LiveLabel& label, WorkerId w) { return label.worker < w; });
  }
  static bool has_label(const StreamTask& task, WorkerId worker) {
    return std::any_of(task.labels.begin(), task.labels.end(),
                       [&](const LiveLabel& label) { return label.worker == worker; });
  }

  // Judging and counting.

  // body(task) changes a task, which is out of the counts meanwhile. The listener is told if the answer
  // changed, or the task closed.
  template <class Body>
  void change(OpenEntry& held, const Body& body) {
    StreamTask& task = held.task;
    touch(held);
    model_.fetch(task);
    is_changed_ = true;
    const ClassId answer = task.estimate.label;
    const bool was_closed = task.closed;
    if (was_closed) model_.leave(task);
    body(task);
    if (was_closed)
      enter(task);
    else if (!task.closed)
      close_if_due(task);
    if (task.estimate.label != answer || task.closed != was_closed) tell(task);
  }

  double certainty(double confidence) const {
    return certainty_of(confidence, LiveModel::kDoubt, model_.model().num_classes());
  }

  const char* why_to_close(const StreamTask& task) const {
    if (task.truth != kNoClass && task.num_labels > 0) return "truth";
    return crowdfold::why_to_close(stop_, task.num_labels, certainty(task.estimate.confidence));
  }
  void close_if_due(StreamTask& task) {
    if (const char* const why = why_to_close(task)) close(task, why);
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
      if (is_forgotten(held->task)) return;  // what it was judged by is gone: its answer stays
      change(*held, [&](StreamTask& ours) {
        for (const LiveLabel& label : task.labels) {
          const auto place = find(ours, label.worker);
          if (place != ours.labels.end() && place->worker == label.worker) continue;
          ours.labels.insert(place, label);
          ++ours.num_labels;
        }
        if (ours.truth == kNoClass) ours.truth = task.truth;
        model_.judge(ours);
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
    model_.enter(task);
    for (const LiveLabel& label : task.labels) watch(label.worker);
  }

  // Telling.

  TaskUpdate answer_of(const StreamTask& task) const {
    const std::string_view label =
        task.estimate.label == kNoClass ? std::string_view() : classes_[task.estimate.label];
    return {task.name, label, task.estimate.confidence, task.num_labels, task.closed, task.reason};
  }
  void tell(const StreamTask& task) const {
    if (listener_.on_task) listener_.on_task(answer_of(task));
  }
  BetaQuality quality_of(const WorkerCounts& counts) const {
    return {counts.correct + config_.alpha, counts.seen - counts.correct + config_.beta};
  }
  WorkerSummary summary_of(WorkerId w) const {
    const WorkerCounts& counts = model_.counts(w);
    const BetaQuality quality = quality_of(counts);
    return {worker_names_[w], counts, quality.mean(), quality.credible_interval()};
  }
  bool is_below(const WorkerCounts& counts) const {
    const BetaQuality quality = quality_of(counts);
    return quality.mean() < alarm_below_ && quality.credible_interval().upper < alarm_below_;
  }
  void watch(WorkerId w) {
    if (alarm_below_ <= 0) return;
    const WorkerCounts& counts = model_.counts(w);
    if (is_below(counts)) {
      if (alarmed_.insert(w).second && listener_.on_alarm) listener_.on_alarm(summary_of(w));
    } else if (quality_of(counts).mean() >= alarm_below_) {
      alarmed_.erase(w);  // a worker who goes to and fro at the line is told of once
    }
  }

  // Brings the store up to date; closed tasks need not be in memory any longer.
  void write_changes() {
    model_.save();
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
  std::optional<std::string> failure_;  // why the stream cannot go on
  bool is_changed_ = false;             // by the present event
  bool is_whole_ = false;               // although an event failed

  NameTable classes_{"classes", kMaxClasses};
  NameTable worker_names_{"workers"};
  StoredModel model_;
  std::unordered_set<WorkerId> alarmed_;
  std::unordered_map<std::string, OpenEntry, Hash, std::equal_to<>> tasks_;  // open, or touched
  std::vector<OpenEntry*> touched_tasks_;
  std::uint64_t open_tasks_ = 0;
  // Since the last commit().
  std::uint64_t events_ = 0;
  std::int64_t closed_tasks_ = 0;  // without those that were reopened
  // Since the start.
  std::uint64_t repeated_ = 0;
  std::uint64_t refused_ = 0;
};

LiveStream::LiveStream(std::shared_ptr<StreamStore> store, const StopRule& stop, StreamListener listener)
    : engine_(std::make_unique<Engine>(std::move(store), stop, std::move(listener))) {}
LiveStream::~LiveStream() = default;

void LiveStream::set_alarm(double below) { engine_->set_alarm(below); }
void LiveStream::consume(std::span<const StreamEvent> events) {
  engine_->guarded([&] { engine_->consume(events); });
}
std::vector<Refusal> LiveStream::refusals(std::span<const StreamEvent> events) {
  return engine_->guarded([&] { return engine_->refusals(events); });
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
void LiveStream::merge(StreamStore& other) {
  engine_->guarded([&] { engine_->merge(other); });
}
void LiveStream::commit() {
  engine_->guarded([&] { engine_->commit(); });
}
const StreamConfig& LiveStream::config() const { return engine_->config(); }
StreamTotals LiveStream::totals() const { return engine_->totals(); }
std::vector<WorkerSummary> LiveStream::workers() const { return engine_->workers(); }
bool LiveStream::one_label_prevails() const { return engine_->one_label_prevails(); }
std::vector<std::string> LiveStream::notes() const { return engine_->notes(); }
void LiveStream::for_answers(const std::function<void(const TaskUpdate&)>& body) {
  engine_->guarded([&] { engine_->for_answers(body); });
}
bool LiveStream::find_answer(std::string_view task, const std::function<void(const TaskUpdate&)>& body) {
  return engine_->guarded([&] { return engine_->find_answer(task, body); });
}
std::vector<OpenTask> LiveStream::next_tasks(std::size_t most) const {
  return engine_->guarded([&] { return engine_->next_tasks(most); });
}
std::vector<OpenTask> LiveStream::next_tasks(std::size_t most, std::string_view worker) const {
  return engine_->guarded([&] { return engine_->next_tasks(most, worker); });
}
std::vector<std::string> LiveStream::problems() {
  return engine_->guarded([&] { return engine_->problems(); });
}

}  // namespace crowdfold
