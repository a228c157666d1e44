#include "signed_rank.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

#include "published.h"

namespace crowdfold::paper {
namespace {

TEST(SignedRank, CountsTheWaysToSetSigns) {
  const SignedRank test = signed_rank(std::vector<double>{.1, .2, .3, .4, .5});
  EXPECT_EQ(test.statistic, 15);
  EXPECT_EQ(test.pairs, 5);
  EXPECT_DOUBLE_EQ(test.p, 1.0 / 32);
  EXPECT_DOUBLE_EQ(signed_rank(std::vector<double>{-.1, -.2, -.3}).p, 1);
}

// Hollander and Wolfe's depression scores, the example of R's wilcox.test: V = 40, p = 0.01953.
TEST(SignedRank, GivesTheValuesOfATextbook) {
  const std::vector<double> before = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const std::vector<double> after = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  std::vector<double> differences;
  for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(before[i] - after[i]);
  const SignedRank test = signed_rank(differences);
  EXPECT_EQ(test.statistic, 40);
  EXPECT_NEAR(test.p, 0.01953, 5e-6);
}

TEST(SignedRank, LeavesZerosOutAndSharesRanksOfTies) {
  const SignedRank test = signed_rank(std::vector<double>{.1, .1 + 1e-12, -.1, 0, 1e-12});
  EXPECT_EQ(test.pairs, 3);
  EXPECT_EQ(test.statistic, 4);       // ranks 2, 2 and -2
  EXPECT_DOUBLE_EQ(test.p, 4.0 / 8);  // two or three of three coins
}

TEST(SignedRank, SaysNothingWithoutDifferences) {
  EXPECT_DOUBLE_EQ(signed_rank(std::vector<double>{0, 0}).p, 1);
  EXPECT_DOUBLE_EQ(signed_rank({}).p, 1);
}

// 26 pairs, whose exact p-values were counted by another program.
TEST(SignedRank, IsCloseToTheExactValueBeyond25Pairs) {
  const auto p_of = [](const std::set<int>& negative) {
    std::vector<double> differences;
    for (int rank = 1; rank <= 26; ++rank) differences.push_back(negative.contains(rank) ? -rank : rank);
    return signed_rank(differences).p;
  };
  EXPECT_NEAR(p_of({3, 7, 12, 20, 24}), 0.002139568328857422, 1e-3);
  EXPECT_NEAR(p_of({1, 4, 6, 9, 12, 15, 18, 21, 24}), 0.04966747760772705, 1e-3);
}

// The paper's table gives the paper's tests, but for laa: there it has 19 accuracies, and a test that
// must have counted another one.
TEST(SignedRank, GivesThePapersTestsFromThePapersTable) {
  for (const std::string& method : published_methods()) {
    if (method == "mv" || method == "laa") continue;
    std::vector<double> differences;
    for (const PublishedSet& set : published_sets())
      differences.push_back(published(set.name, method).accuracy - published(set.name, "mv").accuracy);
    const SignedRank test = signed_rank(differences);
    EXPECT_EQ(test.statistic, published_test(method).statistic) << method;
    EXPECT_NEAR(test.p, published_test(method).p, 1.01e-4) << method;
  }
}

// The means that the paper prints below its table.
TEST(Published, MeansAreThePapers) {
  EXPECT_EQ(published_sets().size(), 20U);
  EXPECT_EQ(published_methods().size(), 10U);
  for (const auto& [method, mean] : std::vector<std::pair<std::string, double>>{
           {"mv", .8149}, {"ds", .8268}, {"iwmv", .8275}, {"ebcc", .8392}, {"twopass", .8327}}) {
    double sum = 0;
    for (const PublishedSet& set : published_sets()) sum += published(set.name, method).accuracy;
    EXPECT_NEAR(sum / 20, mean, 6e-5) << method;
  }
  EXPECT_TRUE(std::isnan(published("senti", "laa").accuracy));
  EXPECT_TRUE(std::isnan(published("rte", "glad").accuracy));
}

}  // namespace
}  // namespace crowdfold::paper
