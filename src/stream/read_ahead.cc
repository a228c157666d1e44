#include "stream/read_ahead.h"

#include <algorithm>
#include <utility>

#include "crowdfold/error.h"
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
        find_confusion(database, "SELECT counts FROM worker_counts WHERE worker = ?") {
    database.run("PRAGMA cache_size = -256");  // kB
  }

  // Its labels.
  std::vector<StreamLabel> read_task(const std::string& name) {
    std::vector<StreamLabel> labels;
    if (find_task.bind(std::string_view(name)).step()) read_labels(find_task.text(0), labels);
    find_task.reset();
    return labels;
  }
  void read_confusion(WorkerId worker) {
    find_confusion.bind(std::int64_t{worker}).step();
    find_confusion.reset();
  }

  Database database;
  Statement find_task;
  Statement find_confusion;
};

ReadAhead::ReadAhead(std::string path) : path_(std::move(path)), readers_(kReaders) {}
ReadAhead::~ReadAhead() { stop(); }

void ReadAhead::start(std::vector<std::string> tasks, bool confusions) {
  stop();
  tasks_ = std::move(tasks);
  confusions_ = confusions;
  next_ = 0;
  for (std::size_t i = 0; i < std::min(kReaders, tasks_.size()); ++i)
    threads_.emplace_back([this, i] { read(readers_[i]); });
}

void ReadAhead::stop() {
  next_ = tasks_.size();
  threads_.clear();
}

void ReadAhead::read(std::unique_ptr<Reader>& reader) {
  try {
    if (!reader) reader = std::make_unique<Reader>(path_);
    reader->database.run("BEGIN");  // else every statement would lock the file
    for (std::size_t i = next_++; i < tasks_.size(); i = next_++) {
      for (const StreamLabel& label : reader->read_task(tasks_[i])) {
        if (confusions_ && is_first(label.worker)) reader->read_confusion(label.worker);
      }
    }
    reader->database.run("COMMIT");
  } catch (const Error&) {
    reader.reset();
  }
}

bool ReadAhead::is_first(WorkerId worker) {
  const std::scoped_lock lock(mutex_);
  return workers_.insert(worker).second;
}

}  // namespace crowdfold
