#include "stream/store.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>

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
    EXPECT_NE(io_error([&] { watched.stream.commit(); }).find("failed before"), std::string::npos);
    EXPECT_NE(io_error([&] { watched.consume({label("more", "ann", "cat")}); }).find("failed before"),
              std::string::npos);
  }
  Watched again({}, file.path());
  EXPECT_EQ(again.stream.totals().events, 1U);
  EXPECT_EQ(again.stream.totals().closed_tasks, 1U);
  EXPECT_TRUE(again.stream.problems().empty());
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
