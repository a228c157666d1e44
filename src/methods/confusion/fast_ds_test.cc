#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::kRoundedTrace;
using testing::LabelRow;
using testing::labels_of;
using testing::outvoted;

using testing::kWholeUnits;

Result fast_ds(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  return find_method("fast_ds").make(settings)->fit(labels, given, context);
}

// The vote is a, a, b, b; v and w contradict it once each.
const std::vector<LabelRow> kFastDsRows = {{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "a"},
                                           {"2", "u", "a"}, {"2", "v", "a"}, {"2", "w", "b"},
                                           {"3", "u", "b"}, {"3", "v", "b"}, {"3", "w", "b"},
                                           {"4", "u", "b"}, {"4", "v", "a"}, {"4", "w", "b"}};

TEST(FastDawidSkene, CountsDecisionsNotProbabilities) {
  const Result result = fast_ds(labels_of(kFastDsRows));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 0, 1, 1}));
  // By worker, truth and label. Shares of votes for the truth would give other numbers than these.
  const std::vector<double> expected = {1, 0, 0, 1, 1, 0, .5, .5, .5, .5, 0, 1};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(result.confusion[i], expected[i], kWholeUnits) << i;
  EXPECT_NEAR(result.learned.counts_of(2).correct, 4 * .75, kWholeUnits);
  // On a, w says either; on b, v does: each task has a factor 1/2 of its class and one of 1/2.
  EXPECT_EQ(result.trace.size(), 1U);
  EXPECT_NEAR(result.trace[0], 4 * std::log(.25), kWholeUnits);
}

TEST(FastDawidSkene, JudgesByClassSharesAndConfusions) {
  // Task 5 has only v's label. a : b = 3/5 * 1 : 2/5 * 1/2, with the vote's a counted in.
  std::vector<LabelRow> rows = kFastDsRows;
  rows.push_back({"5", "v", "a"});
  const Result result = fast_ds(labels_of(rows));
  EXPECT_NEAR(result.posterior[8], .75, kWholeUnits);
}

TEST(FastDawidSkene, EndsWhenNoDecisionChanges) {
  const Result cut = fast_ds(labels_of(outvoted()), {{"iterations", "1"}});
  EXPECT_EQ(cut.estimate[10], 0);  // a change: the vote was b
  EXPECT_FALSE(cut.converged);
  const Result result = fast_ds(labels_of(outvoted()));
  EXPECT_EQ(result.estimate[10], 0);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.trace.size(), 2U);
}

TEST(FastDawidSkene, TakesAnyLabelForEquallyLikelyWhereAWorkerHasMetNoTaskOfAClass) {
  const Labels labels = labels_of({{"1", "u", "a"},
                                   {"1", "x", "a"},
                                   {"2", "v", "b"},
                                   {"2", "y", "b"},
                                   {"3", "w", "c"},
                                   {"3", "y", "c"}});
  const Result result = fast_ds(labels);
  const std::vector<double> of_u = {1, 0, 0, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3, 1.0 / 3};
  for (std::size_t i = 0; i < of_u.size(); ++i)
    EXPECT_NEAR(result.confusion[i], of_u[i], kWholeUnits) << i;
  EXPECT_NEAR(result.confidence[0], 9.0 / 11, kWholeUnits);  // 1 : 1/9 : 1/9
}

TEST(FastDawidSkene, LearnsFromAKnownTruth) {
  Knowledge given;
  given.truths = {kNoClass, 1};  // with w, against u and v
  const Result result = fast_ds(labels_of(kFastDsRows), {{"iterations", "1"}}, given);
  EXPECT_EQ(result.estimate[1], 1);
  EXPECT_NEAR(result.confusion[2], 1.0 / 3, kWholeUnits);  // u says a on one of three b
  EXPECT_NEAR(result.confusion[11], 1, kWholeUnits);       // w never does
}

TEST(FastDawidSkene, DecidesTiesOfTheVoteAsTold) {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 20; ++t) {
    rows.push_back({std::to_string(t), "u" + std::to_string(t), "a"});
    rows.push_back({std::to_string(t), "v" + std::to_string(t), "b"});
  }
  const auto of_a = [&](const char* ties) {
    const Result result = fast_ds(labels_of(rows), {{"ties", ties}});
    return std::count(result.estimate.begin(), result.estimate.end(), 0);
  };
  EXPECT_EQ(of_a("first"), 20);
  EXPECT_GT(of_a("random"), 4);
  EXPECT_LT(of_a("random"), 16);
}

TEST(FastDawidSkene, NeverLowersTheLikelihoodAndEndsWithinAFewIterations) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 1'000, .workers = 20, .classes = 3}, 2, &crowd);
  Knowledge given;
  given.truths.assign(crowd.truths.begin(), crowd.truths.begin() + 50);
  const Result result = fast_ds(labels, {}, given);
  EXPECT_TRUE(result.converged);
  EXPECT_GT(result.trace.size(), 2U);
  EXPECT_LT(result.trace.size(), 20U);
  for (std::size_t i = 1; i < result.trace.size(); ++i)
    EXPECT_GE(result.trace[i], result.trace[i - 1] - kRoundedTrace) << i;
}

}  // namespace
}  // namespace crowdfold
