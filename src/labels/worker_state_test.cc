#include "crowdfold/worker_state.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/random.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;

// P(Beta(a, b) <= x) for whole a and b: at least a of a + b - 1 coins of probability x.
double beta_cdf(int a, int b, double x) {
  const int n = a + b - 1;
  double sum = 0;
  for (int j = a; j <= n; ++j) {
    const double choose = std::lgamma(n + 1) - std::lgamma(j + 1) - std::lgamma(n - j + 1);
    sum += std::exp(choose + j * std::log(x) + (n - j) * std::log1p(-x));
  }
  return sum;
}

WorkerState random_state(Random& random) {
  WorkerState state;
  state.classes = static_cast<std::uint32_t>(random.below(10));
  state.counts.resize(random.below(6));
  for (WorkerCounts& counts : state.counts) {
    counts.seen = static_cast<double>(random.below(100));
    counts.correct = static_cast<double>(random.below(static_cast<std::uint64_t>(counts.seen) + 1));
  }
  return state;
}

void expect_equal(const WorkerState& a, const WorkerState& b) {
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.counts, b.counts);
}

TEST(BetaQuality, HasItsModeBetweenItsCounts) {
  EXPECT_DOUBLE_EQ((BetaQuality{2, 2}.mode()), .5);
  EXPECT_DOUBLE_EQ((BetaQuality{10, 3}.mode()), 9.0 / 11);
  EXPECT_DOUBLE_EQ((BetaQuality{5, 1}.mode()), 1);
  EXPECT_DOUBLE_EQ((BetaQuality{1, 5}.mode()), 0);
}

TEST(BetaQuality, HasOneHalfForAModeWhereThereIsNone) {
  EXPECT_DOUBLE_EQ((BetaQuality{1, 1}.mode()), .5);
}

TEST(BetaQuality, HasItsMeanAtTheShareOfAlpha) {
  EXPECT_DOUBLE_EQ((BetaQuality{10, 3}.mean()), 10.0 / 13);
  EXPECT_DOUBLE_EQ((BetaQuality{1, 1}.mean()), .5);
}

TEST(BetaQuality, HasTheCredibleIntervalsOfTheTables) {
  const struct {
    double alpha, beta, probability, lower, upper;
  } cases[] = {
      {1, 1, .95, .025, .975},
      {2, 2, .95, .09429932405024612, .9057006759497539},
      {2, 2, .9, .13535036217158378, .8646496378284161},
      {10, 3, .95, .5158622513140327, .9451393554720071},
      {3, 7, .95, .07485463141969181, .6000935737163118},
      {5, 1, .95, .47817624989501845, .9949492366205319},
  };
  for (const auto& c : cases) {
    const Interval interval = BetaQuality{c.alpha, c.beta}.credible_interval(c.probability);
    EXPECT_NEAR(interval.lower, c.lower, 1e-12) << c.alpha << ' ' << c.beta;
    EXPECT_NEAR(interval.upper, c.upper, 1e-12) << c.alpha << ' ' << c.beta;
  }
}

TEST(BetaQuality, LeavesEqualTailsBesideItsInterval) {
  for (const auto& [a, b] : {std::pair(4, 9), {30, 2}, {200, 100}, {1, 40}}) {
    const Interval interval = BetaQuality{double(a), double(b)}.credible_interval(.95);
    EXPECT_NEAR(beta_cdf(a, b, interval.lower), .025, 1e-9) << a << ' ' << b;
    EXPECT_NEAR(beta_cdf(a, b, interval.upper), .975, 1e-9) << a << ' ' << b;
  }
}

TEST(BetaQuality, HasAnIntervalForTheSmallestAndTheLargestCounts) {
  for (const double alpha : {1.0, 2.0, 1e3, 1e6, 1e9, 1e12}) {
    for (const double beta : {1.0, 2.0, 1e3, 1e6, 1e9, 1e12}) {
      const BetaQuality quality{alpha, beta};
      const Interval interval = quality.credible_interval();
      EXPECT_LE(0, interval.lower);
      EXPECT_LE(interval.lower, interval.upper);
      EXPECT_LE(interval.upper, 1);
      EXPECT_LE(interval.lower, quality.mean()) << alpha << ' ' << beta;
      EXPECT_GE(interval.upper, quality.mean()) << alpha << ' ' << beta;
    }
  }
}

TEST(ErrorBound, ReachesEpsilonOverTheRootOfTheTasksSeen) {
  const Interval bound = error_bound(.6, 400);
  EXPECT_DOUBLE_EQ(bound.lower, .5);
  EXPECT_DOUBLE_EQ(bound.upper, .7);
  const Interval narrow = error_bound(.6, 400, 1);
  EXPECT_DOUBLE_EQ(narrow.lower, .55);
  EXPECT_DOUBLE_EQ(narrow.upper, .65);
}

TEST(ErrorBound, StaysWithinZeroAndOneAndSaysNothingOfTheUnseen) {
  EXPECT_EQ(error_bound(.9, 4).upper, 1);
  EXPECT_EQ(error_bound(.1, 4).lower, 0);
  EXPECT_EQ(error_bound(.5, 0).lower, 0);
  EXPECT_EQ(error_bound(.5, 0).upper, 1);
}

