#include "stream/store.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <filesystem>
#include <utility>

#include "crowdfold/error.h"
#include "stream/json_columns.h"
#include "stream/read_ahead.h"

namespace crowdfold {
namespace {

constexpr std::int64_t kApplication = 0x6377'6664;  // "cwfd"
// Of the schema, which docs/stream.md explains.
constexpr std::int64_t kVersion = 3;

constexpr const char* kSchema = R"(
  CREATE TABLE config(key TEXT PRIMARY KEY, value) WITHOUT ROWID;
  CREATE TABLE classes(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
  CREATE TABLE workers(
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    correct REAL NOT NULL DEFAULT 0,
    seen REAL NOT NULL DEFAULT 0,
    ticks INTEGER NOT NULL DEFAULT 0,
    history_correct REAL NOT NULL DEFAULT 0,
    history_seen REAL NOT NULL DEFAULT 0);
  CREATE TABLE worker_counts(
    worker INTEGER NOT NULL REFERENCES workers,
    part INTEGER NOT NULL,
    counts TEXT NOT NULL,
    PRIMARY KEY(worker, part)) WITHOUT ROWID;
  CREATE VIEW confusion(worker, truth, label, count, history) AS
    SELECT worker, json_extract(each.value, '$[0]'), json_extract(each.value, '$[1]'),
      json_extract(each.value, '$[2]'), coalesce(json_extract(each.value, '$[3]'), 0)
    FROM worker_counts, json_each(worker_counts.counts) AS each;
  CREATE TABLE crowd(
    truth INTEGER NOT NULL REFERENCES classes,
    label INTEGER NOT NULL REFERENCES classes,
    count REAL NOT NULL,
    PRIMARY KEY(truth, label)) WITHOUT ROWID;
  CREATE TABLE tasks(
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
    labels TEXT NOT NULL DEFAULT '[]');
  CREATE INDEX open_tasks ON tasks(id) WHERE closed = 0;
  CREATE VIEW labels(task, worker, label, tick) AS
    SELECT tasks.id, json_extract(each.value, '$[0]'), json_extract(each.value, '$[1]'),
      coalesce(json_extract(each.value, '$[2]'), 0)
    FROM tasks, json_each(tasks.labels) AS each;
  CREATE TABLE events(id TEXT PRIMARY KEY) WITHOUT ROWID;
)";

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

}  // namespace

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
        confusion_of(database, "SELECT counts FROM worker_counts WHERE worker = ? ORDER BY part"),
        put_confusion(database, "INSERT OR REPLACE INTO worker_counts VALUES(?, ?, ?)"),
        put_crowd(database, "INSERT OR REPLACE INTO crowd VALUES(?, ?, ?)"),
        find_task(database, "SELECT * FROM tasks WHERE name = ?"),
        add_task(database,
                 "INSERT INTO tasks VALUES(?, ?, nullif(?, -1), ?, ?, nullif(?, -1), ?, ?, ?, ?, ?)"),
        put_task(database,
                 "UPDATE tasks SET estimate = nullif(?, -1), confidence = ?, num_labels = ?, truth = "
                 "nullif(?, -1), closed = ?, reason = ?, credits = ?, hard = ?, labels = ? "
                 "WHERE id = ?"),
        add_event(database, "INSERT OR IGNORE INTO events VALUES(?)") {}
  Statement begin;
  Statement commit;
  Statement put_config;
  Statement add_class;
  Statement add_worker;
  Statement put_worker;
  Statement confusion_of;
  Statement put_confusion;
  Statement put_crowd;
  Statement find_task;
  Statement add_task;
  Statement put_task;
  Statement add_event;
};

StreamStore::StreamStore(const std::string& path, const std::function<void(StreamConfig&)>& overrides)
    : path_(path), lock_(path), database_(path, Database::Use::write) {
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
}

StreamStore::~StreamStore() = default;

