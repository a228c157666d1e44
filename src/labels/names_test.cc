#include "crowdfold/names.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::names_of;

TEST(NameTable, NumbersNamesByFirstAppearance) {
  NameTable table;
  EXPECT_EQ(table.intern("b"), 0U);
  EXPECT_EQ(table.intern("a"), 1U);
  EXPECT_EQ(table.intern("b"), 0U);
  EXPECT_EQ(table.size(), 2U);
  EXPECT_EQ(names_of(table), (std::vector<std::string>{"b", "a"}));
}

TEST(NameTable, FindsOnlyWhatWasInterned) {
  NameTable table;
  EXPECT_FALSE(table.find("a"));
  table.intern("a");
  EXPECT_EQ(table.find("a"), 0U);
  EXPECT_FALSE(table.find("A"));
  EXPECT_FALSE(table.find("aa"));
  EXPECT_FALSE(table.find(""));
}

TEST(NameTable, TakesEmptyNamesAndAnyBytes) {
  NameTable table;
  const std::string bytes("\0\xFF\n\"", 4);
  EXPECT_EQ(table.intern(""), 0U);
  EXPECT_EQ(table.intern(bytes), 1U);
  EXPECT_EQ(table[0], "");
  EXPECT_EQ(table[1], bytes);
  EXPECT_EQ(table.find(bytes), 1U);
  EXPECT_FALSE(table.find(std::string_view(bytes).substr(0, 1)));
}

TEST(NameTable, KeepsTensOfThousandsOfNamesOfAllLengthsApart) {
  NameTable table;
  const auto name = [](std::uint32_t i) { return std::string(i % 50, 'x') + std::to_string(i); };
  for (std::uint32_t i = 0; i < 50'000; ++i) ASSERT_EQ(table.intern(name(i)), i);
  for (std::uint32_t i = 0; i < 50'000; ++i) {
    ASSERT_EQ(table.find(name(i)), i);
    ASSERT_EQ(table[i], name(i));
  }
}

TEST(NameTable, FindsNamesThatWereAppendedWithoutALookUp) {
  NameTable table;
  for (const std::size_t room : {0, 1'000}) {
    table = NameTable();
    table.reserve(room, 10 * room);
    EXPECT_EQ(table.append("b"), 0U);
    EXPECT_EQ(table.append("a"), 1U);
    EXPECT_EQ(table.intern("b"), 0U);
    EXPECT_EQ(table.intern("c"), 2U);
    EXPECT_EQ(table.append("d"), 3U);
    EXPECT_EQ(table.find("d"), 3U);
    EXPECT_EQ(table.intern("d"), 3U);
    EXPECT_EQ(names_of(table), (std::vector<std::string>{"b", "a", "c", "d"}));
  }
  NameTable full("tasks", 1);
  full.append("a");
  EXPECT_STREQ(error_of([&] { full.append("b"); }).what(),
               "more than 1 different tasks: they do not fit");
}

TEST(NameTable, AnswersAndGrowsAfterItsIndexWasDropped) {
  NameTable table;
  for (int i = 0; i < 100; ++i) table.intern(std::to_string(i));
  table.drop_index();
  EXPECT_EQ(table.find("42"), 42U);
  table.drop_index();
  EXPECT_EQ(table.intern("42"), 42U);
  EXPECT_EQ(table.intern("new"), 100U);
  EXPECT_EQ(table.find("0"), 0U);
}

TEST(NameTable, AnswersSeveralThreadsThatFindItsIndexDropped) {
  NameTable table;
  for (int i = 0; i < 10'000; ++i) table.intern(std::to_string(i));
  for (int round = 0; round < 20; ++round) {
    table.drop_index();
    const NameTable& shared = table;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (std::uint32_t first = 0; first < 4; ++first) {
      threads.emplace_back([&, first] {
        for (std::uint32_t i = first; i < 10'000; i += 997) wrong += shared.find(std::to_string(i)) != i;
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(wrong, 0);
  }
}

TEST(NameTable, IsCopiedWithOrWithoutItsIndex) {
  NameTable table;
  for (int i = 0; i < 100; ++i) table.intern(std::to_string(i));
  NameTable with = table;
  table.drop_index();
  NameTable without = table;
  NameTable moved = std::move(table);
  for (NameTable* const each : {&with, &without, &moved}) {
    EXPECT_EQ(each->find("42"), 42U);
    EXPECT_EQ(each->intern("new"), 100U);
  }
}

TEST(NameTable, TakesOverNamesThatAreKnownToDiffer) {
  NameTable table("tasks", 10, {'a', 'b', 'c'}, {1, 1, 3});
  EXPECT_EQ(names_of(table), (std::vector<std::string>{"a", "", "bc"}));
  EXPECT_EQ(table.find("bc"), 2U);
  EXPECT_EQ(table.intern("d"), 3U);
}

TEST(NameTable, RefusesOneNameMoreThanItsLimit) {
  NameTable table("workers", 2);
  table.intern("a");
  table.intern("b");
  EXPECT_EQ(table.intern("a"), 0U);
  const Error error = error_of([&] { table.intern("c"); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_STREQ(error.what(), "more than 2 different workers: they do not fit");
  EXPECT_EQ(table.size(), 2U);
}

}  // namespace
}  // namespace crowdfold
