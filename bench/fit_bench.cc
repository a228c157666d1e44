// One method on labels in memory:
//
//   crowdfold-fit-bench LABELS METHOD THREADS REPEAT [NAME=VALUE…]
//
// LABELS is a file of labels, all rows of which count, or a simulated crowd: `crowd:N` with N labels, or
// `senti`, of that data set's shape. Prints JSON: labels, iterations, the objective (of networks: the
// loss) in the first and the last of them, and the seconds of the fastest fit.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"

namespace {

using namespace crowdfold;

// Ten labels a task and 1,000 workers for any size.
Labels crowd_of(std::uint64_t labels) {
  SimulationOptions options;
  options.tasks = static_cast<std::uint32_t>(labels / 10);
  options.workers = 1'000;
  options.classes = 5;
  options.min_labels = options.max_labels = 10;
  options.quality = QualityDistribution::parse("uniform:.4,.9");
  return simulate_labels(options, /*seed=*/1);
}

// The data set has 569,282 labels on as many tasks: a few more here. Workers err in their own ways.
Labels senti() {
  SimulationOptions options;
  options.tasks = 98'980;
  options.workers = 1'960;
  options.classes = 5;
  options.min_labels = 5;
  options.max_labels = 7;
  options.quality = QualityDistribution::parse("uniform:.4,.9");
  options.confusion = true;
  return simulate_labels(options, /*seed=*/1);
}

Labels labels_of(std::string_view source) {
  constexpr std::string_view kCrowd = "crowd:";
  if (source == "senti") return senti();
  if (source.starts_with(kCrowd))
    return crowd_of(std::strtoull(source.data() + kCrowd.size(), nullptr, 10));
  ReadOptions options;
  options.duplicates = Duplicates::keep;
  return read_labels(std::string(source), options, {});
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 5) {
    fmt::print(stderr, "usage: crowdfold-fit-bench LABELS METHOD THREADS REPEAT [NAME=VALUE…]\n");
    return 2;
  }
  Settings settings;
  for (int i = 5; i < argc; ++i) {
    const std::string_view setting = argv[i];
    const std::size_t equals = std::min(setting.find('='), setting.size() - 1);
    settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  const auto method = find_method(argv[2]).make(settings);
  const Labels labels = labels_of(argv[1]);
  RunContext context;
  context.threads = std::atoi(argv[3]);

  double seconds = 1e300;
  Result result;
  for (int run = 0; run < std::max(1, std::atoi(argv[4])); ++run) {
    const auto start = std::chrono::steady_clock::now();
    result = method->fit(labels, context);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds = std::min(seconds, taken.count());
  }
  const auto [first, last] =
      result.trace.empty() ? std::pair(0.0, 0.0) : std::pair(result.trace.front(), result.trace.back());
  fmt::print(
      "{{\"labels\": {}, \"iterations\": {}, \"first\": {}, \"objective\": {}, \"seconds\": {}}}\n",
      labels.num_labels(), result.trace.size(), first, last, seconds);
} catch (const crowdfold::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
