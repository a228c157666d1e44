#include "stream/store.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "crowdfold/error.h"
#include "stream/json_columns.h"
#include "stream/read_ahead.h"
#include "stream/row_hash.h"

namespace crowdfold {
namespace {

constexpr std::int64_t kApplication = 0x6377'6664;  // "cwfd"
// Of the schema, which docs/stream.md explains. Version 3 had no checksum, and histories as they were at
// tick 0.
constexpr std::int64_t kVersion = 4;
constexpr std::int64_t kOldestVersion = 3;

// More tasks than a state can hold, or events.
constexpr std::int64_t kMaxStoredTasks = std::int64_t{1} << 62;

// As SQLite keeps the texts: a state must have exactly these.
constexpr std::array kSchema = {
    R"sql(CREATE TABLE config(key TEXT PRIMARY KEY, value) WITHOUT ROWID)sql",
    R"sql(CREATE TABLE classes(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE))sql",
    R"sql(CREATE TABLE workers(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    correct REAL NOT NULL DEFAULT 0,
    seen REAL NOT NULL DEFAULT 0,
    ticks INTEGER NOT NULL DEFAULT 0,
    history_correct REAL NOT NULL DEFAULT 0,
    history_seen REAL NOT NULL DEFAULT 0))sql",
    R"sql(CREATE TABLE worker_counts(
    worker INTEGER NOT NULL REFERENCES workers,
    part INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY(worker, part)) WITHOUT ROWID)sql",
    R"sql(CREATE VIEW confusion(worker, truth, label, count, history) AS
    SELECT worker, json_extract(each.value, '$[0]'), json_extract(each.value, '$[1]'),
      json_extract(each.value, '$[2]'), coalesce(json_extract(each.value, '$[3]'), 0)
    FROM worker_counts, json_each(worker_counts.counts) AS each)sql",
    R"sql(CREATE TABLE crowd(
    truth INTEGER NOT NULL REFERENCES classes,
    label INTEGER NOT NULL REFERENCES classes,
    count REAL NOT NULL,
    PRIMARY KEY(truth, label)) WITHOUT ROWID)sql",
    R"sql(CREATE TABLE tasks(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    estimate INTEGER REFERENCES classes,
    confidence REAL NOT NULL DEFAULT 0,
    num_labels INTEGER NOT NULL DEFAULT 0,
    truth INTEGER REFERENCES classes,
    closed INTEGER NOT NULL DEFAULT 0,
    reason TEXT NOT NULL DEFAULT '',
    credits TEXT NOT NULL DEFAULT '{}',
    hard INTEGER NOT NULL DEFAULT 0,
    labels TEXT NOT NULL DEFAULT '[]'))sql",
    R"sql(CREATE INDEX open_tasks ON tasks(id) WHERE closed = 0)sql",
    R"sql(CREATE VIEW labels(task, worker, label, tick) AS
    SELECT tasks.id, json_extract(each.value, '$[0]'), json_extract(each.value, '$[1]'),
      coalesce(json_extract(each.value, '$[2]'), 0)
    FROM tasks, json_each(tasks.labels) AS each)sql",
    R"sql(CREATE TABLE events(id TEXT PRIMARY KEY) WITHOUT ROWID)sql",
};

// Pages that were not in memory when this thread asked for them, so far.
std::uint64_t pages_from_disk() {
  rusage used{};
#ifdef RUSAGE_THREAD
  ::getrusage(RUSAGE_THREAD, &used);
#else
  ::getrusage(RUSAGE_SELF, &used);
#endif
  return static_cast<std::uint64_t>(used.ru_inblock) / 8;  // blocks of 512 bytes
}

std::int64_t of_class(ClassId c) { return c == kNoClass ? -1 : std::int64_t{c}; }

// Values of a row that came from outside.
class CheckedRow {
 public:
  explicit CheckedRow(const Statement& row) : row_(row) {}

  // Whether all values that were asked for are of their type and within their limits.
  bool is_right() const { return is_right_; }

  std::string_view text(int column) {
    is_right_ &= row_.type(column) == SQLITE_TEXT;
    return row_.text(column);
  }
  // 0 ≤ number < end
  template <class Number>
  Number whole(int column, std::uint64_t end) {
    const std::int64_t number = row_.integer(column);
    const bool fits =
        row_.type(column) == SQLITE_INTEGER && number >= 0 && static_cast<std::uint64_t>(number) < end;
    is_right_ &= fits;
    return fits ? static_cast<Number>(number) : Number{};
  }
  ClassId class_or_none(int column, const KnownIds& known) {
    return row_.is_null(column) ? kNoClass : whole<ClassId>(column, known.classes);
  }
  // 0 ≤ number ≤ most
  double real(int column, double most = kMostCounted) {
    const bool is_number = row_.type(column) == SQLITE_FLOAT || row_.type(column) == SQLITE_INTEGER;
    const double number = row_.real(column);
    is_right_ &= is_number && number >= 0 && number <= most;
    return number;
  }

 private:
  const Statement& row_;
  bool is_right_ = true;
};

constexpr std::uint64_t kAnyWhole = std::uint64_t{1} << 62;

// Counts that were added and taken away are rounded.
bool is_sound(const WorkerCounts& counts) { return counts.correct <= counts.seen * (1 + 1e-6) + 1e-6; }

