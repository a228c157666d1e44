// Crowds of known quality.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

// The distribution of worker quality: the probability of a right label.
struct QualityDistribution {
  enum class Kind { fixed, uniform, beta } kind = Kind::beta;
  double a = 4;  // fixed: the quality; uniform: from; beta: alpha
  double b = 2;  // uniform: to; beta: beta

  // "fixed:.8", "uniform:.4,.7", "beta:4,2". Error(usage) otherwise.
  static QualityDistribution parse(const std::string& text);
};

struct SimulationOptions {
  std::uint64_t tasks = 1000;
  std::uint32_t workers = 50;
  std::uint32_t classes = 4;
  std::uint32_t min_labels = 5;  // labels per task, uniform between the two
  std::uint32_t max_labels = 5;
  QualityDistribution quality{};
  bool confusion = false;  // workers err in their own ways: wrong labels follow a random row each
  double spammers = 0;     // share of workers whose labels are uniform noise
  double adversaries = 0;  // share of workers who are wrong with their quality's probability
  double skew = 0;         // class k has prior proportional to (k + 1)^-skew
};

// What the simulator knows and the crowd does not say.
struct SimulatedCrowd {
  std::vector<ClassId> truths;  // by task
  std::vector<double> quality;  // by worker: the probability of a right label
};

// Draws a crowd, calling `row(task, worker, label)` for every label, grouped by task, workers of
// one task all different. Same options and seed: the same calls. Memory O(tasks + workers K^2).
// Error(usage) for options that cannot be met (more labels per task than workers, shares above 1).
SimulatedCrowd simulate(const SimulationOptions& options, std::uint64_t seed,
                        const std::function<void(TaskId, WorkerId, ClassId)>& row);

// The same, as Labels named task_00…, worker_00…, class_0….
Labels simulate_labels(const SimulationOptions& options, std::uint64_t seed,
                       SimulatedCrowd* crowd = nullptr);

}  // namespace crowdfold
