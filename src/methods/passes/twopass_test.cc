#include <gtest/gtest.h>

#include "base/random.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;

using testing::kExact;

Result twopass(const Labels& labels, const Knowledge& given = {}, bool posterior = false) {
  RunContext context;
  context.posterior = posterior;
  return find_method("twopass").make({})->fit(labels, given, context);
}

// As in onepass_test.cc; after the first pass, w = (C + 1) / (n + 2) and v = 2 w - 1 are
//   u 3/3: w = 4/5, v = 3/5;   v 2/3: w = 3/5, v = 1/5;   w 1/4: w = 1/3, v = -1/3.
// Second look:
//   task 1: a: 3/5 + 1/5; b: -1/3 -> a     task 2: b: 3/5; a: -1/3 -> b
//   task 3: a: 1/5; b: 3/5 - 1/3 -> b      task 4: b: 1/5; a: -1/3 -> b
const std::vector<LabelRow> kTwopassRows = {
    {"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "u", "b"}, {"2", "w", "a"},
    {"3", "v", "a"}, {"3", "w", "b"}, {"3", "u", "b"}, {"4", "v", "b"}, {"4", "w", "a"}};

TEST(TwoPass, FollowsThePaperStepByStep) {
  const Result result = twopass(labels_of(kTwopassRows), {}, true);
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1, 1, 1}));
  EXPECT_EQ(result.learned.counts, (std::vector<WorkerCounts>{{3, 3}, {2, 3}, {1, 4}}));
  // One-coin posterior with q = (C + 2) / (n + 4): u 5/7, v 4/7, w 3/8; odds 5/2, 4/3, 3/5.
  const double a = 2.5 * 4 / 3;
  EXPECT_NEAR(result.confidence[0], a / (a + .6), kExact);
  EXPECT_NEAR(result.confidence[2], 1.5 / (1.5 + 4.0 / 3), kExact);
  EXPECT_NEAR(result.posterior[4], 4.0 / 3 / (1.5 + 4.0 / 3), kExact);
}

TEST(TwoPass, ChangesItsMindAboutEarlyTasks) {
  // On the first task u outvotes nobody: u=a and v=b tie, the first seen wins. Later u disagrees with w
  // and x.
  std::vector<LabelRow> rows = {{"0", "u", "a"}, {"0", "v", "b"}};
  for (const char* task : {"1", "2", "3"}) {
    for (const char* worker : {"v", "w", "x"}) rows.push_back({task, worker, "b"});
    rows.push_back({task, "u", "a"});
  }
  const Labels labels = labels_of(rows);
  RunContext context;
  EXPECT_EQ(find_method("onepass").make({})->fit(labels, context).estimate[0], 0);
  EXPECT_EQ(twopass(labels).estimate[0], 1);
}

TEST(TwoPass, CountsTheVotesOfWorkersWorseThanChanceAgainstTheirClass) {
  // K = 2. Known counts: good workers w = .9 or so, bad ones w = .1. Three bad votes for a, one weak for
  // b.
  const Labels labels =
      labels_of({{"1", "bad1", "a"}, {"1", "bad2", "a"}, {"1", "bad3", "a"}, {"1", "new", "b"}});
  Knowledge given;
  given.workers = {{0, 98}, {0, 98}, {0, 98}, {0, 0}};
  // v: bad = 2 * 1/100 - 1 = -.98 before the task; new = 0. b wins with 0 against -2.9…
  const Result result = twopass(labels, given);
  EXPECT_EQ(result.estimate[0], 1);
  RunContext context;
  // … while a plain vote among them says a.
  EXPECT_EQ(find_method("mv").make({})->fit(labels, context).estimate[0], 0);
}

TEST(TwoPass, HasAnEstimateForATaskThatOnlyBadWorkersVotedOn) {
  // The authors' script starts its maximum at -1 and loses such a task.
  const Labels labels =
      labels_of({{"1", "bad1", "a"}, {"1", "bad2", "a"}, {"2", "bad1", "b"}, {"2", "bad2", "c"}});
  Knowledge given;
  given.workers = {{0, 1000}, {0, 500}};
  const Result result = twopass(labels, given);
  EXPECT_EQ(result.estimate[0], 0);
  EXPECT_NE(result.estimate[1], kNoClass);
  EXPECT_GT(result.confidence[0], 0);
  EXPECT_LT(result.confidence[0], .1);  // and nobody should believe it
}

TEST(TwoPass, WeighsByTheNumberOfClasses) {
  // w = .4 is worse than chance with two classes and better with five.
  const std::vector<LabelRow> rows = {{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}};
  Knowledge given;
  given.workers = {{39, 98}, {39, 98}, {0, 0}};  // after the first pass: 41/101 twice, 1/3
  EXPECT_EQ(twopass(labels_of(rows), given).estimate[0], 1);
  const Labels more = testing::with_more_classes(labels_of(rows), {"c", "d", "e"});
  EXPECT_EQ(twopass(more, given).estimate[0], 0);
}

TEST(TwoPass, JudgesAChunkAfterLearningFromIt) {
  const Labels labels = labels_of(kTwopassRows);
  const auto method = find_method("twopass").make_online({}, 0);
  EXPECT_TRUE(find_method("twopass").needs_second_look({}));
  method->expect(labels.num_workers(), 2);
  for (TaskId t = 0; t < 4; ++t) method->learn(labels.task(t));
  const Result whole = twopass(labels);
  for (TaskId t = 0; t < 4; ++t) {
    const Estimate estimate = method->estimate(labels.task(t));
    EXPECT_EQ(estimate.label, whole.estimate[t]);
    EXPECT_EQ(estimate.confidence, whole.confidence[t]);
  }
  EXPECT_EQ(method->state().counts, whole.learned.counts);
}

TEST(TwoPass, LearnsExactlyWhatOnePassLearns) {
  const Labels labels = simulate_labels({.tasks = 500, .workers = 30, .classes = 5, .quality = {}}, 4);
  RunContext context;
  EXPECT_EQ(twopass(labels).learned.counts,
            find_method("onepass").make({})->fit(labels, context).learned.counts);
}

TEST(TwoPass, IsBetterThanAVoteWhereAThirdOfTheCrowdIsNoGood) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 3'000,
                                         .workers = 60,
                                         .classes = 4,
                                         .quality = QualityDistribution::parse("uniform:.5,.9"),
                                         .spammers = .2,
                                         .adversaries = .15},
                                        8, &crowd);
  const auto accuracy = [&](const char* method) {
    return testing::accuracy(find_method(method).make({})->fit(labels, RunContext{}), crowd.truths);
  };
  EXPECT_GT(accuracy("twopass"), accuracy("mv") + .05);
  EXPECT_GE(accuracy("twopass"), accuracy("onepass"));
}

}  // namespace
}  // namespace crowdfold
