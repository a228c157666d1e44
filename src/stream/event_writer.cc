#include <fmt/format.h>

#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "io/output.h"
#include "io/records.h"

namespace crowdfold {
namespace {

// {"key": value, …} and a newline. Not a Records::Line: which keys a line has depends on what it tells,
// and blanks stand between them, as scripts that read the stream know it.
class Line {
 public:
  explicit Line(std::string& to) : to_(to) { to_.push_back('{'); }
  ~Line() { to_ += "}\n"; }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  Line& text(std::string_view key, std::string_view value) {
    append_json(begin(key), value);
    return *this;
  }
  Line& number(std::string_view key, double value) {
    append_number(begin(key), value);
    return *this;
  }
  Line& integer(std::string_view key, std::uint64_t value) {
    begin(key) += std::to_string(value);
    return *this;
  }
  Line& flag(std::string_view key, bool value) {
    begin(key) += value ? "true" : "false";
    return *this;
  }

 private:
  // Keys are words.
  std::string& begin(std::string_view key) {
    to_ += to_.back() == '{' ? "\"" : ", \"";
    to_ += key;
    to_ += "\": ";
    return to_;
  }
  std::string& to_;
};

const char* name_of(StreamEvent::Kind kind) {
  switch (kind) {
    case StreamEvent::Kind::label: return "label";
    case StreamEvent::Kind::retract: return "retract";
    case StreamEvent::Kind::truth: return "truth";
    case StreamEvent::Kind::close: return "close";
    case StreamEvent::Kind::reopen: return "reopen";
    case StreamEvent::Kind::summary: return "summary";
  }
  return "";
}

}  // namespace

void append_line(std::string& to, const TaskUpdate& update) {
  Line line(to);
  line.text("task", update.task)
      .text("label", update.label)
      .number("confidence", update.confidence)
      .integer("labels", update.labels)
      .flag("closed", update.closed);
  if (update.closed) line.text("reason", update.reason);
}

void append_line(std::string& to, const WorkerSummary& alarm) {
  Line(to)
      .text("worker", alarm.worker)
      .number("quality", alarm.quality)
      .number("lower", alarm.interval.lower)
      .number("upper", alarm.interval.upper)
      .number("labels", alarm.counts.seen);
}

void append_line(std::string& to, const StreamEvent& refused, const std::string& why) {
  Line line(to);
  line.text("refused", name_of(refused.kind)).text("task", refused.task);
  if (!refused.worker.empty()) line.text("worker", refused.worker);
  if (!refused.label.empty()) line.text("label", refused.label);
  if (!refused.id.empty()) line.text("id", refused.id);
  line.text("why", why);
}

void append_line(std::string& to, const StreamTotals& totals) {
  Line(to)
      .integer("events", totals.events)
      .integer("repeated", totals.repeated)
      .integer("refused", totals.refused)
      .integer("workers", totals.workers)
      .integer("classes", totals.classes)
      .integer("open_tasks", totals.open_tasks)
      .integer("closed_tasks", totals.closed_tasks);
}

void write_answers(const std::string& path, LiveStream& stream, const std::vector<std::string>& tasks,
                   const WriteOptions& options) {
  RecordFile file(path, {"task", "label", "confidence", "labels", "state", "reason"}, options);
  const auto add = [&](const TaskUpdate& answer) {
    Records::Line line = file.add();
    line.text(answer.task);
    if (answer.label.empty()) {
      line.null().null();
    } else {
      line.text(answer.label).number(answer.confidence);
    }
    line.number(answer.labels).text(answer.closed ? "closed" : "open");
    answer.closed ? line.text(answer.reason) : line.null();
    line.end();
  };
  if (tasks.empty()) stream.for_answers(add);
  for (const std::string& task : tasks) {
    if (!stream.find_answer(task, add))
      throw Error(ErrorCode::usage, fmt::format("there is no task '{}' in this state", task));
  }
  file.commit();
}

void append_line(std::string& to, const OpenTask& task) {
  Line(to)
      .text("task", task.task)
      .text("label", task.label)
      .number("confidence", task.confidence)
      .integer("labels", task.labels)
      .number("gain", task.gain);
}

}  // namespace crowdfold
