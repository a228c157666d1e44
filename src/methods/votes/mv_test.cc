#include <gtest/gtest.h>

#include "crowdfold/registry.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;

using testing::kExact;

Result mv(const Labels& labels, const Settings& settings = {}, bool posterior = false) {
  RunContext context;
  context.posterior = posterior;
  return find_method("mv").make(settings)->fit(labels, context);
}

// a wins the first (2 : 1), b the second (2 : 0), the third is a tie.
const std::vector<LabelRow> kVotes = {{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "u", "b"},
                                      {"2", "w", "b"}, {"3", "v", "b"}, {"3", "w", "a"}};

TEST(MajorityVote, TakesTheClassWithTheMostLabelsAndTheFirstSeenOnATie) {
  EXPECT_EQ(mv(labels_of(kVotes)).estimate, (FlatArray<ClassId>{0, 1, 0}));
}

TEST(MajorityVote, CountsEveryWorkersAgreementWithTheVote) {
  EXPECT_EQ(mv(labels_of(kVotes)).learned.counts, (std::vector<WorkerCounts>{{2, 2}, {1, 2}, {2, 3}}));
}

TEST(MajorityVote, IsAsSureAsAModelWithOneQualityForTheCrowd) {
  // Agreement 5 of 7; q = (5 + 2) / (7 + 4), odds 7 / 4 with K = 2.
  const Result result = mv(labels_of(kVotes), {}, true);
  const double odds = 7.0 / 4;
  EXPECT_NEAR(result.confidence[0], odds / (odds + 1), kExact);  // odds^2 : odds
  EXPECT_NEAR(result.confidence[1], odds * odds / (odds * odds + 1), kExact);
  EXPECT_NEAR(result.confidence[2], .5, kExact);
  EXPECT_NEAR(result.posterior[3], result.confidence[1], kExact);
}

TEST(MajorityVote, GivesSharesOfVotesOnRequest) {
  const Result result = mv(labels_of(kVotes), {{"posterior", "shares"}}, true);
  EXPECT_NEAR(result.confidence[0], 2.0 / 3, kExact);
  EXPECT_NEAR(result.confidence[1], 1, kExact);
  EXPECT_NEAR(result.posterior[1], 1.0 / 3, kExact);
  EXPECT_NEAR(result.posterior[2], 0, kExact);
}

TEST(MajorityVote, DrawsTiesBySeedAndTask) {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 1'000; ++t) {
    rows.push_back({std::to_string(t), "u", "a"});
    rows.push_back({std::to_string(t), "v", "b"});
  }
  const Labels labels = labels_of(rows);
  RunContext context;
  const auto method = find_method("mv").make({{"ties", "random"}});
  const Result first = method->fit(labels, context);
  EXPECT_EQ(first.estimate, method->fit(labels, context).estimate);
  EXPECT_NEAR(static_cast<double>(std::count(first.estimate.begin(), first.estimate.end(), 0)), 500, 70);
  context.seed = 1;
  EXPECT_NE(first.estimate, method->fit(labels, context).estimate);
}

TEST(MajorityVote, HasNoOpinionOnATaskWithoutLabels) {
  const Result result =
      mv(labels_of({{"1", "u", ""}, {"2", "u", "a"}}), {{"posterior", "shares"}}, true);
  EXPECT_EQ(result.estimate[0], kNoClass);
  EXPECT_EQ(result.confidence[0], 0);
  EXPECT_EQ(result.posterior[0], 1);
}

TEST(MajorityVote, GoesOnFromAStateWithTheQualityOfItsCrowd) {
  const Labels labels = labels_of(kVotes);
  const auto whole = find_method("mv").make_online({}, 0);
  whole->expect(labels.num_workers(), 2);
  for (TaskId t = 0; t < 3; ++t) whole->learn(labels.task(t));
  const auto resumed = find_method("mv").make_online({}, 0);
  resumed->restore(whole->state());
  EXPECT_EQ(resumed->estimate(labels.task(0)).confidence, whole->estimate(labels.task(0)).confidence);
}

TEST(MajorityVote, WeighsVotesByTheWeightsItIsGiven) {
  const Labels labels = labels_of(kVotes);
  Knowledge given;
  given.extras = {{"weight", Per::worker, 1, {1, 1, 3}}};  // u, v, w
  RunContext context;
  context.posterior = true;
  const Result result = find_method("mv").make({})->fit(labels, given, context);
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{1, 1, 0}));
  EXPECT_NEAR(result.posterior[0], 2.0 / 5, kExact);  // shares of weights
  EXPECT_NEAR(result.confidence[2], 3.0 / 4, kExact);
  EXPECT_EQ(result.learned.counts, (std::vector<WorkerCounts>{{1, 2}, {0, 2}, {3, 3}}));
}

}  // namespace
}  // namespace crowdfold
