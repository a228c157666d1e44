#include "methods/vote.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "base/random.h"

namespace crowdfold {
namespace {

struct Vote {
  ClassId label;
  double weight;
  double right;
  double wrong;
};

struct Outcome {
  ClassId label = kNoClass;
  double confidence = 0;
  std::vector<double> posterior;
};

template <class Ballot>
Outcome judge(Ballot& ballot, const std::vector<Vote>& votes, std::uint32_t classes,
              const TieRule& rule) {
  for (const Vote& v : votes) ballot.add(v.label, v.weight, v.right, v.wrong);
  Outcome result;
  result.posterior.resize(classes, -1);
  const Estimate estimate = outcome(ballot, rule, result.posterior);
  result.label = estimate.label;
  result.confidence = estimate.confidence;
  return result;
}

Outcome judge_small(const std::vector<Vote>& votes, std::uint32_t classes, const TieRule& rule = {}) {
  SmallBallot ballot(classes);
  return judge(ballot, votes, classes, rule);
}

Outcome judge_large(const std::vector<Vote>& votes, std::uint32_t classes, const TieRule& rule = {}) {
  LargeBallot& ballot = LargeBallot::of_this_thread(classes, votes.size());
  Outcome result = judge(ballot, votes, classes, rule);
  ballot.clear();
  return result;
}

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The posterior as the model says it, in logarithms.
std::vector<double> posterior_by_logs(const std::vector<Vote>& votes, std::uint32_t classes) {
  std::vector<double> logs(classes, 0);
  for (const Vote& v : votes) logs[v.label] += std::log(v.right) - std::log(v.wrong);
  const double highest = *std::max_element(logs.begin(), logs.end());
  double total = 0;
  for (double& x : logs) total += x = std::exp(x - highest);
  for (double& x : logs) x /= total;
  return logs;
}

RC_GTEST_PROP(Ballots, AgreeWithEachOtherAndWithTheModel, (std::uint64_t seed)) {
  Random random(seed);
  const auto classes = static_cast<std::uint32_t>(1 + random.below(SmallBallot::kClasses));
  std::vector<Vote> votes(random.below(SmallBallot::kLabels + 1));
  for (Vote& v : votes) {
    // Weights of few values, so that there are ties; of either sign, as twopass has them.
    v = {static_cast<ClassId>(random.below(classes)), static_cast<double>(random.below(5)) / 4 - .5,
         1 + 20 * random.uniform(), 1 + 20 * random.uniform()};
  }
  const TieRule rule{random.below(2) == 0 ? Ties::first : Ties::random, random.next(), random.next()};
  const Outcome small = judge_small(votes, classes, rule);
  const Outcome large = judge_large(votes, classes, rule);
  RC_ASSERT(small.label == large.label);
  RC_ASSERT(std::abs(small.confidence - large.confidence) < 1e-12);
  RC_ASSERT(std::abs(sum(small.posterior) - 1) < 1e-12);
  RC_ASSERT(std::abs(sum(large.posterior) - 1) < 1e-12);
  const std::vector<double> model = posterior_by_logs(votes, classes);
  for (std::size_t c = 0; c < classes; ++c) {
    RC_ASSERT(std::abs(small.posterior[c] - model[c]) < 1e-12);
    RC_ASSERT(std::abs(large.posterior[c] - model[c]) < 1e-12);
  }
  if (small.label != kNoClass) RC_ASSERT(small.confidence == small.posterior[small.label]);
}

TEST(Ballots, GiveProbabilitiesWhereEveryClassIsUnlikely) {
  // Two classes, both voted for by workers who are nearly always wrong: both products are tiny.
  std::vector<Vote> votes;
  for (int i = 0; i < 6; ++i) {
    votes.push_back({0, 1, 1, 1e4});
    votes.push_back({1, 1, 1, 1e4});
  }
  for (const Outcome& result : {judge_small(votes, 2), judge_large(votes, 2)}) {
    EXPECT_NEAR(result.posterior[0], .5, 1e-9);
    EXPECT_NEAR(result.posterior[1], .5, 1e-9);
    EXPECT_NEAR(result.confidence, .5, 1e-9);
  }
  for (const Outcome& result : {judge_small({{0, 1, 1, 1e20}}, 1), judge_large({{0, 1, 1, 1e20}}, 1)}) {
    EXPECT_NEAR(result.confidence, 1, 1e-9);
  }
}

TEST(Ballots, GiveTheOneCoinPosteriorByHand) {
  // K = 3. Odds of a right label: .8 * 2 / .2 = 8 for the first two workers, .5 * 2 / .5 = 2 for the
  // third. Products: class 0: 8 * 8 = 64, class 1: 2, class 2 without a vote: 1.
  const std::vector<Vote> votes = {{0, 1, .8 * 2, .2}, {0, 1, .8 * 2, .2}, {1, 1, .5 * 2, .5}};
  for (const Outcome& result : {judge_small(votes, 3), judge_large(votes, 3)}) {
    EXPECT_EQ(result.label, 0);
    EXPECT_NEAR(result.posterior[0], 64.0 / 67, 1e-12);
    EXPECT_NEAR(result.posterior[1], 2.0 / 67, 1e-12);
    EXPECT_NEAR(result.posterior[2], 1.0 / 67, 1e-12);
  }
}

TEST(Ballots, LetTheLowestClassWinATieWhateverTheOrderOfVotes) {
  for (const std::vector<Vote>& votes :
       {std::vector<Vote>{{2, .5, 1, 1}, {1, .5, 1, 1}, {3, .4, 1, 1}},
        std::vector<Vote>{{1, .5, 1, 1}, {3, .4, 1, 1}, {2, .5, 1, 1}}}) {
    EXPECT_EQ(judge_small(votes, 4).label, 1);
    EXPECT_EQ(judge_large(votes, 4).label, 1);
  }
}

TEST(Ballots, TakeSumsThatDifferByRoundingForATie) {
  // .1 + .2 + .3 is not .3 + .2 + .1 in floating point.
  const std::vector<Vote> votes = {{1, .1, 1, 1}, {1, .2, 1, 1}, {1, .3, 1, 1},
                                   {0, .3, 1, 1}, {0, .2, 1, 1}, {0, .1, 1, 1}};
  EXPECT_EQ(judge_small(votes, 2).label, 0);
  EXPECT_EQ(judge_large(votes, 2).label, 0);
}

TEST(Ballots, DrawTiesEvenlyAmongTheBestAndTheSameForTheSameSeedAndTask) {
  const std::vector<Vote> votes = {{4, 1, 1, 1}, {2, 1, 1, 1}, {1, 1, 1, 1}, {0, .5, 1, 1}};
  std::map<ClassId, int> wins;
  for (std::uint64_t task = 0; task < 3'000; ++task) {
    const TieRule rule{Ties::random, 11, task};
    const ClassId winner = judge_small(votes, 5, rule).label;
    ASSERT_EQ(judge_large(votes, 5, rule).label, winner);
    ASSERT_EQ(judge_small(votes, 5, rule).label, winner);
    ++wins[winner];
  }
  EXPECT_EQ(wins.size(), 3U);
  for (const auto& [label, count] : wins) EXPECT_NEAR(count, 1'000, 120) << label;
  EXPECT_FALSE(wins.contains(0) || wins.contains(3));
}

TEST(Ballots, LetAClassWithANegativeScoreWinWhereNoOtherGotAVote) {
  const std::vector<Vote> votes = {{3, -.9, 1, 9}, {3, -5, 1, 9}};
  EXPECT_EQ(judge_small(votes, 4).label, 3);
  EXPECT_EQ(judge_large(votes, 4).label, 3);
}

TEST(Ballots, HaveNoWinnerWithoutVotesAndEveryClassTheSameProbability) {
  for (const Outcome& result : {judge_small({}, 4), judge_large({}, 4)}) {
    EXPECT_EQ(result.label, kNoClass);
    EXPECT_EQ(result.confidence, 0);
    EXPECT_EQ(result.posterior, std::vector<double>(4, .25));
  }
}

TEST(LargeBallot, HoldsProductsOfThousandsOfFactors) {
  std::vector<Vote> votes;
  for (int i = 0; i < 10'000; ++i) votes.push_back({static_cast<ClassId>(i % 3 == 0 ? 1 : 0), 1, 19, 1});
  const Outcome sure = judge_large(votes, 5);
  EXPECT_EQ(sure.label, 0);
  EXPECT_EQ(sure.confidence, 1);
  for (const double p : sure.posterior) EXPECT_TRUE(std::isfinite(p));
  EXPECT_NEAR(sum(sure.posterior), 1, 1e-12);

  // As many for as against: the products cancel, but for one factor of 4.
  votes.clear();
  for (int i = 0; i < 10'000; ++i) votes.push_back({static_cast<ClassId>(i % 2), 1, 19, 1});
  votes.push_back({0, 1, 4, 1});
  const Outcome close = judge_large(votes, 2);
  EXPECT_NEAR(close.confidence, .8, 1e-6);
}

TEST(LargeBallot, HoldsProductsOfThousandsOfSmallFactors) {
  std::vector<Vote> votes;
  for (int i = 0; i < 10'000; ++i) votes.push_back({0, -1, 1, 19});
  const Outcome result = judge_large(votes, 3);
  EXPECT_EQ(result.label, 0);
  EXPECT_NEAR(result.posterior[1], .5, 1e-12);
  EXPECT_NEAR(result.posterior[2], .5, 1e-12);
  EXPECT_LT(result.confidence, 1e-300);
}

TEST(LargeBallot, IsBlankAgainForTheNextTask) {
  judge_large({{7, 5, 100, 1}, {900, 5, 100, 1}}, 1000);
  const Outcome result = judge_large({{3, 1, 2, 1}}, 1000);
  EXPECT_EQ(result.label, 3);
  EXPECT_NEAR(result.confidence, 2.0 / 1001, 1e-12);
  EXPECT_NEAR(result.posterior[900], 1.0 / 1001, 1e-12);
}

}  // namespace
}  // namespace crowdfold
