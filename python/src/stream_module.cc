#include "stream_module.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "crowdfold/stream.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace crowdfold::python {
namespace {

// task, label, confidence, labels, closed, reason
using Update = std::tuple<std::string, std::optional<std::string>, double, std::uint32_t, bool,
                          std::optional<std::string>>;
// accepted, repeated, refused lines (line, field, why), updates as JSON lines
using Taken = std::tuple<std::uint64_t, std::uint64_t,
                         std::vector<std::tuple<std::uint64_t, std::optional<std::string>, std::string>>,
                         nb::bytes>;
// worker, quality, lower, upper, labels
using Worker = std::tuple<std::string, double, double, double, double>;

// Only here can names hold a NUL: readers of files refuse it.
void require_text(std::string_view name) {
  if (name.find('\0') != name.npos) {
    throw Error(ErrorCode::data, "a NUL character in a name, behind '" +
                                     std::string(name.substr(0, name.find('\0'))) +
                                     "': no name may hold one");
  }
}

std::optional<std::string> text_or_none(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

Worker to_tuple(const WorkerSummary& w) {
  return {std::string(w.worker), w.quality, w.interval.lower, w.interval.upper, w.counts.seen};
}

// A LiveStream with a memory for what it says. Methods take events one by one, with the lock held: each
// is a matter of microseconds.
class Stream {
 public:
  Stream(const std::string& path, bool read_only, std::optional<double> alpha,
         std::optional<double> beta, std::optional<double> half_life, bool forget_closed,
         const std::vector<std::string>& classes, const StopRule& stop, double alarm_below)
      : path_(path),
        read_only_(read_only),
        store_(read_only ? open_store_to_read(path)
                         : open_store(path,
                                      [&](StreamConfig& config) {
                                        config.alpha = alpha.value_or(config.alpha);
                                        config.beta = beta.value_or(config.beta);
                                        config.half_life = half_life.value_or(config.half_life);
                                        config.forget_closed = forget_closed || config.forget_closed;
                                        for (const std::string& name : classes) require_text(name);
                                        if (!classes.empty()) config.classes = classes;
                                      })),
        stream_(std::make_unique<LiveStream>(store_, stop, listener())) {
    if (alarm_below > 0) stream_->set_alarm(alarm_below);
    // All is loaded. Who looks at a state for long must not keep its log from shrinking.
    if (read_only) stream_->commit();
  }

  void take(const std::string& kind, std::string_view task, std::string_view worker,
            std::string_view label, std::string_view id) {
    for (const std::string_view text : {task, worker, label, id}) require_text(text);
    StreamEvent event{kind_of(kind), task, worker, label, id};
    refusal_.clear();
    live().consume(event);
    if (!refusal_.empty()) throw Error(ErrorCode::data, refusal_);
  }
  // Without the lock, unless the batch is a matter of microseconds: to get the lock back takes longer.
  Taken take_lines(const nb::bytes& lines, bool partial) {
    const std::string_view text(lines.c_str(), lines.size());
    std::string updates;
    TakenLines taken;
    {
      constexpr std::size_t kFewBytes = 2048;
      std::optional<nb::gil_scoped_release> no_python;
      if (text.size() > kFewBytes) no_python.emplace();
      told_as_lines_ = &updates;
      try {
        taken = crowdfold::take_lines(live(), text, partial ? Acceptance::partial : Acceptance::whole);
      } catch (...) {
        told_as_lines_ = nullptr;
        throw;
      }
      told_as_lines_ = nullptr;
    }
    std::vector<std::tuple<std::uint64_t, std::optional<std::string>, std::string>> refused;
    for (RefusedLine& line : taken.refused)
      refused.emplace_back(line.line, text_or_none(line.field), std::move(line.why));
    return {taken.accepted, taken.repeated, std::move(refused),
            nb::bytes(updates.data(), updates.size())};
  }
  void close_all() { live().close_all(); }
  void commit() {
    const nb::gil_scoped_release no_python;
    live().commit();
  }
  void rejudge() { live().rejudge(); }
  void merge(const Stream& other) {
    live().merge(*other.store_);
    live().commit();
  }
  void remember(std::string_view worker, double correct, double seen) {
    require_text(worker);
    live().remember(worker, {correct, seen});
  }
  void shut() {
    stream_.reset();
    store_.reset();
  }

  std::vector<Update> updates() { return std::exchange(updates_, {}); }
  std::vector<Worker> alarms() { return std::exchange(alarms_, {}); }

  nb::dict totals() const {
    const StreamTotals t = live().totals();
    nb::dict dict;
    dict["events"] = t.events;
    dict["repeated"] = t.repeated;
    dict["refused"] = t.refused;
    dict["workers"] = t.workers;
    dict["classes"] = t.classes;
    dict["open_tasks"] = t.open_tasks;
    dict["closed_tasks"] = t.closed_tasks;
    return dict;
  }
  std::vector<Worker> workers() const {
    std::vector<Worker> list;
    for (const WorkerSummary& worker : live().workers()) list.push_back(to_tuple(worker));
    return list;
  }
  // task, label, confidence, labels, gain
  std::vector<std::tuple<std::string, std::optional<std::string>, double, std::uint32_t, double>>
  next_tasks(std::size_t most) const {
    std::vector<std::tuple<std::string, std::optional<std::string>, double, std::uint32_t, double>> list;
    for (const OpenTask& t : live().next_tasks(most))
      list.emplace_back(t.task, text_or_none(t.label), t.confidence, t.labels, t.gain);
    return list;
  }
  // One who reads looks at the present state, which may have grown since.
  std::vector<std::string> problems() {
    if (!read_only_) return live().problems();
    live();
    return LiveStream(open_store_to_read(path_), {}, {}).problems();
  }

 private:
  static StreamEvent::Kind kind_of(const std::string& kind) {
    if (kind == "label") return StreamEvent::Kind::label;
    if (kind == "retract") return StreamEvent::Kind::retract;
    if (kind == "truth") return StreamEvent::Kind::truth;
    if (kind == "reopen") return StreamEvent::Kind::reopen;
    return StreamEvent::Kind::close;
  }
  LiveStream& live() const {
    if (!stream_) throw Error(ErrorCode::usage, "the stream is closed");
    return *stream_;
  }
  StreamListener listener() {
    return {[this](const TaskUpdate& u) {
              if (told_as_lines_ != nullptr) return append_line(*told_as_lines_, u);
              updates_.emplace_back(std::string(u.task), text_or_none(u.label), u.confidence, u.labels,
                                    u.closed, text_or_none(u.reason));
            },
            [this](const WorkerSummary& w) {
              if (told_as_lines_ != nullptr) return append_line(*told_as_lines_, w);
              alarms_.push_back(to_tuple(w));
            },
            [this](const StreamEvent&, const std::string& why) { refusal_ = why; },
            [this](const StreamTotals& totals) {
              if (told_as_lines_ != nullptr) append_line(*told_as_lines_, totals);
            }};
  }

  std::string path_;
  bool read_only_;
  std::vector<Update> updates_;
  std::vector<Worker> alarms_;
  std::string refusal_;
  std::string* told_as_lines_ = nullptr;  // while lines are taken: updates go there
  std::shared_ptr<StreamStore> store_;
  std::unique_ptr<LiveStream> stream_;
};

}  // namespace

void bind_stream(nb::module_& module) {
  nb::class_<Stream>(module, "Stream")
      .def(
          "__init__",
          [](Stream* self, const std::string& path, bool read_only, std::optional<double> alpha,
             std::optional<double> beta, std::optional<double> half_life, bool forget_closed,
             const std::vector<std::string>& classes, std::uint32_t labels_per_task, double confidence,
             std::uint32_t min_labels, std::uint32_t max_labels, double alarm_below) {
            new (self) Stream(path, read_only, alpha, beta, half_life, forget_closed, classes,
                              {labels_per_task, confidence, min_labels, max_labels}, alarm_below);
          },
          "path"_a, "read_only"_a, "alpha"_a.none(), "beta"_a.none(), "half_life"_a.none(),
          "forget_closed"_a, "classes"_a, "labels_per_task"_a, "confidence"_a, "min_labels"_a,
          "max_labels"_a, "alarm_below"_a)
      .def(
          "consume",
          [](Stream& stream, const std::string& kind, const std::string& task, const std::string& worker,
             const std::string& label,
             const std::string& id) { stream.take(kind, task, worker, label, id); },
          "kind"_a, "task"_a, "worker"_a, "label"_a, "id"_a)
      .def("take_lines", &Stream::take_lines, "lines"_a, "partial"_a)
      .def("close_all", &Stream::close_all)
      .def("commit", &Stream::commit)
      .def("rejudge", &Stream::rejudge)
      .def("merge", &Stream::merge, "other"_a)
      .def(
          "remember",
          [](Stream& stream, const std::string& worker, double correct, double seen) {
            stream.remember(worker, correct, seen);
          },
          "worker"_a, "correct"_a, "seen"_a)
      .def("shut", &Stream::shut)
      .def("updates", &Stream::updates)
      .def("alarms", &Stream::alarms)
      .def("totals", &Stream::totals)
      .def("workers", &Stream::workers)
      .def("next_tasks", &Stream::next_tasks, "most"_a)
      .def("problems", &Stream::problems);
}

}  // namespace crowdfold::python
