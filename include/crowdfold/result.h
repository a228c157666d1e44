// What every method gives back.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/worker_state.h"

namespace crowdfold {

// One task's answer. The confidence is the posterior probability of `label`.
struct Estimate {
  ClassId label = kNoClass;  // kNoClass: the task has no labels
  double confidence = 0;
};

// Some methods share a doubt among all classes, so that a confidence promises no more than is kept. An
// answer's certainty is its confidence before that: stop rules, and what counts as settled, compare with
// it. With a doubt of .05, no confidence in one of two classes could pass .975.
inline double with_doubt(double certainty, double doubt, double classes) {
  return (1 - doubt) * certainty + doubt / classes;
}
inline double certainty_of(double confidence, double doubt, double classes) {
  if (doubt == 0 || classes == 0) return confidence;
  return std::clamp((confidence - doubt / classes) / (1 - doubt), 0.0, 1.0);
}

// Numbers that one method takes or gives and others do not: `width` of them for every task, worker or
// class, row by row.
enum class Per { task, worker, label_class };
struct Extra {
  std::string name;
  Per per = Per::task;
  std::size_t width = 1;
  FlatArray<double> values;
};

// The extra of that name; nullptr if there is none.
inline const Extra* find_extra(const std::vector<Extra>& extras, std::string_view name) {
  for (const Extra& extra : extras) {
    if (extra.name == name) return &extra;
  }
  return nullptr;
}

struct Result {
  FlatArray<ClassId> estimate;   // by TaskId
  FlatArray<double> confidence;  // by TaskId
  double doubt = 0;              // in all of them, but those of truths
  FlatArray<double> posterior;   // T x K, row by row; empty unless RunContext::posterior
  WorkerState learned;           // of workers
  // M x K x K: by worker, truth, label; empty unless RunContext::confusion, and for methods without such
  // a model.
  FlatArray<double> confusion;
  std::vector<Extra> extras;  // those of Traits::gives

  // Iterative methods: the objective after each iteration, and whether they settled.
  std::vector<double> trace;
  bool converged = true;

  double certainty(TaskId t) const { return certainty_of(confidence[t], doubt, learned.classes); }
};

}  // namespace crowdfold
