#include "crowdfold/budget.h"

#include <gtest/gtest.h>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

// Ten labels a task.
struct Simulated {
  SimulatedCrowd crowd;
  Labels labels = simulate_labels({.tasks = 800,
                                   .workers = 40,
                                   .classes = 2,
                                   .min_labels = 10,
                                   .max_labels = 10,
                                   .quality = QualityDistribution::parse("uniform:.6,.95")},
                                  1, &crowd);
  Spending spend(const StopRule& stop, std::uint64_t seed = 1) const {
    return replay(labels, crowd.truths, *find_method("live").make_online({}, seed), stop, seed, {});
  }
};

TEST(Budget, WithoutARuleAllLabelsAreUsed) {
  const Spending spent = Simulated().spend({});
  EXPECT_EQ(spent.labels_per_task, 10);
  EXPECT_EQ(spent.closed, 0);
}

TEST(Budget, AFixedNumberOfLabelsIsUsedForEveryTask) {
  const Spending spent = Simulated().spend({.labels_per_task = 4});
  EXPECT_EQ(spent.labels_per_task, 4);
  EXPECT_EQ(spent.closed, 1);
}

TEST(Budget, AStopRuleIsMoreAccurateThanAFixedNumberOfAsManyLabels) {
  const Simulated simulated;
  const Spending stopped = simulated.spend({.confidence = .88});
  const Spending fixed = simulated.spend({.labels_per_task = 5});
  EXPECT_LT(stopped.labels_per_task, fixed.labels_per_task);
  EXPECT_GT(stopped.accuracy, fixed.accuracy + .005);
}

TEST(Budget, MoreConfidenceTakesMoreLabels) {
  const Simulated simulated;
  EXPECT_LT(simulated.spend({.confidence = .9}).labels_per_task,
            simulated.spend({.confidence = .99}).labels_per_task);
  EXPECT_LE(simulated.spend({.confidence = .999, .max_labels = 6}).labels_per_task, 6);
}

TEST(Budget, TellsWhatWasClaimedWhenTasksClosed) {
  const Spending spent = Simulated().spend({.confidence = .95});
  EXPECT_GT(spent.claimed, .9);
  EXPECT_LT(spent.claimed, spent.accuracy_then + .01);
}

// With a doubt of .05 no confidence in one of two classes passes .975.
TEST(Budget, ARuleThatAsksForMoreThanTheDoubtLeavesIsMet) {
  const Spending spent = Simulated().spend({.confidence = .98});
  EXPECT_GT(spent.closed, .5);
  EXPECT_LT(spent.claimed, .975);
}

TEST(Budget, IsTheSameForTheSameSeed) {
  const Simulated simulated;
  EXPECT_EQ(simulated.spend({.confidence = .9}, 7).labels_per_task,
            simulated.spend({.confidence = .9}, 7).labels_per_task);
  EXPECT_NE(simulated.spend({.confidence = .9}, 7).labels_per_task,
            simulated.spend({.confidence = .9}, 8).labels_per_task);
}

TEST(Budget, TasksWithoutTruthDoNotCount) {
  Simulated simulated;
  for (TaskId t = 0; t < 400; ++t) simulated.crowd.truths[t] = kNoClass;
  EXPECT_GT(simulated.spend({}).accuracy, .9);
}

}  // namespace
}  // namespace crowdfold
