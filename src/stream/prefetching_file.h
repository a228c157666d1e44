// A database file whose pages are not waited for. The first time that a page is read, the system is told
// that it will be needed, and the read fails: the statement says that the database is busy. Others are
// tried meanwhile, and when it is tried again, the page is there or on its way. So SQLite, which asks
// for one page after the other, comes to ask for many at once.
#pragma once

#include <sqlite3.h>

#include <cstddef>
#include <unordered_set>

#include "stream/sqlite.h"

namespace crowdfold {

// SQLite calls a file by its table of methods. This is such a table, with what belongs to it: it takes
// the place of the file's own for as long as it lives.
class PrefetchingFile : sqlite3_io_methods {
 public:
  // For a connection that only reads. The descriptor is one of the same file.
  PrefetchingFile(const Database& database, int descriptor);
  ~PrefetchingFile();
  PrefetchingFile(const PrefetchingFile&) = delete;
  PrefetchingFile& operator=(const PrefetchingFile&) = delete;

  // With each page, asks for `pages` on each side of it.
  void set_reach(int pages) { reach_ = pages; }
  // Pages that were asked for: the next time, they are waited for.
  std::size_t asked() const { return asked_.size(); }
  // As if none had been.
  void forget() { asked_.clear(); }

 private:
  static int read(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset);
  bool ask(sqlite3_int64 page, sqlite3_int64 size) const;

  int descriptor_;
  sqlite3_file* file_ = nullptr;
  const sqlite3_io_methods* own_ = nullptr;  // the file's
  int reach_ = 0;
  std::unordered_set<sqlite3_int64> asked_;
};

}  // namespace crowdfold