std::uint64_t hash_of_name(RowHash::Table table, std::uint64_t id, std::string_view name) {
  return RowHash(table).add(id).add(name).value();
}
std::uint64_t hash_of_event(std::string_view id) {
  return RowHash(RowHash::Table::events).add(id).value();
}
std::uint64_t hash_of_cell(ClassId truth, ClassId label, double count) {
  if (count == 0) return 0;
  return RowHash(RowHash::Table::crowd)
      .add(std::uint64_t{truth})
      .add(std::uint64_t{label})
      .add(count)
      .value();
}
// It is of no use before, and not written.
std::uint16_t hard_once_closed(const StreamTask& task) {
  return task.closed ? task.hard : std::uint16_t{0};
}

// With the columns as they are written.
std::uint64_t hash_of_task(const StreamTask& task, std::uint64_t hard, std::string_view credits,
                           std::string_view labels) {
  return RowHash(RowHash::Table::tasks)
      .add(static_cast<std::uint64_t>(task.id))
      .add(task.name)
      .add(std::uint64_t{task.estimate.label})
      .add(task.estimate.confidence)
      .add(std::uint64_t{task.num_labels})
      .add(std::uint64_t{task.truth})
      .add(std::uint64_t{task.closed})
      .add(task.reason)
      .add(hard)
      .add(credits)
      .add(labels)
      .value();
}

// Error(usage) for options that a state cannot be made with.
void require_sound(const StreamConfig& config) {
  const auto require = [](bool holds, const char* message) {
    if (!holds) throw Error(ErrorCode::usage, message);
  };
  require(is_count(config.alpha) && config.alpha > 0 && is_count(config.beta) && config.beta > 0,
          "alpha and beta must be above 0, and at most 1e16");
  require(is_count(config.half_life), "a half-life must be from 0 to 1e16");
  std::vector<std::string> classes = config.classes;
  std::sort(classes.begin(), classes.end());
  require(std::adjacent_find(classes.begin(), classes.end()) == classes.end(),
          "one of the classes is given twice");
  require(classes.size() <= kMaxClasses, "there are too many classes");
}

}  // namespace

std::uint64_t hash_of(WorkerId id, const StreamWorker& worker, const SparseConfusion& now,
                      const SparseConfusion& history) {
  bool is_empty = worker.now == WorkerCounts{} && worker.history == WorkerCounts{} && worker.ticks == 0;
  RowHash hash(RowHash::Table::counts);
  hash.add(std::uint64_t{id}).add(worker.now.correct).add(worker.now.seen).add(worker.ticks);
  hash.add(worker.history.correct).add(worker.history.seen);
  for (const SparseConfusion::Cell& cell : now.cells()) {
    const double before = history.cells().empty() ? 0 : history.at(cell.truth, cell.label);
    if (cell.count == 0 && before == 0) continue;
    is_empty = false;
    hash.add(std::uint64_t{cell.truth} << 16 | cell.label).add(cell.count).add(before);
  }
  return is_empty ? 0 : hash.value();
}

std::uint64_t hash_of_crowd(const SparseConfusion& row) {
  std::uint64_t sum = 0;
  for (const SparseConfusion::Cell& cell : row.cells())
    sum += hash_of_cell(cell.truth, cell.label, cell.count);
  return sum;
}

struct StreamStore::Statements {
  explicit Statements(const Database& database)
      : begin(database, "BEGIN IMMEDIATE"),
        commit(database, "COMMIT"),
        put_config(database, "INSERT OR REPLACE INTO config VALUES(?, ?)"),
        add_class(database, "INSERT INTO classes VALUES(?, ?)"),
        add_worker(database, "INSERT INTO workers(id, name) VALUES(?, ?)"),
        put_worker(database,
                   "UPDATE workers SET correct = ?, seen = ?, ticks = ?, history_correct = ?, "
                   "history_seen = ? WHERE id = ?"),
        worker(database,
               "SELECT correct, seen, ticks, history_correct, history_seen FROM workers WHERE id = ?"),
        confusion_of(database, "SELECT part, counts FROM worker_counts WHERE worker = ? ORDER BY part"),
        put_confusion(database, "INSERT OR REPLACE INTO worker_counts VALUES(?, ?, ?)"),
        put_crowd(database, "INSERT OR REPLACE INTO crowd VALUES(?, ?, ?)"),
        find_task(database, "SELECT * FROM tasks WHERE name = ?"),
        add_task(database,
                 "INSERT INTO tasks VALUES(?, ?, nullif(?, -1), ?, ?, nullif(?, -1), ?, ?, ?, ?, ?)"),
        put_task(database,
                 "UPDATE tasks SET estimate = nullif(?, -1), confidence = ?, num_labels = ?, truth = "
                 "nullif(?, -1), closed = ?, reason = ?, credits = ?, hard = ?, labels = ? "
                 "WHERE id = ?"),
        add_event(database, "INSERT OR IGNORE INTO events VALUES(?)"),
        find_event(database, "SELECT 1 FROM events WHERE id = ?"),
        remove_event(database, "DELETE FROM events WHERE id = ?") {}
  Statement begin;
  Statement commit;
  Statement put_config;
  Statement add_class;
  Statement add_worker;
  Statement put_worker;
  Statement worker;
  Statement confusion_of;
  Statement put_confusion;
  Statement put_crowd;
  Statement find_task;
  Statement add_task;
  Statement put_task;
  Statement add_event;
  Statement find_event;
  Statement remove_event;
};

