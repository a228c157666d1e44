#include "stream/sqlite.h"

#include <fmt/format.h>

#include "crowdfold/error.h"

namespace crowdfold {

namespace {

// SQLite takes ":memory:" for no file, and "file:…" for a URI where it was built so.
std::string file_name(const std::string& path) {
  if (path.empty()) return ":memory:";
  return path.front() == '/' ? path : "./" + path;
}

// As a URI, whose parameters say that the file does not change.
std::string sealed_name(const std::string& path) {
  std::string uri = "file:";
  for (const char c : file_name(path)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                          c == '/' || c == '.' || c == '_' || c == '-';
    uri += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

}  // namespace

Database::Database(const std::string& path, Use use) : path_(path) {
  sqlite3* handle = nullptr;
  const auto open = [&](const std::string& name, int flags) {
    const int result = sqlite3_open_v2(name.c_str(), &handle,
                                       flags | SQLITE_OPEN_NOMUTEX,  // one thread at a time
                                       nullptr);
    handle_.reset(handle);
    return result == SQLITE_OK;
  };
  bool opened = false;
  switch (use) {
    case Use::write: opened = open(file_name(path), SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE); break;
    case Use::read:
      // A reader that may write cleans up the log of a stream that was killed.
      opened =
          open(file_name(path), SQLITE_OPEN_READWRITE) || open(file_name(path), SQLITE_OPEN_READONLY);
      break;
    case Use::read_sealed:
      opened = open(sealed_name(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
      break;
  }
  if (!opened) fail();
  sqlite3_extended_result_codes(handle, 1);
  // A file may come from anybody, and its schema with it.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  if (use != Use::write) run("PRAGMA query_only = ON");
}

void Database::fail() const { fail(sqlite3_errcode(handle()), sqlite3_errmsg(handle())); }

void Database::fail(int code, const std::string& message) const {
  const Location where{path_.empty() ? "state in memory" : path_, 0, 0};
  switch (code & 0xFF) {
    case SQLITE_NOTADB:
      throw Error(ErrorCode::data, where, "this is not a state of crowdfold; give another --state FILE");
    case SQLITE_CORRUPT:
      throw Error(ErrorCode::data, where,
                  fmt::format("the state is damaged ({}); restore it from a copy, or try `sqlite3 FILE "
                              ".recover`",
                              message));
    case SQLITE_FULL:
      throw Error(ErrorCode::io, where,
                  "the disk is full; what was acknowledged is safe: make room and go on from there");
    case SQLITE_BUSY:
    case SQLITE_LOCKED: throw Error(ErrorCode::io, where, "another program is writing to this state");
    case SQLITE_IOERR:
      throw Error(ErrorCode::io, where,
                  fmt::format("{}; what was acknowledged is safe: go on from there", message));
    default: throw Error(ErrorCode::io, where, message);
  }
}

void Database::run(const char* sql) const {
  if (sqlite3_exec(handle(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail();
}

void Database::copy_to(const std::string& path, const RunContext& context) const {
  constexpr int kPagesAtATime = 4'096;  // between two progress reports
  struct Finish {
    void operator()(sqlite3_backup* backup) const { sqlite3_backup_finish(backup); }
  };
  const Database copy(path, Use::write);
  const std::unique_ptr<sqlite3_backup, Finish> backup(
      sqlite3_backup_init(copy.handle(), "main", handle(), "main"));
  if (backup == nullptr) copy.fail();
  for (;;) {
    context.throw_if_cancelled();
    const int result = sqlite3_backup_step(backup.get(), kPagesAtATime);
    const auto pages = static_cast<std::uint64_t>(sqlite3_backup_pagecount(backup.get()));
    const auto left = static_cast<std::uint64_t>(sqlite3_backup_remaining(backup.get()));
    context.report("copying", pages - left, pages);
    if (result == SQLITE_DONE) return;
    if (result != SQLITE_OK) copy.fail(result, sqlite3_errstr(result));
  }
}

std::int64_t Database::number(const char* sql) const {
  Statement statement(*this, sql);
  return statement.step() ? statement.integer(0) : 0;
}

Statement::Statement(const Database& database, const char* sql) : database_(&database) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v3(database.handle(), sql, -1, SQLITE_PREPARE_PERSISTENT, &handle, nullptr) !=
      SQLITE_OK)
    database.fail();
  handle_.reset(handle);
}

Statement::Step Statement::try_step() {
  switch (sqlite3_step(handle_.get())) {
    case SQLITE_ROW: return Step::row;
    case SQLITE_DONE: sqlite3_reset(handle_.get()); return Step::done;
    case SQLITE_BUSY: return Step::busy;
    default: database_->fail();
  }
}

bool Statement::step() {
  const Step step = try_step();
  if (step == Step::busy) database_->fail();
  return step == Step::row;
}

void Statement::run() {
  while (step()) {
  }
}

std::string_view Statement::text(int column) const {
  const auto* const bytes = sqlite3_column_text(handle_.get(), column);
  if (bytes == nullptr && sqlite3_errcode(database_->handle()) == SQLITE_NOMEM) database_->fail();
  return {reinterpret_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

void Statement::put(int place, std::string_view value) {
  if (sqlite3_bind_text64(handle_.get(), place, value.data(), value.size(), SQLITE_STATIC,
                          SQLITE_UTF8) != SQLITE_OK)
    database_->fail();
}

}  // namespace crowdfold
