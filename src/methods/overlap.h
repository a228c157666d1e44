// Where no task has labels by two workers, nobody can be compared with anybody: no quality can be
// learned, and a method would take its own first guess for knowledge. There the prior rules, for every
// method alike; batch.h sees to it.
#pragma once

#include <span>
#include <utility>

#include "crowdfold/method.h"

namespace crowdfold {

// A worker of whom nothing is known is right with this probability, as the crowds of the paper's data
// sets are on average; the other classes share the rest.
inline constexpr double kUnknownQuality = .7;

// Whether labels tell nothing about workers: no task has labels by two of them, or all labels are the
// same. A known truth tells something, and so do earlier labels of workers.
bool tells_nothing(const Labels& labels, const Knowledge& given);

// What a label of an unknown worker says about a task without labels by others. A worker with several
// labels on it has one opinion, which they share.
Estimate judge_by_prior(const TaskLabels& task, std::uint32_t classes, std::span<double> posterior);

// A method that answers so, and learns nothing.
class PriorMethod final : public OnlineMethod {
 public:
  // With the prior of workers that `state` has.
  explicit PriorMethod(const WorkerState& state) {
    state_.alpha = state.alpha;
    state_.beta = state.beta;
  }
  void expect(std::uint32_t workers, std::uint32_t classes) override { state_.expect(workers, classes); }
  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    return judge_by_prior(labels, state_.classes, posterior);
  }
  void learn(const TaskLabels& /*labels*/, const Answer& /*answer*/) override {}
  bool judges_after_learning() const override { return true; }
  WorkerState state() const override { return state_; }
  void restore(WorkerState state) override { state_ = std::move(state); }
  void merge(const WorkerState& other) override { state_.merge(other); }

 private:
  WorkerState state_;
};

// Whether a task has labels by two workers.
bool workers_meet(const TaskLabels& task);

// Puts into the result of a fit what is known if labels tell nothing: answers by judge_by_prior(), and
// workers about whom nothing was learned. Of one class every answer is certain.
void let_prior_rule(const Labels& labels, const Knowledge& given, Result& result);

}  // namespace crowdfold
