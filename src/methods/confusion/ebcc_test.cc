#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "bcc_by_hand.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::BccIteration;
using testing::LabelRow;
using testing::labels_of;
using testing::Row;

constexpr double kNearly = 1e-11;
constexpr std::uint64_t kSeed = 7;

Result ebcc(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {}) {
  RunContext context;
  context.seed = kSeed;
  context.posterior = true;
  context.confusion = true;
  return find_method("ebcc").make(settings)->fit(labels, given, context);
}

const std::vector<LabelRow> kEbccRows = {{"1", "u", "a"}, {"1", "v", "b"}, {"1", "w", "a"},
                                         {"2", "u", "b"}, {"2", "v", "b"}, {"3", "u", "b"},
                                         {"3", "w", "a"}};
const std::vector<Row> kShares = {{2.0 / 3, 1.0 / 3}, {0, 1}, {.5, .5}};  // of votes
const Row kClassPrior = {2.0 / 3 + 0 + .5, 1.0 / 3 + 1 + .5};             // their sums

TEST(Ebcc, SplitsSharesOfVotesAtRandomThenUpdatesDirichletsThenStates) {
  std::vector<Row> start;
  for (TaskId t = 0; t < 3; ++t) {
    Random random(mix64(kSeed) ^ mix64(t));
    Row row;
    for (const double share : kShares[t]) {
      // Two exponentials over their sum: Dirichlet(1, 1).
      const double x = -std::log(1 - random.uniform());
      const double y = -std::log(1 - random.uniform());
      row.insert(row.end(), {share * x / (x + y), share * y / (x + y)});
    }
    start.push_back(row);
  }
  const Labels labels = labels_of(kEbccRows);
  const BccIteration first(labels, kClassPrior, start);
  const BccIteration second(labels, kClassPrior, first.q);
  const auto run = [&](const char* iterations) {
    return ebcc(labels,
                {{"subtypes", "2"}, {"starts", "1"}, {"tolerance", "0"}, {"iterations", iterations}});
  };
  const Result one = run("1");
  const Result two = run("2");
  for (std::size_t t = 0; t < 3; ++t) {
    EXPECT_NEAR(one.posterior[2 * t], first.q[t][0] + first.q[t][1], kNearly) << t;
    EXPECT_NEAR(two.posterior[2 * t], second.q[t][0] + second.q[t][1], kNearly) << t;
  }
  ASSERT_EQ(two.trace.size(), 2U);
  EXPECT_NEAR(two.trace[0], first.bound, kNearly);
  EXPECT_NEAR(two.trace[1], second.bound, kNearly);
}

// Shares of votes add up to 2 for both classes.
const std::vector<LabelRow> kBalanced = {{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"},
                                         {"2", "u", "b"}, {"2", "v", "b"}, {"2", "w", "a"},
                                         {"3", "u", "a"}, {"3", "v", "a"}, {"3", "x", "a"},
                                         {"4", "u", "b"}, {"4", "v", "b"}, {"4", "x", "b"}};

TEST(Ebcc, WithOneSubtypeIsIbccIfTheirClassPriorsAgree) {
  const Labels labels = labels_of(kBalanced);
  Knowledge given;
  given.workers = {{5, 9}};
  const Result result = ebcc(labels, {{"subtypes", "1"}, {"starts", "1"}}, given);
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  const Result ibcc = find_method("ibcc").make({{"classes", "2"}})->fit(labels, given, context);
  const auto expect_near = [](const auto& a, const auto& b) {
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], testing::kWholeUnits) << i;
  };
  expect_near(result.trace, ibcc.trace);
  expect_near(result.posterior, ibcc.posterior);
  expect_near(result.confusion, ibcc.confusion);
  EXPECT_NEAR(result.learned.counts_of(0).correct, ibcc.learned.counts_of(0).correct,
              testing::kWholeUnits);
}

TEST(Ebcc, CountsAKnownTruthAsACertainVoteAlsoInTheClassPrior) {
  Knowledge given;
  given.truths = {kNoClass, 0};  // against both workers
  const BccIteration learned(labels_of(kEbccRows), {2.0 / 3 + 1 + .5, 1.0 / 3 + 0 + .5},
                             {kShares[0], {1, 0}, kShares[2]});
  const Result result =
      ebcc(labels_of(kEbccRows), {{"subtypes", "1"}, {"starts", "1"}, {"iterations", "1"}}, given);
  EXPECT_NEAR(result.posterior[0], learned.q[0][0], kNearly);
  EXPECT_EQ(result.posterior[2], 1);
  EXPECT_NEAR(result.posterior[4], learned.q[2][0], kNearly);
}