StreamStore::StreamStore(const std::string& path)
    : path_(path), lock_(""), database_(path, Database::Use::read), read_only_(true) {
  sqlite3_busy_timeout(database_.handle(), 5'000);
  database_.run("BEGIN");  // reads see this moment, also while another program writes
  in_transaction_ = true;
  load();
  statements_ = std::make_unique<Statements>(database_);
}

void StreamStore::for_classes(const std::function<void(std::string_view)>& body) const {
  Statement all(database_, "SELECT name FROM classes ORDER BY id");
  while (all.step()) body(all.text(0));
}

void StreamStore::for_workers(
    const std::function<void(std::string_view, const StreamWorker&)>& body) const {
  Statement all(database_,
                "SELECT name, correct, seen, ticks, history_correct, history_seen FROM workers ORDER "
                "BY id");
  while (all.step())
    body(all.text(0), {{all.real(1), all.real(2)},
                       {all.real(4), all.real(5)},
                       static_cast<std::uint64_t>(all.integer(3))});
}

void StreamStore::fetch_confusion(WorkerId id, const Confusions& to) {
  begin_to_read();
  Statement& rows = statements_->confusion_of.bind(std::int64_t{id});
  while (rows.step()) {
    if (!read_counts(rows.text(0), to)) damaged(fmt::format("worker number {}", id));
  }
}

void StreamStore::fetch_confusions(std::size_t workers,
                                   const std::function<Confusions(WorkerId)>& to) const {
  Statement rows(database_,
                 "SELECT worker, counts FROM worker_counts WHERE worker >= 0 AND worker < ? ORDER BY "
                 "worker, part");
  rows.bind(static_cast<std::int64_t>(workers));
  while (rows.step()) {
    const auto id = static_cast<WorkerId>(rows.integer(0));
    if (!read_counts(rows.text(1), to(id))) damaged(fmt::format("worker number {}", id));
  }
}

void StreamStore::for_crowd(const std::function<void(ClassId, ClassId, double)>& body) const {
  Statement all(database_, "SELECT truth, label, count FROM crowd ORDER BY truth, label");
  while (all.step())
    body(static_cast<ClassId>(all.integer(0)), static_cast<ClassId>(all.integer(1)), all.real(2));
}

void StreamStore::for_open_tasks(const std::function<void(StreamTask)>& body) const {
  for_tasks("SELECT * FROM tasks WHERE closed = 0 ORDER BY id", body);
}

void StreamStore::for_closed_tasks(const std::function<void(StreamTask)>& body) const {
  for_tasks("SELECT * FROM tasks WHERE closed = 1 ORDER BY id", body);
}

std::optional<StreamTask> StreamStore::find_task(std::string_view name) {
  begin_to_read();
  ++lookups_;
  Statement& find = statements_->find_task.bind(name);
  if (!find.step()) return std::nullopt;
  StreamTask task = task_of(find);
  find.reset();
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
  if (!ahead_) ahead_ = std::make_unique<ReadAhead>(path_, lock_.descriptor());
  ahead_->start(std::move(expected));
}

void StreamStore::add_class(ClassId id, std::string_view name) {
  begin();
  statements_->add_class.bind(std::int64_t{id}, name).run();
}

void StreamStore::add_worker(WorkerId id, std::string_view name) {
  begin();
  statements_->add_worker.bind(std::int64_t{id}, name).run();
}

void StreamStore::put_worker(WorkerId id, const StreamWorker& worker) {
  begin();
  statements_->put_worker
      .bind(worker.now.correct, worker.now.seen, static_cast<std::int64_t>(worker.ticks),
            worker.history.correct, worker.history.seen, std::int64_t{id})
      .run();
}

void StreamStore::put_confusion(WorkerId id, SparseConfusion::Part now, const SparseConfusion& history) {
  begin();
  statements_->put_confusion
      .bind(std::int64_t{id}, std::int64_t{SparseConfusion::part_of(now.front().truth)},
            std::string_view(put_counts(now, history, counts_)))
      .run();
}

void StreamStore::put_crowd(SparseConfusion::Part part) {
  begin();
  for (const SparseConfusion::Cell& cell : part)
    statements_->put_crowd.bind(std::int64_t{cell.truth}, std::int64_t{cell.label}, cell.count).run();
}

void StreamStore::put_hard_tasks(const HardTasks& tasks) {
  begin();
  hard_tasks_ = tasks;
}

std::int64_t StreamStore::next_task() {
  if (last_task_ < 0) last_task_ = database_.number("SELECT max(id) FROM tasks");
  return ++last_task_;
}

void StreamStore::add_task(const StreamTask& task) {
  begin();
  write_columns(task);
  statements_->add_task
      .bind(task.id, std::string_view(task.name), of_class(task.estimate.label),
            task.estimate.confidence, std::int64_t{task.num_labels}, of_class(task.truth),
            std::int64_t{task.closed ? 1 : 0}, std::string_view(task.reason), std::string_view(credits_),
            std::int64_t{task.closed ? task.hard : 0}, std::string_view(labels_))
      .run();
}

void StreamStore::put_task(const StreamTask& task) {
  begin();
  write_columns(task);
  statements_->put_task
      .bind(of_class(task.estimate.label), task.estimate.confidence, std::int64_t{task.num_labels},
            of_class(task.truth), std::int64_t{task.closed ? 1 : 0}, std::string_view(task.reason),
            std::string_view(credits_), std::int64_t{task.closed ? task.hard : 0},
            std::string_view(labels_), task.id)
      .run();
}

bool StreamStore::add_event(std::string_view id) {
  begin();
  ++lookups_;
  statements_->add_event.bind(id).run();
  return database_.changes() > 0;
}

void StreamStore::count(std::uint64_t events, std::uint64_t closed_tasks) {
  if (events + closed_tasks == 0) return;
  begin();  // also where nothing else changed: they were taken
  events_ += events;
  closed_tasks_ += closed_tasks;
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
      "SELECT count(*) FROM labels WHERE worker NOT IN (SELECT id FROM workers) OR label NOT IN "
      "(SELECT id FROM classes)",
      "labels of a worker or class that is not there");
  count(config_.forget_closed
            ? "SELECT count(*) FROM tasks WHERE closed = 0 AND num_labels != json_array_length(labels)"
            : "SELECT count(*) FROM tasks WHERE num_labels != json_array_length(labels)",
        "tasks with another number of labels than theirs");
  return found;
}

