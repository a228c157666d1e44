#include "methods/passes/onepass.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/random.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::LabelRow;
using testing::labels_of;

using testing::kExact;

Result onepass(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {},
               bool posterior = false) {
  RunContext context;
  context.posterior = posterior;
  return find_method("onepass").make(settings)->fit(labels, given, context);
}

std::unique_ptr<OnlineMethod> online(const Settings& settings = {}, std::uint64_t seed = 0) {
  return find_method("onepass").make_online(settings, seed);
}

// Three workers, two classes; alpha = beta = 2, so w = (C + 1) / (n + 2):
//   task 1: u=a v=a w=b   all weights 1/2: a 1, b 1/2 -> a. Then C/n: u 1/1, v 1/1, w 0/1.
//   task 2: u=b w=a       u 2/3 against w 1/3 -> b. Then u 2/2, w 0/2.
//   task 3: v=a w=b u=b   v 2/3; w 1/4 + u 3/4 = 1 -> b. Then v 1/2, w 1/3, u 3/3.
//   task 4: v=b w=a       v 2/4 against w 2/5 -> b.  Then v 2/3, w 1/4.
const std::vector<LabelRow> kOnepassRows = {
    {"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "u", "b"}, {"2", "w", "a"},
    {"3", "v", "a"}, {"3", "w", "b"}, {"3", "u", "b"}, {"4", "v", "b"}, {"4", "w", "a"}};

TEST(OnePass, FollowsThePaperStepByStep) {
  const Result result = onepass(labels_of(kOnepassRows));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1, 1, 1}));
  EXPECT_EQ(result.learned.counts, (std::vector<WorkerCounts>{{3, 3}, {2, 3}, {1, 4}}));
  EXPECT_EQ(result.learned.classes, 2U);
}

TEST(OnePass, IsAsSureAsTheOneCoinModelWithMeanQualities) {
  // q is the posterior's mean, (C + 2) / (n + 4), as it was when the task came; K - 1 = 1.
  const Result result = onepass(labels_of(kOnepassRows), {}, {}, true);
  // Task 1: all q = 1/2, odds 1: nothing is known yet.
  EXPECT_NEAR(result.confidence[0], .5, kExact);
  // Task 2: u has q = 3/5 on b: odds 3/2; w has q = 2/5 on a: odds 2/3.
  EXPECT_NEAR(result.confidence[1], 1.5 / (1.5 + 2.0 / 3), kExact);
  // Task 3: v 3/5 on a: 3/2; w 2/6 on b: 1/2; u 4/6 on b: 2.
  EXPECT_NEAR(result.confidence[2], 1.0 / (1 + 1.5), kExact);
  // Task 4: v 3/6 on b: 1; w 3/7 on a: 3/4.
  EXPECT_NEAR(result.confidence[3], 1 / 1.75, kExact);
  EXPECT_NEAR(result.posterior[6], .75 / 1.75, kExact);
  EXPECT_NEAR(result.posterior[7], 1 / 1.75, kExact);
}

TEST(OnePass, GivesWhoIsNewOneHalfWhereThePriorHasNoMode) {
  // alpha = beta = 1: w = C / n, and 1/2 without labels.
  //   task 1: u=a v=b w=b -> b. Then u 0/1, v 1/1, w 1/1.
  //   task 2: u=b x=a     u has weight 0, x 1/2 -> a.
  const Result result = onepass(
      labels_of({{"1", "u", "a"}, {"1", "v", "b"}, {"1", "w", "b"}, {"2", "u", "b"}, {"2", "x", "a"}}),
      {{"alpha", "1"}, {"beta", "1"}});
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{1, 0}));
  for (const double p : result.confidence) EXPECT_TRUE(p > 0 && p < 1) << p;
}

TEST(OnePass, UsesThePriorItIsGiven) {
  // alpha = 4, beta = 2: w = (C + 3) / (n + 4).
  //   task 1: u=a v=a w=b -> a; task 2: u=b (4/5) against w=a, x=a (3/5 + 3/4) -> a.
  const Labels labels = labels_of({{"1", "u", "a"},
                                   {"1", "v", "a"},
                                   {"1", "w", "b"},
                                   {"2", "u", "b"},
                                   {"2", "w", "a"},
                                   {"2", "x", "a"}});
  const Result result = onepass(labels, {{"alpha", "4"}, {"beta", "2"}});
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 0}));
  EXPECT_EQ(result.learned.alpha, 4);
  EXPECT_DOUBLE_EQ(result.learned.quality(0).mode(), 4.0 / 6);
}

TEST(OnePass, OnlyLetsClassesWinThatGotAVote) {
  const Result result =
      onepass(labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"2", "w", "c"}, {"2", "u", "c"}}));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1}));
}

