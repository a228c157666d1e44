#include <gtest/gtest.h>

#include <cmath>

#include "crowdfold/registry.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;
using testing::outvoted;

using testing::kExact;

Result zbs(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  return find_method("zbs").make(settings)->fit(labels, given, context);
}

// u and v agree on four tasks, w contradicts them on the first two: the vote is always theirs.
const std::vector<LabelRow> kZbsRows = {{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"},
                                        {"2", "u", "b"}, {"2", "v", "b"}, {"2", "w", "a"},
                                        {"3", "u", "a"}, {"3", "v", "a"}, {"3", "w", "a"},
                                        {"4", "u", "b"}, {"4", "v", "b"}, {"4", "w", "b"}};

// The confidence on task 1 when skills that began at `start` have kept the share `kept` of their
// distance to the agreement, which is 1, 1 and 1/2.
double confidence(double start, double kept) {
  const double good = 1 + kept * (start - 1);
  const double bad = .5 + kept * (start - .5);
  return 2 * good / (2 * good + bad);
}

TEST(ZeroBasedSkill, BeginsALittleAboveChanceAndGoesToTheAgreementAtItsRate) {
  const auto after = [](const char* steps) {
    return zbs(labels_of(kZbsRows), {{"rate", ".25"}, {"iterations", steps}}).confidence[0];
  };
  EXPECT_NEAR(after("1"), confidence(.50001, .75), kExact);
  EXPECT_NEAR(after("2"), confidence(.50001, .75 * .75), kExact);

  std::vector<LabelRow> rows = kZbsRows;
  rows.push_back({"5", "x", "c"});
  const Result three = zbs(labels_of(rows), {{"rate", ".25"}, {"iterations", "1"}});
  EXPECT_NEAR(three.confidence[0], confidence(1.0 / 3 + 1e-5, .75), kExact);
}

TEST(ZeroBasedSkill, HalvesItsRateAtEveryStepOfTheSchedule) {
  // Rates 1/2, 1/2, 1/4, 1/4, 1/4, 1/8.
  const Result result =
      zbs(labels_of(kZbsRows), {{"rate", ".5"}, {"halve_after", "3"}, {"iterations", "6"}});
  EXPECT_NEAR(result.confidence[0], confidence(.50001, std::pow(.5, 2) * std::pow(.75, 3) * .875),
              kExact);
  // By default at the 20th.
  const Result more = zbs(labels_of(kZbsRows), {{"rate", ".1"}, {"iterations", "25"}});
  EXPECT_NEAR(more.confidence[0], confidence(.50001, std::pow(.9, 19) * std::pow(.95, 6)), kExact);
}

TEST(ZeroBasedSkill, TakesTheAgreementForTheSkillAtTheDefaultRateAndTakesAHundredSteps) {
  EXPECT_NEAR(zbs(labels_of(kZbsRows), {{"iterations", "1"}}).confidence[0], .8, kExact);
  const Result result = zbs(labels_of(kZbsRows));
  EXPECT_NEAR(result.confidence[0], .8, kExact);
  EXPECT_EQ(result.trace.size(), 100U);
  EXPECT_NEAR(result.trace[0], 10.0 / 12, kExact);
}

TEST(ZeroBasedSkill, VotesOnceMoreWithTheSkillsOfTheLastStep) {
  const Result result = zbs(labels_of(outvoted()), {{"iterations", "1"}});
  EXPECT_NEAR(result.trace[0], 33.0 / 55, kExact);  // of the vote by count
  EXPECT_EQ(result.estimate[10], 0);
  // 10/11 and 10/11 against 1/11, 1/11 and 1
  EXPECT_NEAR(result.confidence[10], 20.0 / 33, kExact);
  EXPECT_EQ(result.learned.counts_of(0), (WorkerCounts{11, 11}));
}

TEST(ZeroBasedSkill, CountsAHistoryInTheAgreement) {
  Knowledge given;
  given.workers = {{0, 96}};  // 4 of 100 with the four tasks
  const Result result = zbs(labels_of(kZbsRows), {}, given);
  EXPECT_NEAR(result.confidence[0], 1.04 / 1.54, kExact);
  EXPECT_EQ(result.learned.counts_of(0), (WorkerCounts{4, 100}));
}

TEST(ZeroBasedSkill, MeasuresAgreementWithAKnownTruth) {
  Knowledge given;
  given.truths = {1};  // with w
  const Result result = zbs(labels_of(kZbsRows), {}, given);
  EXPECT_NEAR(result.confidence[1], 2.0 / 3, kExact);  // all three agree on 3 of 4
  EXPECT_EQ(result.learned.counts_of(2), (WorkerCounts{3, 4}));
}

TEST(ZeroBasedSkill, LowersTheRateByItsFactorAndStartsAtItsExcess) {
  const Settings settings = {
      {"rate", ".5"}, {"iterations", "2"}, {"halve_after", "1"}, {"factor", ".2"}, {"excess", ".1"}};
  EXPECT_NEAR(zbs(labels_of(kZbsRows), settings).confidence[0], confidence(.6, .9 * .98), kExact);
}

}  // namespace
}  // namespace crowdfold
