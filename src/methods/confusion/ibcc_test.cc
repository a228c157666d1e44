#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bcc_by_hand.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::BccIteration;
using testing::kRoundedTrace;
using testing::LabelRow;
using testing::labels_of;
using testing::Row;

using testing::kWholeUnits;

Result ibcc(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  return find_method("ibcc").make(settings)->fit(labels, given, context);
}

const std::vector<LabelRow> kIbccRows = {
    {"1", "u", "a"}, {"1", "v", "b"}, {"1", "w", "a"}, {"2", "u", "b"}, {"2", "v", "b"}};

const std::vector<Row> kVoteShares = {{2.0 / 3, 1.0 / 3}, {0, 1}};  // of votes
const Row kIbccClassPrior = {1, 1};

TEST(Ibcc, UpdatesDirichletsFromSharesOfVotesThenClasses) {
  const BccIteration first(labels_of(kIbccRows), kIbccClassPrior, kVoteShares);
  const BccIteration second(labels_of(kIbccRows), kIbccClassPrior, first.q);
  const Result one = ibcc(labels_of(kIbccRows), {{"iterations", "1"}});
  const Result two = ibcc(labels_of(kIbccRows), {{"iterations", "2"}, {"tolerance", "0"}});
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(one.posterior[i], first.q[i / 2][i % 2], kWholeUnits) << i;
    EXPECT_NEAR(two.posterior[i], second.q[i / 2][i % 2], kWholeUnits) << i;
  }
  ASSERT_EQ(two.trace.size(), 2U);
  EXPECT_NEAR(two.trace[0], first.bound, kWholeUnits);
  EXPECT_NEAR(two.trace[1], second.bound, kWholeUnits);
}

TEST(Ibcc, ReportsPosteriorMeansUnderTheLastClasses) {
  const BccIteration first(labels_of(kIbccRows), kIbccClassPrior, kVoteShares);
  const double p = first.q[0][0];
  const double r = first.q[1][0];
  const Result result = ibcc(labels_of(kIbccRows), {{"iterations", "1"}});
  const double u_on_a = (4 + p) / (5 + p + r);
  const double u_on_b = (4 + 1 - r) / (5 + 2 - p - r);
  EXPECT_NEAR(result.confusion[0], u_on_a, kWholeUnits);
  EXPECT_NEAR(result.confusion[3], u_on_b, kWholeUnits);
  EXPECT_NEAR(result.learned.counts_of(0).correct, 2 * ((p + r) / 2 * u_on_a + (2 - p - r) / 2 * u_on_b),
              kWholeUnits);
}

TEST(Ibcc, StopsWhenNoProbabilityMovesByMoreThanTheTolerance) {
  const BccIteration first(labels_of(kIbccRows), kIbccClassPrior, kVoteShares);
  const double move = std::max(std::abs(first.q[0][0] - 2.0 / 3), first.q[1][0]);
  const auto iterations = [](double tolerance) {
    return ibcc(labels_of(kIbccRows), {{"tolerance", std::to_string(tolerance)}}).trace.size();
  };
  EXPECT_EQ(iterations(move + 1e-5), 1U);
  EXPECT_GT(iterations(move - 1e-5), 1U);
}

TEST(Ibcc, LearnsFromAKnownTruthAsFromACertainOne) {
  Knowledge given;
  given.truths = {kNoClass, 0};  // against both workers
  const BccIteration learned(labels_of(kIbccRows), kIbccClassPrior, {kVoteShares[0], {1, 0}});
  const Result result = ibcc(labels_of(kIbccRows), {{"iterations", "1"}}, given);
  EXPECT_NEAR(result.posterior[0], learned.q[0][0], kWholeUnits);
  EXPECT_EQ(result.posterior[2], 1);
  const double p = learned.q[0][0];
  EXPECT_NEAR(result.confusion[0], (4 + p) / (5 + p + 1), kWholeUnits);
}

TEST(Ibcc, AddsAHistoryToThePriorEvenlyByClass) {
  const Labels labels = simulate_labels({.tasks = 40, .workers = 6, .classes = 3}, 1);
  // Per class 2 more right labels, and 1/2 more for each of the two wrong classes.
  Knowledge given;
  given.workers.assign(6, {3 * 2, 3 * 2 + 3 * 2 * .5});
  const Result history = ibcc(labels, {}, given);
  const Result options = ibcc(labels, {{"right", "6"}, {"wrong", "1.5"}});
  EXPECT_EQ(history.trace, options.trace);
  EXPECT_EQ(history.posterior, options.posterior);
}

TEST(Ibcc, NeverLowersTheBound) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(
      {.tasks = 200, .workers = 15, .classes = 4, .min_labels = 1, .max_labels = 6, .adversaries = .2},
      1, &crowd);
  Knowledge given;
  given.truths.assign(crowd.truths.begin(), crowd.truths.begin() + 20);
  given.workers = {{80, 100}, {1, 30}};
  const Result result = ibcc(labels, {{"iterations", "60"}, {"tolerance", "0"}}, given);
  ASSERT_EQ(result.trace.size(), 60U);
  for (std::size_t i = 1; i < result.trace.size(); ++i)
    EXPECT_GE(result.trace[i], result.trace[i - 1] - kRoundedTrace) << i;
}

TEST(Ibcc, LearnsNothingFromTasksThatNobodyLabelled) {
  const std::vector<LabelRow> rows = {
      {"1", "u", "a"}, {"1", "v", "b"}, {"1", "w", "a"}, {"2", "u", "b"}, {"2", "v", "b"}};
  std::vector<LabelRow> more = rows;
  for (int i = 0; i < 1'000; ++i) more.push_back({"empty" + std::to_string(i), "u", ""});
  const Result result = ibcc(labels_of(rows));
  const Result with_empty = ibcc(labels_of(more));
  ASSERT_EQ(with_empty.trace.size(), result.trace.size());
  EXPECT_NEAR(with_empty.trace.back(), result.trace.back(), 1e-9);
  EXPECT_EQ(with_empty.confidence[0], result.confidence[0]);
  EXPECT_EQ(with_empty.posterior[4], .5);
}

}  // namespace
}  // namespace crowdfold
