// Reads what events will need from a database, before they come. A disk gives pages far quicker if it is
// asked for many at once, but SQLite asks for one after the other. Nothing is kept here: the pages are
// in the system's memory, where the next read finds them.
//
// Tried and dropped: sixteen threads that each wait for a page (slower by half: a wake-up for each);
// io_uring in place of posix_fadvise (the same); pages of 8 kB (not quicker, and twice as much to
// write); rows with room for a label more, which do without the pages beside them (quicker by a quarter,
// for a file that is larger by an eighth, and rows that depend on when they were committed).
#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "stream/store.h"

namespace crowdfold {

class ReadAhead {
 public:
  // The descriptor is one of the same file; it must stay open.
  ReadAhead(std::string path, int descriptor);
  ~ReadAhead();

  // Begins to read, in this order; forgets what it was asked for before. Swallows errors: the foreground
  // read reports them.
  void start(std::vector<Expected> expected);

 private:
  class Reader;
  void run(const std::stop_token& stop, std::vector<Expected> expected);

  std::string path_;
  int descriptor_;
  std::unique_ptr<Reader> reader_;  // opened by the thread
  std::jthread thread_;
};

}  // namespace crowdfold
