#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <set>

#include "crowdfold/error.h"
#include "crowdfold/state_view.h"
#include "crowdfold/stream.h"
#include "stream/sqlite.h"
#include "stream/stored_model.h"
#include "watched_stream.h"

namespace crowdfold {
namespace {

using Kind = StreamEvent::Kind;
using testing::label;
using testing::Said;
using testing::TemporaryState;
using testing::Watched;

void expect_counts_of_closed_tasks(Watched& watched) {
  EXPECT_TRUE(watched.stream.problems().empty());  // and the store has everything that changed
  const LiveModel counted = recounted(*watched.store);
  const std::vector<WorkerSummary> workers = watched.stream.workers();
  ASSERT_EQ(counted.num_workers(), workers.size());
  for (WorkerId w = 0; w < workers.size(); ++w) {
    const WorkerCounts& counts = counted.worker(w).counts;
    EXPECT_NEAR(workers[w].counts.seen, counts.seen, 1e-9) << workers[w].worker;
    EXPECT_NEAR(workers[w].counts.correct, counts.correct, 1e-9) << workers[w].worker;
  }
}

void two_to_one(StreamConfig& config) {
  config.alpha = 4;
  config.beta = 2;
}

TEST(LiveStream, AnOpenTaskCountsForNobody) {
  Watched watched;
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "cat")});
  EXPECT_EQ(watched.counts()["ann"], WorkerCounts{});
  EXPECT_EQ(watched.stream.totals().open_tasks, 1U);
}

TEST(LiveStream, AClassMoreThanThereCanBeIsRefusedAndTheRestGoesOn) {
  Watched watched;
  for (std::uint64_t c = 0; c < kMaxClasses; ++c)
    watched.consume({{Kind::truth, "t" + std::to_string(c), {}, std::to_string(c), {}}});
  watched.consume({label("t", "ann", "too many"), label("t", "ann", "7"), label("t", "bob", "7")});
  EXPECT_EQ(watched.stream.totals().refused, 1U);
  EXPECT_EQ(watched.stream.totals().classes, kMaxClasses);
  watched.stream.commit();
  watched.consume({{Kind::truth, "t", {}, "one more", {}}, {Kind::truth, "t", {}, "7", {}}});
  EXPECT_EQ(watched.stream.totals().refused, 2U);
  EXPECT_EQ(watched.told.back().label, "7");
}

TEST(LiveStream, ATaskClosesWithSoManyLabels) {
  Watched watched({.labels_per_task = 3});
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "dog"), label("t", "cid", "cat")});
  ASSERT_FALSE(watched.told.empty());
  EXPECT_TRUE(watched.told.back().closed);
  EXPECT_EQ(watched.told.back().reason, "labels");
  EXPECT_EQ(watched.told.back().label, "cat");
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{1, 1}));
  EXPECT_EQ(watched.counts()["bob"], (WorkerCounts{0, 1}));
  EXPECT_EQ(watched.stream.totals().closed_tasks, 1U);
}

TEST(LiveStream, AReopenedTaskCountsForNobodyUntilItsNextLabel) {
  Watched watched({.labels_per_task = 2});
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "cat")});
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{1, 1}));
  watched.stream.commit();
  watched.consume({{Kind::reopen, "t", "", "", ""}});
  EXPECT_FALSE(watched.told.back().closed);
  EXPECT_EQ(watched.told.back().reason, "");
  EXPECT_EQ(watched.counts()["ann"], WorkerCounts{});
  EXPECT_EQ(watched.stream.totals().open_tasks, 1U);
  EXPECT_EQ(watched.stream.totals().closed_tasks, 0U);
  expect_counts_of_closed_tasks(watched);
  watched.consume({label("t", "cid", "dog")});
  EXPECT_TRUE(watched.told.back().closed);
  EXPECT_EQ(watched.counts()["cid"], (WorkerCounts{0, 1}));
  EXPECT_EQ(watched.stream.totals().closed_tasks, 1U);
  expect_counts_of_closed_tasks(watched);
}

TEST(LiveStream, AnOpenTaskStaysAsItIsIfItIsReopenedAndAnUnknownOneIsRefused) {
  Watched watched;
  watched.consume({label("t", "ann", "cat")});
  const std::size_t told = watched.told.size();
  watched.consume({{Kind::reopen, "t", "", "", ""}, {Kind::reopen, "none", "", "", ""}});
  EXPECT_EQ(watched.told.size(), told);
  EXPECT_EQ(watched.refusals, std::vector<std::string>{"there is no such task"});
}

