#include <gtest/gtest.h>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::labels_of;

Result fit(const char* method, const Labels& labels, const Settings& settings = {},
           const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  return find_method(method).make(settings)->fit(labels, given, context);
}

TEST(OptDs, FindsTheQualitiesOfWorkersWhoErrInTheirOwnWays) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 3'000,
                                         .workers = 15,
                                         .classes = 3,
                                         .min_labels = 8,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.5,.9"),
                                         .confusion = true},
                                        1, &crowd);
  const Result result = fit("opt_ds", labels);
  EXPECT_GT(testing::accuracy(result, crowd.truths), .95);
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const WorkerCounts counts = result.learned.counts_of(w);
    EXPECT_NEAR(counts.correct / counts.seen, crowd.quality[w], .05) << w;
  }
}

TEST(OptDs, IsThereInOneIterationWithManyLabels) {
  // The start alone is nearly as good as after EM: moments are consistent.
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 5'000,
                                         .workers = 30,
                                         .classes = 3,
                                         .min_labels = 12,
                                         .max_labels = 12,
                                         .quality = QualityDistribution::parse("uniform:.4,.6"),
                                         .confusion = true,
                                         .adversaries = .2},
                                        2, &crowd);
  const double best = testing::accuracy(fit("ds", labels), crowd.truths);
  EXPECT_GT(testing::accuracy(fit("opt_ds", labels, {{"iterations", "1"}}), crowd.truths), best - .01);
  EXPECT_GT(testing::accuracy(fit("opt_ds", labels), crowd.truths), best - .005);
}

// With two workers one group is empty.
TEST(OptDs, StartsFromSharesOfVotesWhereMomentsSayNothing) {
  const Labels two = simulate_labels(
      {.tasks = 200, .workers = 2, .classes = 3, .min_labels = 1, .max_labels = 2, .quality = {}}, 3);
  const Labels many_classes =
      simulate_labels({.tasks = 200, .workers = 20, .classes = 40, .quality = {}}, 4);
  const Labels one_class = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"2", "w", "a"}});
  for (const Labels* labels : {&two, &many_classes, &one_class}) {
    const Result result = fit("opt_ds", *labels);
    const Result expected = fit("lfc", *labels);
    EXPECT_EQ(result.estimate, expected.estimate);
    for (TaskId t = 0; t < labels->num_tasks(); ++t)
      EXPECT_NEAR(result.confidence[t], expected.confidence[t], testing::kWholeUnits);
    for (std::size_t i = 0; i < expected.confusion.size(); ++i)
      EXPECT_NEAR(result.confusion[i], expected.confusion[i], testing::kWholeUnits);
  }
}

TEST(OptDs, KeepsKnownTruths) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(
      {.tasks = 500, .workers = 12, .classes = 2, .min_labels = 6, .max_labels = 6, .quality = {}}, 5,
      &crowd);
  Knowledge given;
  given.truths = {0, 1, 0, 1};
  const Result result = fit("opt_ds", labels, {}, given);
  for (TaskId t = 0; t < 4; ++t) {
    EXPECT_EQ(result.estimate[t], t % 2);
    EXPECT_NEAR(result.confidence[t], 1, 1e-12);
  }
}

}  // namespace
}  // namespace crowdfold
