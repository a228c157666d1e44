#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <map>
#include <set>

#include "crowdfold/error.h"
#include "crowdfold/stream.h"
#include "stream/sqlite.h"
#include "stream/store.h"
#include "support.h"

namespace crowdfold {
namespace {

using Kind = StreamEvent::Kind;

// An event that owns its text.
struct Said {
  Kind kind = Kind::label;
  std::string task;
  std::string worker;
  std::string label;
  std::string id;
  StreamEvent event() const { return {kind, task, worker, label, id}; }
};
Said label(std::string task, std::string worker, std::string answer, std::string id = "") {
  return {Kind::label, std::move(task), std::move(worker), std::move(answer), std::move(id)};
}

// A state that is gone afterwards.
class TemporaryFile {
 public:
  std::string path() const { return folder_ / "state.db"; }

 private:
  testing::TempDir folder_;
};

// A stream with what it told.
struct Watched {
  struct Told {
    std::string task;
    std::string label;
    double confidence;
    std::uint32_t labels;
    bool closed;
    std::string reason;
  };
  std::vector<Told> told;
  std::vector<std::string> alarms;
  std::vector<std::string> refusals;
  LiveStream stream;

  explicit Watched(const StopRule& stop = {}, const std::string& path = "",
                   const std::function<void(StreamConfig&)>& wish = {})
      : stream(open_store(path, wish), stop,
               {[this](const TaskUpdate& u) {
                  told.push_back({std::string(u.task), std::string(u.label), u.confidence, u.labels,
                                  u.closed, std::string(u.reason)});
                },
                [this](const WorkerSummary& w) { alarms.emplace_back(w.worker); },
                [this](const StreamEvent&, const std::string& why) { refusals.push_back(why); }}) {}
  void take(const std::vector<Said>& events) {
    for (const Said& said : events) stream.take(said.event());
  }
  std::map<std::string, WorkerCounts> counts() const {
    std::map<std::string, WorkerCounts> all;
    for (const WorkerSummary& worker : stream.workers()) all[std::string(worker.worker)] = worker.counts;
    return all;
  }
};

void expect_counts_of_closed_tasks(LiveStream& stream) {
  const std::vector<WorkerCounts> counts = stream.recount();
  const std::vector<WorkerSummary> workers = stream.workers();
  ASSERT_EQ(counts.size(), workers.size());
  for (std::size_t w = 0; w < workers.size(); ++w) {
    EXPECT_NEAR(workers[w].counts.seen, counts[w].seen, 1e-9) << workers[w].worker;
    EXPECT_NEAR(workers[w].counts.correct, counts[w].correct, 1e-9) << workers[w].worker;
  }
}

void two_to_one(StreamConfig& config) {
  config.alpha = 4;
  config.beta = 2;
}

TEST(LiveStream, AnOpenTaskCountsForNobody) {
  Watched watched;
  watched.take({label("t", "ann", "cat"), label("t", "bob", "cat")});
  EXPECT_EQ(watched.counts()["ann"], WorkerCounts{});
  EXPECT_EQ(watched.stream.totals().open_tasks, 1U);
}

TEST(LiveStream, ATaskClosesWithSoManyLabels) {
  Watched watched({.labels_per_task = 3});
  watched.take({label("t", "ann", "cat"), label("t", "bob", "dog"), label("t", "cid", "cat")});
  ASSERT_FALSE(watched.told.empty());
  EXPECT_TRUE(watched.told.back().closed);
  EXPECT_EQ(watched.told.back().reason, "labels");
  EXPECT_EQ(watched.told.back().label, "cat");
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{1, 1}));
  EXPECT_EQ(watched.counts()["bob"], (WorkerCounts{0, 1}));
  EXPECT_EQ(watched.stream.totals().closed_tasks, 1U);
}

