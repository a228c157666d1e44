// Reads what events will need from a database, before they come, many at a time. A disk that takes long
// for one page gives many pages in hardly more time, but SQLite asks for one after the other. Nothing is
// kept here: what was read is in the system's memory, where the next one who asks finds it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "stream/store.h"

namespace crowdfold {

class ReadAhead {
 public:
  explicit ReadAhead(std::string path);
  ~ReadAhead();

  // By and by, in this order; what was expected before is left alone, read or not. What goes wrong is
  // not told: whoever asks for the same will be.
  void start(std::vector<Expected> expected);

 private:
  struct Reader;
  void stop();
  void run(std::unique_ptr<Reader>& reader);
  void read(const Expected& expected, Reader& reader);
  bool is_first(WorkerId worker);

  std::string path_;
  std::vector<Expected> expected_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::unordered_set<WorkerId> workers_;          // met so far; guarded by mutex_
  std::vector<std::unique_ptr<Reader>> readers_;  // each opened by its thread
  std::vector<std::jthread> threads_;
};

}  // namespace crowdfold