TEST(LiveStream, ATaskThatWasClosedAndReopenedBeforeACommitIsOpenOnDisk) {
  const TemporaryState state;
  {
    Watched watched({}, state.path());
    watched.consume({label("t", "ann", "cat"), {Kind::close, "t", "", "", ""}});
    watched.stream.commit();
    watched.consume({{Kind::reopen, "t", "", "", ""}});
    watched.stream.commit();
  }
  Watched again({}, state.path());
  EXPECT_EQ(again.stream.totals().open_tasks, 1U);
  EXPECT_EQ(again.stream.totals().closed_tasks, 0U);
  expect_counts_of_closed_tasks(again);
}

TEST(LiveStream, ATaskThatClosesByALabelThatItHadCountsAsItIsJudgedThen) {
  const TemporaryState state;
  {
    Watched watched({.labels_per_task = 2}, state.path());
    watched.consume(
        {label("t", "ann", "cat"), label("t", "bob", "cat"), {Kind::reopen, "t", "", "", ""}});
    watched.stream.commit();
  }
  Watched again({.labels_per_task = 2}, state.path());
  again.consume({label("t", "bob", "cat")});
  EXPECT_TRUE(again.told.back().closed);
  EXPECT_EQ(again.counts()["ann"], (WorkerCounts{1, 1}));
  again.stream.commit();
  EXPECT_FALSE(StateView(state.path()).find_worker("ann")->confusion.empty());
  expect_counts_of_closed_tasks(again);
}

TEST(LiveStream, NextTasksForAWorkerLeavesOutThoseThatTheyLabelled) {
  Watched watched;
  watched.consume({label("t", "ann", "cat"), label("u", "bob", "dog"), label("v", "ann", "dog")});
  const std::vector<OpenTask> next = watched.stream.next_tasks(10, "ann");
  ASSERT_EQ(next.size(), 1U);
  EXPECT_EQ(next.front().task, "u");
  EXPECT_EQ(watched.stream.next_tasks(10, "somebody new").size(), 3U);
}

TEST(LiveStream, NextTasksForAWorkerReckonsWithAClassThatIsNotKnownYet) {
  Watched watched;
  watched.consume({label("t", "ann", "cat")});
  const std::vector<OpenTask> next = watched.stream.next_tasks(10, "bob");
  ASSERT_EQ(next.size(), 1U);
  EXPECT_GT(next.front().gain, 0);
}

TEST(LiveStream, NextTasksForAWorkerGoesByWhatTheyCanTellApart) {
  // Pat tells cats from dogs, but calls every wolf a dog.
  Watched watched({.labels_per_task = 4});
  for (int i = 0; i < 60; ++i) {
    const std::string task = "t" + std::to_string(i);
    const std::string truth = i % 3 == 0 ? "cat" : i % 3 == 1 ? "dog" : "wolf";
    watched.consume({{Kind::truth, task, "", truth, ""},
                     label(task, "pat", truth == "wolf" ? "dog" : truth),
                     label(task, "sue", truth == "dog" && i % 2 == 0 ? "wolf" : truth)});
  }
  watched.consume({label("cat or dog", "kim", "cat"), label("cat or dog", "lee", "dog"),
                   label("dog or wolf", "kim", "dog"), label("dog or wolf", "lee", "wolf")});
  const std::vector<OpenTask> next = watched.stream.next_tasks(10, "pat");
  ASSERT_EQ(next.size(), 2U);
  EXPECT_EQ(next[0].task, "cat or dog");
  EXPECT_GT(next[0].gain, 2 * next[1].gain);
}

TEST(LiveStream, ATaskClosesByConfidenceButNotBeforeSoManyLabels) {
  // A new worker is right by 2 : 1, and a tenth of tasks is too hard for everybody.
  // Softened, three labels are worth a certainty of .78 and a confidence of .766.
  Watched watched({.confidence = .775, .min_labels = 3}, "", two_to_one);
  watched.consume({{Kind::truth, "gold", "", "dog", ""}, {Kind::truth, "other", "", "cat", ""}});
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "cat")});
  EXPECT_FALSE(watched.told.back().closed);
  watched.consume({label("t", "cid", "cat")});
  EXPECT_TRUE(watched.told.back().closed);
  EXPECT_EQ(watched.told.back().reason, "confidence");
  EXPECT_NEAR(watched.told.back().confidence, testing::softened(67.0 / 78), 1e-12);
}

