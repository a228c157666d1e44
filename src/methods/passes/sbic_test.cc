#include <gtest/gtest.h>

#include <cmath>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::labels_of;

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

Result sbic(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  return find_method("sbic").make(settings)->fit(labels, given, context);
}

TEST(Sbic, CreditsWorkersWithTheProbabilityOfBeingRight) {
  // Everyone begins at 2 / 3, odds of 2. Two say a and one says b: odds of 2 for a.
  const Labels labels =
      labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "u", "b"}, {"2", "w", "a"}});
  const Result result = sbic(labels);
  const double a = 2.0 / 3;
  EXPECT_NEAR(result.posterior[0], a, 1e-12);
  // u: (2 + 2/3) of 4, odds of 2. w: (2 + 1/3) of 4, odds of 7/5. They contradict each other.
  const double z = -std::log(2) + std::log(7.0 / 5);
  EXPECT_NEAR(result.posterior[2], sigmoid(z), 1e-12);
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 1}));
  EXPECT_NEAR(result.learned.counts_of(0).correct, a + sigmoid(-z), 1e-12);
  EXPECT_NEAR(result.learned.counts_of(1).correct, a, 1e-12);
  EXPECT_NEAR(result.learned.counts_of(2).correct, 1 - a + sigmoid(z), 1e-12);
  EXPECT_EQ(result.learned.counts_of(2).seen, 2);
}

TEST(Sbic, TakesAKnownTruthForCertain) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "b"}, {"2", "u", "a"}, {"2", "v", "b"}});
  Knowledge given;
  given.truths = {1};
  const Result result = sbic(labels, {}, given);
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{1, 1}));
  // u: 2 of 4; v: 3 of 4.
  EXPECT_NEAR(result.posterior[3], .75, 1e-12);
}

TEST(Sbic, HasAPriorForTheClassSeenFirst) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "u", "b"}, {"3", "v", "a"}, {"3", "w", "a"}});
  const Result result = sbic(labels, {{"first", ".8"}});
  EXPECT_NEAR(result.posterior[0], 8.0 / 9, 1e-12);  // odds of 4 and 2
}

TEST(Sbic, DecidesTies) {
  std::vector<testing::LabelRow> rows;
  for (int t = 0; t < 40; ++t) {
    const std::string task = std::to_string(t);
    rows.insert(rows.end(), {{task, "u" + task, "a"}, {task, "v" + task, "b"}});
  }
  const Labels labels = labels_of(rows);
  EXPECT_EQ(sbic(labels).estimate, (FlatArray<ClassId>(40, 0)));
  int second = 0;
  for (const ClassId label : sbic(labels, {{"ties", "random"}}).estimate) second += label;
  EXPECT_GT(second, 5);
  EXPECT_LT(second, 35);
}

TEST(Sbic, LearnsTheSameFromAStreamWhoseSecondClassComesLate) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"2", "u", "b"}, {"2", "v", "a"}});
  const auto online = find_method("sbic").make_online({}, 0);
  online->expect(2, 1);
  online->observe(labels.task(0));
  online->expect(2, 2);
  online->observe(labels.task(1));
  EXPECT_EQ(online->state().counts, sbic(labels).learned.counts);
}

TEST(Sbic, RefusesAThirdClassAlsoInAStream) {
  const Error error = error_of([] { find_method("sbic").make_online({}, 0)->expect(1, 3); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_EQ(std::string(error.what())
                .rfind("sbic is for 2 classes at most, and there are 3; methods that fit: mv, ", 0),
            0U);
}

TEST(Sbic, IsBetterThanAVoteWhereWorkersDiffer) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 3'000,
                                         .workers = 50,
                                         .classes = 2,
                                         .min_labels = 7,
                                         .max_labels = 7,
                                         .quality = QualityDistribution::parse("uniform:.4,.95")},
                                        2, &crowd);
  const Result vote = find_method("mv").make({})->fit(labels, RunContext{});
  EXPECT_GT(testing::accuracy(sbic(labels), crowd.truths), testing::accuracy(vote, crowd.truths) + .02);
}

}  // namespace
}  // namespace crowdfold