bool StreamStore::is_new() const { return database_.number("SELECT count(*) FROM sqlite_schema") == 0; }

void StreamStore::create(const StreamConfig& config) {
  config_ = config;
  database_.run("PRAGMA journal_mode = WAL");
  database_.run("BEGIN IMMEDIATE");
  database_.run(kSchema);
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
  for (std::size_t c = 0; c < config.classes.size(); ++c)
    add.bind(static_cast<std::int64_t>(c), std::string_view(config.classes[c])).run();
  database_.run("COMMIT");
}

// Error(data) if it is not ours.
void StreamStore::load() {
  const Location where{path_, 0, 0};
  if (database_.number("PRAGMA application_id") != kApplication)
    throw Error(ErrorCode::data, where,
                "this is a database of another program; give another --state FILE");
  if (const std::int64_t version = database_.number("PRAGMA user_version"); version > kVersion)
    throw Error(ErrorCode::data, where,
                fmt::format("this state was made by a newer crowdfold (version {} of the state, {} is "
                            "known here); use that one",
                            version, kVersion));
  else if (version < kVersion)
    throw Error(ErrorCode::data, where,
                fmt::format("this state was made by an older crowdfold (version {} of the state, {} is "
                            "needed here); export its workers with that one, and import them into a "
                            "new state",
                            version, kVersion));
  const auto real = [&](const char* key) {
    Statement find(database_, "SELECT value FROM config WHERE key = ?");
    if (!find.bind(std::string_view(key)).step())
      throw Error(ErrorCode::data, where, fmt::format("the state is damaged: no '{}' in it", key));
    return find.real(0);
  };
  config_.alpha = real("alpha");
  config_.beta = real("beta");
  config_.half_life = real("half_life");
  config_.forget_closed = real("forget_closed") != 0;
  events_ = static_cast<std::uint64_t>(real("events"));
  closed_tasks_ = static_cast<std::uint64_t>(real("closed_tasks"));
  hard_tasks_ = {real("hard_tasks"), real("judged_tasks")};
  const auto fixed = static_cast<std::size_t>(real("classes"));
  for_classes([&](std::string_view name) {
    if (config_.classes.size() < fixed) config_.classes.emplace_back(name);
  });
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
  put_config("events", static_cast<std::int64_t>(events_));
  put_config("closed_tasks", static_cast<std::int64_t>(closed_tasks_));
  put_config("hard_tasks", hard_tasks_.hard);
  put_config("judged_tasks", hard_tasks_.all);
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

StreamTask StreamStore::task_of(const Statement& row) const {
  StreamTask task;
  task.id = row.integer(0);
  task.name = row.text(1);
  if (!row.is_null(2)) task.estimate = {static_cast<ClassId>(row.integer(2)), row.real(3)};
  task.num_labels = static_cast<std::uint32_t>(row.integer(4));
  if (!row.is_null(5)) task.truth = static_cast<ClassId>(row.integer(5));
  task.closed = row.integer(6) != 0;
  task.reason = row.text(7);
  task.hard = static_cast<std::uint16_t>(row.integer(9));
  if (!read_credits(row.text(8), task.credits) || !read_labels(row.text(10), task.labels))
    damaged(fmt::format("task '{}'", task.name));
  return task;
}

void StreamStore::damaged(const std::string& what) const {
  throw Error(ErrorCode::data, Location{path_, 0, 0},
              fmt::format("the state is damaged: {} cannot be read; restore it from a copy", what));
}

void StreamStore::for_tasks(const char* sql, const std::function<void(StreamTask)>& body) const {
  Statement all(database_, sql);
  while (all.step()) body(task_of(all));
}

std::shared_ptr<StreamStore> open_store_to_read(const std::string& path) {
  if (!std::filesystem::exists(path))
    throw Error(ErrorCode::io, Location{path, 0, 0}, "there is no such file");
  return std::make_shared<StreamStore>(path);
}

std::shared_ptr<StreamStore> open_store(const std::string& path,
                                        const std::function<void(StreamConfig&)>& overrides) {
  return std::make_shared<StreamStore>(path, overrides);
}

}  // namespace crowdfold