TEST(WorkerState, CountsWhoWasSeenAndWhoWasRight) {
  WorkerState state;
  const std::vector<WorkerId> workers = {3, 0, 3};
  const std::vector<ClassId> classes = {1, 0, 0};
  state.expect(4, 2);
  state.expect(2, 1);  // never shrinks
  ASSERT_EQ(state.counts.size(), 4U);
  ASSERT_EQ(state.classes, 2U);
  state.add({0, workers, classes}, 1);
  EXPECT_EQ(state.counts_of(3), (WorkerCounts{1, 2}));
  EXPECT_EQ(state.counts_of(0), (WorkerCounts{0, 1}));
  EXPECT_EQ(state.counts_of(1), WorkerCounts{});
  EXPECT_EQ(state.counts_of(99), WorkerCounts{});
}

TEST(WorkerState, AddsCountsToThePriorForTheQuality) {
  WorkerState state;
  state.alpha = 3;
  state.beta = 2;
  state.counts = {{8, 10}};
  EXPECT_EQ(state.quality(0).alpha, 11);
  EXPECT_EQ(state.quality(0).beta, 4);
  EXPECT_EQ(state.quality(7).alpha, 3);
  EXPECT_EQ(state.quality(7).beta, 2);
}

RC_GTEST_PROP(WorkerState, MergesInAnyOrderAndGroupingToTheSame, (std::uint64_t seed)) {
  Random random(seed);
  const WorkerState a = random_state(random);
  const WorkerState b = random_state(random);
  const WorkerState c = random_state(random);
  const auto merged = [](WorkerState left, const WorkerState& right) {
    left.merge(right);
    return left;
  };
  expect_equal(merged(a, b), merged(b, a));
  expect_equal(merged(merged(a, b), c), merged(a, merged(b, c)));
  expect_equal(merged(a, WorkerState{}), a);
  expect_equal(merged(WorkerState{}, a), a);
}

TEST(WorkerState, RefusesToMergeWhatStartedFromAnotherPrior) {
  WorkerState state;
  WorkerState other;
  other.beta = 3;
  const Error error = error_of([&] { state.merge(other); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_STREQ(error.what(), "the worker state was made with the prior Beta(2, 3), not Beta(2, 2)");
}

using Axis = StateSection::Axis;

TEST(StateSection, AddsRowsOfTheSameKeyAndKeepsTheirOrder) {
  StateSection section = {.name = "cells", .axes = {Axis::worker, Axis::label_class}, .width = 2};
  section.add({0, 1}, {1, 2});
  section.add({3, 0}, {3, 4});
  StateSection other = {.name = "cells", .axes = {Axis::worker, Axis::label_class}, .width = 2};
  other.add({0, 0}, {5, 6});
  other.add({3, 0}, {7, 8});
  other.add({3, 1}, {9, 10});
  section.merge(other);
  EXPECT_EQ(section.keys, (std::vector<std::uint32_t>{0, 0, 0, 1, 3, 0, 3, 1}));
  EXPECT_EQ(section.values, (std::vector<double>{5, 6, 1, 2, 10, 12, 9, 10}));
}

TEST(StateSection, AddsNumberByNumberWhereThereAreNoKeys) {
  StateSection section = {.name = "sums", .width = 2, .values = {1, 2}};
  section.merge({.name = "sums", .width = 2, .values = {10, 20}});
  EXPECT_EQ(section.values, (std::vector<double>{11, 22}));
  EXPECT_EQ(error_of([&] { section.merge({.name = "sums", .width = 1, .values = {1}}); }).code(),
            ErrorCode::usage);
}

TEST(WorkerState, FollowsWorkersAndClassesToOtherIds) {
  WorkerState state;
  state.expect(2, 2);
  state.counts = {{1, 2}, {3, 4}};
  StateSection cells = {.name = "cells", .axes = {Axis::worker, Axis::label_class}};
  cells.add({0, 0}, {1});
  cells.add({0, 1}, {2});
  cells.add({1, 0}, {3});
  state.sections = {cells};
  state.renumber(std::vector<std::uint32_t>{5, 2}, std::vector<std::uint32_t>{3, 0});
  ASSERT_EQ(state.counts.size(), 6U);
  EXPECT_EQ(state.counts[5], (WorkerCounts{1, 2}));
  EXPECT_EQ(state.counts[2], (WorkerCounts{3, 4}));
  EXPECT_EQ(state.classes, 4U);
  EXPECT_EQ(state.sections[0].keys, (std::vector<std::uint32_t>{2, 3, 5, 0, 5, 3}));
  EXPECT_EQ(state.sections[0].values, (std::vector<double>{3, 2, 1}));
}

TEST(WorkerState, MergesNothingWithASectionThatDoesNotAdd) {
  WorkerState state;
  state.sections = {{.name = "network", .adds = false, .values = {1}}};
  WorkerState other;
  EXPECT_EQ(error_of([&] { state.merge(other); }).code(), ErrorCode::usage);
  const Error error = error_of([&] { other.merge(state); });
  EXPECT_STREQ(error.what(),
               "what a network has learned cannot be merged: let one of them learn from all tasks");
  EXPECT_TRUE(other.sections.empty());
}

}  // namespace
}  // namespace crowdfold
