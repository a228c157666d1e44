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

using testing::kWholeUnits;

Result lfc(const Labels& labels, Settings settings, const Knowledge& given = {}) {
  settings.insert(settings.end(), {{"right", "2"}, {"wrong", "1"}});
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  return find_method("lfc").make(settings)->fit(labels, given, context);
}

const std::vector<LabelRow> kLfcRows = {
    {"1", "u", "a"}, {"1", "v", "b"}, {"1", "w", "a"}, {"2", "u", "b"}, {"2", "v", "b"}};

// The M-step for kLfcRows where task 1 is a with probability p, and task 2 with probability r.
struct Learned {
  double rho;            // of a
  double u_a, v_a, w_a;  // how likely each says a on a
  double u_b, v_b, w_b;  // and on b
  double log_prior = 0;

  Learned(double p, double r)
      : rho((p + r) / 2),
        u_a((2 + p) / (3 + p + r)),
        v_a(2 / (3 + p + r)),
        w_a((2 + p) / (3 + p)),
        u_b((1 + 1 - p) / (3 + 2 - p - r)),
        v_b(1 / (3 + 2 - p - r)),
        w_b((1 + 1 - p) / (3 + 1 - p)) {
    for (const double right : {u_a, v_a, w_a, 1 - u_b, 1 - v_b, 1 - w_b})
      log_prior += 2 * std::log(right) + std::log(1 - right);
  }
  // Of the labels of a task, and a or b.
  double a1() const { return rho * u_a * (1 - v_a) * w_a; }
  double b1() const { return (1 - rho) * u_b * (1 - v_b) * w_b; }
  double a2() const { return rho * (1 - u_a) * (1 - v_a); }
  double b2() const { return (1 - rho) * (1 - u_b) * (1 - v_b); }
  double p() const { return a1() / (a1() + b1()); }
  double r() const { return a2() / (a2() + b2()); }
  double log_posterior() const { return std::log(a1() + b1()) + std::log(a2() + b2()) + log_prior; }
};

TEST(LearningFromCrowds, LearnsFromSharesOfVotesAndThePriorThenJudges) {
  const Learned first(2.0 / 3, 0);
  const Result one = lfc(labels_of(kLfcRows), {{"iterations", "1"}});
  ASSERT_EQ(one.trace.size(), 1U);
  EXPECT_NEAR(one.posterior[0], first.p(), kWholeUnits);
  EXPECT_NEAR(one.posterior[2], first.r(), kWholeUnits);
  EXPECT_NEAR(one.trace[0], first.log_posterior(), kWholeUnits);
  EXPECT_NEAR(one.confusion[0], 8.0 / 11, kWholeUnits);  // u on a: (2 + 2/3) / (2 + 1 + 2/3)
  EXPECT_NEAR(one.confusion[2], 4.0 / 13, kWholeUnits);  // and on b: (1 + 1/3) / (2 + 1 + 4/3)
  EXPECT_NEAR(one.learned.counts_of(0).correct, 2 * (1.0 / 3 * 8 / 11 + 2.0 / 3 * 9 / 13), kWholeUnits);

  const Learned second(first.p(), first.r());
  const Result two = lfc(labels_of(kLfcRows), {{"iterations", "2"}});
  ASSERT_EQ(two.trace.size(), 2U);
  EXPECT_NEAR(two.posterior[0], second.p(), kWholeUnits);
  EXPECT_NEAR(two.posterior[2], second.r(), kWholeUnits);
  EXPECT_NEAR(two.trace[1], second.log_posterior(), kWholeUnits);
  EXPECT_NEAR(two.confusion[2], second.u_b, kWholeUnits);
}

TEST(LearningFromCrowds, IsMaximumLikelihoodUnlessToldAPrior) {
  // Task 1: 1/3 * 1 on a, 2/3 * 1/4 on b; task 2: 0 on a, 2/3 * 3/4 on b.
  const Result result = find_method("lfc").make({{"iterations", "1"}})->fit(labels_of(kLfcRows), {});
  EXPECT_NEAR(result.trace[0], std::log(.5) + std::log(.5), kWholeUnits);
}

TEST(LearningFromCrowds, StopsWhenNoProbabilityMovesByMoreThanTheTolerance) {
  const Learned first(2.0 / 3, 0);
  const double move = std::max(std::abs(first.p() - 2.0 / 3), first.r());
  const auto iterations = [&](double tolerance) {
    return lfc(labels_of(kLfcRows), {{"tolerance", std::to_string(tolerance)}}).trace.size();
  };
  EXPECT_EQ(iterations(move + 1e-5), 1U);
  EXPECT_GT(iterations(move - 1e-5), 1U);
  EXPECT_EQ(iterations(0), 20U);
}

TEST(LearningFromCrowds, LearnsFromAKnownTruthAsFromACertainOne) {
  Knowledge given;
  given.truths = {kNoClass, 0};  // against both workers
  const Learned learned(2.0 / 3, 1);
  const Result result = lfc(labels_of(kLfcRows), {{"iterations", "1"}}, given);
  EXPECT_NEAR(result.posterior[0], learned.p(), kWholeUnits);
  EXPECT_EQ(result.posterior[2], 1);
  EXPECT_NEAR(result.confusion[0], learned.u_a, kWholeUnits);
  EXPECT_NEAR(result.trace[0],
              std::log(learned.a1() + learned.b1()) + std::log(learned.a2()) + learned.log_prior,
              kWholeUnits);
}

TEST(LearningFromCrowds, AddsAHistoryToThePriorEvenlyByClass) {
  const Labels labels = simulate_labels({.tasks = 40, .workers = 6, .classes = 3}, 1);
  // Per class 2 more right labels, and 1/2 more for each of the two wrong classes.
  Knowledge given;
  given.workers.assign(6, {3 * 2, 3 * 2 + 3 * 2 * .5});
  const Result history = lfc(labels, {}, given);
  const Result options = find_method("lfc").make({{"right", "4"}, {"wrong", "1.5"}})->fit(labels, {});
  EXPECT_EQ(history.trace, options.trace);
  EXPECT_EQ(history.confidence, options.confidence);
}

// Five of nine tasks are a. A newcomer said b on one of them, and now says b of a task that nobody else
// has seen. Taken by itself, the one error says that the newcomer always says b.
TEST(LearningFromCrowds, DoesNotCondemnANewcomerForOneErrorAsDawidSkeneDoes) {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 9; ++t) {
    for (const char* worker : {"u", "v", "w"})
      rows.push_back({std::to_string(t), worker, t % 2 == 0 ? "a" : "b"});
  }
  rows.push_back({"0", "newcomer", "b"});
  rows.push_back({"new", "newcomer", "b"});
  const Labels labels = labels_of(rows);
  EXPECT_EQ(find_method("ds").make({})->fit(labels, {}).estimate[9], 0);
  EXPECT_EQ(lfc(labels, {}).estimate[9], 1);
}

TEST(LearningFromCrowds, NeverLowersTheLogPosterior) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(
      {.tasks = 200, .workers = 15, .classes = 4, .min_labels = 1, .max_labels = 6, .adversaries = .2},
      1, &crowd);
  Knowledge given;
  given.truths.assign(crowd.truths.begin(), crowd.truths.begin() + 20);
  given.workers = {{80, 100}, {1, 30}};
  const Result result = lfc(labels, {{"iterations", "60"}}, given);
  ASSERT_EQ(result.trace.size(), 60U);
  for (std::size_t i = 1; i < result.trace.size(); ++i)
    EXPECT_GE(result.trace[i], result.trace[i - 1] - kRoundedTrace) << i;
}

}  // namespace
}  // namespace crowdfold