StreamStore::StreamStore(const std::string& path, const std::function<void(StreamConfig&)>& overrides)
    : path_(path),
      file_(path, StateFile::Use::write),
      database_(path, Database::Use::write),
      version_(kVersion) {
  // A reader may be in the way of the log for a moment.
  sqlite3_busy_timeout(database_.handle(), 5'000);
  const bool fresh = is_new();
  if (!fresh) load();
  StreamConfig wanted = config_;
  if (overrides) overrides(wanted);
  if (fresh)
    create(wanted);
  else
    require_same(wanted);
  tune();
  statements_ = std::make_unique<Statements>(database_);
  if (version_ < kVersion) upgrade();
}

StreamStore::~StreamStore() = default;

StreamStore::StreamStore(const std::string& path)
    : path_(path),
      file_(path, StateFile::Use::read),
      database_(path, is_sealed(path) ? Database::Use::read_sealed : Database::Use::read),
      read_only_(true) {
  sqlite3_busy_timeout(database_.handle(), 5'000);
  begin_to_look();
  load();
  statements_ = std::make_unique<Statements>(database_);
}

// Reads see this moment, also while another program writes.
void StreamStore::begin_to_look() {
  using namespace std::chrono_literals;
  constexpr auto kPause = 5ms;
  constexpr int kMostPauses = 200;   // a stream makes a state within milliseconds,
  constexpr int kMostUnwritten = 2;  // and soon after it made the file
  for (int pauses = 0, unwritten = 0; pauses <= kMostPauses && unwritten <= kMostUnwritten; ++pauses) {
    try {
      database_.run("BEGIN");
      in_transaction_ = !is_new();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::io || may_be_written(path_)) throw;
      throw Error(ErrorCode::io, Location{path_, 0, 0},
                  fmt::format("the log {}-wal holds events that are not in this file yet, and to take "
                              "them in needs the permission to write; copy both into a folder of yours, "
                              "and look there",
                              path_));
    }
    if (in_transaction_) return;
    database_.run("COMMIT");
    unwritten = file_.is_being_written(path_) ? 0 : unwritten + 1;
    std::this_thread::sleep_for(kPause);
  }
  throw Error(ErrorCode::data, Location{path_, 0, 0},
              "there is no state in this file yet: a stream is about to make it, or was stopped before "
              "it had; try again, or give another FILE");
}

void StreamStore::look_again() {
  if (!read_only_ || in_transaction_) return;
  begin_to_look();
  load();
}

void StreamStore::for_classes(const std::function<void(std::string_view)>& body) const {
  Statement all(database_, "SELECT id, name FROM classes ORDER BY id");
  std::uint64_t id = 0;
  for (; all.step(); ++id) {
    CheckedRow row(all);
    const bool is_next = row.whole<std::uint64_t>(0, known_.classes) == id;
    const std::string_view name = row.text(1);
    if (!row.is_right() || !is_next) damaged(fmt::format("class number {}", id));
    body(name);
  }
  if (id != known_.classes) damaged("the list of classes");
}

void StreamStore::for_workers(
    const std::function<void(std::string_view, const StreamWorker&)>& body) const {
  Statement all(database_,
                "SELECT id, name, correct, seen, ticks, history_correct, history_seen FROM workers "
                "ORDER BY id");
  std::uint64_t id = 0;
  for (; all.step(); ++id) {
    CheckedRow row(all);
    const bool is_next = row.whole<std::uint64_t>(0, known_.workers) == id;
    const std::string_view name = row.text(1);
    if (!row.is_right() || !is_next) damaged(fmt::format("worker number {}", id));
    body(name, worker_of(all, 2, id));
  }
  if (id != known_.workers) damaged("the list of workers");
}

// Columns `column` and the next four.
StreamWorker StreamStore::worker_of(const Statement& statement, int column, std::uint64_t id) const {
  CheckedRow row(statement);
  StreamWorker worker{
      {row.real(column), row.real(column + 1)}, {}, row.whole<std::uint64_t>(column + 2, kAnyWhole)};
  if (version_ < kVersion) {
    worker.history =
        history_of_version_3({statement.real(column + 3), statement.real(column + 4)}, worker.ticks);
  } else {
    worker.history = {row.real(column + 3), row.real(column + 4)};
  }
  if (!row.is_right() || !is_sound(worker.now) || !is_sound(worker.history))
    damaged(fmt::format("worker number {}", id));
  return worker;
}

void StreamStore::for_names_of_workers(std::uint64_t from,
                                       const std::function<void(std::string_view)>& body) const {
  Statement all(database_, "SELECT id, name FROM workers WHERE id >= ? ORDER BY id");
  all.bind(static_cast<std::int64_t>(from));
  std::uint64_t id = from;
  for (; all.step(); ++id) {
    CheckedRow row(all);
    const bool is_next = row.whole<std::uint64_t>(0, known_.workers) == id;
    const std::string_view name = row.text(1);
    if (!row.is_right() || !is_next) damaged(fmt::format("worker number {}", id));
    body(name);
  }
  if (id != known_.workers) damaged("the list of workers");
}

std::optional<WorkerId> StreamStore::find_worker(std::string_view name) {
  begin_to_read();
  Statement find(database_, "SELECT id FROM workers WHERE name = ?");
  if (!find.bind(name).step()) return std::nullopt;
  CheckedRow row(find);
  const auto id = row.whole<WorkerId>(0, known_.workers);
  if (!row.is_right()) damaged("the list of workers");
  return id;
}

StreamWorker StreamStore::worker(WorkerId id) {
  begin_to_read();
  Statement& find = statements_->worker.bind(std::int64_t{id});
  if (!find.step()) damaged(fmt::format("worker number {}", id));
  const StreamWorker worker = worker_of(find, 0, id);
  find.reset();
  return worker;
}

WorkerCounts StreamStore::history_of_version_3(const WorkerCounts& at_tick_0,
                                               std::uint64_t ticks) const {
  const double worth =
      config_.half_life > 0 ? std::exp2(-static_cast<double>(ticks) / config_.half_life) : 1;
  const WorkerCounts history = {std::max(0.0, at_tick_0.correct) * worth,
                                std::max(0.0, at_tick_0.seen) * worth};
  // What came along after a thousand half-lives was infinite at tick 0, and cannot be told any more.
  return std::isfinite(history.correct + history.seen) ? history : WorkerCounts{};
}

void StreamStore::read_part(const Statement& statement, int column, WorkerId id,
                            const Confusions& to) const {
  CheckedRow row(statement);
  const auto part = row.whole<ClassId>(column, kMaxClasses);
  const std::size_t before = to.now.cells().size();
  // A reader whose moment ended may find classes that came later; it only looks cells up.
  const KnownIds known = read_only_ && !in_transaction_ ? KnownIds{} : known_;
  const bool is_read = read_counts(row.text(column + 1), to, known) && row.is_right();
  if (!is_read || std::any_of(to.now.cells().begin() + static_cast<std::ptrdiff_t>(before),
                              to.now.cells().end(), [&](const SparseConfusion::Cell& cell) {
                                return SparseConfusion::part_of(cell.truth) != part;
                              }))
    damaged(fmt::format("the confusion of worker number {}", id));
}

void StreamStore::fetch_confusion(WorkerId id, const Confusions& to) {
  begin_to_read();
  Statement& rows = statements_->confusion_of.bind(std::int64_t{id});
  while (rows.step()) read_part(rows, 0, id, to);
}

void StreamStore::fetch_confusions(std::size_t workers,
                                   const std::function<Confusions(WorkerId)>& to) const {
  Statement rows(database_,
                 "SELECT worker, part, counts FROM worker_counts WHERE worker >= 0 AND worker < ? ORDER "
                 "BY worker, part");
  rows.bind(static_cast<std::int64_t>(workers));
  while (rows.step()) {
    CheckedRow row(rows);
    const auto id = row.whole<WorkerId>(0, workers);
    if (!row.is_right()) damaged("the table worker_counts");
    read_part(rows, 1, id, to(id));
  }
}

void StreamStore::for_crowd(const std::function<void(ClassId, ClassId, double)>& body) const {
  Statement all(database_, "SELECT truth, label, count FROM crowd ORDER BY truth, label");
  while (all.step()) {
    CheckedRow row(all);
    const auto truth = row.whole<ClassId>(0, known_.classes);
    const auto label = row.whole<ClassId>(1, known_.classes);
    const double count = row.real(2);
    if (!row.is_right()) damaged("the table crowd");
    body(truth, label, count);
  }
}

void StreamStore::for_open_tasks(const std::function<void(StreamTask)>& body) const {
  for_tasks(false, body);
}

void StreamStore::for_closed_tasks(const std::function<void(StreamTask)>& body) const {
  for_tasks(true, body);
}

void StreamStore::for_all_tasks(const std::function<void(StreamTask)>& body) const {
  for_tasks(std::nullopt, body);
}

std::optional<StreamTask> StreamStore::find_task(std::string_view name) {
  begin_to_read();
  ++lookups_;
  Statement& find = statements_->find_task.bind(name);
  if (!find.step()) return std::nullopt;
  StreamTask task = task_of(find);
  find.reset();
  if (task.name != name) damaged(fmt::format("the index of task '{}'", name));
  return task;
}

bool StreamStore::waits_for_disk() {
  constexpr int kLookups = 8;  // the system is not asked after each
  constexpr std::uint64_t kPages = 4;
  if (lookups_ < kLookups) return false;
  lookups_ = 0;
  const std::uint64_t pages = pages_from_disk();
  return pages - std::exchange(pages_from_disk_, pages) >= kPages;
}

void StreamStore::read_ahead(std::vector<Expected> expected) {
  if (path_.empty()) return;
  if (!ahead_) ahead_ = std::make_unique<ReadAhead>(path_, file_.descriptor());
  ahead_->start(std::move(expected));
}

void StreamStore::add_class(ClassId id, std::string_view name) {
  begin();
  statements_->add_class.bind(std::int64_t{id}, name).run();
  known_.classes = std::max(known_.classes, id + std::uint64_t{1});
  checksum_ += hash_of_name(RowHash::Table::classes, id, name);
}

void StreamStore::add_worker(WorkerId id, std::string_view name) {
  begin();
  statements_->add_worker.bind(std::int64_t{id}, name).run();
  known_.workers = std::max(known_.workers, id + std::uint64_t{1});
  checksum_ += hash_of_name(RowHash::Table::workers, id, name);
}

void StreamStore::put_worker(WorkerId id, const StreamWorker& worker) {
  begin();
  const bool fits = is_count(worker.now.correct) && is_count(worker.now.seen) &&
                    is_count(worker.history.correct) && is_count(worker.history.seen) &&
                    worker.ticks < kAnyWhole;
  if (!fits) damaged(fmt::format("the sum of the counts of worker number {}", id));
  statements_->put_worker
      .bind(worker.now.correct, worker.now.seen, static_cast<std::int64_t>(worker.ticks),
            worker.history.correct, worker.history.seen, std::int64_t{id})
      .run();
  if (database_.changes() != 1) damaged(fmt::format("worker number {}", id));
}

void StreamStore::put_confusion(WorkerId id, SparseConfusion::Part now, const SparseConfusion& history) {
  begin();
  for (const SparseConfusion::Cell& cell : now) {
    const bool fits = is_count(cell.count) &&
                      (history.cells().empty() || is_count(history.at(cell.truth, cell.label)));
    if (!fits) damaged(fmt::format("the sum of the counts of worker number {}", id));
  }
  statements_->put_confusion
      .bind(std::int64_t{id}, std::int64_t{SparseConfusion::part_of(now.front().truth)},
            std::string_view(put_counts(now, history, counts_)))
      .run();
}

void StreamStore::put_crowd(SparseConfusion::Part part) {
  begin();
  for (const SparseConfusion::Cell& cell : part) {
    if (!is_count(cell.count)) damaged("the sum of the counts of the crowd");
    statements_->put_crowd.bind(std::int64_t{cell.truth}, std::int64_t{cell.label}, cell.count).run();
  }
}

void StreamStore::put_hard_tasks(const HardTasks& tasks) {
  begin();
  hard_tasks_ = tasks;
}

std::int64_t StreamStore::next_task() {
  if (last_task_ < 0) {
    const std::int64_t last = database_.number("SELECT max(id) FROM tasks");
    if (last < 0 || last >= kMaxStoredTasks - 1) damaged("the number of its last task");
    last_task_ = last;
  }
  return ++last_task_;
}

void StreamStore::add_task(StreamTask& task) {
  begin();
  write_columns(task);
  statements_->add_task
      .bind(task.id, std::string_view(task.name), of_class(task.estimate.label),
            task.estimate.confidence, std::int64_t{task.num_labels}, of_class(task.truth),
            std::int64_t{task.closed ? 1 : 0}, std::string_view(task.reason), std::string_view(credits_),
            std::int64_t{hard_once_closed(task)}, std::string_view(labels_))
      .run();
  put_hash(0, task.stored_hash = hash_of_task(task, hard_once_closed(task), credits_, labels_));
}

void StreamStore::put_task(StreamTask& task) {
  begin();
  write_columns(task);
  statements_->put_task
      .bind(of_class(task.estimate.label), task.estimate.confidence, std::int64_t{task.num_labels},
            of_class(task.truth), std::int64_t{task.closed ? 1 : 0}, std::string_view(task.reason),
            std::string_view(credits_), std::int64_t{hard_once_closed(task)}, std::string_view(labels_),
            task.id)
      .run();
  const std::uint64_t hash = hash_of_task(task, hard_once_closed(task), credits_, labels_);
  put_hash(std::exchange(task.stored_hash, hash), hash);
}

bool StreamStore::add_event(std::string_view id) {
  begin();
  ++lookups_;
  statements_->add_event.bind(id).run();
  if (database_.changes() == 0) return false;
  checksum_ += hash_of_event(id);
  return true;
}

bool StreamStore::has_event(std::string_view id) {
  begin_to_read();
  Statement& find = statements_->find_event.bind(id);
  const bool found = find.step();
  find.reset();
  return found;
}

void StreamStore::remove_event(std::string_view id) {
  begin();
  statements_->remove_event.bind(id).run();
  checksum_ -= hash_of_event(id);
}

void StreamStore::count(std::uint64_t events, std::int64_t closed_tasks) {
  if (events == 0 && closed_tasks == 0) return;
  begin();  // also where nothing else changed: they were taken
  events_ += events;
  closed_tasks_ += static_cast<std::uint64_t>(closed_tasks);  // also where it is negative
}

void StreamStore::commit() {
  if (!in_transaction_) return;
  if (!read_only_) put_totals();
  statements_->commit.run();
  in_transaction_ = false;
}

std::vector<std::string> StreamStore::problems() const {
  std::vector<std::string> found;
  Statement integrity(database_, "PRAGMA integrity_check");
  while (integrity.step()) {
    if (integrity.text(0) != "ok") found.emplace_back(integrity.text(0));
  }
  const auto count = [&](const char* sql, const char* what) {
    if (const std::int64_t rows = database_.number(sql); rows > 0)
      found.push_back(fmt::format("{} {}", rows, what));
  };
  count("SELECT count(*) FROM tasks WHERE NOT json_valid(labels)",
        "tasks with labels that cannot be read");
  count("SELECT count(*) FROM worker_counts WHERE NOT json_valid(counts)",
        "counts of workers that cannot be read");
  if (!found.empty()) return found;
  count(
      "SELECT count(*) FROM tasks, json_each(labels) AS each WHERE json_extract(each.value, '$[0]') NOT "
      "IN "
      "(SELECT id FROM workers) OR json_extract(each.value, '$[1]') NOT IN (SELECT id FROM classes)",
      "labels of a worker or class that is not there");
  count(config_.forget_closed
            ? "SELECT count(*) FROM tasks WHERE closed = 0 AND num_labels != json_array_length(labels)"
            : "SELECT count(*) FROM tasks WHERE num_labels != json_array_length(labels)",
        "tasks with another number of labels than theirs");
  count(
      "SELECT count(*) FROM tasks WHERE truth IS NOT NULL AND (estimate IS NOT truth OR confidence != "
      "1)",
      "tasks with another answer than their truth");
  // Rows that for_tasks() and fetch_confusions() pass by, but look-ups find.
  count("SELECT count(*) FROM tasks WHERE closed NOT IN (0, 1)",
        "tasks that are neither open nor closed");
  count("SELECT count(*) FROM worker_counts WHERE worker NOT IN (SELECT id FROM workers)",
        "counts of workers that are not there");
  count("SELECT count(*) FROM events WHERE typeof(id) != 'text' OR id = ''",
        "events with an id that is no text");
  const std::int64_t closed = database_.number("SELECT count(*) FROM tasks WHERE closed = 1");
  if (static_cast<std::uint64_t>(closed) != closed_tasks_)
    found.push_back(
        fmt::format("{} tasks are closed, the configuration says {}", closed, closed_tasks_));
  return found;
}

bool StreamStore::has_right_checksum() const {
  return version_ < kVersion || sum_of_hashes() == checksum_;
}

std::uint64_t StreamStore::sum_of_hashes() const {
  std::uint64_t sum = 0;
  std::uint64_t classes = 0;
  for_classes(
      [&](std::string_view name) { sum += hash_of_name(RowHash::Table::classes, classes++, name); });
  struct Worker {
    StreamWorker counts;
    SparseConfusion now = {};
    SparseConfusion history = {};
  };
  std::vector<Worker> workers;
  for_workers([&](std::string_view name, const StreamWorker& counts) {
    sum += hash_of_name(RowHash::Table::workers, workers.size(), name);
    workers.push_back({counts});
  });
  fetch_confusions(workers.size(), [&](WorkerId w) {
    return Confusions{workers[w].now, workers[w].history};
  });
  for (WorkerId w = 0; w < workers.size(); ++w)
    sum += hash_of(w, workers[w].counts, workers[w].now, workers[w].history);
  for_crowd(
      [&](ClassId truth, ClassId label, double count) { sum += hash_of_cell(truth, label, count); });
  for_open_tasks([&](const StreamTask& task) { sum += task.stored_hash; });
  for_closed_tasks([&](const StreamTask& task) { sum += task.stored_hash; });
  Statement events(database_, "SELECT id FROM events");
  while (events.step()) sum += hash_of_event(events.text(0));
  return sum;
}

std::uint64_t StreamStore::hash_of_config() const {
  return RowHash(RowHash::Table::config)
      .add(config_.alpha)
      .add(config_.beta)
      .add(config_.half_life)
      .add(std::uint64_t{config_.forget_closed})
      .add(std::uint64_t{config_.classes.size()})
      .add(events_)
      .add(closed_tasks_)
      .add(hard_tasks_.hard)
      .add(hard_tasks_.all)
      .value();
}

bool StreamStore::is_new() const {
  return database_.number("PRAGMA application_id") == 0 &&
         database_.number("SELECT count(*) FROM sqlite_schema") == 0;
}

void StreamStore::create(const StreamConfig& config) {
  require_sound(config);
  config_ = config;
  known_.classes = config.classes.size();
  database_.run("PRAGMA journal_mode = WAL");
  database_.run("BEGIN IMMEDIATE");
  for (const char* const statement : kSchema) database_.run(statement);
  database_.run(fmt::format("PRAGMA application_id = {}", kApplication).c_str());
  database_.run(fmt::format("PRAGMA user_version = {}", kVersion).c_str());
  Statement put(database_, "INSERT INTO config VALUES(?, ?)");
  put.bind(std::string_view("alpha"), config.alpha).run();
  put.bind(std::string_view("beta"), config.beta).run();
  put.bind(std::string_view("half_life"), config.half_life).run();
  put.bind(std::string_view("forget_closed"), std::int64_t{config.forget_closed ? 1 : 0}).run();
  put.bind(std::string_view("classes"), static_cast<std::int64_t>(config.classes.size())).run();
  put.bind(std::string_view("events"), std::int64_t{0}).run();
  put.bind(std::string_view("closed_tasks"), std::int64_t{0}).run();
  put.bind(std::string_view("hard_tasks"), 0.0).run();
  put.bind(std::string_view("judged_tasks"), 0.0).run();
  Statement add(database_, "INSERT INTO classes VALUES(?, ?)");
  for (std::size_t c = 0; c < config.classes.size(); ++c) {
    add.bind(static_cast<std::int64_t>(c), std::string_view(config.classes[c])).run();
    checksum_ += hash_of_name(RowHash::Table::classes, c, config.classes[c]);
  }
  put.bind(std::string_view("checksum"), static_cast<std::int64_t>(checksum_ + hash_of_config())).run();
  database_.run("COMMIT");
}

// Error(data) if it is not ours.
void StreamStore::load() {
  database_.run(
      "PRAGMA trusted_schema = OFF");  // views and indexes that somebody added run no functions
  require_version();
  require_schema();
  const auto ids_of = [&](const char* sql, std::uint64_t most) {
    const std::int64_t ids = database_.number(sql);
    if (ids < 0 || static_cast<std::uint64_t>(ids) > most) damaged("the number of workers or classes");
    return static_cast<std::uint64_t>(ids);
  };
  known_ = {ids_of("SELECT coalesce(max(id), -1) + 1 FROM workers", kMaxWorkers),
            ids_of("SELECT coalesce(max(id), -1) + 1 FROM classes", kMaxClasses)};
  load_config();
}

void StreamStore::require_version() {
  const Location where{path_, 0, 0};
  if (database_.number("PRAGMA application_id") != kApplication)
    throw Error(ErrorCode::data, where,
                "this is a database of another program; give another --state FILE");
  version_ = database_.number("PRAGMA user_version");
  if (version_ > kVersion)
    throw Error(ErrorCode::data, where,
                fmt::format("this state was made by a newer crowdfold (version {} of the state, {} is "
                            "known here); use that one",
                            version_, kVersion));
  if (version_ < kOldestVersion)
    throw Error(ErrorCode::data, where,
                fmt::format("this state was made by an older crowdfold (version {} of the state, {} is "
                            "needed here); export its workers with that one, and import them into a "
                            "new state",
                            version_, kOldestVersion));
}

// What somebody added beside it does no harm.
void StreamStore::require_schema() const {
  std::size_t found = 0;
  Statement all(database_, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL");
  while (all.step()) found += std::count(kSchema.begin(), kSchema.end(), all.text(0)) > 0 ? 1U : 0U;
  if (found != kSchema.size()) damaged("the schema of its tables");
}

void StreamStore::load_config() {
  const auto find = [&](const char* key, const auto& get) {
    Statement all(database_, "SELECT value FROM config WHERE key = ?");
    if (!all.bind(std::string_view(key)).step()) damaged(fmt::format("'{}', which is not in it,", key));
    CheckedRow row(all);
    const auto value = get(row);
    if (!row.is_right()) damaged(fmt::format("'{}' in its configuration", key));
    return value;
  };
  const auto real = [&](const char* key) {
    return find(key, [](CheckedRow& row) { return row.real(0); });
  };
  const auto whole = [&](const char* key, std::uint64_t end) {
    return find(key, [&](CheckedRow& row) { return row.whole<std::uint64_t>(0, end); });
  };
  config_ = {};
  config_.alpha = real("alpha");
  config_.beta = real("beta");
  if (config_.alpha == 0 || config_.beta == 0) damaged("the prior in its configuration");
  config_.half_life = real("half_life");
  config_.forget_closed = whole("forget_closed", 2) != 0;
  events_ = whole("events", kAnyWhole);
  closed_tasks_ = whole("closed_tasks", kAnyWhole);
  hard_tasks_ = {real("hard_tasks"), real("judged_tasks")};
  const std::uint64_t fixed = whole("classes", known_.classes + 1);
  for_classes([&](std::string_view name) {
    if (config_.classes.size() < fixed) config_.classes.emplace_back(name);
  });
  if (version_ < kVersion) return;
  Statement sum(database_, "SELECT value FROM config WHERE key = 'checksum'");
  if (!sum.step() || sum.type(0) != SQLITE_INTEGER) damaged("the checksum in its configuration");
  checksum_ = static_cast<std::uint64_t>(sum.integer(0)) - hash_of_config();
}

// A state of version 3 is read once, whole. In one transaction: after a crash it is of version 3 again.
void StreamStore::upgrade() {
  begin();
  WorkerId id = 0;
  if (config_.half_life > 0)
    for_workers([&](std::string_view, const StreamWorker& worker) { put_worker(id++, worker); });
  version_ = kVersion;
  database_.run(fmt::format("PRAGMA user_version = {}", kVersion).c_str());
  checksum_ = sum_of_hashes();
  commit();
}

void StreamStore::require_same(const StreamConfig& wanted) const {
  const auto compare = [&](const char* what, const auto& here, const auto& there) {
    if (here == there) return;
    throw Error(ErrorCode::usage, Location{path_, 0, 0},
                fmt::format("the state was made with {} = {}, not {}; leave the option out, or start "
                            "another state",
                            what, here, there));
  };
  compare("alpha", config_.alpha, wanted.alpha);
  compare("beta", config_.beta, wanted.beta);
  compare("half-life", config_.half_life, wanted.half_life);
  compare("forget-closed", config_.forget_closed, wanted.forget_closed);
  compare("classes", fmt::format("{}", fmt::join(config_.classes, ",")),
          fmt::format("{}", fmt::join(wanted.classes, ",")));
}

void StreamStore::tune() {
  database_.run("PRAGMA journal_mode = WAL");
  database_.run("PRAGMA synchronous = FULL");          // every commit is on disk
  database_.run("PRAGMA wal_autocheckpoint = 16384");  // pages: 64 MB
  database_.run("PRAGMA cache_size = -8192");          // kB
  database_.run("PRAGMA temp_store = MEMORY");
}

void StreamStore::put_totals() {
  if (events_ >= kAnyWhole || closed_tasks_ >= kAnyWhole) damaged("the number of its events or tasks");
  if (!is_count(hard_tasks_.hard) || !is_count(hard_tasks_.all)) damaged("the number of its hard tasks");
  put_config("events", static_cast<std::int64_t>(events_));
  put_config("closed_tasks", static_cast<std::int64_t>(closed_tasks_));
  put_config("hard_tasks", hard_tasks_.hard);
  put_config("judged_tasks", hard_tasks_.all);
  put_config("checksum", static_cast<std::int64_t>(checksum_ + hash_of_config()));
}

// A task that is looked for is about to change. A statement outside of a transaction would lock the
// file and unlock it again.
void StreamStore::begin_to_read() {
  if (!read_only_) begin();
}

void StreamStore::begin() {
  if (read_only_) throw Error(ErrorCode::usage, Location{path_, 0, 0}, "opened to be read only");
  if (in_transaction_) return;
  statements_->begin.run();
  in_transaction_ = true;
}

template <class Value>
void StreamStore::put_config(std::string_view key, Value value) {
  statements_->put_config.bind(key, value).run();
}

void StreamStore::write_columns(const StreamTask& task) {
  put_credits(task.closed ? task.credits : std::vector<Credit>(), credits_);
  put_labels(task.labels, labels_);
}

StreamTask StreamStore::task_of(const Statement& statement) const {
  CheckedRow row(statement);
  StreamTask task;
  task.id = row.whole<std::int64_t>(0, kMaxStoredTasks);
  task.name = row.text(1);
  task.estimate = {row.class_or_none(2, known_), row.real(3, 1)};
  task.num_labels = row.whole<std::uint32_t>(4, std::uint64_t{1} << 32);
  task.truth = row.class_or_none(5, known_);
  task.closed = row.whole<int>(6, 2) != 0;
  task.reason = row.text(7);
  const std::string_view credits = row.text(8);
  task.hard = row.whole<std::uint16_t>(9, static_cast<std::uint64_t>(kWhole) + 1);
  const std::string_view labels = row.text(10);
  if (!row.is_right() || !read_credits(credits, task.credits, known_) ||
      !read_labels(labels, task.labels, known_) ||
      (task.num_labels != task.labels.size() && !(task.closed && config_.forget_closed)))
    damaged(fmt::format("task '{}'", task.name));
  task.stored_hash = hash_of_task(task, task.hard, credits, labels);
  return task;
}

void StreamStore::damaged(const std::string& what) const {
  throw Error(ErrorCode::data, Location{path_, 0, 0},
              fmt::format("the state is damaged: {} cannot be right; restore it from a copy", what));
}

void StreamStore::for_tasks(std::optional<bool> closed,
                            const std::function<void(StreamTask)>& body) const {
  Statement all(database_, !closed   ? "SELECT * FROM tasks ORDER BY id"
                           : *closed ? "SELECT * FROM tasks WHERE closed = 1 ORDER BY id"
                                     : "SELECT * FROM tasks WHERE closed = 0 ORDER BY id");
  while (all.step()) {
    StreamTask task = task_of(all);
    if (task.closed != closed.value_or(task.closed)) damaged("the index of open tasks");
    body(std::move(task));
  }
}

void StreamStore::for_tasks(const TaskQuery& query, const std::function<void(StreamTask)>& body) const {
  const bool by_id = query.order == TaskOrder::came;
  Statement some(database_,
                 fmt::format("SELECT * FROM tasks WHERE {} AND {} ORDER BY {} LIMIT ?3",
                             !query.closed   ? "closed IN (0, 1)"
                             : *query.closed ? "closed = 1"
                                             : "closed = 0",
                             by_id ? "id > ?2 AND ?1 IS NOT NULL" : "(confidence, id) > (?1, ?2)",
                             by_id ? "id" : "confidence, id")
                     .c_str());
  some.bind(query.after_confidence, query.after_id, static_cast<std::int64_t>(query.most));
  while (some.step()) body(task_of(some));
}

std::uint64_t StreamStore::tasks() const {
  // Ids are 1, 2, 3, … without gaps.
  const std::int64_t last = database_.number("SELECT max(id) FROM tasks");
  if (last < 0 || static_cast<std::uint64_t>(last) < closed_tasks_)
    damaged("the number of its last task");
  return static_cast<std::uint64_t>(last);
}

std::shared_ptr<StreamStore> open_store_to_read(const std::string& path) {
  if (path.empty()) throw Error(ErrorCode::usage, "a state that is read needs a FILE");
  return std::make_shared<StreamStore>(path);
}

std::shared_ptr<StreamStore> open_store(const std::string& path,
                                        const std::function<void(StreamConfig&)>& overrides) {
  return std::make_shared<StreamStore>(path, overrides);
}

}  // namespace crowdfold