TEST(LiveStream, ATaskClosesByConfidenceButNotBeforeSoManyLabels) {
  // A new worker is right by 2 : 1, and a tenth of tasks is too hard for everybody.
  Watched watched({.confidence = .7, .min_labels = 3}, "", two_to_one);
  watched.take({{Kind::truth, "gold", "", "dog", ""}, {Kind::truth, "other", "", "cat", ""}});
  watched.take({label("t", "ann", "cat"), label("t", "bob", "cat")});
  EXPECT_FALSE(watched.told.back().closed);
  watched.take({label("t", "cid", "cat")});
  EXPECT_TRUE(watched.told.back().closed);
  EXPECT_EQ(watched.told.back().reason, "confidence");
  EXPECT_NEAR(watched.told.back().confidence, 67.0 / 78, 1e-12);
}

TEST(LiveStream, AnUncertainTaskClosesAtTheMostLabels) {
  Watched watched({.confidence = .99, .min_labels = 1, .max_labels = 2});
  watched.take({label("t", "ann", "cat")});
  EXPECT_FALSE(watched.told.back().closed);  // also while no other class was seen
  watched.take({label("t", "bob", "dog")});
  EXPECT_EQ(watched.told.back().reason, "most");
}

TEST(LiveStream, TellsWhenAnAnswerChanges) {
  Watched watched;
  watched.take({label("t", "ann", "cat"), label("t", "bob", "cat"), label("t", "cid", "dog")});
  ASSERT_EQ(watched.told.size(), 1U);
  watched.take({label("t", "dan", "dog"), label("t", "eve", "dog")});
  ASSERT_EQ(watched.told.size(), 2U);
  EXPECT_EQ(watched.told.back().label, "dog");
}

TEST(LiveStream, AClosedTaskIsJudgedAgainWhenALabelIsTakenBack) {
  Watched watched({.labels_per_task = 3});
  watched.take({label("t", "ann", "cat"), label("t", "bob", "cat"), label("t", "cid", "dog"),
                label("t", "dan", "dog")});
  watched.take({{Kind::retract, "t", "ann", "", ""}});
  EXPECT_EQ(watched.told.back().label, "dog");
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{0, 0}));
  EXPECT_EQ(watched.counts()["bob"], (WorkerCounts{0, 1}));
  EXPECT_EQ(watched.counts()["cid"], (WorkerCounts{1, 1}));
}

TEST(LiveStream, ALateTruthPutsTheCountsRight) {
  Watched watched({.labels_per_task = 2});
  watched.take({label("t", "ann", "cat"), label("t", "bob", "cat")});
  watched.stream.commit();
  watched.take({{Kind::truth, "t", "", "dog", ""}});
  EXPECT_EQ(watched.told.back().label, "dog");
  EXPECT_EQ(watched.told.back().confidence, 1);
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{0, 1}));
}

TEST(LiveStream, LabelsOnAKnownTruthCountAtOnce) {
  for (const bool forget : {false, true}) {
    Watched watched({}, "", [&](StreamConfig& config) { config.forget_closed = forget; });
    watched.take({{Kind::truth, "gold", "", "cat", ""}, label("gold", "ann", "cat")});
    watched.stream.commit();
    watched.take({label("gold", "bob", "dog")});
    EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{1, 1}));
    EXPECT_EQ(watched.counts()["bob"], (WorkerCounts{0, 1}));
  }
}

TEST(LiveStream, ASecondLabelOfAWorkerReplacesTheFirst) {
  Watched watched({.labels_per_task = 2});
  watched.take({label("t", "ann", "cat"), label("t", "ann", "dog"), label("t", "bob", "dog")});
  EXPECT_EQ(watched.told.back().labels, 2U);
  EXPECT_EQ(watched.told.back().label, "dog");
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{1, 1}));
}

TEST(LiveStream, AnEventWithAnIdSeenBeforeIsIgnored) {
  Watched watched({.labels_per_task = 2});
  watched.take({label("t", "ann", "cat", "1"), label("t", "bob", "cat", "1")});
  EXPECT_EQ(watched.stream.totals().repeated, 1U);
  EXPECT_EQ(watched.stream.totals().open_tasks, 1U);
}

