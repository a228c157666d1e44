// Shared by weighted votes: rounds of votes on all tasks with a weight for each worker, which follows
// from how often the worker agreed with the vote before.
#pragma once

#include <span>
#include <vector>

#include "crowdfold/registry.h"
#include "methods/rounds/agreement_rounds.h"
#include "methods/vote.h"

namespace crowdfold {

// How votes go on.
struct VotePlan {
  const char* name = "";
  int rounds = 1;  // votes at most
  Ties ties = Ties::first;
  bool stops_at_rest = false;  // as soon as the weights would stay
  // How a class's probability follows from the weights behind it: its share of all weights; or, above 0,
  // proportional to exp(rate weight).
  double rate = 0;
  bool gives_weights = false;  // those of the last vote, as kWeightGiven
};

inline const ExtraInfo kWeightGiven{"weight", Per::worker, 0, "weight in the last vote"};

class WeightedVote : public AgreementModel {
 public:
  WeightedVote(const VotePlan& plan, const RoundsInput& input);

  std::uint64_t rounds_left() const override {
    return is_done() ? 0 : static_cast<std::uint64_t>(plan_.rounds - round_);
  }
  const char* stage() const override { return plan_.name; }
  void answer(const TaskBlock& block, std::span<Estimate> estimates,
              std::span<double> posteriors) const override;
  void report(const RunContext& context, Result& result) const override;
  void exchange(Archive& archive) override;

 protected:
  std::vector<double>& weights() { return weights_; }
  // Sets the weights of the next vote from agreement().
  virtual void weigh() {}
  // Whether a round's mean agreement, from 0 on, goes into the trace.
  virtual bool is_traced(int /*round*/) const { return false; }

 private:
  ClassId choose(const TaskLabels& task) const override;
  bool next(bool rests) override;

  VotePlan plan_;
  std::uint64_t seed_;
  std::vector<double> weights_;  // all alike at first
  std::vector<double> trace_;
  int round_ = 0;
  bool converged_;
};

}  // namespace crowdfold
