// What methods find in crowds that are known.
#include <numeric>

#include "contract/every_method.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

TEST_P(EveryMethod, RecoversPerfectWorkers) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 2'000,
                                         .workers = 10,
                                         .classes = up_to(4),
                                         .quality = QualityDistribution::parse("fixed:1")},
                                        3, &crowd);
  const Result result = fit(labels);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) ASSERT_EQ(result.estimate[t], crowd.truths[t]) << t;
  for (WorkerId w = 0; w < labels.num_workers(); ++w)
    EXPECT_GT(result.learned.quality(w).mean(), .9) << w;
}

TEST_P(EveryMethod, RecoversACrowdOfDifferentQualities) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 2'000,
                                         .workers = 40,
                                         .classes = up_to(3),
                                         .min_labels = 8,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.5,.95")},
                                        7, &crowd);
  const Result result = fit(labels);
  EXPECT_GT(testing::accuracy(result, crowd.truths), .92);
  for (WorkerId w = 0; w < labels.num_workers(); ++w)
    EXPECT_NEAR(result.learned.quality(w).mean(), crowd.quality[w], .1) << w;  // 400 labels each
}

TEST_P(MethodWithFreeMatrices, RecoversWorkersWhoErrInTheirOwnWays) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 3'000,
                                         .workers = 30,
                                         .classes = 3,
                                         .min_labels = 8,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.6,.9"),
                                         .confusion = true},
                                        9, &crowd);
  RunContext context;
  context.confusion = true;
  const Result result = fit(labels, {}, {}, context);
  EXPECT_GT(testing::accuracy(result, crowd.truths), .95);

  // What workers really said, by truth: about 270 labels a row.
  std::vector<double> said(result.confusion.size());
  std::vector<double> rows(said.size() / 3);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      const std::size_t row = 3UL * task.workers[j] + crowd.truths[t];
      ++said[3 * row + task.classes[j]];
      ++rows[row];
    }
  }
  for (std::size_t i = 0; i < said.size(); ++i)
    EXPECT_NEAR(result.confusion[i], said[i] / rows[i / 3], .06) << i;
}

TEST_P(MethodThatClimbs, ClimbsToItsObjective) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Labels labels = simulate_labels({.tasks = 300,
                                           .workers = 25,
                                           .classes = up_to(4),
                                           .min_labels = 3,
                                           .max_labels = 6,
                                           .quality = {}},
                                          seed);
    const Result result = fit(labels, fitting({{"iterations", "40"}}), {}, with(1, seed, false));
    ASSERT_FALSE(result.trace.empty());
    for (std::size_t i = 1; i < result.trace.size(); ++i)
      EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-7 * std::abs(result.trace[i - 1])) << i;
  }
}

TEST_P(MethodWithATolerance, SaysWhetherItSettled) {
  const Labels labels =
      simulate_labels({.tasks = 300, .workers = 25, .classes = up_to(4), .quality = {}}, 1);
  EXPECT_FALSE(fit(labels, {{"iterations", "1"}, {"tolerance", "1e-9"}}).converged);
  EXPECT_TRUE(fit(labels, {{"iterations", "10000"}, {"tolerance", ".01"}}).converged);
}

TEST_P(MethodWithConfusion, GivesMatricesWhoseRowsSumToOneIfAsked) {
  const Labels labels =
      simulate_labels({.tasks = 300, .workers = 25, .classes = up_to(4), .quality = {}}, 1);
  EXPECT_TRUE(fit(labels, quick()).confusion.empty());
  RunContext context;
  context.confusion = true;
  const Result result = fit(labels, quick(), {}, context);
  const std::size_t classes = labels.num_classes();
  ASSERT_EQ(result.confusion.size(), labels.num_workers() * classes * classes);
  for (std::size_t row = 0; row < result.confusion.size(); row += classes) {
    EXPECT_NEAR(
        std::accumulate(result.confusion.begin() + static_cast<std::ptrdiff_t>(row),
                        result.confusion.begin() + static_cast<std::ptrdiff_t>(row + classes), 0.0),
        1, 1e-9);
  }
}

}  // namespace
}  // namespace crowdfold
