// The methods alone, on one thread and on labels that are in memory already.
#include <benchmark/benchmark.h>

#include <string>
#include <utility>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"

namespace {

using namespace crowdfold;

// Ten labels a task.
Labels make_labels(std::uint32_t tasks, std::uint32_t workers) {
  CrowdOptions options;
  options.tasks = tasks;
  options.workers = workers;
  options.classes = 5;
  options.min_labels = options.max_labels = 10;
  options.quality = QualityDistribution::parse("uniform:.4,.9");
  return simulate_labels(options, /*seed=*/1);
}
const Labels& large() {
  static const Labels labels = make_labels(1'000'000, 20'000);
  return labels;
}
// What is known of so few workers stays in the cache.
const Labels& small() {
  static const Labels labels = make_labels(300'000, 1'000);
  return labels;
}

void fit(benchmark::State& state, const char* method_name, const Settings& settings,
         const Labels& (*labels)()) {
  const auto method = find_method(method_name).make(settings);
  RunContext context;
  context.threads = 1;
  for (auto _ : state) benchmark::DoNotOptimize(method->fit(labels(), context));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(labels().num_labels()));
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const std::string& title, const char* method, const Settings& settings,
                      const Labels& (*labels)()) {
    benchmark::RegisterBenchmark(title.c_str(), fit, method, settings, labels)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const auto& [crowd, labels] : {std::pair("", &large), std::pair(", 1000 workers", &small)}) {
    for (const char* name : {"mv", "onepass", "twopass", "threepass"})
      add(name + std::string(crowd), name, {}, labels);
    add("first pass of threepass" + std::string(crowd), "threepass", {{"passes", "1"}}, labels);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