TEST(LiveStream, RefusesWhatCannotBeAndChangesNothing) {
  Watched watched({.labels_per_task = 1}, "", [](StreamConfig& config) {
    config.classes = {"cat", "dog"};
    config.forget_closed = true;
  });
  watched.take({label("t", "ann", "cat")});
  const auto before = watched.counts();
  watched.take({{Kind::retract, "t", "ann", "", ""},
                {Kind::retract, "none", "ann", "", ""},
                {Kind::truth, "t", "", "dog", ""},
                label("t", "bob", "cat"),
                label("u", "bob", "cow"),
                {Kind::close, "none", "", "", ""}});
  EXPECT_EQ(watched.refusals.size(), 6U);
  EXPECT_NE(watched.refusals[0].find("forgotten"), std::string::npos);
  EXPECT_NE(watched.refusals[4].find("'cow'"), std::string::npos);
  EXPECT_EQ(watched.counts(), before);
  EXPECT_EQ(watched.stream.totals().open_tasks, 0U);
}

TEST(LiveStream, WarnsOnceOfAWorkerWhoFallsBelowALine) {
  Watched watched;
  watched.stream.set_alarm(.6);
  for (int t = 0; t < 40; ++t) {
    const std::string task = "t" + std::to_string(t);
    watched.take({{Kind::truth, task, "", "cat", ""},
                  label(task, "good", "cat"),
                  label(task, "bad", t % 4 == 0 ? "cat" : "dog")});
  }
  EXPECT_EQ(watched.alarms, std::vector<std::string>{"bad"});
}

TEST(LiveStream, OldLabelsFadeWithAHalfLife) {
  Watched watched({}, "", [](StreamConfig& config) { config.half_life = 10; });
  const auto answer = [&](int t, const char* what) {
    const std::string task = "t" + std::to_string(t);
    watched.take({{Kind::truth, task, "", "cat", ""}, label(task, "ann", what)});
  };
  for (int t = 0; t < 200; ++t) answer(t, "cat");
  const double most = 1 / (1 - std::exp2(-.1));
  EXPECT_NEAR(watched.counts()["ann"].seen, most, 1e-3);
  for (int t = 200; t < 210; ++t) answer(t, "dog");
  EXPECT_NEAR(watched.counts()["ann"].correct, most / 2, 1e-3);
  expect_counts_of_closed_tasks(watched.stream);
}

TEST(LiveStream, RanksOpenTasksByWhatALabelWouldBring) {
  Watched watched({}, "", two_to_one);
  watched.take({{Kind::truth, "gold", "", "dog", ""}});
  watched.take({label("sure", "a", "cat"), label("sure", "b", "cat"), label("sure", "c", "cat"),
                label("torn", "a", "cat"), label("torn", "b", "dog"), label("one", "a", "cat")});
  const std::vector<OpenTask> next = watched.stream.next_tasks(2);
  ASSERT_EQ(next.size(), 2U);
  EXPECT_EQ(next[0].task, "torn");
  EXPECT_GT(next[0].gain, next[1].gain);
  // Even odds become 2 : 1, whatever the label.
  EXPECT_NEAR(next[0].gain, 2.0 / 3 - .5, 1e-12);
}

std::vector<Said> some_events(bool ids) {
  const int count = *rc::gen::inRange(1, 120);
  std::vector<Said> events;
  for (int i = 0; i < count; ++i) {
    Said said = label("t" + std::to_string(*rc::gen::inRange(0, 6)),
                      "w" + std::to_string(*rc::gen::inRange(0, 5)),
                      "c" + std::to_string(*rc::gen::inRange(0, 3)));
    const int kind = *rc::gen::inRange(0, 12);
    said.kind = kind == 0   ? Kind::truth
                : kind == 1 ? Kind::close
                : kind < 4  ? Kind::retract
                            : Kind::label;
    if (ids) said.id = std::to_string(i);
    events.push_back(said);
  }
  return events;
}

RC_GTEST_PROP(LiveStreamProperty, CountsAreThoseOfTheClosedTasksAfterEveryEvent, ()) {
  const double half_life = *rc::gen::element(0.0, 3.0);
  Watched watched({.labels_per_task = 3}, "",
                  [&](StreamConfig& config) { config.half_life = half_life; });
  for (const Said& said : some_events(false)) {
    watched.stream.take(said.event());
    if (*rc::gen::inRange(0, 4) == 0) watched.stream.commit();
    expect_counts_of_closed_tasks(watched.stream);
    RC_ASSERT(!::testing::Test::HasFailure());
  }
  RC_ASSERT(watched.stream.problems().empty());
}

