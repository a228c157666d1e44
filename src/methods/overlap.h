// Where no task has labels by two workers, nobody can be compared with anybody: no quality can be
// learned, and a method would take its own first guess for knowledge. There the prior rules, for every
// method alike; batch.h sees to it.
//
// The same holds for single workers who share no task with others, amid a crowd that overlaps. What the
// crowd at large is like is then the best that is known of them.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "crowdfold/method.h"
#include "crowdfold/rounds.h"

namespace crowdfold {

// A worker of whom nothing is known is right with this probability, as the crowds of the paper's data
// sets are on average; the other classes share the rest.
inline constexpr double kUnknownQuality = .7;

// Whether labels tell nothing about workers: no task has labels by two of them, or all labels are the
// same. A known truth tells something, and so do earlier labels of workers.
bool tells_nothing(const Labels& labels, const Knowledge& given);

// What a label of an unknown worker, right with probability `quality`, says about a task without labels
// by others. A worker with several labels on it has one opinion, which they share.
Estimate judge_by_prior(const TaskLabels& task, std::uint32_t classes, std::span<double> posterior,
                        double quality = kUnknownQuality);

// Who shares no task with anybody.
class LoneWorkers {
 public:
  LoneWorkers() = default;
  // Workers of whom truths or histories tell something are not among them.
  LoneWorkers(const Labels& labels, const Knowledge& given);

  // The same, task by task; with what others found in other tasks; with those of whom something is
  // known.
  void add(const TaskLabels& task, ClassId truth = kNoClass);
  void add(const LoneWorkers& others);
  void leave_out_known(std::span<const WorkerCounts> history);
  void exchange(Archive& archive, std::uint32_t workers);
  bool has(WorkerId w) const { return w < meets_.size() && meets_[w] == Meets::nobody; }
  // Whether such a worker labelled the task.
  bool labelled(const TaskLabels& task) const { return task.size() > 0 && has(task.workers[0]); }
  bool empty() const { return lone_ == 0; }
  // Who does share one.
  std::size_t others() const { return met_; }

  // Forgets what a method believes to have learned of them, but for their history.
  void forget(WorkerState& learned, std::span<const WorkerCounts> history) const;
  // How often workers of this crowd are right, of whom nothing else is known.
  double quality_of_others(const WorkerState& learned) const;

 private:
  enum class Meets : std::uint8_t { unseen, nobody, somebody };
  void note(WorkerId w, Meets meets);

  std::vector<Meets> meets_;  // by worker
  std::size_t lone_ = 0;
  std::size_t met_ = 0;
};

// Puts into the result of a fit what is known of lone workers and their tasks.
void let_crowd_speak_for(const LoneWorkers& lone, const Labels& labels, const Knowledge& given,
                         Result& result);

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

// Confusion matrices, M x K x K, of those whose quality this is: of lone workers, or of all.
void write_by_quality(double quality, std::uint32_t classes, std::span<double> confusion,
                      const LoneWorkers* lone = nullptr);
// What is known of workers if labels tell nothing: their history.
void forget_all(WorkerState& learned, std::uint32_t workers, std::span<const WorkerCounts> history);

// Puts into the result of a fit what is known if labels tell nothing: answers by judge_by_prior(), and
// workers about whom nothing was learned. Of one class every answer is certain.
void let_prior_rule(const Labels& labels, const Knowledge& given, Result& result);

}  // namespace crowdfold
