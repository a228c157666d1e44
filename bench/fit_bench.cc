// Methods on labels in memory:
//
//   crowdfold-fit-bench LABELS METHOD[,METHOD…] THREADS REPEAT [NAME=VALUE…]
//
// Fits of several methods alternate, so that a busy machine is unfair to none.
// LABELS is a file of labels (all its rows count), or a simulated crowd: `crowd:N` with N labels, or
// `senti`, of that data set's shape. Prints a line of JSON for each method: labels, iterations, the
// objective (of networks: the loss) in the first and the last of them, the seconds of the fastest fit,
// and the processor's seconds, of all threads, of the one that took fewest.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

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

struct Timed {
  std::unique_ptr<Method> method;
  double seconds = 1e300;
  double cpu_seconds = 1e300;
  Result result = {};

  void fit(const Labels& labels, const RunContext& context) {
    const auto start = std::chrono::steady_clock::now();
    const std::clock_t cpu_start = std::clock();
    result = method->fit(labels, context);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds = std::min(seconds, taken.count());
    cpu_seconds = std::min(cpu_seconds, static_cast<double>(std::clock() - cpu_start) / CLOCKS_PER_SEC);
  }
};

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 5) {
    fmt::print(stderr,
               "usage: crowdfold-fit-bench LABELS METHOD[,METHOD…] THREADS REPEAT [NAME=VALUE…]\n");
    return 2;
  }
  Settings settings;
  for (int i = 5; i < argc; ++i) {
    const std::string_view setting = argv[i];
    const std::size_t equals = std::min(setting.find('='), setting.size() - 1);
    settings.emplace_back(setting.substr(0, equals), setting.substr(equals + 1));
  }
  std::vector<Timed> methods;
  std::string_view names = argv[2];
  for (std::size_t end = 0; end != std::string_view::npos; names.remove_prefix(end + 1)) {
    end = names.find(',');
    methods.push_back({find_method(std::string(names.substr(0, end))).make(settings)});
    if (end == std::string_view::npos) break;
  }
  const Labels labels = labels_of(argv[1]);
  RunContext context;
  context.threads = std::atoi(argv[3]);

  for (int run = 0; run < std::max(1, std::atoi(argv[4])); ++run) {
    for (Timed& timed : methods) timed.fit(labels, context);
  }
  for (const Timed& timed : methods) {
    const std::vector<double>& trace = timed.result.trace;
    const auto [first, last] =
        trace.empty() ? std::pair(0.0, 0.0) : std::pair(trace.front(), trace.back());
    fmt::print(
        "{{\"labels\": {}, \"iterations\": {}, \"first\": {}, \"objective\": {}, \"seconds\": {}, "
        "\"cpu_seconds\": {}}}\n",
        labels.num_labels(), trace.size(), first, last, timed.seconds, timed.cpu_seconds);
  }
} catch (const crowdfold::Error& error) {
  fmt::print(stderr, "{}\n", error.what());
  return 1;
}
