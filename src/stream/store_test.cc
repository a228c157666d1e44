#include "stream/store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/stream.h"
#include "stream/sqlite.h"
#include "watched_stream.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::label;
using testing::Said;
using testing::TemporaryState;
using testing::Watched;

std::string complaint(const std::string& path,
                      const std::function<void(StreamConfig&)>& overrides = {}) {
  return error_of([&] { open_store(path, overrides); }).what();
}

TEST(StreamStore, RefusesASecondWriterButNotAReader) {
  const TemporaryState file;
  const auto first = open_store(file.path());
  EXPECT_NE(complaint(file.path()).find("another stream writes"), std::string::npos);
  EXPECT_EQ(open_store_to_read(file.path())->events(), 0U);
}

TEST(StreamStore, AReaderSeesOneMomentOfAStreamThatGoesOn) {
  const TemporaryState file;
  Watched writer({.labels_per_task = 2}, file.path());
  writer.consume({label("1", "ann", "cat"), label("1", "bob", "dog")});
  writer.stream.commit();
  const std::shared_ptr<StreamStore> store = open_store_to_read(file.path());
  writer.consume({label("2", "cid", "cat"), label("2", "ann", "dog"), label("3", "dan", "cat")});
  writer.stream.commit();
  LiveStream reader(store, {}, {});
  EXPECT_EQ(reader.totals().workers, 2U);
  EXPECT_EQ(reader.totals().open_tasks, 0U);
  EXPECT_TRUE(reader.problems().empty());
  const auto later = open_store_to_read(file.path());
  EXPECT_EQ(LiveStream(later, {}, {}).totals().workers, 4U);
}

TEST(StreamStore, RefusesAnotherConfigurationAndSaysWhich) {
  const TemporaryState file;
  open_store(file.path(), [](StreamConfig& config) { config.classes = {"a", "b"}; });
  EXPECT_NO_THROW(open_store(file.path()));
  EXPECT_NE(
      complaint(file.path(), [](StreamConfig& config) { config.alpha = 3; }).find("alpha = 4, not 3"),
      std::string::npos);
  EXPECT_NE(complaint(file.path(), [](StreamConfig& config) { config.classes = {"a"}; })
                .find("classes = a,b, not a"),
            std::string::npos);
}

