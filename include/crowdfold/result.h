// What every method gives back.
#pragma once

#include <string>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/worker_state.h"

namespace crowdfold {

// One task's answer. The confidence is the posterior probability of `label`.
struct Estimate {
  ClassId label = kNoClass;  // kNoClass: the task has no labels
  double confidence = 0;
};

struct Result {
  FlatArray<ClassId> estimate;   // by TaskId
  FlatArray<double> confidence;  // by TaskId
  FlatArray<double> posterior;   // T x K, row by row; empty unless RunContext::posterior
  WorkerState workers;
  // M x K x K: by worker, truth, label; empty unless RunContext::confusion, and for methods without such
  // a model.
  FlatArray<double> confusion;

  // Iterative methods: the objective after each iteration, and whether they settled.
  std::vector<double> trace;
  bool converged = true;
};

}  // namespace crowdfold
