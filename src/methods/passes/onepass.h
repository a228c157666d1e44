// OnePass as a class of its own, for the methods that build on it. See onepass.cc.
#pragma once

#include "crowdfold/method.h"
#include "methods/option_table.h"
#include "methods/vote.h"

namespace crowdfold {

class OnePass : public OnlineMethod {
 public:
  struct Options : VoteOptions {
    Order order = Order::given;
  };
  static const OptionTable<Options>& option_table();

  OnePass(const Options& options, std::uint64_t seed);

  void expect(std::uint32_t workers, std::uint32_t classes) override { state_.expect(workers, classes); }
  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override;
  void learn(const TaskLabels& labels, const Answer& answer) override;
  void learn_chunk(std::span<const TaskLabels> tasks, std::span<const Answer> answers) override;
  bool judges_after_learning() const override { return false; }

  WorkerState state() const override { return state_; }
  void restore(WorkerState state) override;
  void merge(const WorkerState& other) override { state_.merge(other); }

 protected:
  // w_i
  double weight(const WorkerCounts& counts) const {
    return (counts.correct + prior_correct_) / (counts.seen + prior_seen_);
  }
  // y_t
  ClassId vote(const TaskLabels& labels) const;
  // A vote in which weight_of(counts) is a worker's weight, and its one-coin posterior.
  template <class WeightOf>
  Estimate judge(const TaskLabels& labels, std::span<double> posterior,
                 const WeightOf& weight_of) const {
    const double others = std::max(1.0, state_.classes - 1.0);
    return with_ballot(state_.classes, labels, [&](auto& ballot) {
      for (std::size_t j = 0; j < labels.size(); ++j) {
        const WorkerCounts& counts = state_.counts[labels.workers[j]];
        ballot.add(labels.classes[j], weight_of(counts), (counts.correct + state_.alpha) * others,
                   counts.seen - counts.correct + state_.beta);
      }
      return outcome(ballot, tie_rule(labels), posterior);
    });
  }
  TieRule tie_rule(const TaskLabels& labels) const { return {options_.ties, seed_, labels.index}; }

  // Beta(1, 1) has no mode: with this added to its counts, 0 out of 0 is 1/2, and nothing else changes.
  static constexpr double kNextToNothing = 1e-300;

  Options options_;
  std::uint64_t seed_;
  double prior_correct_;  // alpha - 1
  double prior_seen_;     // alpha + beta - 2
  WorkerState state_;
};

}  // namespace crowdfold