TEST(StreamStore, RefusesWhatIsForeignOfAnotherVersionOrDamaged) {
  const TemporaryState text;
  std::ofstream(text.path()) << "task,worker,label\n" << std::string(10'000, 'x');
  EXPECT_NE(complaint(text.path()).find("not a state"), std::string::npos);

  const TemporaryState foreign;
  Database(foreign.path(), Database::Use::write).run("CREATE TABLE something(x)");
  EXPECT_NE(complaint(foreign.path()).find("another program"), std::string::npos);

  const TemporaryState newer;
  open_store(newer.path());
  Database(newer.path(), Database::Use::write).run("PRAGMA user_version = 99");
  EXPECT_NE(complaint(newer.path()).find("newer crowdfold"), std::string::npos);

  const TemporaryState older;
  open_store(older.path());
  Database(older.path(), Database::Use::write).run("PRAGMA user_version = 1");
  EXPECT_NE(complaint(older.path()).find("older crowdfold"), std::string::npos);

  const TemporaryState damaged;
  open_store(damaged.path());
  Database(damaged.path(), Database::Use::write).run("DELETE FROM config WHERE key = 'alpha'");
  EXPECT_NE(complaint(damaged.path()).find("damaged"), std::string::npos);
}

TEST(StreamStore, FindsWhatIsNotWhatTheTasksSay) {
  for (const auto& [damage, complaint] :
       {std::pair("UPDATE workers SET seen = 7", "worker ann has 1 of 7 labels right"),
        std::pair("UPDATE worker_counts SET counts = '[[0,0,7]]'", "confusion of worker ann"),
        std::pair("UPDATE crowd SET count = 7", "crowd's row of class 0"),
        std::pair("UPDATE config SET value = 7 WHERE key = 'hard_tasks'", "7 of 1 tasks are hard"),
        std::pair("UPDATE tasks SET num_labels = 7", "another number of labels"),
        std::pair("UPDATE tasks SET labels = '[[0,0]'", "labels that cannot be read"),
        std::pair("UPDATE tasks SET labels = '[[9,0]]'", "worker or class that is not there")}) {
    const TemporaryState file;
    {
      Watched watched({.labels_per_task = 1}, file.path());
      watched.consume({label("t", "ann", "cat")});
      watched.stream.commit();
    }
    Database(file.path(), Database::Use::write).run(damage);
    Watched again({}, file.path());
    ASSERT_FALSE(again.stream.problems().empty()) << damage;
    EXPECT_NE(again.stream.problems()[0].find(complaint), std::string::npos)
        << damage << ": " << again.stream.problems()[0];
  }
}

TEST(StreamStore, ReadsAheadWhileItIsWrittenTo) {
  const TemporaryState file;
  std::vector<Said> events;
  std::vector<Expected> expected = {{"not there", "nor this", true}};
  for (int i = 0; i < 600; ++i) {
    events.push_back(label(std::to_string(i % 200), "w" + std::to_string(i % 7),
                           i % 3 == 0 ? "cat" : "dog", "event-" + std::to_string(i)));
    expected.push_back({events.back().task, i % 2 == 0 ? events.back().id : "", i % 3 == 0});
  }
  const std::shared_ptr<StreamStore> store = open_store(file.path());
  LiveStream stream(store, {.labels_per_task = 2}, {});
  for (std::size_t i = 0; i < events.size(); ++i) {
    stream.consume(events[i].event());
    if (i >= 500) {
      store->read_ahead(expected);
      stream.commit();
    }
  }
  EXPECT_TRUE(stream.problems().empty());
  store->read_ahead(expected);  // and is given up in the middle of it
}

// Confusions of few workers are fetched at the start, of many one by one.
TEST(StreamStore, BringsConfusionsOfFewAndOfMany) {
  const std::vector<Said> before = {label("1", "ann", "cat"), label("1", "bob", "cat"),
                                    label("2", "ann", "dog"), label("2", "bob", "cat"),
                                    label("3", "ann", "dog"), label("3", "bob", "cat")};
  const std::vector<Said> after = {label("4", "ann", "dog"), label("4", "bob", "cat"),
                                   label("2", "bob", "dog")};
  for (const int others : {0, 100'000}) {
    const std::shared_ptr<StreamStore> store = open_store("");
    std::vector<double> found;
    LiveStream first(store, {.labels_per_task = 2}, {});
    for (int i = 0; i < others; ++i) first.remember("other-" + std::to_string(i), {1, 2});
    for (const Said& said : before) first.consume(said.event());
    first.commit();
    LiveStream again(store, {.labels_per_task = 2},
                     {[&](const TaskUpdate& update) { found.push_back(update.confidence); }});
    for (const Said& said : after) again.consume(said.event());  // and is not committed
    Watched undisturbed({.labels_per_task = 2});
    for (int i = 0; i < others; ++i) undisturbed.stream.remember("other-" + std::to_string(i), {1, 2});
    undisturbed.consume(before);
    undisturbed.told.clear();
    undisturbed.consume(after);
    std::vector<double> expected;
    for (const Watched::Told& told : undisturbed.told) expected.push_back(told.confidence);
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(found, expected) << others;
  }
}

TEST(StreamStore, EventsTogetherAreAsOneByOne) {
  std::vector<Said> said;
  for (int i = 0; i < 12'000; ++i)
    said.push_back(
        label(std::to_string(i * 7 % 1000), "w" + std::to_string(i % 13), i % 3 == 0 ? "cat" : "dog"));
  std::vector<StreamEvent> events;
  for (const Said& one : said) events.push_back(one.event());
  Watched together({.labels_per_task = 3});
  together.stream.consume(events);
  Watched one_by_one({.labels_per_task = 3});
  one_by_one.consume(said);
  EXPECT_EQ(together.counts(), one_by_one.counts());
  EXPECT_EQ(together.told.size(), one_by_one.told.size());
  EXPECT_EQ(together.stream.totals().events, said.size());
}

// Files may not grow beyond a size meanwhile, as on a disk that is full.
class FullDisk {
 public:
  explicit FullDisk(std::uintmax_t size) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit full{size, limit_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &full);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, signal_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*signal_)(int);
  rlimit limit_{};
};

TEST(StreamStore, AStreamWhoseStoreFailedDoesNotGoOn) {
  const auto io_error = [](const auto& action) {
    const Error error = error_of(action);
    EXPECT_EQ(error.code(), ErrorCode::io);
    return std::string(error.what());
  };
  const TemporaryState file;
  {
    Watched watched({.labels_per_task = 1}, file.path());
    watched.consume({label("kept", "ann", "cat")});
    watched.stream.commit();
    EXPECT_THROW(watched.consume({label("", "ann", "cat")}), Error);  // this does no harm
    {
      const FullDisk full(std::filesystem::file_size(file.path() + "-wal"));
      for (int i = 0; i < 1'000; ++i) watched.consume({label(std::to_string(i), "ann", "cat")});
      EXPECT_NE(io_error([&] { watched.stream.commit(); }).find("safe"), std::string::npos);
    }
    const std::string later = io_error([&] { watched.stream.commit(); });
    EXPECT_NE(later.find("failed before"), std::string::npos);
    EXPECT_NE(later.find("disk"), std::string::npos) << later;  // and why
    EXPECT_NE(io_error([&] { watched.consume({label("more", "ann", "cat")}); }).find("failed before"),
              std::string::npos);
  }
  Watched again({}, file.path());
  EXPECT_EQ(again.stream.totals().events, 1U);
  EXPECT_EQ(again.stream.totals().closed_tasks, 1U);
  EXPECT_TRUE(again.stream.problems().empty());
}

TEST(StreamStore, EventsBeforeOneThatMeetsDamageAreKept) {
  const TemporaryState file;
  {
    Watched watched({.labels_per_task = 1}, file.path());
    watched.consume({label("bad", "ann", "cat"), label("good", "ann", "cat")});
    watched.stream.commit();
  }
  Database(file.path(), Database::Use::write)
      .run("UPDATE tasks SET labels = '[[7,0]]' WHERE name = 'bad'");
  const std::vector<Said> said = {label("new", "bob", "cat", "e1"), label("bad", "cid", "cow", "e2"),
                                  label("other", "bob", "cat", "e3")};
  {
    Watched watched({}, file.path());
    const std::vector<StreamEvent> events = {said[0].event(), said[1].event(), said[2].event()};
    const Error error = error_of([&] { watched.stream.consume(events); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_NE(std::string(error.what()).find("task 'bad'"), std::string::npos) << error.what();
    watched.stream.commit();
  }
  Watched again({}, file.path());
  EXPECT_EQ(again.stream.totals().events, 3U);
  EXPECT_EQ(again.stream.totals().open_tasks, 1U);
  EXPECT_EQ(again.stream.totals().workers, 2U);  // cid came with the event that was left out,
  EXPECT_EQ(again.stream.totals().classes, 1U);  // and so did cow
  again.stream.consume(said[0].event());
  EXPECT_EQ(again.stream.totals().repeated, 1U);
  EXPECT_THROW(again.stream.consume(said[1].event()), Error);  // its id is not taken for known
}

// A state with something in every table, as bytes.
std::string small_state(const std::function<void(StreamConfig&)>& overrides = {}) {
  const TemporaryState file;
  {
    Watched watched({.labels_per_task = 3}, file.path(), overrides);
    watched.stream.remember("ann", {2.5, 4});
    for (int i = 0; i < 60; ++i)
      watched.consume({label("t" + std::to_string(i % 17), "w" + std::to_string(i % 7),
                             i % 3 == 0 ? "cat" : "dog", "e" + std::to_string(i))});
    watched.consume({{StreamEvent::Kind::truth, "t1", "", "dog", ""},
                     {StreamEvent::Kind::truth, "alone", "", "cow", ""},
                     label("open", "ann", "cat"),
                     label("open", "w1", "dog"),
                     label("late", "ann", "cow")});
    watched.stream.commit();
  }
  return testing::read_file(file.path());
}
void write_bytes(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Returns how many rows were altered.
int alter(const std::string& path, const std::string& sql) {
  const Database database(path, Database::Use::write);
  database.run("PRAGMA synchronous = OFF");
  database.run(sql.c_str());
  return database.changes();
}

// What `state check` finds.
std::vector<std::string> found_in(const std::string& path) {
  try {
    return LiveStream(open_store_to_read(path), {}, {}).problems();
  } catch (const Error& error) {
    return {error.what()};
  }
}

// With a number or text by which a row is found.
constexpr std::array kTables = {std::pair("config", "key"),
                                std::pair("classes", "id"),
                                std::pair("workers", "id"),
                                std::pair("worker_counts", "worker"),
                                std::pair("crowd", "truth * 100 + label"),
                                std::pair("tasks", "id"),
                                std::pair("events", "id")};

// Every row, as text.
std::vector<std::string> rows_in(const std::string& path) {
  const Database database(path, Database::Use::read);
  std::vector<std::string> rows;
  for (const auto& [table, key] : kTables) {
    Statement all(database, fmt::format("SELECT * FROM {}", table).c_str());
    while (all.step()) {
      std::string row = table;
      for (int column = 0; column < all.columns(); ++column)
        row += fmt::format("|{} {}", all.type(column), all.text(column));
      rows.push_back(row);
    }
  }
  return rows;
}

// The ways to alter a state in one place: each column of the first and the last row of each table, and
// rows that are lost.
std::vector<std::string> edits(const std::string& path) {
  const Database database(path, Database::Use::read);
  std::vector<std::string> all;
  for (const auto& [table, key] : kTables) {
    std::vector<std::string> columns;
    Statement info(database, fmt::format("SELECT name FROM pragma_table_info('{}')", table).c_str());
    while (info.step()) columns.emplace_back(info.text(0));
    for (const char* const end : {"min", "max"}) {
      const std::string row = fmt::format("{0} = (SELECT {1}({0}) FROM {2})", key, end, table);
      all.push_back(fmt::format("DELETE FROM {} WHERE {}", table, row));
      for (const std::string& column : columns)
        all.push_back(fmt::format(
            "UPDATE {0} SET {1} = CASE typeof({1}) WHEN 'integer' THEN {1} + 1000 WHEN 'real' "
            "THEN {1} + 0.25 WHEN 'text' THEN {1} || '1' ELSE 1 END WHERE {2}",
            table, column, row));
    }
  }
  return all;
}

TEST(StreamStore, FindsEveryValueThatWasAltered) {
  for (const int kind : {0, 1, 2, 3}) {
    const std::string whole = small_state([&](StreamConfig& config) {
      config.half_life = kind % 2 == 0 ? 0 : 5;
      config.forget_closed = kind >= 2;
    });
    const TemporaryState file;
    write_bytes(file.path(), whole);
    EXPECT_EQ(found_in(file.path()), std::vector<std::string>());
    std::vector<std::string> all = edits(file.path());
    for (const char* const column :
         {"credits", "labels", "confidence", "estimate", "truth", "reason", "hard"})
      for (const char* const which : {"closed", "NOT closed"})
        all.push_back(
            fmt::format("UPDATE tasks SET {0} = CASE typeof({0}) WHEN 'text' THEN replace({0} || "
                        "'', '1', '0') || ' ' WHEN 'null' THEN 0 ELSE {0} / 2.0 + 0.125 END WHERE "
                        "id = (SELECT max(id) FROM tasks WHERE {1})",
                        column, which));
    for (const std::string& edit : all) {
      write_bytes(file.path(), whole);
      ASSERT_GT(alter(file.path(), edit), 0) << edit;
      EXPECT_FALSE(found_in(file.path()).empty()) << kind << ": " << edit;
    }
  }
}

// Goes through everything that a state can be used for. What it meets, it may only throw as an Error.
void use_up(const std::string& path) {
  const auto attempt = [](const auto& action) {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_NE(error.code(), ErrorCode::internal);
      EXPECT_STRNE(error.what(), "");
    }
  };
  attempt([&] {
    LiveStream stream(open_store_to_read(path), {}, {});
    stream.workers();
    stream.next_tasks(5);
    stream.totals();
  });
  attempt([&] { LiveStream(open_store(""), {}, {}).merge(*open_store_to_read(path)); });
  attempt([&] {
    Watched watched({.labels_per_task = 2}, path);
    for (int i = 0; i < 20; ++i)
      attempt([&] {
        watched.consume({label("t" + std::to_string(i), "w" + std::to_string(i % 9), "cat"),
                         {StreamEvent::Kind::retract, "t" + std::to_string(i), "w1", "", ""}});
      });
    attempt([&] { watched.stream.rejudge(); });
    watched.stream.close_all();
    watched.stream.commit();
  });
}

TEST(StreamStore, TrustsNothingInAFile) {
  const std::string whole = small_state();
  const TemporaryState file;
  for (const char* const edit :
       {"UPDATE tasks SET estimate = 60000",
        "UPDATE tasks SET estimate = -5",
        "UPDATE tasks SET truth = 60000",
        "UPDATE tasks SET labels = '[[4000000000,0],[4000000001,0],[4000000002,1]]'",
        "UPDATE tasks SET labels = '[[0,60000],[1,0],[2,0]]'",
        "UPDATE tasks SET credits = '{\"60000\":1024}'",
        "UPDATE tasks SET credits = '{\"0\":65535}'",
        "UPDATE tasks SET hard = 65536",
        "UPDATE tasks SET name = CAST(name AS BLOB)",
        "UPDATE tasks SET confidence = 9e999",
        "UPDATE tasks SET id = 9223372036854775807 WHERE name = 't1'",
        "UPDATE tasks SET id = -5 WHERE name = 't1'",
        "UPDATE tasks SET num_labels = -1",
        "UPDATE tasks SET closed = 2",
        "DELETE FROM classes",
        "DELETE FROM classes WHERE id = 1",
        "DELETE FROM workers",
        "DELETE FROM workers WHERE id = 2",
        "UPDATE workers SET id = id + 1000",
        "UPDATE classes SET id = id + 1000",
        "UPDATE workers SET seen = 9e999",
        "UPDATE workers SET correct = -1e9",
        "UPDATE workers SET ticks = -1",
        "UPDATE crowd SET count = -1e300",
        "UPDATE crowd SET label = label + 65000",
        "UPDATE worker_counts SET counts = '[[0,0,nan]]'",
        "UPDATE worker_counts SET counts = '[[0,0,inf]]'",
        "UPDATE worker_counts SET counts = '[[1,1,2],[0,0,2]]'",
        "UPDATE worker_counts SET counts = '[[65535,65535,1]]'",
        "UPDATE worker_counts SET part = part + 1",
        "UPDATE config SET value = -1",
        "UPDATE config SET value = 1e300",
        "UPDATE config SET value = 'text'",
        "UPDATE config SET value = NULL",
        "UPDATE config SET value = 1000000000000000000 WHERE key = 'classes'",
        "UPDATE config SET value = 9e999 WHERE key = 'alpha'",
        "DROP TABLE events",
        "DROP TABLE tasks",
        "DROP VIEW labels; ALTER TABLE tasks ADD COLUMN more"}) {
    write_bytes(file.path(), whole);
    alter(file.path(), edit);
    EXPECT_FALSE(found_in(file.path()).empty()) << edit;
    use_up(file.path());
    std::filesystem::remove(file.path() + "-wal");
  }
}

TEST(StreamStore, FindsRowsThatNoScanMeets) {
  for (const char* const edit : {"UPDATE tasks SET closed = 7 WHERE closed = 1",
                                 "INSERT INTO worker_counts VALUES(9, 0, '[[0,0,1]]')"}) {
    const TemporaryState file;
    {
      Watched stream({.labels_per_task = 1}, file.path());
      stream.consume({label("1", "ann", "cat")});
      stream.stream.commit();
    }
    Database(file.path(), Database::Use::write).run(edit);
    const std::vector<std::string> found = open_store_to_read(file.path())->problems();
    const auto tells = [](const std::string& problem) {
      return problem.find("neither open nor closed") != problem.npos ||
             problem.find("workers that are not there") != problem.npos;
    };
    EXPECT_TRUE(std::any_of(found.begin(), found.end(), tells)) << edit;
  }
}

TEST(StreamStore, WritesNothingThatItWouldNotRead) {
  for (const char* const edit : {"UPDATE workers SET seen = 1e16", "UPDATE crowd SET count = 1e16",
                                 "UPDATE config SET value = (1 << 62) - 1 WHERE key = 'events'",
                                 "UPDATE config SET value = (1 << 62) - 1 WHERE key = 'closed_tasks'",
                                 "UPDATE config SET value = 1e16 WHERE key = 'judged_tasks'"}) {
    const TemporaryState one;
    const TemporaryState other;
    for (const std::string& path : {one.path(), other.path()}) {
      Watched stream({.labels_per_task = 2}, path);
      stream.consume({label("1", "ann", "cat"), label("1", "bob", "dog")});
      stream.stream.commit();
    }
    for (const std::string& path : {one.path(), other.path()})
      Database(path, Database::Use::write).run(edit);
    try {
      LiveStream stream(open_store(one.path()), {}, {});
      stream.merge(*open_store_to_read(other.path()));
      stream.commit();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::data) << edit;
    }
    EXPECT_NO_THROW(LiveStream(open_store_to_read(one.path()), {}, {}).workers()) << edit;
  }
  for (const char* const edit : {"UPDATE workers SET seen = 1e17", "UPDATE crowd SET count = 1e300",
                                 "UPDATE config SET value = 1e300 WHERE key = 'alpha'",
                                 "UPDATE worker_counts SET counts = '[[0,0,1e300]]'"}) {
    const TemporaryState file;
    {
      Watched stream({.labels_per_task = 1}, file.path());
      stream.consume({label("1", "ann", "cat")});
      stream.stream.commit();
    }
    Database(file.path(), Database::Use::write).run(edit);
    EXPECT_EQ(error_of([&] { LiveStream(open_store(file.path()), {}, {}).problems(); }).code(),
              ErrorCode::data)
        << edit;
  }
}

TEST(StreamStore, RunsNoTriggersOfAFile) {
  const TemporaryState file;
  write_bytes(file.path(), small_state());
  Database(file.path(), Database::Use::write)
      .run("CREATE TRIGGER evil AFTER UPDATE ON tasks BEGIN DELETE FROM events; END");
  {
    Watched watched({}, file.path());
    watched.consume({label("t1", "w1", "cat")});
    watched.stream.commit();
  }
  EXPECT_EQ(found_in(file.path()), std::vector<std::string>());
}

// Damage is found, or it is where nothing is: then every row is as it was.
TEST(StreamStore, FindsDamagedBytesAndNeverFallsOverThem) {
  const std::string whole = small_state();
  const TemporaryState file;
  write_bytes(file.path(), whole);
  const std::vector<std::string> rows = rows_in(file.path());
  Random random(1);
  for (int i = 0; i < 150; ++i) {
    std::string bytes = whole;
    for (std::uint64_t flips = 1 + random.below(4); flips > 0; --flips)
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 + random.below(255));
    write_bytes(file.path(), bytes);
    if (found_in(file.path()).empty()) {
      EXPECT_EQ(rows_in(file.path()), rows) << i;
    }
    use_up(file.path());
    for (const char* const beside : {"-wal", "-shm", "-journal"})
      std::filesystem::remove(file.path() + beside);
  }
}

// Of the version before: without a checksum, and with histories as they were at tick 0.
TEST(StreamStore, TakesAStateOfVersion3Over) {
  for (const double half_life : {0.0, 5.0}) {
    const TemporaryState file;
    write_bytes(file.path(), small_state([&](StreamConfig& config) { config.half_life = half_life; }));
    const auto before = Watched({}, file.path()).counts();
    {
      const Database database(file.path(), Database::Use::write);
      database.run("DELETE FROM config WHERE key = 'checksum'");
      database.run("PRAGMA user_version = 3");
      if (half_life > 0)
        database.run(
            "UPDATE workers SET history_correct = history_correct * pow(2, ticks / 5.0), history_seen = "
            "history_seen * pow(2, ticks / 5.0)");
    }
    EXPECT_EQ(found_in(file.path()), std::vector<std::string>());
    EXPECT_EQ(Watched({}, file.path()).counts(), before);
    EXPECT_EQ(found_in(file.path()), std::vector<std::string>());
    EXPECT_EQ(Database(file.path(), Database::Use::read).number("PRAGMA user_version"), 4);
  }
}

TEST(StreamStore, CountsEventsThatChangedNothing) {
  const TemporaryState file;
  {
    Watched watched({}, file.path());
    watched.consume({{StreamEvent::Kind::close, "none", "", "", ""}});
    watched.stream.commit();
  }
  EXPECT_EQ(Watched({}, file.path()).stream.totals().events, 1U);
}

TEST(StreamStore, WhatWasNotCommittedIsNotThere) {
  const TemporaryState file;
  {
    Watched watched({.labels_per_task = 1}, file.path());
    watched.consume({label("t", "ann", "cat")});
    watched.stream.commit();
    watched.consume({label("u", "bob", "cat")});
  }
  EXPECT_EQ(Watched({}, file.path()).stream.totals().events, 1U);
}

}  // namespace
}  // namespace crowdfold
