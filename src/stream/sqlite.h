// SQLite, as far as it is used here: a database, and statements that are compiled once.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "crowdfold/run_context.h"

namespace crowdfold {

class Database {
 public:
  // read_sealed: makes no files beside it and takes no locks, so nobody may write meanwhile.
  enum class Use { read, read_sealed, write };
  // Error(io) if it cannot be opened. An empty path: in memory. Every other path is the name of a file,
  // also ":memory:" and "file:x". Triggers of the database are not run.
  Database(const std::string& path, Use use);

  void run(const char* sql) const;
  std::int64_t number(const char* sql) const;
  // Copies the database, as this connection sees it, into an empty file that nobody has open.
  void copy_to(const std::string& path, const RunContext& context) const;
  int changes() const { return sqlite3_changes(handle()); }
  sqlite3* handle() const { return handle_.get(); }
  // Error(io) or (data) for what went wrong last.
  [[noreturn]] void fail() const;

 private:
  [[noreturn]] void fail(int code, const std::string& message) const;
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

class Statement {
 public:
  Statement(const Database& database, const char* sql);

  // Values for the question marks, in order; texts must live until the statement was run.
  template <class... Values>
  Statement& bind(const Values&... values) {
    sqlite3_reset(handle_.get());
    int place = 0;
    (put(++place, values), ...);
    return *this;
  }
  // The next row; false if there is none.
  bool step();
  // The same, where the database may be busy and another try is made later.
  enum class Step { row, done, busy };
  Step try_step();
  // No more rows are wanted: an unfinished statement keeps the log from shrinking.
  void reset() { sqlite3_reset(handle_.get()); }
  // For statements without rows.
  void run();

  int columns() const { return sqlite3_column_count(handle_.get()); }
  int type(int column) const { return sqlite3_column_type(handle_.get(), column); }
  bool is_null(int column) const { return type(column) == SQLITE_NULL; }
  std::int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }
  double real(int column) const { return sqlite3_column_double(handle_.get(), column); }
  // Valid until the next step.
  std::string_view text(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  void put(int place, std::int64_t value) { sqlite3_bind_int64(handle_.get(), place, value); }
  void put(int place, double value) { sqlite3_bind_double(handle_.get(), place, value); }
  void put(int place, std::string_view value);

  const Database* database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

}  // namespace crowdfold
