// Reads tasks of a database before they are asked for, many at a time. A disk that takes long for one
// page gives many pages in hardly more time, but SQLite asks for one after the other. Nothing is kept
// here: what was read is in the system's memory, where the next one who asks finds it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_set>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

class ReadAhead {
 public:
  explicit ReadAhead(std::string path);
  ~ReadAhead();

  // By and by, in this order; the tasks before are left alone, read or not. What goes wrong is not told:
  // whoever asks for the task will be.
  void start(std::vector<std::string> tasks, bool confusions);

 private:
  struct Reader;
  void stop();
  void read(std::unique_ptr<Reader>& reader);
  bool is_first(WorkerId worker);

  std::string path_;
  std::vector<std::string> tasks_;
  bool confusions_ = false;  // of their workers, too
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::unordered_set<WorkerId> workers_;          // met so far; guarded by mutex_
  std::vector<std::unique_ptr<Reader>> readers_;  // each opened by its thread
  std::vector<std::jthread> threads_;
};

}  // namespace crowdfold
