#include "base/parallel.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <chrono>
#include <numeric>
#include <stdexcept>
#include <string>

namespace crowdfold {
namespace {

void pause_for(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

std::string message_of(auto&& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "nothing was thrown";
}

// While it lives, no thread can be started: none has room for such a stack.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    ::pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    ::pthread_attr_setstacksize(&huge, std::size_t{1} << 50);
    ::pthread_setattr_default_np(&huge);
  }
  ~NoMoreThreads() { ::pthread_setattr_default_np(&before_); }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_{};
};

TEST(ThreadsThatCannotBeStarted, LeaveTheirWorkToTheOneThatIsThere) {
  const NoMoreThreads none;
  EXPECT_THROW(std::thread([] {}), std::system_error);
  std::vector<int> times(100);
  parallel_for(4, times.size(), [&](std::size_t item, int) { ++times[item]; });
  EXPECT_EQ(times, std::vector<int>(100, 1));
  std::vector<int> seen;
  run_on_threads(3, [&](int thread) { seen.push_back(thread); });
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2}));
  int made = 0;
  int sum = 0;
  run_pipeline<int>(
      4, 2, [&](int& item) { return (item = ++made) <= 10; }, [](int& item, int) { item *= 2; },
      [&](int& item) { sum += item; });
  EXPECT_EQ(sum, 110);
}

class Threads : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(OneToFour, Threads, ::testing::Values(1, 2, 3, 4),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

TEST_P(Threads, ParallelForGivesEveryItemToOneThread) {
  std::vector<std::atomic<int>> times(1000);
  parallel_for(GetParam(), times.size(), [&](std::size_t item, int thread) {
    EXPECT_GE(thread, 0);
    EXPECT_LT(thread, GetParam());
    ++times[item];
  });
  for (const auto& n : times) ASSERT_EQ(n, 1);
}

TEST_P(Threads, ParallelForDoesNothingWithoutItems) {
  parallel_for(GetParam(), 0, [](std::size_t, int) { FAIL(); });
}

TEST_P(Threads, ParallelForRethrowsTheFailureOfTheLowestItem) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(message_of([&] {
                parallel_for(GetParam(), 100, [](std::size_t item, int) {
                  if (item == 3) pause_for(2);
                  if (item >= 3) throw std::runtime_error(std::to_string(item));
                });
              }),
              "3");
  }
}

TEST_P(Threads, ParallelRangesCoverEveryItemOnceInWholeGrains) {
  std::vector<std::atomic<int>> times(1003);
  parallel_ranges(GetParam(), times.size(), 10, [&](std::size_t begin, std::size_t end, int) {
    EXPECT_EQ(begin % 10, 0U);
    EXPECT_LE(end - begin, 10U);
    for (std::size_t i = begin; i < end; ++i) ++times[i];
  });
  for (const auto& n : times) ASSERT_EQ(n, 1);
}

struct Item {
  int number = 0;
  int square = 0;
};

TEST_P(Threads, PipelineConsumesInTheOrderOfProduction) {
  int next = 0;
  std::vector<int> consumed;
  run_pipeline<Item>(
      GetParam(), 5,
      [&](Item& item) {
        item.number = next++;
        return item.number < 500;
      },
      [](Item& item, int) {
        if (item.number % 7 == 0) std::this_thread::yield();
        item.square = item.number * item.number;
      },
      [&](Item& item) { consumed.push_back(item.square); });
  ASSERT_EQ(consumed.size(), 500U);
  for (int i = 0; i < 500; ++i) ASSERT_EQ(consumed[static_cast<std::size_t>(i)], i * i);
}

TEST_P(Threads, PipelineNeverHasMoreItemsUnderWayThanItsWindow) {
  for (const std::size_t window : {1U, 2U, 3U}) {
    int next = 0;
    std::atomic<int> under_way = 0;
    std::atomic<int> most = 0;
    run_pipeline<Item>(
        GetParam(), window,
        [&](Item&) {
          if (next++ == 100) return false;
          most = std::max<int>(most, ++under_way);
          return true;
        },
        [](Item&, int) { std::this_thread::yield(); }, [&](Item&) { --under_way; });
    EXPECT_LE(most, static_cast<int>(window));
    EXPECT_EQ(under_way, 0);
  }
}

TEST_P(Threads, PipelineEndsWithTheExceptionOfAnyOfItsSteps) {
  for (const std::string failing : {"produce", "work", "consume"}) {
    int next = 0;
    int consumed = 0;
    EXPECT_EQ(message_of([&] {
                run_pipeline<Item>(
                    GetParam(), 4,
                    [&](Item& item) {
                      item.number = next++;
                      if (failing == "produce" && item.number == 30) throw std::runtime_error("produce");
                      return item.number < 100;
                    },
                    [&](Item& item, int) {
                      if (failing == "work" && item.number == 30) throw std::runtime_error("work");
                    },
                    [&](Item& item) {
                      if (failing == "consume" && item.number == 30) throw std::runtime_error("consume");
                      ++consumed;
                    });
              }),
              failing);
    EXPECT_LE(consumed, 30);
  }
}

// Error messages must not depend on timing: the failure of the earliest item counts.
TEST_P(Threads, PipelineRethrowsTheFailureOfTheEarliestItem) {
  for (const std::string later : {"produce", "work"}) {
    int next = 0;
    EXPECT_EQ(message_of([&] {
                run_pipeline<Item>(
                    GetParam(), 4,
                    [&](Item& item) {
                      item.number = next++;
                      if (later == "produce" && item.number == 1)
                        throw std::runtime_error("second item");
                      return item.number < 10;
                    },
                    [&](Item& item, int) {
                      if (item.number == 0) pause_for(30);
                      if (later == "work" && item.number == 1) throw std::runtime_error("second item");
                    },
                    [&](Item&) { throw std::runtime_error("first item"); });
              }),
              "first item")
        << later;
  }
}

TEST_P(Threads, PipelineWithoutItemsEnds) {
  run_pipeline<Item>(
      GetParam(), 3, [](Item&) { return false; }, [](Item&, int) { FAIL(); }, [](Item&) { FAIL(); });
}

}  // namespace
}  // namespace crowdfold
