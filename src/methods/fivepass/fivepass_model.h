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

namespace crowdfold {

struct FivePassOptions {
  int rounds = 5;
  double symmetry = 16;
  double crowd = 20;
  double own = 5;
  double weakest = 2;
  double strongest = 64;
  double guard = .01;
  double soften = .7;
  double doubt = .05;
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

  // What a round asks of tasks: their credits, which are shares of votes at first, or how likely some of
  // their labels are that are held out.
  enum class Asks { votes, credits, held_out, nothing };
  Asks asks() const { return asks_; }
  bool is_done() const { return asks_ == Asks::nothing; }
  int round() const { return round_; }

  Summary nothing() const;
  // So many that they do not fill the memory.
  int summaries_at_once() const;
  void judge(const Block& block, Summary& summary) const;
  void learn(Summary summary, int threads);

  // Once it is done: answers to all tasks of a block, `put(t, scores)` where they are open.
  std::size_t width() const { return width_; }
  std::uint32_t classes() const { return classes_; }
  struct Scratch {
    explicit Scratch(const FivePassModel& model);
    std::vector<float> scores;          // by type
    std::vector<float> start;           // by type
    std::vector<float> sums;            // over types
    std::vector<float> mean;            // Vm
    std::vector<float> row;             // Tab_i[., l]
    std::vector<std::int32_t> by_type;  // q_t
    std::vector<std::int32_t> credit;   // C_t
    std::vector<double> totals;         // N_i
    std::vector<double> cells;          // n_i[., l]
  };
  // a_t[k] = log sum_g exp a_t[k, g], into scratch.sums
  void score(const TaskLabels& task, Scratch& scratch) const;
  // The answer to a task with these scores; writes the probabilities of all classes to `posterior`
  // unless it is empty.
  Estimate answer(std::span<const float> sums, std::span<double> posterior) const;

  // A worker's labels, and how many of them were credited as right.
  WorkerCounts counts(WorkerId w) const;
  // Posterior means of V_w, by truth and label.
  void write_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const;

  static std::uint64_t bytes(std::uint64_t workers, std::uint64_t classes);

 private:
  static constexpr std::size_t kSizes = kStrengths.size();
  using Curve = std::array<double, kSizes>;

  std::uint32_t workers() const { return counts_.workers(); }
  bool dense() const { return counts_.dense(); }
  std::size_t types() const { return dense() ? kTypes : 1; }
  WorkerCounts history(WorkerId w) const { return w < history_.size() ? history_[w] : WorkerCounts{}; }
  double ability_of(WorkerId w) const { return crowdfold::ability_of(crowd_, counts(w), options_.own); }

  // learn()
  void count(Summary summary);      // n_i, P, m, rho
  void pool();                      // (G)
  void fit_strengths(int threads);  // (EB), s_i
  void build_tables(int threads);
  void set_class_power(double gamma);
  // L_i(S) for all S
  Curve strength_curve(WorkerId w, CountedRows& rows, std::vector<double>& totals) const;
  // The label of somebody who always says the same; kNoClass for others.
  ClassId only_label(WorkerId w) const;
  void write_presence(WorkerId w, ClassId label, float* rows) const;

  // judge()
  void add_vote(const TaskLabels& task, ClassId truth, Scratch& scratch, Summary& summary) const;
  void add_credit(const TaskLabels& task, ClassId truth, Scratch& scratch, Summary& summary) const;
  void add_credits(const Block& block, Scratch& scratch, Summary& summary) const;
  void prefetch(const TaskLabels& task, const Summary& summary) const;
  bool is_held_out(TaskId t) const;
  void hold_out(const TaskLabels& task, Scratch& scratch, HeldOut& held_out) const;
  // a_t, by type
  void compute_scores(const TaskLabels& task, std::span<const float> start, Scratch& scratch) const;
  void compute_credit(Scratch& scratch) const;
  void write_sparse_row(const TaskLabels& task, WorkerId w, ClassId label, std::span<float> row) const;
  // Loads n_i[., l] and N_i, with the worker's history.
  void load_counts(WorkerId w, ClassId label, Scratch& scratch) const;

  FivePassOptions options_;
  std::uint32_t classes_;
  std::size_t width_;
  std::vector<WorkerCounts> history_;
  WorkerCounts all_history_;

  Asks asks_ = Asks::votes;
  int round_ = 0;  // times that it learned from credits

  WholeCounts counts_;                    // n_i
  std::vector<WorkerCounts> said_;        // c_i, n_i
  double labels_ = 0;                     // of all workers
  PooledCounts pooled_;                   // P, m
  CrowdEffects crowd_;                    // (G), s, lambda
  double class_power_;                    // gamma
  std::vector<float> log_prior_;          // gamma ltau
  std::array<double, kTypes> log_types_;  // log rho
  std::vector<float> start_;              // gamma ltau + log rho, by type
  std::vector<float> strengths_;          // s_i
  FlatArray<float> tables_;               // in a TypedLayout
  double beta_ = 1;
};

}  // namespace crowdfold