// What is in a state, table by table.
std::vector<std::string> content(const std::string& path) {
  const Database database(path, Database::Use::read);
  std::vector<std::string> rows;
  for (const char* table : {"config", "classes", "workers", "worker_counts", "confusion", "crowd",
                            "tasks", "labels", "events"}) {
    Statement all(database, (std::string("SELECT * FROM ") + table).c_str());
    while (all.step()) {
      std::string row = table;
      for (int column = 0; column < all.columns(); ++column)
        row += "|" + (all.is_null(column) ? "null" : std::string(all.text(column)));
      rows.push_back(row);
    }
  }
  return rows;
}

RC_GTEST_PROP(LiveStreamProperty, GoesOnFromWhereItWasCommitted, ()) {
  const std::vector<Said> events = some_events(true);
  const TemporaryFile whole_file;
  const TemporaryFile parts_file;
  {
    Watched whole({.labels_per_task = 3}, whole_file.path());
    whole.take(events);
    whole.stream.commit();
  }
  auto parts = std::make_unique<Watched>(StopRule{.labels_per_task = 3}, parts_file.path());
  for (std::size_t i = 0; i < events.size(); ++i) {
    parts->stream.take(events[i].event());
    if (*rc::gen::inRange(0, 10) != 0) continue;
    // What was not committed is lost, and comes again.
    const bool commits = *rc::gen::arbitrary<bool>();
    if (commits) parts->stream.commit();
    parts.reset();
    parts = std::make_unique<Watched>(StopRule{.labels_per_task = 3}, parts_file.path());
    if (!commits) {
      for (std::size_t again = 0; again <= i; ++again) parts->stream.take(events[again].event());
    }
  }
  parts->stream.commit();
  parts.reset();
  RC_ASSERT(content(whole_file.path()) == content(parts_file.path()));
}

RC_GTEST_PROP(LiveStreamProperty, StatesOfDifferentTasksAddInAnyOrder, ()) {
  const TemporaryFile files[3];
  std::map<std::string, WorkerCounts> sum;
  for (int part = 0; part < 3; ++part) {
    Watched watched({.labels_per_task = 2}, files[part].path());
    for (Said said : some_events(false)) {
      said.task = std::to_string(part) + said.task;
      watched.stream.take(said.event());
    }
    watched.stream.commit();
    for (const auto& [name, counts] : watched.counts()) sum[name] += counts;
  }
  for (const auto& order : {std::vector<int>{0, 1, 2}, std::vector<int>{2, 0, 1}}) {
    Watched merged;
    for (const int part : order) merged.stream.merge(*open_store_to_read(files[part].path()));
    RC_ASSERT(merged.counts() == sum);
    RC_ASSERT(merged.stream.problems().empty());
  }
}

TEST(LiveStream, StatesThatForgotTheirTasksAddUpToo) {
  const auto forget = [](StreamConfig& config) { config.forget_closed = true; };
  const auto events = [](int part) {
    std::vector<Said> all;
    for (int t = 0; t < 30; ++t) {
      const std::string task = std::to_string(part) + "-" + std::to_string(t);
      all.push_back(label(task, "ann", t % 2 == 0 ? "cat" : "dog"));
      all.push_back(label(task, "bob", t % 3 == 0 ? "cat" : "dog"));
      all.push_back(label(task, "cid", t % 2 == 0 ? "cat" : "dog"));
    }
    return all;
  };
  const TemporaryFile files[2];
  for (int part = 0; part < 2; ++part) {
    Watched watched({.labels_per_task = 3}, files[part].path(), forget);
    watched.take(events(part));
    watched.stream.commit();
  }
  const auto confidence_of_a_task = [](Watched& watched) {
    watched.take({label("new", "ann", "cat"),
                  label("new", "bob", "dog"),
                  label("new", "cid", "cat"),
                  {Kind::close, "new", "", "", ""}});
    return watched.told.back().confidence;
  };
  double told[2];
  for (const int first : {0, 1}) {
    Watched merged({}, "", forget);
    merged.stream.merge(*open_store_to_read(files[first].path()));
    merged.stream.merge(*open_store_to_read(files[1 - first].path()));
    EXPECT_EQ(merged.counts()["bob"].seen, 60);
    told[first] = confidence_of_a_task(merged);
  }
  EXPECT_EQ(told[0], told[1]);
  Watched one({}, files[0].path());
  Watched copy({}, "", forget);
  copy.stream.merge(*open_store_to_read(files[0].path()));
  EXPECT_EQ(copy.stream.totals().hard_share, one.stream.totals().hard_share);
  EXPECT_NE(told[0], confidence_of_a_task(one));
}

