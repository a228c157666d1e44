#include "base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace crowdfold {
namespace {

TEST(Random, IsTheSameOnEveryMachine) {
  // splitmix64's published first outputs for seed 0 are mix64 of 0 and of its increment.
  EXPECT_EQ(mix64(0), 0xE220A8397B1DCDAFULL);
  EXPECT_EQ(mix64(0x9E3779B97F4A7C15ULL), 0x6E789E6AA1B965F4ULL);
  EXPECT_EQ(mix64(2 * 0x9E3779B97F4A7C15ULL), 0x06C45D188009454FULL);
}

TEST(Random, RepeatsItselfForTheSameSeedOnly) {
  Random a(7);
  Random b(7);
  Random c(8);
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t x = a.next();
    EXPECT_EQ(x, b.next());
    EXPECT_NE(x, c.next());
  }
}

TEST(Random, DrawsEveryNumberBelowABoundEquallyOften) {
  Random random(1);
  std::vector<int> counts(7);
  for (int i = 0; i < 70'000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 400);
}

TEST(Random, DrawsUniformNumbersBelowOne) {
  Random random(2);
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double x = random.uniform();
    ASSERT_GE(x, 0);
    ASSERT_LT(x, 1);
    sum += x;
  }
  EXPECT_NEAR(sum / 100'000, .5, .005);
}

TEST(Random, DrawsNormalGammaAndBetaWithTheirMoments) {
  Random random(3);
  constexpr int kDraws = 100'000;
  double normal = 0, normal2 = 0, gamma = 0, small = 0, beta = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double z = random.normal();
    normal += z / kDraws;
    normal2 += z * z / kDraws;
    gamma += random.gamma(3) / kDraws;
    small += random.gamma(.3) / kDraws;
    beta += random.beta(4, 2) / kDraws;
  }
  EXPECT_NEAR(normal, 0, .015);
  EXPECT_NEAR(normal2, 1, .02);
  EXPECT_NEAR(gamma, 3, .03);
  EXPECT_NEAR(small, .3, .01);
  EXPECT_NEAR(beta, 2.0 / 3, .005);
}

TEST(Random, ShufflesIntoEveryOrder) {
  std::vector<int> first_place(4);
  for (std::uint64_t seed = 0; seed < 8'000; ++seed) {
    std::vector<int> items = {0, 1, 2, 3};
    Random(seed).shuffle(items);
    ++first_place[static_cast<std::size_t>(items[0])];
    std::sort(items.begin(), items.end());
    ASSERT_EQ(items, (std::vector<int>{0, 1, 2, 3}));
  }
  for (const int count : first_place) EXPECT_NEAR(count, 2'000, 200);
}

TEST(Pick, DependsOnSeedAndIndexAlone) {
  EXPECT_EQ(pick(5, 9, 1000), pick(5, 9, 1000));
  int same = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) same += pick(1, i, 1000) == pick(2, i, 1000) ? 1 : 0;
  EXPECT_LT(same, 20);
}

TEST(Pick, IsEvenOverIndicesAndOverSeeds) {
  std::vector<int> by_index(3);
  std::vector<int> by_seed(3);
  for (std::uint64_t i = 0; i < 30'000; ++i) {
    ++by_index[pick(0, i, 3)];
    ++by_seed[pick(i, 0, 3)];
  }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(by_index[k], 10'000, 400);
    EXPECT_NEAR(by_seed[k], 10'000, 400);
  }
}

}  // namespace
}  // namespace crowdfold
