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

TEST(LoneWorkers, ShareNoTaskWithAnybody) {
  const Labels labels = labels_of({{"1", "u", "a"},
                                   {"1", "v", "b"},
                                   {"2", "u", "a"},
                                   {"3", "lone", "a"},
                                   {"4", "lone", "b"},
                                   {"5", "known", "b"},
                                   {"6", "old", "b"}});
  Knowledge given;
  given.truths = {kNoClass, kNoClass, kNoClass, kNoClass, 0, kNoClass};
  given.workers = {{}, {}, {}, {}, {3, 4}};
  const LoneWorkers lone(labels, given);
  for (WorkerId w = 0; w < 5; ++w) EXPECT_EQ(lone.has(w), labels.workers()[w] == "lone");
  EXPECT_TRUE(lone.labelled(labels.task(2)));
  EXPECT_FALSE(lone.labelled(labels.task(1)));
  EXPECT_TRUE(LoneWorkers(labels_of({{"1", "u", "a"}, {"1", "v", "b"}}), {}).empty());

  LoneWorkers one_by_one;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) one_by_one.add(labels.task(t));
  for (WorkerId w = 0; w < 5; ++w) EXPECT_EQ(one_by_one.has(w), w >= 2);
}

TEST(LoneWorkers, AreTakenForOneOfTheOthers) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"2", "lone", "b"}});
  const LoneWorkers lone(labels, {});
  WorkerState learned;
  learned.counts = {{40, 40}, {36, 40}, {50, 50}};
  EXPECT_DOUBLE_EQ(lone.quality_of_others(learned), (.7 * 20 + 76) / 100);
  learned.sections = {{.name = "cells",
                       .axes = {StateSection::Axis::label_class, StateSection::Axis::worker},
                       .width = 1,
                       .adds = true,
                       .keys = {0, 0, 0, 2, 1, 1},
                       .values = {3, 4, 5}}};
  lone.forget(learned, {});
  EXPECT_EQ(learned.sections[0].keys, (std::vector<std::uint32_t>{0, 0, 1, 1}));
  EXPECT_EQ(learned.sections[0].values, (std::vector<double>{3, 5}));
  EXPECT_EQ(learned.counts[2].seen, 0);
  EXPECT_EQ(learned.counts[1].seen, 40);
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
