// The methods alone, on one thread and on labels that are in memory already.
#include <benchmark/benchmark.h>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"

namespace {

using namespace crowdfold;

Labels make_labels() {
  CrowdOptions options;
  options.tasks = 1'000'000;
  options.workers = 20'000;
  options.classes = 5;
  options.min_labels = options.max_labels = 10;
  options.quality = QualityDistribution::parse("uniform:.4,.9");
  return simulate_labels(options, /*seed=*/1);
}

void fit(benchmark::State& state, const char* method_name, const Settings& settings) {
  static const Labels labels = make_labels();
  const auto method = find_method(method_name).make(settings);
  RunContext context;
  context.threads = 1;
  for (auto _ : state) benchmark::DoNotOptimize(method->fit(labels, context));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(labels.num_labels()));
}

}  // namespace

int main(int argc, char** argv) {
  const auto add = [](const char* title, const char* method, const Settings& settings = {}) {
    benchmark::RegisterBenchmark(title, fit, method, settings)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
  };
  for (const char* name : {"mv", "onepass", "twopass", "threepass"}) add(name, name);
  add("threepass, first pass", "threepass", {{"passes", "1"}});
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
