#include "crowdfold/state_view.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "watched_stream.h"

namespace crowdfold {
namespace {

using Kind = StreamEvent::Kind;
using testing::label;
using testing::TemporaryState;
using testing::Watched;

std::vector<std::string> names_of(const std::vector<ViewedTask>& tasks) {
  std::vector<std::string> names;
  for (const ViewedTask& task : tasks) names.push_back(task.task);
  return names;
}

TEST(StateView, SeesWhatIsCommittedOnceItLooksAgain) {
  const TemporaryState state;
  Watched watched({}, state.path());
  watched.consume({label("t", "ann", "cat")});
  watched.stream.commit();
  StateView view(state.path());
  watched.consume({label("u", "bob", "dog")});
  watched.stream.commit();
  EXPECT_EQ(names_of(view.tasks({})), std::vector<std::string>{"t"});
  EXPECT_EQ(view.workers(0, 10).size(), 1U);
  view.rest();
  view.look_again();
  EXPECT_EQ(names_of(view.tasks({})), (std::vector<std::string>{"t", "u"}));
  EXPECT_EQ(view.workers(1, 10).at(0).worker, "bob");
  EXPECT_EQ(view.totals().open_tasks, 2U);
  EXPECT_EQ(view.find_task("u")->task.label, "dog");
  EXPECT_EQ(view.next_tasks(9, "ann").size(), 1U);
}

TEST(StateView, NextTasksKnowsWhatCameSince) {
  const TemporaryState state;
  Watched watched({}, state.path());
  watched.consume({label("t", "ann", "cat")});
  watched.stream.commit();
  StateView view(state.path());
  EXPECT_EQ(view.next_tasks(9, "bob").size(), 1U);
  watched.consume({label("t", "bob", "cat")});
  watched.stream.commit();
  view.look_again();
  EXPECT_TRUE(view.next_tasks(9, "bob").empty());
}

TEST(StateView, ListsTasksPageByPageInBothOrders) {
  const TemporaryState state;
  Watched watched({.labels_per_task = 3}, state.path());
  for (const char* const task : {"a", "b", "c", "d", "e"}) watched.consume({label(task, "ann", "x")});
  watched.consume(
      {label("b", "bob", "x"), label("d", "bob", "y"), label("c", "bob", "x"), label("c", "cid", "x")});
  watched.stream.commit();
  StateView view(state.path());
  for (const TaskOrder order : {TaskOrder::came, TaskOrder::confidence}) {
    std::vector<ViewedTask> paged;
    TaskQuery query{false, order, -1, -1, 1};
    for (;;) {
      const std::vector<ViewedTask> page = view.tasks(query);
      if (page.empty()) break;
      paged.push_back(page.front());
      query.after_id = page.front().id;
      query.after_confidence = page.front().confidence;
    }
    query = {false, order, -1, -1, 100};
    EXPECT_EQ(names_of(paged), names_of(view.tasks(query)));
    EXPECT_EQ(paged.size(), 4U);
  }
  const std::vector<ViewedTask> closed = view.tasks({true, TaskOrder::came, -1, -1, 100});
  ASSERT_EQ(names_of(closed), std::vector<std::string>{"c"});
  EXPECT_EQ(closed.front().reason, "labels");
  EXPECT_EQ(names_of(view.tasks({std::nullopt, TaskOrder::confidence, -1, -1, 1})),
            std::vector<std::string>{"d"});
}

TEST(StateView, TellsWhyATaskHasItsAnswer) {
  const TemporaryState state;
  Watched watched({}, state.path());
  for (int i = 0; i < 12; ++i) {  // ann is good, bob is not
    const std::string task = "t" + std::to_string(i);
    const std::string truth = i % 2 == 0 ? "cat" : "dog";
    watched.consume({{Kind::truth, task, "", truth, ""},
                     label(task, "ann", truth),
                     label(task, "bob", i % 4 < 2 ? "cat" : "dog")});
  }
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "dog")});
  watched.stream.commit();
  StateView view(state.path());
  const TaskStory story = *view.find_task("t");
  EXPECT_EQ(story.task.label, "cat");
  std::map<std::string, double> posterior;
  for (const ViewedPosterior& one : story.posterior) posterior[one.label] = one.probability;
  EXPECT_NEAR(posterior["cat"], story.task.confidence, 1e-9);  // of an open task
  EXPECT_NEAR(posterior["cat"] + posterior["dog"], 1, 1e-9);
  ASSERT_EQ(story.labels.size(), 2U);
  EXPECT_EQ(story.labels[0].worker, "ann");
  EXPECT_GT(story.labels[0].log_odds, 1);
  EXPECT_LT(std::abs(story.labels[1].log_odds), story.labels[0].log_odds);
  EXPECT_EQ(view.find_task("t0")->task.truth, "cat");
  EXPECT_FALSE(view.find_task("none").has_value());
}

TEST(StateView, JudgesAClosedTaskWithoutItself) {
  const TemporaryState state;
  Watched watched({}, state.path());
  watched.consume({label("t", "ann", "cat"), label("t", "bob", "cat"), label("t", "cid", "dog")});
  watched.stream.commit();
  const double open = StateView(state.path()).find_task("t")->posterior.at(0).probability;
  watched.consume({{Kind::close, "t", "", "", ""}});
  watched.stream.commit();
  const TaskStory closed = *StateView(state.path()).find_task("t");
  EXPECT_TRUE(closed.task.closed);
  EXPECT_NEAR(closed.posterior.at(0).probability, open, 1e-9);
}

TEST(StateView, TellsAWorkersConfusion) {
  const TemporaryState state;
  Watched watched({}, state.path());
  watched.consume({{Kind::truth, "t", "", "cat", ""}, label("t", "ann", "dog")});
  watched.stream.commit();
  StateView view(state.path());
  const WorkerStory ann = *view.find_worker("ann");
  EXPECT_EQ(ann.worker.counts, (WorkerCounts{0, 1}));
  ASSERT_EQ(ann.confusion.size(), 1U);
  EXPECT_EQ(ann.confusion.front().truth, "cat");
  EXPECT_EQ(ann.confusion.front().label, "dog");
  EXPECT_EQ(ann.confusion.front().count, 1);
  EXPECT_FALSE(view.find_worker("bob").has_value());
}

TEST(StateView, GivesTheLabelsOfTasks) {
  const TemporaryState state;
  Watched watched({}, state.path());
  watched.consume({label("t", "ann", "dog"), label("u", "ann", "dog"), label("u", "bob", "cat")});
  watched.stream.commit();
  StateView view(state.path());
  const auto labels = view.labels(view.tasks({}));
  ASSERT_EQ(labels.size(), 2U);
  ASSERT_EQ(labels[1].size(), 2U);
  EXPECT_EQ(labels[1][1].worker, "bob");
  EXPECT_EQ(labels[1][1].label, "cat");
}

}  // namespace
}  // namespace crowdfold
