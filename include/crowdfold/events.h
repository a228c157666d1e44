// Events of a live stream (see stream.h) as text: read from a file or standard input as they come, JSON
// lines or rows of labels in CSV; what the stream tells, as JSON lines.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "crowdfold/io.h"
#include "crowdfold/stream.h"

namespace crowdfold {

class EventReader {
 public:
  // "-" is standard input. With `follow`, a file has no end: more may be written to it.
  EventReader(const std::string& path, const ReadOptions& options, bool follow);
  ~EventReader();

  enum class ReadStatus { some, none_yet, end };
  using Body = std::function<void(std::span<const StreamEvent>)>;
  // body(events) with what there is, up to a certain amount; does not wait. Error(data) for a bad line,
  // after the events before it; with options.skip_bad_rows it is left out.
  ReadStatus read(const Body& body);
  // Waits for more, for some milliseconds at most.
  void wait() const;

  std::uint64_t lines() const { return lines_; }
  std::uint64_t skipped() const { return skipped_; }
  const std::string& first_skipped() const { return first_skipped_; }

 private:
  class Batch;
  class Format;
  class Csv;
  class Json;

  void parse(std::size_t size, const Body& body);
  void recognise();

  std::string path_;
  std::string source_;  // as messages name it
  ReadOptions options_;
  bool follow_;
  int descriptor_ = -1;
  bool at_end_ = false;  // for now, or for ever
  bool ended_ = false;
  std::string buffer_;  // what was read and not parsed; then room behind it
  std::size_t filled_ = 0;
  std::unique_ptr<Format> format_;
  std::unique_ptr<Batch> batch_;
  std::uint64_t lines_ = 0;
  std::uint64_t skipped_ = 0;
  std::string first_skipped_;
};

// Lines, with their end.
void append_line(std::string& to, const TaskUpdate& update);
void append_line(std::string& to, const WorkerSummary& alarm);
void append_line(std::string& to, const StreamEvent& refused, const std::string& why);
void append_line(std::string& to, const StreamTotals& totals);
void append_line(std::string& to, const OpenTask& task);

}  // namespace crowdfold