TEST(LiveStream, AnUncertainTaskClosesAtTheMostLabels) {
  Watched watched({.confidence = .99, .min_labels = 1, .max_labels = 2});
  watched.consume({label("t", "ann", "cat")});
  EXPECT_FALSE(watched.told.back().closed);  // also while no other class was seen
  watched.consume({label("t", "bob", "dog")});
  EXPECT_EQ(watched.told.back().reason, "max_labels");
}

TEST(LiveStream, TellsWhenAnAnswerChanges) {
  Watched watched;
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "cat"), label("t", "cid", "dog")});
  ASSERT_EQ(watched.told.size(), 1U);
  watched.consume({label("t", "dan", "dog"), label("t", "eve", "dog")});
  ASSERT_EQ(watched.told.size(), 2U);
  EXPECT_EQ(watched.told.back().label, "dog");
}

TEST(LiveStream, AClosedTaskIsJudgedAgainWhenALabelIsTakenBack) {
  Watched watched({.labels_per_task = 3});
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "cat"), label("t", "cid", "dog"),
                   label("t", "dan", "dog")});
  watched.consume({{Kind::retract, "t", "ann", "", ""}});
  EXPECT_EQ(watched.told.back().label, "dog");
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{0, 0}));
  EXPECT_EQ(watched.counts()["bob"], (WorkerCounts{0, 1}));
  EXPECT_EQ(watched.counts()["cid"], (WorkerCounts{1, 1}));
}

TEST(LiveStream, ALateTruthPutsTheCountsRight) {
  Watched watched({.labels_per_task = 2});
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "cat")});
  watched.stream.commit();
  watched.consume({{Kind::truth, "t", "", "dog", ""}});
  EXPECT_EQ(watched.told.back().label, "dog");
  EXPECT_EQ(watched.told.back().confidence, 1);
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{0, 1}));
}

TEST(LiveStream, LabelsOnAKnownTruthCountAtOnce) {
  for (const bool forget : {false, true}) {
    Watched watched({}, "", [&](StreamConfig& config) { config.forget_closed = forget; });
    watched.consume({{Kind::truth, "gold", "", "cat", ""}, label("gold", "ann", "cat")});
    watched.stream.commit();
    watched.consume({label("gold", "bob", "dog")});
    EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{1, 1}));
    EXPECT_EQ(watched.counts()["bob"], (WorkerCounts{0, 1}));
  }
}

TEST(LiveStream, ASecondLabelOfAWorkerReplacesTheFirst) {
  Watched watched({.labels_per_task = 2});
  watched.consume({label("t", "ann", "cat"), label("t", "ann", "dog"), label("t", "bob", "dog")});
  EXPECT_EQ(watched.told.back().labels, 2U);
  EXPECT_EQ(watched.told.back().label, "dog");
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{1, 1}));
}

TEST(LiveStream, AnEventWithAnIdSeenBeforeIsIgnored) {
  Watched watched({.labels_per_task = 2});
  watched.consume({label("t", "ann", "cat", "1"), label("t", "bob", "cat", "1")});
  EXPECT_EQ(watched.stream.totals().repeated, 1U);
  EXPECT_EQ(watched.stream.totals().open_tasks, 1U);
}