TEST(LiveStream, ClosedTasksMayBeJudgedAgainWithWhatIsKnownNow) {
  Watched watched({.labels_per_task = 2});
  watched.take({label("early", "bad", "dog"), label("early", "good", "cat")});
  ASSERT_EQ(watched.told.back().label, "dog");  // a tie: the class seen first
  for (int t = 0; t < 20; ++t) {
    const std::string task = "t" + std::to_string(t);
    watched.take(
        {{Kind::truth, task, "", "cat", ""}, label(task, "good", "cat"), label(task, "bad", "dog")});
  }
  const std::size_t told = watched.told.size();
  watched.stream.judge_closed_again();
  ASSERT_EQ(watched.told.size(), told + 1);
  EXPECT_EQ(watched.told.back().label, "cat");
  EXPECT_EQ(watched.told.back().task, "early");
  EXPECT_TRUE(watched.stream.problems().empty());
}

TEST(LiveStream, HistoriesOfWorkersComeAlong) {
  const TemporaryFile file;
  {
    Watched watched({.labels_per_task = 1}, file.path());
    watched.stream.remember("ann", {8, 10});
    watched.take({label("t", "ann", "cat")});
    watched.stream.commit();
  }
  Watched again({}, file.path());
  EXPECT_EQ(again.counts()["ann"], (WorkerCounts{9, 11}));
  EXPECT_TRUE(again.stream.problems().empty());
}

