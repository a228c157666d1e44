#include "stream/read_ahead.h"

#include <algorithm>
#include <exception>
#include <system_error>
#include <utility>

#include "stream/json_columns.h"
#include "stream/sqlite.h"

namespace crowdfold {
namespace {

// They wait for the disk most of the time. What that brings: bench/stream.md.
constexpr std::size_t kReaders = 16;

}  // namespace

struct ReadAhead::Reader {
  explicit Reader(const std::string& path)
      : database(path, Database::Use::read),
        find_task(database, "SELECT labels FROM tasks WHERE name = ?"),
        find_confusion(database, "SELECT counts FROM worker_counts WHERE worker = ?"),
        find_event(database, "SELECT id FROM events WHERE id = ?") {
    database.run("PRAGMA cache_size = -256");  // kB
  }

  Database database;
  Statement find_task;
  Statement find_confusion;
  Statement find_event;
};

ReadAhead::ReadAhead(std::string path) : path_(std::move(path)), readers_(kReaders) {}
ReadAhead::~ReadAhead() { stop(); }

void ReadAhead::start(std::vector<Expected> expected) {
  stop();
  expected_ = std::move(expected);
  next_ = 0;
  try {
    for (std::size_t i = 0; i < std::min(kReaders, expected_.size()); ++i)
      threads_.emplace_back([this, i] { run(readers_[i]); });
  } catch (const std::system_error&) {
    // There cannot be more threads; then there are fewer.
  }
}

void ReadAhead::stop() {
  next_ = expected_.size();
  threads_.clear();
}

void ReadAhead::run(std::unique_ptr<Reader>& reader) {
  try {
    if (!reader) reader = std::make_unique<Reader>(path_);
    reader->database.run("BEGIN");  // else every statement would lock the file
    for (std::size_t i = next_++; i < expected_.size(); i = next_++) read(expected_[i], *reader);
    reader->database.run("COMMIT");
  } catch (const std::exception&) {
    reader.reset();
  }
}

void ReadAhead::read(const Expected& expected, Reader& reader) {
  if (!expected.event_id.empty()) {
    reader.find_event.bind(std::string_view(expected.event_id)).step();
    reader.find_event.reset();
  }
  if (expected.task.empty()) return;
  std::vector<StreamLabel> labels;
  if (reader.find_task.bind(std::string_view(expected.task)).step())
    read_labels(reader.find_task.text(0), labels);
  reader.find_task.reset();
  if (!expected.confusions) return;
  for (const StreamLabel& label : labels) {
    if (!is_first(label.worker)) continue;
    reader.find_confusion.bind(std::int64_t{label.worker}).step();
    reader.find_confusion.reset();
  }
}

bool ReadAhead::is_first(WorkerId worker) {
  const std::scoped_lock lock(mutex_);
  return workers_.insert(worker).second;
}

}  // namespace crowdfold
