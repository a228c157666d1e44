// The methods alone, on one thread and on labels that are in memory already.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"

namespace {

using namespace crowdfold;

// Ten labels a task.
Labels make_labels(std::uint32_t tasks, std::uint32_t workers) {
  SimulationOptions options;
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
// The state of so few workers stays in the cache.
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

// As on a stream: tasks come in chunks, are judged, and are forgotten.
void observe(benchmark::State& state, const char* method_name, const Labels& (*labels)()) {
  constexpr std::size_t kChunk = 1'000;
  std::vector<TaskLabels> tasks;
  for (TaskId t = 0; t < labels().num_tasks(); ++t) tasks.push_back(labels().task(t));
  for (auto _ : state) {
    const auto method = find_method(method_name).make_online({}, /*seed=*/1);
    method->expect(labels().num_workers(), labels().num_classes());
    for (std::span<const TaskLabels> rest = tasks; !rest.empty();) {
      const std::size_t size = std::min(kChunk, rest.size());
      benchmark::DoNotOptimize(method->observe_chunk(rest.first(size)));
      rest = rest.subspan(size);
    }
  }
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
    for (const char* name : {"mv", "onepass", "twopass"})
      benchmark::RegisterBenchmark((name + std::string(" in chunks") + crowd).c_str(), observe, name,
                                   labels)
          ->UseRealTime()
          ->Unit(benchmark::kMillisecond);
    add("first pass of threepass" + std::string(crowd), "threepass", {{"passes", "1"}}, labels);
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
