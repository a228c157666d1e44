// The database of a stream, which is a file like any other: looked into, gone on from, merged. Where it
// seems whole it must stay so, and events one by one must do what they do together.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "crowdfold/events.h"
#include "crowdfold/stream.h"
#include "fuzz.h"

namespace crowdfold::fuzz {
namespace {

using Kind = StreamEvent::Kind;

// A folder of this process, gone at its end: SQLite wants names, for its logs too.
class StateFile {
 public:
  StateFile() {
    std::string name = (std::filesystem::temp_directory_path() / "crowdfold-fuzz.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~StateFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  std::string path() const { return folder_ + "/state.db"; }
  std::string fill(std::string_view bytes) const {
    for (const char* log : {"-wal", "-shm", "-journal"}) ::unlink((path() + log).c_str());
    ::unlink(path().c_str());
    std::ofstream(path(), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path();
  }

 private:
  std::string folder_;
};

std::vector<StreamEvent> some_events() {
  return {{Kind::label, "t1", "w1", "a", "e1"}, {Kind::label, "t1", "w2", "b", ""},
          {Kind::label, "t9", "w1", "a", ""},   {Kind::label, "t9", "new", "c", "new"},
          {Kind::close, "t9", "", "", ""},      {Kind::retract, "t2", "w1", "", ""},
          {Kind::truth, "t2", "", "b", ""},     {Kind::label, "t9", "w3", "b", "e2"},
          {Kind::summary, "", "", "", ""},      {Kind::label, "t3", "w2", "a", "e3"}};
}

std::string stream_text(const LiveStream& stream) {
  std::string text;
  append_line(text, stream.totals());
  for (const WorkerSummary& worker : stream.workers()) append_line(text, worker);
  for (const OpenTask& task : stream.next_tasks(20)) append_line(text, task);
  return text;
}

struct Look {
  std::string text;
  bool is_whole = false;
};
Look look_into(const std::string& path) {
  Look look;
  look.text = outcome(path, [&] {
    LiveStream stream(open_store_to_read(path), {}, {});
    const std::vector<std::string> problems = stream.problems();
    const std::string text = stream_text(stream);
    look.is_whole = problems.empty();
    return text + fmt::format("{}\n", fmt::join(problems, "\n"));
  });
  return look;
}

// Takes the events, `at_once` of them between two commits.
std::string go_on(const std::string& path, const StopRule& stop, std::size_t at_once, bool rejudges) {
  return outcome(path, [&] {
    std::string told;
    StreamListener listener;
    listener.on_task = [&](const TaskUpdate& update) { append_line(told, update); };
    listener.on_refusal = [&](const StreamEvent& event, const std::string& why) {
      append_line(told, event, why);
    };
    LiveStream stream(open_store(path), stop, listener);
    stream.set_alarm(.5);
    const std::vector<StreamEvent> events = some_events();
    for (std::size_t i = 0; i < events.size(); i += at_once) {
      stream.consume(std::span(events).subspan(i, std::min(at_once, events.size() - i)));
      stream.commit();
    }
    if (rejudges && !stream.config().forget_closed) stream.rejudge();
    stream.commit();
    return told + stream_text(stream);
  });
}

void merge(const std::string& path) {
  outcome(path, [&] {
    LiveStream stream(open_store(""), {}, {});
    stream.merge(*open_store_to_read(path));
    return stream_text(stream);
  });
}

}  // namespace

void state(std::string_view input) {
  static const StateFile file;
  Choices choices(input);
  StopRule stop;
  stop.labels_per_task = choices.of<std::uint32_t>({0, 3});
  stop.confidence = choices.of<double>({0, .9});
  const bool rejudges = choices.below(2) == 1;
  const std::string path = file.fill(input);
  const Look before = look_into(path);
  merge(path);
  const std::string together = go_on(path, stop, 100, rejudges);
  const Look after = look_into(path);
  file.fill(input);
  const std::string one_by_one = go_on(path, stop, 1, rejudges);
  if (!before.is_whole) return;
  expect_same("a whole state, whole after more events", "whole", after.is_whole ? "whole" : after.text);
  expect_same("a state, event by event and many at a time", together, one_by_one);
  expect_same("a state after events, one by one and many at a time", after.text, look_into(path).text);
}

}  // namespace crowdfold::fuzz
