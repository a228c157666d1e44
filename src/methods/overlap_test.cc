#include "methods/overlap.h"

#include <gtest/gtest.h>

#include <array>

#include "support.h"

namespace crowdfold {
namespace {

using testing::labels_of;

TEST(Overlap, IsATaskWithLabelsByTwoWorkers) {
  EXPECT_FALSE(tells_nothing(labels_of({{"1", "u", "a"}, {"1", "v", "b"}, {"2", "w", "a"}}), {}));
  EXPECT_TRUE(tells_nothing(labels_of({{"1", "u", "a"}, {"2", "v", "b"}}), {}));
  EXPECT_TRUE(tells_nothing(labels_of({{"1", "u", "a"}, {"2", "u", "b"}}), {}));
  EXPECT_TRUE(tells_nothing(Labels{}, {}));
}

TEST(Overlap, TruthsAndHistoriesTellSomethingButNotOfOneClass) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "v", "b"}});
  Knowledge given;
  given.truths = {kNoClass, kNoClass};
  EXPECT_TRUE(tells_nothing(labels, given));
  given.truths = {kNoClass, 1};
  EXPECT_FALSE(tells_nothing(labels, given));
  given.truths.clear();
  given.workers = {{3, 4}};
  EXPECT_FALSE(tells_nothing(labels, given));
  EXPECT_TRUE(tells_nothing(labels_of({{"1", "u", "a"}, {"1", "v", "a"}}), given));
}

TEST(Overlap, OneLabelIsWorthThatOfAnUnknownWorker) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "v", "b"}, {"3", "v", "c"}});
  std::array<double, 3> posterior{};
  const Estimate answer = judge_by_prior(labels.task(1), 3, posterior);
  EXPECT_EQ(answer.label, 1);
  EXPECT_DOUBLE_EQ(answer.confidence, .7);
  EXPECT_DOUBLE_EQ(posterior[0], .15);
  EXPECT_DOUBLE_EQ(posterior[1], .7);
}

TEST(Overlap, SeveralLabelsOfAWorkerOnATaskAreOneOpinion) {
  const std::vector<WorkerId> workers = {0, 0, 0};
  const std::vector<ClassId> classes = {1, 0, 1};
  std::array<double, 2> posterior{};
  const Estimate answer = judge_by_prior({0, workers, classes}, 2, posterior);
  EXPECT_EQ(answer.label, 1);
  EXPECT_DOUBLE_EQ(answer.confidence, (.7 * 2 + .3) / 3);
  EXPECT_DOUBLE_EQ(posterior[0] + posterior[1], 1);
}

TEST(Overlap, ATaskWithoutLabelsHasNoEstimate) {
  std::array<double, 2> posterior{};
  EXPECT_EQ(judge_by_prior({}, 2, posterior).label, kNoClass);
  EXPECT_EQ(posterior[0], .5);
}

}  // namespace
}  // namespace crowdfold
