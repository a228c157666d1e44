#include "stream/read_ahead.h"

#include <exception>
#include <system_error>
#include <utility>

#include "stream/json_columns.h"
#include "stream/prefetching_file.h"
#include "stream/sqlite.h"

namespace crowdfold {
namespace {

// Most of the last pages that were read ahead are still in memory: 200 MB.
constexpr std::size_t kInMemory = 50'000;

// A row that no longer fits its page takes the pages before and after it, too. Most of them lie so near:
// those of a table of names may be between them.
constexpr int kBeside = 2;

}  // namespace

class ReadAhead::Reader {
 public:
  Reader(const std::string& path, int descriptor)
      : database_(path, Database::Use::read),
        find_event_(database_, "SELECT id FROM events WHERE id = ?"),
        find_name_(database_, "SELECT id FROM tasks WHERE name = ?"),
        find_task_(database_, "SELECT labels FROM tasks WHERE id = ?"),
        find_confusion_(database_, "SELECT counts FROM worker_counts WHERE worker = ?"),
        file_(database_, descriptor) {
    database_.run("PRAGMA cache_size = -256");  // kB
  }

  void begin() {
    if (file_.asked() > kInMemory) file_.forget();
    database_.run("BEGIN");  // else every statement would lock the file
  }
  void end() { database_.run("COMMIT"); }

  // True if all of it is in memory now; else what is known to be needed was asked for.
  bool read(const Expected& expected) {
    is_complete_ = true;
    if (!expected.event_id.empty()) look(find_event_, std::string_view(expected.event_id), [] {});
    if (expected.task.empty()) return is_complete_;
    labels_.clear();
    look(find_name_, std::string_view(expected.task), [&] {
      file_.set_reach(kBeside);
      look(find_task_, find_name_.integer(0), [&] { read_labels(find_task_.text(0), labels_); });
      file_.set_reach(0);
    });
    if (!expected.confusions) return is_complete_;
    for (const LiveLabel& label : labels_) look(find_confusion_, std::int64_t{label.worker}, [] {});
    return is_complete_;
  }

 private:
  template <class Key, class Found>
  void look(Statement& statement, const Key& key, const Found& found) {
    const Statement::Step step = statement.bind(key).try_step();
    if (step == Statement::Step::busy) is_complete_ = false;
    if (step == Statement::Step::row) found();
    statement.reset();
  }

  Database database_;
  Statement find_event_;
  Statement find_name_;
  Statement find_task_;
  Statement find_confusion_;
  PrefetchingFile file_;
  bool is_complete_ = true;
  std::vector<LiveLabel> labels_;
};

ReadAhead::ReadAhead(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}
ReadAhead::~ReadAhead() = default;

void ReadAhead::start(std::vector<Expected> expected) {
  thread_ = {};  // stops it
  try {
    thread_ = std::jthread([this, expected = std::move(expected)](const std::stop_token& stop) mutable {
      run(stop, std::move(expected));
    });
  } catch (const std::system_error&) {
    // There cannot be more threads: pages are read when they are needed.
  }
}

void ReadAhead::run(const std::stop_token& stop, std::vector<Expected> expected) {
  try {
    if (!reader_) reader_ = std::make_unique<Reader>(path_, descriptor_);
    reader_->begin();
    // A round for every level of the trees.
    while (!expected.empty() && !stop.stop_requested())
      std::erase_if(expected,
                    [&](const Expected& next) { return stop.stop_requested() || reader_->read(next); });
    reader_->end();
  } catch (const std::exception&) {
    reader_.reset();
  }
}

}  // namespace crowdfold
