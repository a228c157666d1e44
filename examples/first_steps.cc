// The library in thirty lines: labels in, an answer per task and a quality per worker out.
#include <cstdio>
#include <string>

#include "crowdfold/labels.h"
#include "crowdfold/registry.h"

int main() {
  crowdfold::LabelsBuilder builder;  // takes rows in any order: task, worker, label
  const char* photos[][4] = {{"photo 1", "cat", "cat", "dog"},
                             {"photo 2", "dog", "dog", "cat"},
                             {"photo 3", "fox", "fox", "fox"},
                             {"photo 4", "dog", "", "cat"}};  // bob does not know
  for (const auto& [task, by_ann, by_bob, by_eve] : photos) {
    builder.add(task, "ann", by_ann);
    builder.add(task, "bob", by_bob);
    builder.add(task, "eve", by_eve);
  }
  const crowdfold::Labels labels = builder.build();

  const auto method = crowdfold::find_method("twopass").make({{"alpha", "2"}, {"beta", "2"}});
  const crowdfold::Result result = method->fit(labels, crowdfold::RunContext{});

  for (crowdfold::TaskId t = 0; t < labels.num_tasks(); ++t) {
    const std::string task(labels.tasks()[t]);
    const std::string answer(labels.classes()[result.estimate[t]]);
    std::printf("%s is a %s, probability %.3f\n", task.c_str(), answer.c_str(), result.confidence[t]);
  }
  for (crowdfold::WorkerId w = 0; w < labels.num_workers(); ++w) {
    const std::string worker(labels.workers()[w]);
    const crowdfold::BetaQuality quality = result.learned.quality(w);
    const auto [low, high] = quality.credible_interval();
    std::printf("%s has quality %.3f (%.3f to %.3f)\n", worker.c_str(), quality.mean(), low, high);
  }
}
