#include <gtest/gtest.h>

#include <cmath>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::kWholeUnits;
using testing::labels_of;

Result ds(const Labels& labels, const Settings& settings = {}) {
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  return find_method("ds").make(settings)->fit(labels, context);
}

TEST(DawidSkene, BeginsWithSevenTenthsOnTheDiagonal) {
  const Result result =
      ds(labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}}), {{"iterations", "1"}});
  // a : b = .7 .7 .3 : .3 .3 .7
  EXPECT_NEAR(result.confidence[0], .7, kWholeUnits);
  EXPECT_EQ(result.trace.size(), 1U);
  EXPECT_NEAR(result.trace[0], std::log(.5 * (.7 * .7 * .3 + .3 * .3 * .7)), kWholeUnits);
}

// Votes of u, v, w on three tasks: shares are 2/3, 1 and 1/3 for a.
Labels three_tasks() {
  return labels_of({{"1", "u", "a"},
                    {"1", "v", "a"},
                    {"1", "w", "b"},
                    {"2", "u", "a"},
                    {"2", "v", "a"},
                    {"3", "u", "a"},
                    {"3", "v", "b"},
                    {"3", "w", "b"}});
}

TEST(DawidSkene, WithoutAnyIterationVotesAreTheAnswers) {
  const Result result = ds(three_tasks(), {{"iterations", "0"}});
  EXPECT_TRUE(result.trace.empty());
  EXPECT_NEAR(result.posterior[0], 2. / 3, kWholeUnits);
  EXPECT_NEAR(result.posterior[2], 1, kWholeUnits);
  EXPECT_NEAR(result.posterior[4], 1. / 3, kWholeUnits);
  // w says b on tasks that are a by 2/3 and 1/3; u says nothing but a.
  EXPECT_NEAR(result.confusion[0], 1, kWholeUnits);
  const double* const v = result.confusion.data() + 4;
  EXPECT_NEAR(v[0], (2. / 3 + 1) / 2, kWholeUnits);
  EXPECT_NEAR(v[3], (2. / 3) / 1, kWholeUnits);
}

TEST(DawidSkene, StartsFromVotesWhenAskedTo) {
  const Result votes = ds(three_tasks(), {{"iterations", "1"}, {"start", "0"}});
  // On task 2, u and v say a: rho is 2/3 by votes, and u says a whatever it is.
  const double a = 2. / 3 * (5. / 6);
  const double b = 1. / 3 * (1. / 3);
  EXPECT_NEAR(votes.posterior[2], a / (a + b), 1e-6);
  EXPECT_EQ(votes.trace.size(), 1U);
}

TEST(DawidSkene, LearnsConfusionMatrices) {
  // Everyone is right on a; on b, the third worker says a.
  std::vector<testing::LabelRow> rows;
  for (int t = 0; t < 40; ++t) {
    const std::string truth = t % 2 == 0 ? "a" : "b";
    for (const char* worker : {"u", "v", "x"}) rows.push_back({std::to_string(t), worker, truth});
    rows.push_back({std::to_string(t), "w", "a"});
  }
  const Labels labels = labels_of(rows);
  const Result result = ds(labels);
  for (TaskId t = 0; t < 40; ++t) EXPECT_EQ(result.estimate[t], t % 2);
  const WorkerId w = *labels.workers().find("w");
  const double* matrix = result.confusion.data() + w * 4;
  EXPECT_NEAR(matrix[0], 1, 1e-9);  // says a on a
  EXPECT_NEAR(matrix[2], 1, 1e-9);  // and on b
  EXPECT_NEAR(matrix[3], 0, 1e-9);
  EXPECT_NEAR(result.learned.counts_of(w).correct, 20, 1e-6);  // half of 40
}

TEST(DawidSkene, KeepsTheStartOfARowThatNoTaskSpeaksFor) {
  const Labels labels =
      labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"2", "w", "b"}, {"2", "x", "b"}, {"2", "v", "b"}});
  Knowledge given;
  given.truths = {0};  // u has met nothing but a
  RunContext context;
  context.confusion = true;
  const Result result = find_method("ds").make({})->fit(labels, given, context);
  EXPECT_NEAR(result.confusion[0], 1, 1e-9);
  EXPECT_NEAR(result.confusion[3], .7, 1e-9);
}

TEST(DawidSkene, IsBetterThanOneCoinWhereWorkersMixUpClasses) {
  SimulatedCrowd crowd;
  SimulationOptions options{.tasks = 3'000,
                            .workers = 30,
                            .classes = 3,
                            .quality = QualityDistribution::parse("uniform:.4,.7")};
  options.confusion = true;
  const Labels labels = simulate_labels(options, 5, &crowd);
  const auto accuracy = [&](const char* method) {
    return testing::accuracy(find_method(method).make({})->fit(labels, RunContext{}), crowd.truths);
  };
  EXPECT_GT(accuracy("ds"), accuracy("zc"));
}

// u says a, v says b.
Result ds_from(const char* extra, FlatArray<double> matrices) {
  Knowledge given;
  given.extras = {{extra, Per::worker, 4, std::move(matrices)}};
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "b"}});
  return find_method("ds").make({{"iterations", "1"}})->fit(labels, given, {});
}

TEST(DawidSkene, StartsFromTheMatricesItIsGiven) {
  // a : b = .9 .4 : .2 .6, by truth and label
  const Result result = ds_from("confusion", {.9, .1, .2, .8, .6, .4, .4, .6});
  EXPECT_EQ(result.estimate[0], 0);
  EXPECT_NEAR(result.confidence[0], .9 * .4 / (.9 * .4 + .2 * .6), kWholeUnits);
}

TEST(DawidSkene, AddsTheCountsItIsGivenToThoseOfAVote) {
  // The vote is even: u has said a on half an a and half a b, v the same of b.
  const Result result = ds_from("counts", {8.5, 1, 2, 7.5, 1.5, 1, 2, 2.5});
  // a : b = 9/10 1.5/3 : 2.5/10 3/5
  EXPECT_NEAR(result.confidence[0], .9 * .5 / (.9 * .5 + .25 * .6), kWholeUnits);
}

}  // namespace
}  // namespace crowdfold
