#include <gtest/gtest.h>

#include <cmath>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;

using testing::kExact;

Result crh(const Labels& labels, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  return find_method("crh").make({})->fit(labels, given, context);
}

// u and v agree on four tasks, w disagrees on the first two.
const std::vector<LabelRow> kCrhRows = {{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"},
                                        {"2", "u", "b"}, {"2", "v", "b"}, {"2", "w", "a"},
                                        {"3", "u", "a"}, {"3", "v", "a"}, {"3", "w", "a"},
                                        {"4", "u", "b"}, {"4", "v", "b"}, {"4", "w", "b"}};

TEST(Crh, WeighsAWorkerByTheLogarithmOfItsShareOfTheLoss) {
  // Losses (0 + .5) / 5, the same, (2 + .5) / 5: shares 1/7, 1/7, 5/7.
  const Result result = crh(labels_of(kCrhRows));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1, 0, 1}));
  const double good = std::log(7.0);
  const double bad = std::log(7.0 / 5);
  EXPECT_NEAR(result.confidence[0], 2 * good / (2 * good + bad), kExact);
  EXPECT_NEAR(result.posterior[1], bad / (2 * good + bad), kExact);
  EXPECT_NEAR(result.confidence[2], 1, kExact);
  EXPECT_TRUE(result.converged);
}

TEST(Crh, DoesNotPunishALongHistory) {
  // w is wrong on 10 of 100 tasks, x on 5 of 10 others; the two contradict each other on two more.
  std::vector<LabelRow> rows;
  const auto add = [&](int tasks, int wrong, const char* worker) {
    for (int t = 0; t < tasks; ++t) {
      const std::string task = worker + std::to_string(t);
      for (const char* good : {"u", "v"}) rows.push_back({task, good, t % 2 == 0 ? "a" : "b"});
      rows.push_back({task, worker, (t % 2 == 0) == (t < wrong) ? "b" : "a"});
    }
  };
  add(100, 10, "w");
  add(10, 5, "x");
  rows.insert(rows.end(), {{"1", "x", "a"}, {"1", "w", "b"}, {"2", "x", "b"}, {"2", "w", "a"}});
  const Labels labels = labels_of(rows);
  const Result result = crh(labels);
  EXPECT_EQ(result.estimate[*labels.tasks().find("1")], 1);
  EXPECT_EQ(result.estimate[*labels.tasks().find("2")], 0);
}

TEST(Crh, LetsTheBetterWorkerDecideATie) {
  std::vector<LabelRow> rows = kCrhRows;
  rows.push_back({"5", "w", "b"});
  rows.push_back({"5", "u", "a"});
  rows.push_back({"6", "w", "a"});
  rows.push_back({"6", "u", "b"});
  const Result result = crh(labels_of(rows));
  EXPECT_EQ(result.estimate[4], 0);
  EXPECT_EQ(result.estimate[5], 1);
}

TEST(Crh, CountsAHistoryAndKeepsAKnownTruth) {
  Knowledge given;
  given.workers = {{0, 1000}};  // u was always wrong
  given.truths = {1};
  const Result result = crh(labels_of(kCrhRows), given);
  EXPECT_EQ(result.estimate[0], 1);
  EXPECT_EQ(result.confidence[0], 1);
  EXPECT_EQ(result.learned.counts_of(0).seen, 1004);
}

TEST(Crh, RecoversASimulatedCrowd) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(
      {.tasks = 1'000, .workers = 20, .quality = QualityDistribution::parse("uniform:.4,.95")}, 3,
      &crowd);
  const Result result = crh(labels);
  EXPECT_GT(testing::accuracy(result, crowd.truths), .9);
}

TEST(Crh, BelievesAWorkerWhoIsAloneOnATask) {
  const Result result =
      crh(labels_of({{"1", "u", "a"}, {"2", "u", "b"}, {"3", "u", "a"}, {"3", "v", "a"}}));
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1, 0}));
  EXPECT_NEAR(result.confidence[1], 1, kExact);
}

}  // namespace
}  // namespace crowdfold