std::string complaint(const std::string& path, const std::function<void(StreamConfig&)>& wish = {}) {
  try {
    open_store(path, wish);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(StreamStore, RefusesASecondWriterButNotAReader) {
  const TemporaryFile file;
  const auto first = open_store(file.path());
  EXPECT_NE(complaint(file.path()).find("another stream writes"), std::string::npos);
  EXPECT_EQ(open_store_to_read(file.path())->events(), 0U);
}

TEST(StreamStore, AReaderSeesOneMomentOfAStreamThatGoesOn) {
  const TemporaryFile file;
  Watched writer({.labels_per_task = 2}, file.path());
  writer.take({label("1", "ann", "cat"), label("1", "bob", "dog")});
  writer.stream.commit();
  const std::shared_ptr<StreamStore> store = open_store_to_read(file.path());
  writer.take({label("2", "cid", "cat"), label("2", "ann", "dog"), label("3", "dan", "cat")});
  writer.stream.commit();
  LiveStream reader(store, {}, {});
  EXPECT_EQ(reader.totals().workers, 2U);
  EXPECT_EQ(reader.totals().open_tasks, 0U);
  EXPECT_TRUE(reader.problems().empty());
  const auto later = open_store_to_read(file.path());
  EXPECT_EQ(LiveStream(later, {}, {}).totals().workers, 4U);
}

TEST(StreamStore, RefusesAnotherConfigurationAndSaysWhich) {
  const TemporaryFile file;
  open_store(file.path(), [](StreamConfig& config) { config.classes = {"a", "b"}; });
  EXPECT_EQ(complaint(file.path()), "");
  EXPECT_NE(
      complaint(file.path(), [](StreamConfig& config) { config.alpha = 3; }).find("alpha = 4, not 3"),
      std::string::npos);
  EXPECT_NE(complaint(file.path(), [](StreamConfig& config) { config.classes = {"a"}; })
                .find("classes = a,b, not a"),
            std::string::npos);
}

TEST(StreamStore, RefusesWhatIsForeignOfAnotherVersionOrDamaged) {
  const TemporaryFile text;
  std::ofstream(text.path()) << "task,worker,label\n" << std::string(10'000, 'x');
  EXPECT_NE(complaint(text.path()).find("not a state"), std::string::npos);

  const TemporaryFile foreign;
  Database(foreign.path(), Database::Use::write).run("CREATE TABLE something(x)");
  EXPECT_NE(complaint(foreign.path()).find("another program"), std::string::npos);

  const TemporaryFile newer;
  open_store(newer.path());
  Database(newer.path(), Database::Use::write).run("PRAGMA user_version = 99");
  EXPECT_NE(complaint(newer.path()).find("newer crowdfold"), std::string::npos);

  const TemporaryFile older;
  open_store(older.path());
  Database(older.path(), Database::Use::write).run("PRAGMA user_version = 1");
  EXPECT_NE(complaint(older.path()).find("older crowdfold"), std::string::npos);

  const TemporaryFile damaged;
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
    const TemporaryFile file;
    {
      Watched watched({.labels_per_task = 1}, file.path());
      watched.take({label("t", "ann", "cat")});
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
  const TemporaryFile file;
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
    stream.take(events[i].event());
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
    for (const Said& said : before) first.take(said.event());
    first.commit();
    LiveStream again(store, {.labels_per_task = 2},
                     {[&](const TaskUpdate& update) { found.push_back(update.confidence); }});
    for (const Said& said : after) again.take(said.event());  // and is not committed
    Watched undisturbed({.labels_per_task = 2});
    for (int i = 0; i < others; ++i) undisturbed.stream.remember("other-" + std::to_string(i), {1, 2});
    undisturbed.take(before);
    undisturbed.told.clear();
    undisturbed.take(after);
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
  together.stream.take(events);
  Watched one_by_one({.labels_per_task = 3});
  one_by_one.take(said);
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
  const TemporaryFile file;
  {
    Watched watched({.labels_per_task = 1}, file.path());
    watched.take({label("kept", "ann", "cat")});
    watched.stream.commit();
    EXPECT_THROW(watched.take({label("", "ann", "cat")}), Error);  // this does no harm
    const auto failure = [&](const auto& work) {
      try {
        work();
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::io);
        return std::string(error.what());
      }
      return std::string("none");
    };
    {
      const FullDisk full(std::filesystem::file_size(file.path() + "-wal"));
      for (int i = 0; i < 1'000; ++i) watched.take({label(std::to_string(i), "ann", "cat")});
      EXPECT_NE(failure([&] { watched.stream.commit(); }).find("safe"), std::string::npos);
    }
    EXPECT_NE(failure([&] { watched.stream.commit(); }).find("failed before"), std::string::npos);
    EXPECT_NE(failure([&] { watched.take({label("more", "ann", "cat")}); }).find("failed before"),
              std::string::npos);
  }
  Watched again({}, file.path());
  EXPECT_EQ(again.stream.totals().events, 1U);
  EXPECT_EQ(again.stream.totals().closed_tasks, 1U);
  EXPECT_TRUE(again.stream.problems().empty());
}

TEST(StreamStore, CountsEventsThatChangedNothing) {
  const TemporaryFile file;
  {
    Watched watched({}, file.path());
    watched.take({{Kind::close, "none", "", "", ""}});
    watched.stream.commit();
  }
  EXPECT_EQ(Watched({}, file.path()).stream.totals().events, 1U);
}

TEST(StreamStore, WhatWasNotCommittedIsNotThere) {
  const TemporaryFile file;
  {
    Watched watched({.labels_per_task = 1}, file.path());
    watched.take({label("t", "ann", "cat")});
    watched.stream.commit();
    watched.take({label("u", "bob", "cat")});
  }
  EXPECT_EQ(Watched({}, file.path()).stream.totals().events, 1U);
}

}  // namespace
}  // namespace crowdfold