TEST(LiveStream, RefusesWhatCannotBeAndChangesNothing) {
  Watched watched({.labels_per_task = 1}, "", [](StreamConfig& config) {
    config.classes = {"cat", "dog"};
    config.forget_closed = true;
  });
  watched.consume({label("t", "ann", "cat")});
  const auto before = watched.counts();
  watched.consume({{Kind::retract, "t", "ann", "", ""},
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
    watched.consume({{Kind::truth, task, "", "cat", ""},
                     label(task, "good", "cat"),
                     label(task, "bad", t % 4 == 0 ? "cat" : "dog")});
  }
  EXPECT_EQ(watched.alarms, std::vector<std::string>{"bad"});
}

TEST(LiveStream, OldLabelsFadeWithAHalfLife) {
  Watched watched({}, "", [](StreamConfig& config) { config.half_life = 10; });
  const auto answer = [&](int t, const char* what) {
    const std::string task = "t" + std::to_string(t);
    watched.consume({{Kind::truth, task, "", "cat", ""}, label(task, "ann", what)});
  };
  for (int t = 0; t < 200; ++t) answer(t, "cat");
  const double most = 1 / (1 - std::exp2(-.1));
  EXPECT_NEAR(watched.counts()["ann"].seen, most, 1e-3);
  for (int t = 200; t < 210; ++t) answer(t, "dog");
  EXPECT_NEAR(watched.counts()["ann"].correct, most / 2, 1e-3);
  expect_counts_of_closed_tasks(watched);
}

// However many half-lives passed before they came along.
RC_GTEST_PROP(LiveStreamProperty, HistoriesFadeLikeLabels, ()) {
  const double half_life = *rc::gen::element(.003, .01, 1.0, 10.0);
  const auto store = open_store("", [&](StreamConfig& config) { config.half_life = half_life; });
  WorkerCounts expected;
  for (int part = 0; part < 3; ++part) {
    LiveStream stream(store, {.labels_per_task = 1}, {});
    const int events = *rc::gen::inRange(0, 40);
    for (int i = 0; i < events; ++i) {
      if (*rc::gen::inRange(0, 5) == 0) {
        stream.remember("ann", {2, 3});
        expected += {2, 3};
        continue;
      }
      stream.consume(label(std::to_string(100 * part + i), "ann", "cat").event());
      const double fading = std::exp2(-1 / half_life);
      expected = {expected.correct * fading + 1, expected.seen * fading + 1};
    }
    stream.commit();
    const std::vector<WorkerSummary> workers = stream.workers();
    const WorkerCounts counts = workers.empty() ? WorkerCounts{} : workers[0].counts;
    RC_ASSERT(std::abs(counts.seen - expected.seen) < 1e-9 * (1 + expected.seen));
    RC_ASSERT(std::abs(counts.correct - expected.correct) < 1e-9 * (1 + expected.seen));
    RC_ASSERT(stream.problems().empty());
    store->for_workers([&](std::string_view, const StreamWorker& worker) {
      RC_ASSERT(std::isfinite(worker.history.seen));
      RC_ASSERT(worker.history.seen <= expected.seen * (1 + 1e-9));
    });
  }
}

TEST(LiveStream, AHistoryIsSomeRightOfAll) {
  Watched watched;
  for (const WorkerCounts& wrong : {WorkerCounts{2, 1}, WorkerCounts{-1, 1}, WorkerCounts{0, INFINITY},
                                    WorkerCounts{NAN, 1}, WorkerCounts{0, -1}})
    EXPECT_THROW(watched.stream.remember("ann", wrong), Error);
  EXPECT_TRUE(watched.counts().empty());
}

TEST(LiveStream, IsNotMergedWithItself) {
  const TemporaryState file;
  Watched watched({.labels_per_task = 1}, file.path());
  watched.consume({label("t", "ann", "cat")});
  watched.stream.commit();
  const auto refusal = [&](StreamStore& other) {
    const Error error = testing::error_of([&] { watched.stream.merge(other); });
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find("itself"), std::string::npos);
  };
  refusal(*watched.store);
  refusal(*open_store_to_read(file.path()));
  Watched in_memory;
  EXPECT_THROW(in_memory.stream.merge(*in_memory.store), Error);
  EXPECT_EQ(watched.counts()["ann"], (WorkerCounts{1, 1}));
}

TEST(LiveStream, IsNotMadeWithOptionsThatMakeNoSense) {
  EXPECT_THROW(open_store("", [](StreamConfig& config) { config.alpha = 0; }), Error);
  EXPECT_THROW(open_store("", [](StreamConfig& config) { config.half_life = NAN; }), Error);
  EXPECT_THROW(open_store("", [](StreamConfig& config) { config.classes = {"a", "a"}; }), Error);
}

