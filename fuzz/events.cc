// Events: from a file, from a pipe that gives some bytes at a time, and from a file that grows; taken by
// a stream one by one, and many at a time.
#include "crowdfold/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <vector>

#include "fuzz.h"

namespace crowdfold::fuzz {
namespace {

using Status = EventReader::ReadStatus;

std::string event_text(const StreamEvent& event) {
  return fmt::format("{} '{}' '{}' '{}' '{}'\n", static_cast<int>(event.kind), event.task, event.worker,
                     event.label, event.id);
}

// Reads what is there, and writes it down; false at the end.
bool read_on(EventReader& reader, std::string& to) {
  for (;;) {
    const Status status = reader.read([&](std::span<const StreamEvent> events) {
      for (const StreamEvent& event : events) to += event_text(event);
    });
    if (status != Status::some) return status == Status::none_yet;
  }
}

// Events, then the error or the report: `read` writes events down and reads to the end.
struct EventsRead {
  std::string events;
  std::string end;

  std::string text() const { return events + end; }
};
EventsRead read_events(const std::string& path, const ReadOptions& options, bool follow,
                       const std::function<void(EventReader&, std::string& to)>& read) {
  EventsRead result;
  result.end = outcome(path, [&] {
    EventReader reader(path, options, follow);
    read(reader, result.events);
    return text_of(reader.report());
  });
  return result;
}

EventsRead read_file(std::string_view input, const ReadOptions& options) {
  const MemoryFile file(input);
  return read_events(file.path(), options, false,
                     [](EventReader& reader, std::string& to) { read_on(reader, to); });
}

EventsRead read_pipe(std::string_view input, const ReadOptions& options, std::size_t piece) {
  Pipe pipe;
  return read_events(pipe.path(), options, false, [&](EventReader& reader, std::string& to) {
    in_pieces(input, piece, [&](std::string_view some) {
      pipe.write(some);
      read_on(reader, to);
    });
    pipe.end();
    read_on(reader, to);
  });
}

// The end of such a file never comes: a last line that is not closed is not read.
std::string read_growing(std::string_view input, const ReadOptions& options, std::size_t piece) {
  const MemoryFile file;
  return read_events(file.path(), options, true,
                     [&](EventReader& reader, std::string& to) {
                       in_pieces(input, piece, [&](std::string_view some) {
                         file.append(some);
                         read_on(reader, to);
                       });
                     })
      .events;
}

// What a stream in memory tells of the events, `at_once` of them given to it at a time.
std::string told_by_stream(std::string_view input, const ReadOptions& options, std::size_t at_once) {
  const MemoryFile file(input);
  std::string told;
  const std::string end = outcome(file.path(), [&] {
    StreamListener listener;
    listener.on_task = [&](const TaskUpdate& update) { append_line(told, update); };
    listener.on_alarm = [&](const WorkerSummary& alarm) { append_line(told, alarm); };
    listener.on_refusal = [&](const StreamEvent& event, const std::string& why) {
      append_line(told, event, why);
    };
    StopRule stop;
    stop.labels_per_task = 3;
    LiveStream stream(open_store(""), stop, listener);
    stream.set_alarm(.6);
    EventReader reader(file.path(), options, false);
    const auto take = [&](std::span<const StreamEvent> events) {
      for (; !events.empty(); events = events.subspan(std::min(at_once, events.size())))
        stream.consume(events.first(std::min(at_once, events.size())));
    };
    while (reader.read(take) != Status::end) {
    }
    stream.close_all();
    append_line(told, stream.totals());
    for (const WorkerSummary& worker : stream.workers()) append_line(told, worker);
    return std::string();
  });
  return told + end;
}

// What a stream in memory makes of the input as a batch. It must foresee what it refuses.
std::string taken_as_a_batch(std::string_view input, Acceptance acceptance) {
  std::string told;
  const std::string end = outcome("a batch", [&] {
    StreamListener listener;
    listener.on_task = [&](const TaskUpdate& update) { append_line(told, update); };
    listener.on_refusal = [&](const StreamEvent& event, const std::string& why) {
      told += "not foreseen: ";
      append_line(told, event, why);
    };
    StopRule stop;
    stop.labels_per_task = 3;
    LiveStream stream(open_store(""), stop, listener);
    const TakenLines taken = take_lines(stream, input, acceptance);
    expect_same("a batch, foreseen and taken", std::to_string(stream.totals().refused), "0");
    // A batch that is refused leaves nothing.
    if (taken.accepted == 0 && taken.repeated == 0)
      expect_same("a batch that is refused", std::to_string(stream.totals().events), "0");
    // Without a refused line, it does not matter how it was asked.
    if (!taken.refused.empty()) told.clear();
    return fmt::format("{} refused", taken.refused.empty() ? "none" : "some");
  });
  return told + end;
}

}  // namespace

void events(std::string_view input) {
  Choices choices(input);
  const ReadOptions options = read_options(choices);
  const ReadOptions small = in_small_blocks(options, choices);
  const std::size_t piece = choices.of<std::size_t>({1, 2, 3, 7, 20, 100, 1000});
  const bool streams = choices.below(4) == 1;
  const EventsRead whole = read_file(input, options);
  expect_same("events, whole and in blocks", whole.text(), read_file(input, small).text());
  expect_same("events, of a file and of a pipe", whole.text(), read_pipe(input, options, piece).text());
  const std::string followed = read_growing(input, options, piece);
  expect_same("events, of a file that grows", followed, whole.events.substr(0, followed.size()));
  if (streams)
    expect_same("a stream, event by event and many at a time", told_by_stream(input, options, 1),
                told_by_stream(input, options, 1000));
  expect_same("a batch, whole and in part", taken_as_a_batch(input, Acceptance::whole),
              taken_as_a_batch(input, Acceptance::partial));
}

}  // namespace crowdfold::fuzz
