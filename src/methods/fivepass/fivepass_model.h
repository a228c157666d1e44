// The model of fivepass: what is known of a crowd before a round, and the equations that fivepass.cc
// states.
//
// Rows of scores and credits have width() numbers: one per class, then padding.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "crowdfold/result.h"
#include "methods/fivepass/fivepass_kernels.h"
#include "methods/rounds/rounds.h"
#include "methods/rounds/whole_counts.h"
#include "methods/spread_history.h"
#include "methods/threepass/crowd.h"
#include "methods/threepass/crowd_options.h"

namespace crowdfold {

struct FivePassOptions : CrowdOptions {
  int rounds = 5;
};

// What tasks say of the crowd.
struct FivePassSummary {
  WholeCounts counts;              // n_i
  std::vector<std::int64_t> mass;  // in units, by type and class: sum_t q_t[k, g]
  HeldOut held_out;                // (H), each label's logarithms in whole units

  void add(const FivePassSummary& other);
};

class FivePassModel {
 public:
  using Summary = FivePassSummary;
  // Knows nothing but labels that workers gave before.
  FivePassModel(const FivePassOptions& options, std::uint32_t workers, std::uint32_t classes,
                std::span<const WorkerCounts> history);
  // Knows what a model learned that is_done(): its state().
  FivePassModel(const FivePassOptions& options, const WorkerState& state, int threads);

  // The interface of rounds.h.
  Summary nothing() const;
  void judge(const Block& block, Summary& summary) const;
  void learn(Summary summary, int threads);
  bool is_done() const { return asks_ == Asks::nothing; }
  const char* stage() const;
  int summaries_at_once() const;

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
  // Adds a task that was credited with its truth, judged as if that were not known. Only if all cells
  // are stored.
  void add_truth(const TaskLabels& task, ClassId truth, Scratch& scratch, SofteningFit& fit) const;
  // Takes over what truths say of softening.
  void soften(const SofteningFit& fit) { softening_ = fit.fitted(options_); }
  double doubt() const { return softening_.doubt; }
  // The answer to a task; writes the probabilities of all classes to `posterior` unless it is empty.
  Estimate answer(const TaskLabels& task, std::span<double> posterior, Scratch& scratch) const;
  // A worker's labels, and how many of them were credited as right.
  WorkerCounts counts(WorkerId w) const;
  // Posterior means of V_w, by truth and label.
  void write_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const;
  WorkerState state() const;

  // At the peak.
  static std::uint64_t bytes(const Labels& labels);

 private:
  // What a round asks of tasks: their credits, which are shares of votes at first; or how likely some of
  // their labels are that are held out.
  enum class Asks { votes, credits, held_out, nothing };
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
  void add_votes(const Block& block, Scratch& scratch, Summary& summary) const;
  void add_credits(const Block& block, Scratch& scratch, Summary& summary) const;
  void add_credit(const TaskLabels& task, ClassId truth, Scratch& scratch, Summary& summary) const;
  void hold_out(const Block& block, Scratch& scratch, Summary& summary) const;
  void hold_out(const TaskLabels& task, std::size_t j, Scratch& scratch, HeldOut& held_out) const;
  void compute_scores(const TaskLabels& task, std::span<const float> start, Scratch& scratch) const;
  void compute_credit(Scratch& scratch) const;
  void add_up_scores(std::span<const float> scores, Scratch& scratch) const;
  void write_sparse_row(const TaskLabels& task, WorkerId w, ClassId label, std::span<float> row) const;
  // Loads n_i[., l] and N_i, with the worker's history.
  void load_counts(WorkerId w, ClassId label, Scratch& scratch) const;
  void prefetch(const TaskLabels& task, const WholeCounts* counts) const;

  // learn()
  void count(Summary summary, int threads);  // n_i, P, m, rho
  void pool();                               // (G)
  void fit_strengths(int threads);           // (EB), s_i
  Curve strength_curve(WorkerId w, CountedRows& rows, std::vector<double>& totals) const;
  std::vector<float> class_shares() const;  // tau
  void build_tables(int threads);
  bool write_presence(WorkerId w, float* rows) const;
  void guard(const HeldOut& held_out);

  FivePassOptions options_;
  std::uint32_t classes_;
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
};

}  // namespace crowdfold
