#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;

using testing::kExact;

Result bwa(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  return find_method("bwa").make(settings)->fit(labels, given, context);
}

// Two workers agree on a task of each class and contradict each other on two more. So both have the
// same precision v for both classes, the mean is 1/2, z is 1/2 on the last two tasks, and 1 - e or e on
// the first two, with
//   b  =  15 * (2 * 2 * 1/4) / 8 * 2  =  3.75
//   v  =  (15 + 4) / (b + 2 e^2 + 2 / 4)
//   e  =  (1/2) / (1 + 2 v)
const std::vector<LabelRow> kTwo = {{"1", "u", "a"}, {"1", "v", "a"}, {"2", "u", "b"}, {"2", "v", "b"},
                                    {"3", "u", "a"}, {"3", "v", "b"}, {"4", "u", "b"}, {"4", "v", "a"}};
double next(double e) { return .5 / (1 + 2 * 19 / (4.25 + 2 * e * e)); }

TEST(Bwa, StartsFromSharesOfVotesThenWeighsThenAverages) {
  const Result one = bwa(labels_of(kTwo), {{"iterations", "1"}});
  EXPECT_NEAR(one.posterior[1], 2.125 / 42.25, kExact);
  EXPECT_NEAR(one.posterior[1], next(0), kExact);
  EXPECT_NEAR(one.posterior[4], .5, kExact);
  const Result two = bwa(labels_of(kTwo), {{"iterations", "2"}, {"tolerance", "0"}});
  EXPECT_NEAR(two.posterior[1], next(next(0)), kExact);
}

TEST(Bwa, EndsWhereTheAverageOfTwoWorkersStays) {
  const Result result = bwa(labels_of(kTwo), {{"tolerance", "1e-14"}});
  EXPECT_TRUE(result.converged);
  const double e = result.posterior[1];
  EXPECT_NEAR(next(e), e, kExact);
  EXPECT_NEAR(result.posterior[2], e, kExact);
}

TEST(Bwa, TracesTheLogarithmOfTheDensityOfLabelsAndValues) {
  const auto density = [](double e) {  // by class: two workers with 15 + 4 labels, two tasks
    return 2 * (-2 * 19 / 2.0 * std::log(4.25 + 2 * e * e) - .5 * 2 * (.5 - e) * (.5 - e));
  };
  const Result result = bwa(labels_of(kTwo), {{"iterations", "2"}, {"tolerance", "0"}});
  ASSERT_EQ(result.trace.size(), 2U);
  EXPECT_NEAR(result.trace[0], density(0), kExact);
  EXPECT_NEAR(result.trace[1], density(next(0)), kExact);
}

TEST(Bwa, StopsWhenValuesChangeByLessThanTheToleranceRelativeToTheirSize) {
  // (1, 0, 1/2, 1/2) becomes (1 - e, e, 1/2, 1/2).
  const double change = std::sqrt(2 * next(0) * next(0) / 1.5);
  const auto iterations = [](double tolerance) {
    return bwa(labels_of(kTwo), {{"tolerance", std::to_string(tolerance)}}).trace.size();
  };
  EXPECT_EQ(iterations(change + 1e-5), 1U);
  EXPECT_EQ(iterations(change - 1e-5), 2U);
}

TEST(Bwa, HasAPrecisionOfItsOwnForEveryClass) {
  // For a, and for b, the prior is 15 * (2 * 1/4) / 4 * 4 (1 - 1/3) = 5, v = 17 / (5 + 1/4), and the
  // mean is 1/4. Nobody errs on c: there z follows the labels.
  const Result result =
      bwa(labels_of({{"1", "u", "a"}, {"1", "v", "b"}, {"2", "u", "c"}, {"2", "v", "c"}}),
          {{"iterations", "1"}});
  const double of_a = .25 / (1 + 2 * 17 / 5.25);
  EXPECT_NEAR(result.posterior[3], of_a / (2 * of_a + 1), 1e-9);
  EXPECT_NEAR(result.posterior[4], of_a / (2 * of_a + 1), 1e-9);
  EXPECT_NEAR(result.posterior[2], 0, 1e-9);
}

TEST(Bwa, TakesOptionsForThePriors) {
  // As above with a = 3: b = .75; lambda = 2.
  const Result result = bwa(labels_of(kTwo), {{"iterations", "1"}, {"a", "3"}, {"lambda", "2"}});
  EXPECT_NEAR(result.posterior[1], 2 * .5 / (2 + 2 * 7 / (.75 + .5)), kExact);
}

TEST(Bwa, MeasuresWorkersByAKnownTruthWhichStays) {
  Knowledge given;
  given.truths = {kNoClass, kNoClass, 0};  // u was right on task 3
  const Result result = bwa(labels_of(kTwo), {{"iterations", "2"}, {"tolerance", "0"}}, given);
  // Only task 4 is contested: b = 15 * (2 * 1/4) / 8 * 2. The numbers below are for a; b is the
  // opposite.
  const std::array<double, 4> said_u = {1, 0, 1, 0};
  const std::array<double, 4> said_v = {1, 0, 0, 1};
  std::array<double, 4> z = {1, 0, 1, .5};
  for (int i = 0; i < 2; ++i) {
    const double mean = (z[0] + z[1] + z[2] + z[3]) / 4;
    const auto precision = [&](const std::array<double, 4>& said) {
      double errors = 0;
      for (std::size_t t = 0; t < 4; ++t) errors += (said[t] - z[t]) * (said[t] - z[t]);
      return 19 / (1.875 + errors);
    };
    const double u = precision(said_u);
    const double v = precision(said_v);
    for (const std::size_t t : {0U, 1U, 3U}) z[t] = (mean + u * said_u[t] + v * said_v[t]) / (1 + u + v);
  }
  for (std::size_t t = 0; t < 4; ++t) EXPECT_NEAR(result.posterior[2 * t], z[t], kExact) << t;
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1, 0, 1}));
  EXPECT_EQ(result.learned.counts_of(0), (WorkerCounts{4, 4}));
  EXPECT_EQ(result.learned.counts_of(1), (WorkerCounts{2, 4}));
}

TEST(Bwa, NeverLowersItsObjective) {
  const Labels labels = simulate_labels(
      {.tasks = 200, .workers = 15, .classes = 4, .min_labels = 1, .max_labels = 6, .adversaries = .2},
      1);
  Knowledge given;
  given.truths.assign(20, 1);
  const Result result = bwa(labels, {{"iterations", "60"}, {"tolerance", "0"}}, given);
  ASSERT_EQ(result.trace.size(), 60U);
  for (std::size_t i = 1; i < result.trace.size(); ++i)
    EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-9) << i;
}

}  // namespace
}  // namespace crowdfold
