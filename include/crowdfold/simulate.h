// Simulates crowds of known quality.
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
  double a = 4;  // fixed: the quality; uniform: the lower end; beta: alpha
  double b = 2;  // uniform: the upper end; beta: beta

  // "fixed:.8", "uniform:.4,.7", "beta:4,2". Error(usage) otherwise.
  static QualityDistribution parse(const std::string& text);
};

struct SimulationOptions {
  std::uint64_t tasks = 1000;
  std::uint32_t workers = 50;
  std::uint32_t classes = 4;
  std::uint32_t min_labels = 5;  // labels per task are uniform between min_labels and max_labels
  std::uint32_t max_labels = 5;
  QualityDistribution quality{};
  bool confusion = false;  // each worker draws wrong labels from a random row per class of their own
  double spammers = 0;     // share of workers whose labels are uniform noise
  double adversaries = 0;  // share of workers whose drawn quality q becomes min(q, 1 - q)
  double skew = 0;         // class k has prior proportional to (k + 1)^-skew
};

// The hidden facts behind the labels.
struct SimulatedCrowd {
  std::vector<ClassId> truths;  // by task
  std::vector<double> quality;  // by worker: the probability of a right label
};

// Draws a crowd and calls `row(task, worker, label)` for every label, grouped by task; no worker labels
// a task twice. The same options and seed give the same calls. Memory O(tasks + workers K^2).
// Error(usage) for impossible options (more labels per task than workers, shares above 1).
SimulatedCrowd simulate(const SimulationOptions& options, std::uint64_t seed,
                        const std::function<void(TaskId, WorkerId, ClassId)>& row);

// The same, as Labels with the names task_00…, worker_00…, class_0….
Labels simulate_labels(const SimulationOptions& options, std::uint64_t seed,
                       SimulatedCrowd* crowd = nullptr);

}  // namespace crowdfold
