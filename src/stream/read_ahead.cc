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

  void read(const std::string& name) {
    labels.clear();
    if (find_task.bind(std::string_view(name)).step()) read_labels(find_task.text(0), labels);
    find_task.reset();
    for (const StreamLabel& label : labels) {
      find_confusion.bind(std::int64_t{label.worker}).step();
      find_confusion.reset();
    }
  }

  Database database;
  Statement find_task;
  Statement find_confusion;
  std::vector<StreamLabel> labels;
};

ReadAhead::ReadAhead(std::string path) : path_(std::move(path)), readers_(kReaders) {}
ReadAhead::~ReadAhead() { stop(); }

void ReadAhead::start(std::vector<std::string> tasks) {
  stop();
  tasks_ = std::move(tasks);
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
    for (std::size_t i = next_++; i < tasks_.size(); i = next_++) reader->read(tasks_[i]);
  } catch (const Error&) {
    reader.reset();
  }
}

}  // namespace crowdfold
