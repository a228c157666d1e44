#include "methods/threepass/credited_counts.h"

#include <gtest/gtest.h>

#include <array>

namespace crowdfold {
namespace {

// Worker 0 says class 0, `times` times.
void credit(CreditedCounts& counts, PooledCounts& pooled, const std::array<float, 2>& credit,
            std::uint32_t times) {
  const std::array<WorkerId, 1> worker = {0};
  const std::array<ClassId, 1> label = {0};
  for (std::uint32_t i = 0; i < times; ++i) {
    add_credit({i, worker, label}, credit.data(), counts.layout(),
               {counts.rows(), pooled.recent(), pooled.recent_mass()});
    pooled.added_to_recent();
  }
}

TEST(CreditedCounts, LoseNoSmallCreditsIfTheyAreSettled) {
  CreditedCounts counts(1, 2);
  PooledCounts pooled;
  pooled.expect(2);
  constexpr std::uint32_t kRounds = 40;
  for (std::uint32_t round = 0; round < kRounds; ++round) {
    credit(counts, pooled, {.999F, .001F}, CreditedCounts::kSettleLabels);
    counts.settle(0);
  }
  pooled.settle();
  const double labels = kRounds * CreditedCounts::kSettleLabels;
  EXPECT_NEAR(counts.cell(0, 0, 1), .001 * labels, 1e-3 * .001 * labels);
  EXPECT_NEAR(counts.right(0), .999 * labels, 1e-3 * labels);
  EXPECT_NEAR(pooled.cell(0, 1), .001 * labels, 1e-3 * .001 * labels);
  EXPECT_NEAR(pooled.class_mass()[1], .001 * labels, 1e-3 * .001 * labels);
}

TEST(CreditedCounts, AreTheSameSettledOrNot) {
  CreditedCounts counts(1, 2);
  PooledCounts pooled;
  pooled.expect(2);
  credit(counts, pooled, {.75F, .25F}, 100);
  std::vector<float> room;
  const auto cells = [&] {
    const float* const rows = counts.counts(0, room);
    return std::array{counts.cell(0, 0, 0), counts.cell(0, 0, 1), counts.right(0),
                      static_cast<double>(rows[0]), static_cast<double>(rows[1])};
  };
  const auto before = cells();
  counts.settle(0);
  EXPECT_EQ(cells(), before);
  credit(counts, pooled, {.75F, .25F}, 100);
  EXPECT_EQ(counts.cell(0, 0, 0), 150);
}

TEST(CreditedCounts, KeepWhatTheyHaveWhenMoreWorkersAndClassesCome) {
  CreditedCounts counts(2, 3);
  counts.add(1, 2, 0, .5);
  counts.expect(5, 3);
  EXPECT_EQ(counts.cell(1, 2, 0), .5);
  counts.expect(5, 9);
  EXPECT_EQ(counts.cell(1, 2, 0), .5);
  counts.expect(5, 500);  // only cells that are not 0
  EXPECT_FALSE(counts.dense());
  EXPECT_EQ(counts.cell(1, 2, 0), .5);
  EXPECT_EQ(counts.cell(1, 2, 1), 0);
}

TEST(PooledCounts, KeepWhatTheyHaveWhenMoreClassesCome) {
  PooledCounts pooled;
  pooled.expect(2);
  pooled.add(1, 0, 3);
  pooled.add_class_mass(std::array{1.0, 2.0});
  for (const std::uint32_t classes : {5U, 64U, 65U, 300U}) {
    pooled.expect(classes);
    EXPECT_EQ(pooled.cell(1, 0), 3);
    EXPECT_EQ(pooled.total(0), 3);
    EXPECT_EQ(pooled.cell(0, 1), 0);
    EXPECT_EQ(pooled.class_mass()[1], 2);
  }
}

}  // namespace
}  // namespace crowdfold
