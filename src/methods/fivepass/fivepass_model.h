// The model of fivepass: what is known of a crowd before a round, and the equations that fivepass.cc
// states.
//
// Rows of scores and credits have width() numbers: one per class, then padding.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "crowdfold/rounds.h"
#include "methods/fivepass/fivepass_kernels.h"
#include "methods/rounds/units.h"
#include "methods/rounds/whole_counts.h"
#include "methods/spread_history.h"
#include "methods/threepass/crowd.h"
#include "methods/threepass/crowd_options.h"

namespace crowdfold {

struct FivePassOptions : CrowdOptions {
  int rounds = 5;
};

// What tasks say of the crowd.
struct FivePassSummary final : RoundSummary {
  FivePassSummary(std::uint32_t workers, std::uint32_t classes, std::size_t mass_size,
                  std::uint32_t crowd)
      : counts(workers, classes, crowd), mass(mass_size) {}

  WholeCounts counts;              // n_i
  std::vector<std::int64_t> mass;  // in units, by type and class: sum_t q_t[k, g]
  HeldOut held_out;                // (H), each label's logarithms in whole units
  std::uint64_t known = 0;         // truths of tasks with labels
  SofteningFit softening;          // by such truths, in whole units

  void add(const RoundSummary& other) override;
  void exchange(Archive& archive) override;
};

class FivePassModel final : public RoundModel {
 public:
  // Knows nothing but labels that workers gave before.
  // `crowd`: of how many workers in all these are a part.
  FivePassModel(const FivePassOptions& options, std::uint32_t workers, std::uint32_t classes,
                std::span<const WorkerCounts> history, std::uint32_t crowd);
  // Knows what a model learned that is_done(): its state().
  FivePassModel(const FivePassOptions& options, const WorkerState& state, int threads);

  std::unique_ptr<RoundSummary> nothing() const override;
  void judge(const TaskBlock& block, RoundSummary& summary) const override;
  // Error(usage) where most labels are those of labelling functions.
  void learn(RoundSummary& summary, int threads) override;
  bool is_done() const override { return asks_ == Asks::nothing; }
  const char* stage() const override;
  int summaries_at_once() const override;
  void answer(const TaskBlock& block, std::span<Estimate> estimates,
              std::span<double> posteriors) const override;
  void report(const RunContext& context, Result& result) const override;
  void exchange(Archive& archive) override;

  // Room for computations on one task or worker at a time; one for each thread.
  struct Scratch {
    explicit Scratch(const FivePassModel& model);
    std::vector<float> scores;          // a_t, by type
    std::vector<float> start;           // of scores, by type
    std::vector<float> others;          // scores without a held-out label, by type
    std::vector<float> sums;            // over types
    std::vector<float> mean;            // Vm
    std::vector<float> row;             // Tab_i[., l]
    std::vector<std::int32_t> by_type;  // q_t
    std::vector<std::int32_t> credit;   // C_t
    std::vector<double> totals;         // N_i
    std::vector<double> cells;          // n_i[., l]
  };

  // Once it is done.
  double doubt() const { return softening_.doubt; }
  // The answer to a task; writes the probabilities of all classes to `posterior` unless it is empty.
  Estimate answer(const TaskLabels& task, std::span<double> posterior, Scratch& scratch) const;
  // A worker's labels, and how many of them were credited as right.
  WorkerCounts counts(WorkerId w) const;
  // Posterior means of V_w, by truth and label.
  void write_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const;
  WorkerState state() const;

  // At the peak.
  static std::uint64_t bytes(const RoundsInput& input);

 private:
  // What a round asks of tasks: their credits, which are shares of votes at first; how likely some of
  // their labels are that are held out; or how likely known truths are.
  enum class Asks { votes, credits, held_out, truths, nothing };
  using Curve = std::array<double, kStrengths.size()>;  // by strength

  std::uint32_t workers() const { return static_cast<std::uint32_t>(said_.size()); }
  bool dense() const { return counts_.dense(); }
  std::size_t types() const { return dense() ? kTypes : 1; }
  TypedLayout layout() const { return {classes_, width_}; }
  WorkerCounts history(WorkerId w) const { return w < history_.size() ? history_[w] : WorkerCounts{}; }
  WorkerCounts all_of(WorkerId w) const;  // with the history
  double ability_of(WorkerId w) const { return crowdfold::ability_of(crowd_, all_of(w), options_.own); }

  // Fills scratch.sums for a task that was credited with its truth: with `credit` in the counts of its
  // workers instead, or if that is empty, with nothing.
  void score_without_truth(const TaskLabels& task, ClassId truth, std::span<const float> credit,
                           Scratch& scratch) const;
  // judge()
  void add_votes(const TaskBlock& block, Scratch& scratch, FivePassSummary& summary) const;
  void add_credits(const TaskBlock& block, Scratch& scratch, FivePassSummary& summary) const;
  void add_credit(const TaskLabels& task, ClassId truth, Scratch& scratch,
                  FivePassSummary& summary) const;
  void hold_out(const TaskBlock& block, Scratch& scratch, FivePassSummary& summary) const;
  void hold_out(const TaskLabels& task, std::size_t j, Scratch& scratch, HeldOut& held_out) const;
  void compute_scores(const TaskLabels& task, std::span<const float> start, Scratch& scratch) const;
  void compute_credit(Scratch& scratch) const;
  void add_up_scores(std::span<const float> scores, Scratch& scratch) const;
  void write_sparse_row(const TaskLabels& task, WorkerId w, ClassId label, std::span<float> row) const;
  // Loads n_i[., l] and N_i, with the worker's history.
  void load_counts(WorkerId w, ClassId label, Scratch& scratch) const;
  void prefetch(const TaskLabels& task, const WholeCounts* counts) const;

  void add_truths(const TaskBlock& block, Scratch& scratch, FivePassSummary& summary) const;

  // learn()
  void require_a_crowd() const;
  void take(FivePassSummary& summary, int threads);  // n_i, m, rho
  void count(int threads);                           // P
  void pool_class_mass();
  void exchange_pooled(Archive& archive);
  void pool();                      // (G)
  void fit_strengths(int threads);  // (EB), s_i
  Curve strength_curve(WorkerId w, CountedRows& rows, std::vector<double>& totals) const;
  std::vector<float> class_shares() const;  // tau
  void build_tables(int threads);
  bool write_presence(WorkerId w, float* rows) const;
  void guard(const HeldOut& held_out);

  FivePassOptions options_;
  std::uint32_t classes_;
  std::uint32_t all_workers_;
  std::size_t width_;
  std::vector<WorkerCounts> history_;
  WorkerCounts all_history_;

  Asks asks_ = Asks::votes;
  int round_ = 0;            // times that it learned from credits
  bool is_guarded_ = false;  // in this round, so that gamma stays

  WholeCounts counts_;              // n_i
  std::vector<WorkerCounts> said_;  // c_i, n_i
  double labels_ = 0;               // of all workers
  PooledCounts pooled_;             // P, m
  std::vector<std::int64_t> mass_;  // as in a summary
  std::array<double, kTypes> rho_;
  CrowdEffects crowd_;            // (G), s, lambda
  double class_power_;            // gamma
  std::vector<float> start_;      // gamma ltau + log rho, by type
  Curve sizes_{};                 // pi
  std::vector<float> strengths_;  // s_i
  FlatArray<float> tables_;       // in a TypedLayout
  double beta_ = 1;
  Softening softening_ = options_;
  std::uint64_t known_ = 0;  // truths of tasks with labels
};

}  // namespace crowdfold
