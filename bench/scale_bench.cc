// One method on simulated crowds of growing size, labels in memory:
//
//   crowdfold-scale-bench METHOD ITERATIONS THREADS LABELS…
//
// Prints a line of JSON for every number of labels: the seconds of a fit, the best of three.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"

namespace {

using namespace crowdfold;

// Ten labels a task and 1,000 workers, whatever the size.
Labels make_labels(std::uint64_t count) {
  CrowdOptions options;
  options.tasks = static_cast<std::uint32_t>(count / 10);
  options.workers = 1'000;
  options.classes = 5;
  options.min_labels = options.max_labels = 10;
  options.quality = QualityDistribution::parse("uniform:.4,.9");
  return simulate_labels(options, /*seed=*/1);
}

double seconds_of_fit(const Method& method, const Labels& labels, int threads) {
  RunContext context;
  context.threads = threads;
  const auto start = std::chrono::steady_clock::now();
  const Result result = method.fit(labels, context);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: crowdfold-scale-bench METHOD ITERATIONS THREADS LABELS…\n");
    return 2;
  }
  const auto method = find_method(argv[1]).make({{"iterations", argv[2]}, {"tolerance", "0"}});
  for (int i = 4; i < argc; ++i) {
    const Labels labels = make_labels(std::strtoull(argv[i], nullptr, 10));
    double seconds = 1e300;
    for (int run = 0; run < 3; ++run)
      seconds = std::min(seconds, seconds_of_fit(*method, labels, std::atoi(argv[3])));
    fmt::print("{{\"labels\": {}, \"seconds\": {}}}\n", labels.num_labels(), seconds);
    std::fflush(stdout);
  }
}
