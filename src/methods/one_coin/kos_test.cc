#include <gtest/gtest.h>

#include <cmath>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::LabelRow;
using testing::labels_of;

Result kos(const Labels& labels, const Settings& settings = {}) {
  RunContext context;
  context.posterior = true;
  return find_method("kos").make(settings)->fit(labels, context);
}

// u and v agree on ten tasks, w contradicts them.
std::vector<LabelRow> two_against_one() {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 10; ++t) {
    const bool even = t % 2 == 0;
    for (const char* worker : {"u", "v"}) rows.push_back({std::to_string(t), worker, even ? "a" : "b"});
    rows.push_back({std::to_string(t), "w", even ? "b" : "a"});
  }
  return rows;
}

TEST(Kos, TakesALiarsWordForTheOppositeAlsoWhereTheLiarIsAlone) {
  std::vector<LabelRow> rows = two_against_one();
  rows.push_back({"10", "w", "a"});
  rows.push_back({"11", "u", "a"});
  const Result result = kos(labels_of(rows));
  for (TaskId t = 0; t < 10; ++t) EXPECT_EQ(result.estimate[t], t % 2) << t;
  EXPECT_EQ(result.estimate[10], 1);
  EXPECT_EQ(result.estimate[11], 0);
  EXPECT_EQ(result.learned.counts_of(2), (WorkerCounts{0, 11}));
}

TEST(Kos, IsAsSureAsTheShareOfMessages) {
  // All three messages speak for the same class in the end, w's as the opposite of what it says.
  const Result result = kos(labels_of(two_against_one()));
  EXPECT_EQ(result.confidence[0], 1);
  EXPECT_GT(result.posterior[1], 0);
}

TEST(Kos, GoesByTheCountOfLabelsWhereNoMessageArrives) {
  const Result result =
      kos(labels_of({{"1", "u", "a"}, {"2", "v", "b"}, {"2", "w", "b"}, {"3", "x", ""}}));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1, kNoClass}));
  EXPECT_EQ(result.confidence[2], 0);
  EXPECT_EQ(result.posterior[4], .5);
}

TEST(Kos, RecoversASimulatedCrowdWithAFifthOfAdversaries) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 1'000,
                                         .workers = 50,
                                         .classes = 2,
                                         .min_labels = 9,
                                         .max_labels = 9,
                                         .quality = QualityDistribution::parse("uniform:.6,.95"),
                                         .adversaries = .2},
                                        1, &crowd);
  const auto accuracy = [&](const Result& result) { return testing::accuracy(result, crowd.truths); };
  EXPECT_GT(accuracy(kos(labels)), .95);
  EXPECT_GT(accuracy(kos(labels)),
            accuracy(find_method("mv").make({})->fit(labels, RunContext{})) + .03);
}

TEST(Kos, DoesNotOverflowInTenThousandIterations) {
  const Labels labels = simulate_labels(
      {.tasks = 100, .workers = 20, .classes = 2, .min_labels = 10, .max_labels = 10}, 2);
  const Result result = kos(labels, {{"iterations", "10000"}});
  for (const double p : result.posterior) EXPECT_TRUE(std::isfinite(p) && p > 0 && p <= 1) << p;
  for (const double growth : result.trace) EXPECT_TRUE(std::isfinite(growth));
}

TEST(Kos, RefusesThreeClassesInOneSentence) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "b"}, {"2", "u", "c"}});
  const Error error = error_of([&] { kos(labels); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_EQ(std::string(error.what()).find("kos is for 2 classes at most, and there are 3"), 0U);
}

TEST(Kos, TakesOneClassOnly) {
  const Result result =
      kos(labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"2", "u", "a"}, {"2", "v", "a"}}));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 0}));
  EXPECT_EQ(result.posterior, (FlatArray<double>{1, 1}));
}

}  // namespace
}  // namespace crowdfold