TEST(OnePass, HasNoEstimateForATaskWithoutLabels) {
  const Result result =
      onepass(labels_of({{"1", "u", ""}, {"2", "u", "a"}, {"3", "u", "b"}, {"3", "v", "b"}}));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{kNoClass, 0, 1}));
  EXPECT_EQ(result.confidence[0], 0);
  EXPECT_EQ(result.learned.counts, (std::vector<WorkerCounts>{{2, 2}, {1, 1}}));
}

TEST(OnePass, RecoversTheQualitiesOfASimulatedCrowd) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 4'000,
                                         .workers = 20,
                                         .min_labels = 10,
                                         .max_labels = 10,
                                         .quality = QualityDistribution::parse("uniform:.4,.95")},
                                        3, &crowd);
  const Result result = onepass(labels);
  EXPECT_GT(testing::accuracy(result, crowd.truths), .98);
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    EXPECT_NEAR(result.learned.quality(w).mean(), crowd.quality[w], .05) << w;  // 2,000 labels each
  }
}

TEST(OnePass, IsTheSameTaskByTaskAsInOneRun) {
  const Labels labels = simulate_labels({.tasks = 300, .workers = 20, .quality = {}}, 1);
  const Result whole = onepass(labels);
  const auto method = online();
  method->expect(labels.num_workers(), labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const Estimate estimate = method->observe(labels.task(t));
    ASSERT_EQ(estimate.label, whole.estimate[t]);
    ASSERT_EQ(estimate.confidence, whole.confidence[t]);
  }
  EXPECT_EQ(method->state().counts, whole.learned.counts);
}

RC_GTEST_PROP(OnePass, GoesOnFromASavedStateAsIfNothingHadHappened, (std::uint64_t seed)) {
  Random random(seed);
  const Labels labels = simulate_labels({.tasks = 60, .workers = 12, .classes = 3, .quality = {}}, seed);
  const Settings settings = {{"ties", "random"}};
  RunContext context;
  context.seed = 5;
  const Result whole = find_method("onepass").make(settings)->fit(labels, context);
  auto method = online(settings, 5);
  method->expect(12, 3);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (random.below(4) == 0) {  // stop, save, start again
      WorkerState saved = method->state();
      method = online(settings, 5);
      method->restore(saved);
    }
    RC_ASSERT(method->observe(labels.task(t)).label == whole.estimate[t]);
  }
  RC_ASSERT(method->state().counts == whole.learned.counts);
  RC_ASSERT(method->state().classes == 3U);
}

RC_GTEST_PROP(OnePass, AnySplitIntoChunksGivesTheSame, (std::uint64_t seed)) {
  Random random(seed);
  const Labels labels = simulate_labels({.tasks = 60, .workers = 12, .classes = 3, .quality = {}}, seed);
  const Result whole = find_method("onepass").make({})->fit(labels, {});
  auto method = online();
  method->expect(12, 3);
  for (TaskId t = 0; t < labels.num_tasks();) {
    std::vector<TaskLabels> chunk;
    for (std::uint64_t left = random.below(9) + 1; left > 0 && t < labels.num_tasks(); --left)
      chunk.push_back(labels.task(t++));
    const std::vector<Estimate> estimates = method->observe_chunk(chunk);
    for (std::size_t i = 0; i < chunk.size(); ++i)
      RC_ASSERT(estimates[i].label == whole.estimate[t - chunk.size() + i]);
  }
  RC_ASSERT(method->state().counts == whole.learned.counts);
}

TEST(OnePass, AddsTheCountsOfAnotherState) {
  const Labels first = labels_of({{"1", "u", "a"}, {"1", "v", "a"}});
  auto a = online();
  a->expect(2, 2);
  a->observe(first.task(0));
  auto b = online();
  b->expect(2, 5);
  b->observe(first.task(0));
  b->observe(first.task(0));
  a->merge(b->state());
  EXPECT_EQ(a->state().counts, (std::vector<WorkerCounts>{{3, 3}, {3, 3}}));
  EXPECT_EQ(a->state().classes, 5U);
}

TEST(OnePass, RefusesAStateOfAnotherPrior) {
  WorkerState state;
  state.alpha = 3;
  const Error error = error_of([&] { online()->restore(state); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_STREQ(error.what(), "the worker state was made with the prior Beta(3, 2), not Beta(2, 2)");
  EXPECT_EQ(error_of([&] { online()->merge(state); }).code(), ErrorCode::usage);
}

TEST(OnePass, JudgesWithoutLearningUntilItIsTold) {
  const Labels labels = labels_of(kOnepassRows);
  const auto method = online();
  method->expect(3, 2);
  method->estimate(labels.task(0));
  EXPECT_EQ(method->state().counts, std::vector<WorkerCounts>(3));
  method->learn(labels.task(0), Answer::truth(1));  // the truth is b: only w was right
  EXPECT_EQ(method->state().counts, (std::vector<WorkerCounts>{{0, 1}, {0, 1}, {1, 1}}));
}

}  // namespace
}  // namespace crowdfold
