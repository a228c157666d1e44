#include <gtest/gtest.h>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::labels_of;

Result fit(const char* method, const Labels& labels, const Settings& settings = {},
           const Given& given = {}) {
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  return find_method(method).make(settings)->fit(labels, given, context);
}

double accuracy(const Result& result, const Crowd& crowd) {
  int right = 0;
  for (std::size_t t = 0; t < crowd.truths.size(); ++t)
    right += result.estimate[t] == crowd.truths[t] ? 1 : 0;
  return right / static_cast<double>(crowd.truths.size());
}

TEST(OptDs, FindsTheQualitiesOfWorkersWhoErrInTheirOwnWays) {
  Crowd crowd;
  const Labels labels = simulate_labels({.tasks = 3'000,
                                         .workers = 15,
                                         .classes = 3,
                                         .min_labels = 8,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.5,.9"),
                                         .confusion = true},
                                        1, &crowd);
  const Result result = fit("opt_ds", labels);
  EXPECT_GT(accuracy(result, crowd), .95);
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const WorkerCounts counts = result.workers.counts(w);
    EXPECT_NEAR(counts.correct / counts.seen, crowd.quality[w], .05) << w;
  }
}

TEST(OptDs, IsThereInOneIterationWithManyLabels) {
  // The start alone is nearly as good as what EM makes of it: moments are consistent.
  Crowd crowd;
  const Labels labels = simulate_labels({.tasks = 5'000,
                                         .workers = 30,
                                         .classes = 3,
                                         .min_labels = 12,
                                         .max_labels = 12,
                                         .quality = QualityDistribution::parse("uniform:.4,.6"),
                                         .confusion = true,
                                         .adversaries = .2},
                                        2, &crowd);
  const double best = accuracy(fit("ds", labels), crowd);
  EXPECT_GT(accuracy(fit("opt_ds", labels, {{"iterations", "1"}}), crowd), best - .01);
  EXPECT_GT(accuracy(fit("opt_ds", labels), crowd), best - .005);
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
    EXPECT_EQ(result.confidence, expected.confidence);
    EXPECT_EQ(result.confusion, expected.confusion);
  }
}

TEST(OptDs, KeepsKnownTruths) {
  Crowd crowd;
  const Labels labels = simulate_labels(
      {.tasks = 500, .workers = 12, .classes = 2, .min_labels = 6, .max_labels = 6, .quality = {}}, 5,
      &crowd);
  Given given;
  given.truths = {0, 1, 0, 1};
  const Result result = fit("opt_ds", labels, {}, given);
  for (TaskId t = 0; t < 4; ++t) {
    EXPECT_EQ(result.estimate[t], t % 2);
    EXPECT_NEAR(result.confidence[t], 1, 1e-12);
  }
}

}  // namespace
}  // namespace crowdfold