Labels crowd_of_three_classes() {
  return simulate_labels(
      {.tasks = 150, .workers = 15, .classes = 3, .min_labels = 2, .max_labels = 6, .adversaries = .2},
      1);
}

TEST(Ebcc, NeverHasALowerBoundWithMoreStarts) {
  const auto bound = [labels = crowd_of_three_classes()](const char* starts) {
    return ebcc(labels, {{"subtypes", "3"}, {"starts", starts}}).trace.back();
  };
  EXPECT_LE(bound("1"), bound("2"));
  EXPECT_LE(bound("2"), bound("5"));
  EXPECT_LE(bound("5"), bound("20"));
  EXPECT_LT(bound("1"), bound("20"));
}

TEST(Ebcc, NeverLowersTheBound) {
  const Labels labels = crowd_of_three_classes();
  Knowledge given;
  given.truths.assign(20, 1);
  given.workers = {{80, 100}, {1, 30}};
  const Result result = ebcc(
      labels, {{"subtypes", "3"}, {"starts", "1"}, {"iterations", "100"}, {"tolerance", "0"}}, given);
  ASSERT_EQ(result.trace.size(), 100U);
  for (std::size_t i = 1; i < result.trace.size(); ++i)
    EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-9) << i;
}

TEST(Ebcc, DropsExactDuplicatesAndKeepsContradictions) {
  std::vector<LabelRow> rows = kEbccRows;
  rows.insert(rows.end(), {{"1", "u", "a"}, {"3", "w", "a"}, {"3", "w", "a"}});
  const Result once = ebcc(labels_of(kEbccRows));
  const Result again = ebcc(labels_of(rows, Duplicates::keep));
  EXPECT_EQ(again.posterior, once.posterior);
  EXPECT_EQ(again.learned.counts, once.learned.counts);
  rows.push_back({"3", "w", "b"});
  const Result contradicted = ebcc(labels_of(rows, Duplicates::keep));
  EXPECT_NE(contradicted.posterior, once.posterior);
  EXPECT_EQ(contradicted.learned.counts_of(2).seen, 3);
}

// Its own model: one task in five of the first class is of a kind that many workers take for the second
// class, all of them together.
TEST(Ebcc, RecoversKindsOfTasksOnWhichWorkersErrTogether) {
  constexpr int kTasks = 2'000;
  constexpr int kWorkers = 20;
  constexpr int kKnowing = 11;  // workers that this kind does not mislead
  Random random(5);
  std::vector<LabelRow> rows;
  std::vector<ClassId> truths;
  std::vector<double> right(kWorkers);
  for (int t = 0; t < kTasks; ++t) {
    const bool second = random.uniform() < .5;
    const bool misleads = !second && random.uniform() < .2;
    truths.push_back(second ? 1 : 0);
    for (int w = 0; w < kWorkers; ++w) {
      const bool is_right = random.uniform() < (misleads && w >= kKnowing ? .1 : .85);
      right[static_cast<std::size_t>(w)] += is_right ? 1.0 / kTasks : 0;
      rows.push_back({std::to_string(t), "w" + std::to_string(w), is_right != second ? "a" : "b"});
    }
  }
  const Labels labels = labels_of(rows);
  if (labels.classes()[0] != "a") {
    for (ClassId& truth : truths) truth = truth == 0 ? 1 : 0;
  }
  const Result with_kinds = ebcc(labels);
  EXPECT_GT(testing::accuracy(with_kinds, truths), .98);
  // Without kinds, the evidence is lower by far.
  EXPECT_GT(with_kinds.trace.back(), ebcc(labels, {{"subtypes", "1"}}).trace.back() + 300);
  for (WorkerId w = 0; w < kWorkers; ++w)
    EXPECT_NEAR(with_kinds.learned.quality(w).mean(), right[w], .03) << w;
}

}  // namespace
}  // namespace crowdfold
