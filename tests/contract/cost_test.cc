// What memory methods take: twice the labels, twice the bytes. They are counted; for the work that
// methods do, see count_work.py.
#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"

namespace {

// What the program holds, and the most that it ever held since start_counting().
std::atomic<std::uint64_t> bytes_held = 0;
std::atomic<std::uint64_t> most_bytes_held = 0;
void start_counting() { most_bytes_held = bytes_held.load(); }

void* take(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const std::uint64_t held = bytes_held += malloc_usable_size(memory);
  if (held > most_bytes_held) most_bytes_held = held;  // methods run on one thread here
  return memory;
}
void give(void* memory) {
  bytes_held -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

// Not inline: else GCC 12 takes a free() of what it saw coming from new for a mistake.
[[gnu::noinline]] void* operator new(std::size_t size) { return take(std::malloc(size)); }
[[gnu::noinline]] void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto line = static_cast<std::size_t>(alignment);
  return take(std::aligned_alloc(line, (size + line - 1) / line * line));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  give(memory);
}

namespace crowdfold {
namespace {

// Of one fit.
double most_bytes(const MethodInfo& info, std::uint32_t tasks) {
  SimulationOptions options{.tasks = tasks, .workers = 50, .classes = 2, .quality = {}};
  options.min_labels = options.max_labels = 5;
  const Labels labels = simulate_labels(options, 1);
  Settings settings;
  for (const auto& [name, value] : Settings{{"iterations", "2"}, {"starts", "1"}, {"epochs", "1"}}) {
    if (info.has_option(name)) settings.emplace_back(name, value);
  }
  const auto method = info.make(settings);
  start_counting();
  const std::uint64_t before = bytes_held;
  method->fit(labels, RunContext{});
  return static_cast<double>(most_bytes_held - before);
}

class Cheapness : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Registry, Cheapness, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const MethodInfo& m : methods()) names.push_back(m.name);
                           return names;
                         }()),
                         [](const auto& parameter) { return parameter.param; });

TEST_P(Cheapness, TakesMemoryThatGrowsNoFasterThanTheLabels) {
  constexpr double kTwice = 2.15;
  const MethodInfo& info = find_method(GetParam());
  EXPECT_LT(most_bytes(info, 16'000), kTwice * most_bytes(info, 8'000));
}

// A table of all counts would take 160 GB.
class CostOfManyClasses : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(OwnMethods, CostOfManyClasses, ::testing::Values("threepass", "fivepass"),
                         [](const auto& parameter) { return parameter.param; });

TEST_P(CostOfManyClasses, FitsAThousandOfThemAndTenThousandWorkersIntoTwoGigabytes) {
  const Labels labels = simulate_labels({.tasks = 10'000,
                                         .workers = 10'000,
                                         .classes = 1'000,
                                         .min_labels = 5,
                                         .max_labels = 5,
                                         .quality = QualityDistribution::parse("uniform:.4,.9")},
                                        1);
  const auto method = find_method(GetParam()).make({});
  start_counting();
  const std::uint64_t before = bytes_held;
  method->fit(labels, RunContext{});
  EXPECT_LT(most_bytes_held - before, 2'000'000'000U);
}

}  // namespace
}  // namespace crowdfold