TEST(LiveStream, RanksOpenTasksByWhatALabelWouldBring) {
  Watched watched({}, "", two_to_one);
  watched.consume({{Kind::truth, "gold", "", "dog", ""}});
  watched.consume({label("sure", "a", "cat"), label("sure", "b", "cat"), label("sure", "c", "cat"),
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
                : kind == 2 ? Kind::reopen
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
    watched.stream.consume(said.event());
    if (*rc::gen::inRange(0, 4) == 0) watched.stream.commit();
    expect_counts_of_closed_tasks(watched);
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
  const TemporaryState whole_file;
  const TemporaryState parts_file;
  {
    Watched whole({.labels_per_task = 3}, whole_file.path());
    whole.consume(events);
    whole.stream.commit();
  }
  auto parts = std::make_unique<Watched>(StopRule{.labels_per_task = 3}, parts_file.path());
  for (std::size_t i = 0; i < events.size(); ++i) {
    parts->stream.consume(events[i].event());
    if (*rc::gen::inRange(0, 10) != 0) continue;
    // What was not committed is lost, and comes again.
    const bool commits = *rc::gen::arbitrary<bool>();
    if (commits) parts->stream.commit();
    parts.reset();
    parts = std::make_unique<Watched>(StopRule{.labels_per_task = 3}, parts_file.path());
    if (!commits) {
      for (std::size_t again = 0; again <= i; ++again) parts->stream.consume(events[again].event());
    }
  }
  parts->stream.commit();
  parts.reset();
  RC_ASSERT(content(whole_file.path()) == content(parts_file.path()));
}

RC_GTEST_PROP(LiveStreamProperty, StatesOfDifferentTasksAddInAnyOrder, ()) {
  const TemporaryState files[3];
  std::map<std::string, WorkerCounts> sum;
  for (int part = 0; part < 3; ++part) {
    Watched watched({.labels_per_task = 2}, files[part].path());
    for (Said said : some_events(false)) {
      said.task = std::to_string(part) + said.task;
      watched.stream.consume(said.event());
    }
    watched.stream.commit();
    for (const auto& [name, counts] : watched.counts()) sum[name] += counts;
  }
  for (const auto& order : {std::vector<int>{0, 1, 2}, std::vector<int>{2, 0, 1}}) {
    Watched merged;
    for (const int part : order) merged.stream.merge(*open_store_to_read(files[part].path()));
    RC_ASSERT(merged.counts() == sum);
    RC_ASSERT(merged.stream.problems() == std::vector<std::string>());
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
  const TemporaryState files[2];
  for (int part = 0; part < 2; ++part) {
    Watched watched({.labels_per_task = 3}, files[part].path(), forget);
    watched.consume(events(part));
    watched.stream.commit();
  }
  const auto confidence_of_a_task = [](Watched& watched) {
    watched.consume({label("new", "ann", "cat"),
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

TEST(LiveStream, AForgottenTaskOfBothStatesKeepsItsAnswer) {
  const auto forget = [](StreamConfig& config) { config.forget_closed = true; };
  const TemporaryState file;
  {
    Watched theirs({.labels_per_task = 1}, file.path(), forget);
    theirs.consume({label("t", "bob", "dog")});
    theirs.stream.commit();
  }
  Watched ours({.labels_per_task = 1}, "", forget);
  ours.consume({label("t", "ann", "cat")});
  ours.stream.commit();
  ours.stream.merge(*open_store_to_read(file.path()));
  const std::optional<StreamTask> task = ours.store->find_task("t");
  ASSERT_TRUE(task);
  EXPECT_EQ(task->estimate.label, 0);
  EXPECT_EQ(ours.told.back().label, "cat");
  EXPECT_TRUE(ours.stream.problems().empty());
}

TEST(LiveStream, ClosedTasksMayBeJudgedAgainWithWhatIsKnownNow) {
  Watched watched({.labels_per_task = 2});
  watched.consume({label("early", "bad", "dog"), label("early", "good", "cat")});
  ASSERT_EQ(watched.told.back().label, "dog");  // a tie: the class seen first
  for (int t = 0; t < 20; ++t) {
    const std::string task = "t" + std::to_string(t);
    watched.consume(
        {{Kind::truth, task, "", "cat", ""}, label(task, "good", "cat"), label(task, "bad", "dog")});
  }
  const std::size_t told = watched.told.size();
  watched.stream.rejudge();
  ASSERT_EQ(watched.told.size(), told + 1);
  EXPECT_EQ(watched.told.back().label, "cat");
  EXPECT_EQ(watched.told.back().task, "early");
  EXPECT_TRUE(watched.stream.problems().empty());
}

TEST(LiveStream, HistoriesOfWorkersComeAlong) {
  const TemporaryState file;
  {
    Watched watched({.labels_per_task = 1}, file.path());
    watched.stream.remember("ann", {8, 10});
    watched.consume({label("t", "ann", "cat")});
    watched.stream.commit();
  }
  Watched again({}, file.path());
  EXPECT_EQ(again.counts()["ann"], (WorkerCounts{9, 11}));
  EXPECT_TRUE(again.stream.problems().empty());
}

TEST(LiveStream, TellsWhetherMostWorkersGiveOneLabelOnly) {
  for (const bool functions : {true, false}) {
    LiveStream stream(open_store(""), {.labels_per_task = 3}, {});
    for (int t = 0; t < 60; ++t) {
      const std::string task = std::to_string(t);
      for (const char* const name : {"u", "v", "w"}) {
        const std::string worker = functions ? name + std::to_string(t % 2) : name;
        const StreamEvent event = {.kind = StreamEvent::Kind::label,
                                   .task = task,
                                   .worker = worker,
                                   .label = t % 2 == 0 ? "a" : "b",
                                   .id = ""};
        stream.consume(std::span(&event, 1));
      }
    }
    EXPECT_EQ(stream.one_label_prevails(), functions);
  }
}

}  // namespace
}  // namespace crowdfold
