// Votes in rounds (crowdfold/rounds.h): a round gives every task a class, and counts how often each
// worker agrees with it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "crowdfold/rounds.h"

namespace crowdfold {

struct AgreementSummary final : RoundSummary {
  void add(const RoundSummary& summary) override;
  void exchange(Archive& archive) override;

  FlatArray<std::uint64_t> counts;  // by worker: labels that agree, and all
};

class AgreementModel : public RoundModel {
 public:
  explicit AgreementModel(const RoundsInput& input);

  std::unique_ptr<RoundSummary> nothing() const override;
  void judge(const TaskBlock& block, RoundSummary& into) const override;
  void learn(RoundSummary& said, int threads) override;
  bool is_done() const override { return is_done_; }
  int summaries_at_once() const override;
  void report(const RunContext& context, Result& result) const override;
  void exchange(Archive& archive) override;

  // A summary for each thread, and some numbers for each worker.
  static std::uint64_t bytes(const RoundsInput& input) { return 128ULL * input.workers; }

 protected:
  // The class of a task without a known truth; kNoClass if it has no labels.
  virtual ClassId choose(const TaskLabels& task) const = 0;
  // Takes note of a round, by agreement(). Returns whether there is to be another. `rests`: every worker
  // agrees as often as in the round before.
  virtual bool next(bool rests) = 0;

  std::uint32_t workers() const { return static_cast<std::uint32_t>(agreement_.size()); }
  std::uint32_t classes() const { return classes_; }
  // Each worker's agreement with the last round, their history included.
  const std::vector<WorkerCounts>& agreement() const { return agreement_; }
  // Their sum over all workers, also in a part of a model.
  const WorkerCounts& crowd() const { return crowd_; }
  // The share of all labels that agree.
  double mean_agreement() const;
  // The agreement as the state of a method with this prior.
  WorkerState state(double alpha, double beta) const;

 private:
  std::uint32_t classes_;
  std::vector<WorkerCounts> history_;
  std::vector<WorkerCounts> agreement_;
  WorkerCounts crowd_;
  FlatArray<std::uint64_t> last_;  // of the last round, as in a summary
  bool is_done_ = false;
};

}  // namespace crowdfold
