#include "methods/rounds/whole_counts.h"

#include <gtest/gtest.h>

namespace crowdfold {
namespace {

const std::vector<WorkerId> kWorkers = {1};
const std::vector<ClassId> kClasses = {2};

std::vector<std::int32_t> whole_credit(std::size_t width) {
  std::vector<std::int32_t> credit(width);
  credit[0] = static_cast<std::int32_t>(kUnits) - 1;
  credit[1] = 1;
  return credit;
}

TEST(WholeCounts, AreExactBeyondTheBitsOfACell) {
  constexpr int kTimes = 10'000;  // 2^31 units are 2,048 labels
  const std::uint32_t classes = 3;
  WholeCounts counts(2, classes);
  for (int i = 0; i < kTimes; ++i) counts.add({0, kWorkers, kClasses}, whole_credit(row_width(classes)));
  EXPECT_EQ(counts.cell(1, 2, 0) * kUnits, kTimes * (kUnits - 1));
  EXPECT_EQ(counts.cell(1, 2, 1) * kUnits, kTimes);
  WholeCounts twice(2, classes);
  twice.add(counts);
  twice.add(counts);
  EXPECT_EQ(twice.cell(1, 2, 0) * kUnits, 2. * kTimes * (kUnits - 1));
  EXPECT_EQ(twice.cell(0, 2, 0), 0);
  WholeCounts by_cell(2, classes);
  by_cell.add(1, 2, 0, twice.cell(1, 2, 0));
  by_cell.add(1, 2, 0, 1);
  EXPECT_EQ(by_cell.cell(1, 2, 0), twice.cell(1, 2, 0) + 1);
}

TEST(WholeCounts, AreTheSameWhereOnlySomeCellsAreStored) {
  const std::uint32_t many = CreditedCounts::kMostClasses + 1;
  WholeCounts sparse(2, many);
  ASSERT_FALSE(sparse.dense());
  for (int i = 0; i < 100; ++i) sparse.add({0, kWorkers, kClasses}, whole_credit(row_width(many)));
  WholeCounts twice(2, many);
  twice.add(sparse);
  twice.add(sparse);
  EXPECT_EQ(twice.cell(1, 2, 0) * kUnits, 200 * (kUnits - 1));
  EXPECT_EQ(twice.cell(1, 2, 1) * kUnits, 200);
}

}  // namespace
}  // namespace crowdfold
