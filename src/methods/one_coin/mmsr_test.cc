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

Result mmsr(const Labels& labels, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  return find_method("mmsr").make({})->fit(labels, given, context);
}

// On 20 tasks, each of three workers contradicts the two others twice.
std::vector<LabelRow> equal_workers() {
  std::vector<LabelRow> rows;
  const std::vector<std::string> workers = {"u", "v", "w"};
  for (int t = 0; t < 20; ++t) {
    for (int i = 0; i < 3; ++i) {
      const bool first = (t % 2 == 0) != (t / 2 == i);
      rows.push_back({std::to_string(t), workers[static_cast<std::size_t>(i)], first ? "a" : "b"});
    }
  }
  return rows;
}

TEST(Mmsr, TakesSkillsFromThePairsAndProbabilitiesFromTheSkills) {
  // Pairs agree on 16 of 20: C = .6 everywhere, so every skill is the root of .6, p = (1 + s) / 2.
  const Result result = mmsr(labels_of(equal_workers()));
  const double s = std::sqrt(.6);
  const double odds = (1 + s) / (1 - s);
  constexpr double kFloat = 1e-6;                                // C is kept in single precision
  EXPECT_NEAR(result.confidence[0], odds / (odds + 1), kFloat);  // 2 : 1
  EXPECT_NEAR(result.confidence[19], odds * odds * odds / (odds * odds * odds + 1), kFloat);
  EXPECT_TRUE(result.converged);
  EXPECT_EQ(result.learned.counts_of(0), (WorkerCounts{18, 20}));
}

TEST(Mmsr, FindsTheSignsOfSkills) {
  // x always says the opposite of what most say, so what x says alone is taken for the opposite.
  std::vector<LabelRow> rows = equal_workers();
  for (int t = 0; t < 20; ++t) rows.push_back({std::to_string(t), "x", t % 2 == 0 ? "b" : "a"});
  rows.push_back({"20", "x", "a"});
  const Labels labels = labels_of(rows);
  const Result result = mmsr(labels);
  for (TaskId t = 0; t < 20; ++t)
    EXPECT_EQ(labels.classes()[result.estimate[t]], t % 2 == 0 ? "a" : "b") << t;
  EXPECT_EQ(labels.classes()[result.estimate[20]], "b");
}

TEST(Mmsr, BelievesWorkersWithoutPartners) {
  const Result result = mmsr(labels_of({{"1", "u", "a"}, {"2", "v", "b"}, {"3", "u", "c"}}));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1, 2}));
  EXPECT_GT(result.confidence[0], .5);
}

TEST(Mmsr, RecoversASimulatedCrowdWithAFifthOfAdversaries) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 2'000,
                                         .workers = 30,
                                         .classes = 3,
                                         .min_labels = 8,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.6,.95"),
                                         .adversaries = .2},
                                        1, &crowd);
  const auto accuracy = [&](const Result& result) { return testing::accuracy(result, crowd.truths); };
  EXPECT_GT(accuracy(mmsr(labels)), .95);
  EXPECT_GT(accuracy(mmsr(labels)), accuracy(find_method("mv").make({})->fit(labels, RunContext{})));
}

TEST(Mmsr, CannotUseKnownTruths) {
  Knowledge given;
  given.truths = {0};
  const Error error = error_of([&] { mmsr(labels_of({{"1", "u", "a"}}), given); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_EQ(std::string(error.what()).find("mmsr cannot use known truths"), 0U);
}

TEST(Mmsr, RefusesMorePairsThanMemoryHolds) {
  RunContext context;
  context.max_memory = 1'000'000;  // 400 workers on one task are 159,600 pairs
  std::vector<LabelRow> rows;
  for (int w = 0; w < 400; ++w) rows.push_back({"t", "w" + std::to_string(w), w % 3 == 0 ? "a" : "b"});
  const Labels labels = labels_of(rows);
  EXPECT_EQ(error_of([&] { find_method("mmsr").make({})->fit(labels, context); }).code(),
            ErrorCode::usage);
  context.max_memory = 0;
  EXPECT_EQ(find_method("mmsr").make({})->fit(labels, context).estimate[0], 1);
}

}  // namespace
}  // namespace crowdfold
