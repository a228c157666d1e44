// Room in a Result for the answers to all tasks.
#pragma once

#include <span>

#include "crowdfold/result.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

class ResultRoom {
 public:
  // The result must outlive it.
  ResultRoom(const Labels& labels, const RunContext& context, Result& result)
      : result_(result), classes_(context.posterior ? labels.num_classes() : 0) {
    result.estimate.resize(labels.num_tasks());
    result.confidence.resize(labels.num_tasks());
    result.posterior.resize(labels.num_tasks() * classes_);
  }

  // For the probabilities of a task's classes; empty unless they are asked for.
  std::span<double> posterior(TaskId t) { return {result_.posterior.data() + t * classes_, classes_}; }
  void put(TaskId t, const Estimate& answer) {
    result_.estimate[t] = answer.label;
    result_.confidence[t] = answer.confidence;
  }

 private:
  Result& result_;
  std::size_t classes_;
};

}  // namespace crowdfold
