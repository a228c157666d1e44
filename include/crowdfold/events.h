// Events of a live stream (see stream.h) as text: read from a file or standard input as they come, JSON
// lines or rows of labels; the updates of the stream, as JSON lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/io.h"
#include "crowdfold/stream.h"

namespace crowdfold {

// Understands what read_labels understands: separators, compression, columns by name or mapping,
// abstentions. (Duplicates are the stream's business: a second label replaces the first.)
class EventReader {
 public:
  // "-" is standard input. With `follow`, a file has no end: more may be written to it.
  EventReader(const std::string& path, const ReadOptions& options, bool follow);
  ~EventReader();

  enum class ReadStatus { some, none_yet, end };
  using Body = std::function<void(std::span<const StreamEvent>)>;
  // Calls body(events) with the events at hand, up to a certain amount; does not wait. Error(data) for a
  // bad line, after the events before it; with options.skip_bad_rows it is left out.
  ReadStatus read(const Body& body);
  // Waits for more, for some milliseconds at most.
  void wait() const;

  // Whether the columns are known: a table's with its first row, those of JSON events with the first
  // label.
  bool is_recognised() const;
  const ReadReport& report() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// A line of a batch, or an element of an array, that is no event, or one that the stream refuses.
struct RefusedLine {
  std::uint64_t line = 0;  // from 1
  std::string field;       // that is wrong; empty: the line as a whole
  std::string why;
};
struct TakenLines {
  std::uint64_t accepted = 0;
  std::uint64_t repeated = 0;  // their ids were seen before: ignored
  std::vector<RefusedLine> refused;
};
enum class Acceptance {
  whole,    // refuses all lines if it refuses one
  partial,  // takes the others; but none where most_refused_lines or more are refused
};
inline constexpr std::size_t most_refused_lines = 10'000;

// Takes a batch of events: JSON lines, or a JSON array of them, with the keys of docs/stream.md. What is
// wrong with lines is no error: see TakenLines. Errors are those of LiveStream::consume(), and of
// refusals(). Nothing is on disk before commit().
TakenLines take_lines(LiveStream& stream, std::string_view lines, Acceptance acceptance);

// task, label, confidence, labels, state (open, closed) and reason: of the tasks named, or of all. Tasks
// without an answer have neither label nor confidence. Error(usage) for a task that is not there.
void write_answers(const std::string& path, LiveStream& stream, const std::vector<std::string>& tasks,
                   const WriteOptions& options = {});

// Lines, with their end.
void append_line(std::string& to, const TaskUpdate& update);
void append_line(std::string& to, const WorkerSummary& alarm);
void append_line(std::string& to, const StreamEvent& refused, const std::string& why);
void append_line(std::string& to, const StreamTotals& totals);
void append_line(std::string& to, const OpenTask& task);

}  // namespace crowdfold
