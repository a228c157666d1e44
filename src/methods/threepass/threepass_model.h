// The model of threepass: its knowledge of a crowd, and the equations (G) to (H) of threepass.cc.
//
// Who calls it, for each task t unless another time is given:
//
//   pass 1   FirstPass::learn     held out: build_for, judge, hold_out, add_credit, count_labels
//                                 others:   meet, learn
//                                 truths:   add_credit, count_labels
//            FirstPass::keep_up   count_task; pool (G) when there are 2 % more tasks; fit_strength (EB)
//                                 and set_class_power when there are twice as many
//   pass 2   second_pass          fit_strength; per block: pool, build_all
//            judge_again          one thread: learn; several: judge, then add_credit task by task
//   pass 3   last_pass            fit_strength, build_all; hold_out on some labels; score, answer
//   online   learn()              as pass 1; estimate() is score_anew, answer
//
//   learn       = judge, and the new credit takes the place of the old one in the counts
//   judge       = score (S), then the credit, by compute_scores() and compute_credit() of
//                 threepass_kernels.h, or both in registers
//   add_credit  -> CreditedCounts (n_i), PooledCounts (P, m)
//   build…      -> compute_table() (W): Tab_i, beside the counts it is made of
//   hold_out    -> compute_likelihoods() (H), summed up in HeldOut
//
// Rows of scores and credits have width() numbers in single precision: one per class, then padding.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "crowdfold/method.h"
#include "methods/one_label.h"
#include "methods/spread_history.h"
#include "methods/threepass/credited_counts.h"
#include "methods/threepass/crowd.h"
#include "methods/threepass/crowd_options.h"
#include "methods/threepass/held_out.h"
#include "methods/vote.h"

namespace crowdfold {

struct ThreePassOptions : CrowdOptions {
  int passes = 3;
  int blocks = 8;
  double warm = 2;
  double refresh = .5;
  Order order = Order::given;
};

// threepass itself, for methods that hand some data to it. `given` and limits are checked as for them.
Result fit_threepass(const ThreePassOptions& options, const Labels& labels, const Knowledge& given,
                     const RunContext& context);

class ThreePassModel {
 public:
  ThreePassModel(const ThreePassOptions& options, std::uint32_t workers, std::uint32_t classes);

  // Who gives one label only: their rows are other ones. It must outlive the model. Where they prevail,
  // there is too little else to learn from: class shares count nothing, and others have one quality for
  // all classes.
  void know(const OneLabelWorkers& one_label) { one_label_ = &one_label; }

  // May grow, never shrink.
  void expect(std::uint32_t workers, std::uint32_t classes);
  std::uint32_t workers() const { return static_cast<std::uint32_t>(freshness_.size()); }
  std::uint32_t classes() const { return classes_; }
  std::size_t width() const { return width_; }
  // Whether all cells are stored, so that each worker has a table.
  bool dense() const { return counts_.dense(); }
  double tasks() const { return tasks_; }

  // Room for computations on one worker or label at a time; one for each thread.
  struct Scratch {
    explicit Scratch(const ThreePassModel& model);
    std::vector<double> totals;      // N_i
    std::vector<double> cells;       // n_i[., l]
    std::vector<float> row;          // Tab_i[., l]; scores without a held-out label, h
    std::vector<float> other;        // Vm; a part of the scores
    std::vector<float> credit;       // C_t
    std::vector<float> change;       // of a credit
    std::vector<float> table;        // Tab_i
    std::vector<float> worker_rows;  // n_i
  };

  // Adds labels that a worker gave before.
  void remember(WorkerId w, const WorkerCounts& history);
  // Adds `change` to a task's credit in the counts.
  void add_credit(const TaskLabels& task, std::span<const float> change);
  // Counts the labels of a new task for their workers, once it was credited.
  void count_labels(const TaskLabels& task);
  // Counts the task itself, once its answer was given.
  void count_task(const TaskLabels& task);
  // The weight of a majority vote in credits, as long as workers are new.
  double newness() const;

  // (G)
  void pool();
  // gamma
  double class_power() const {
    if (one_label_prevails()) return 0;
    return class_power_ ? *class_power_ : little_power(classes_);
  }
  void set_class_power(double gamma) {
    class_power_ = gamma;
    pool();
  }
  // (EB). All tables are out of date afterwards.
  void fit_strength();
  // (W) for the workers of a task whose tables are out of date; for all workers.
  void build_for(const TaskLabels& task, Scratch& scratch);
  void build_all(int threads);
  // build_for() and count_labels(), for a task that is credited next.
  void meet(const TaskLabels& task, Scratch& scratch);

  // Fetches into the cache what scoring and crediting a task will need soon.
  void prefetch(const TaskLabels& task) const;
  // (S): a_t, with tables as they were built last.
  void score(const TaskLabels& task, std::span<float> scores, Scratch& scratch) const;
  // The same where some tables may be out of date.
  void score_anew(const TaskLabels& task, std::span<float> scores, Scratch& scratch) const;
  // The same for a task that was credited with its truth, as if that were not known: with `credit` in
  // the counts of its workers instead, or if that is empty, with nothing. The crowd's sums keep the
  // truth, one task among all of them.
  void score_without_truth(const TaskLabels& task, ClassId truth, std::span<const float> credit,
                           std::span<float> scores, Scratch& scratch) const;
  // Tab_i[., l] for label j of a task, from the table if it is up to date.
  std::span<const float> label_row(const TaskLabels& task, std::size_t j, Scratch& scratch) const;
  // Computes the credit of a task with these scores.
  void compute_credit(const TaskLabels& task, std::span<const float> scores, double newness,
                      std::span<float> credit) const;
  // score() and compute_credit().
  void judge(const TaskLabels& task, double newness, std::span<float> scores, std::span<float> credit,
             Scratch& scratch) const;
  // judge(); the new credit takes the place of the old one, in `credit` and in the counts. Computes
  // shares() too unless `shares` is null.
  void learn(const TaskLabels& task, double newness, std::span<float> scores, std::span<float> credit,
             Scratch& scratch, double beta = 1, Shares* shares = nullptr);
  // Of softmax(temperature scores).
  Shares shares(std::span<const float> scores, double temperature) const {
    return compute_shares(scores.data(), temperature, classes_, width_, nullptr);
  }
  // The answer to give out; writes the probabilities of all classes to `posterior` unless it is empty.
  // Before it is softened, no answer is more certain than the rule of succession allows: (1 - d)
  // softmax + d / K, where d = 1 / (labels + 2) is the chance of something never seen. The doubt of a
  // softening does not stand in for that: it is none of the number that stop rules look at, and they
  // must not close the first tasks on three labels.
  Estimate answer(std::span<const float> scores, double beta, const Softening& softening,
                  std::span<double> posterior) const;
  Estimate answer(const Shares& shares, const Softening& softening) const;
  // (H): adds to `held_out` how likely the task's other labels make label j. `credit` is the task's
  // credit in the counts, or empty.
  void hold_out(const TaskLabels& task, std::size_t j, std::span<const float> scores,
                std::span<const float> credit, HeldOut& held_out, Scratch& scratch) const;

  // A worker's labels, and how many of them were credited as right.
  WorkerCounts counts(WorkerId w) const;
  // Posterior means of V_w, by truth and label.
  void write_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const;

  WorkerState state() const;
  // A state that says which of the counts are histories: all, if they come from another method or a
  // file.
  static WorkerState with_history(WorkerState state);
  // Such a state, into a model that knows nothing.
  void restore(const WorkerState& state);

 private:
  // A worker has given `labels - fresh_for` labels. Each further label lowers `fresh_for`; at 0 the
  // worker's table is out of date.
  struct WorkerFreshness {
    std::uint32_t labels = 0;     // n_i when the table will be out of date
    std::uint32_t fresh_for = 0;  // labels until then
  };
  double labels_of(WorkerId w) const { return freshness_[w].labels - freshness_[w].fresh_for; }
  bool is_new(WorkerId w) const { return labels_of(w) == 0 && history(w).seen == 0; }
  WorkerCounts history(WorkerId w) const { return w < history_.size() ? history_[w] : WorkerCounts{}; }
  SpreadHistory spread(const WorkerCounts& history) const { return spread_history(history, classes_); }
  // Only if dense().
  CreditSums credit_sums() { return {counts_.rows(), pooled_.recent(), pooled_.recent_mass()}; }

  // v / (1 - v), without some labels of the worker
  double ability_of(WorkerId w, const WorkerCounts& without = {}) const;
  // b[k, l] of a worker with this ability.
  double centre(double ability, std::size_t k, std::size_t l) const;
  // Loads n_i[., l] and N_i, with the worker's history, into scratch.cells and scratch.totals.
  void load_counts(WorkerId w, ClassId label, Scratch& scratch) const;
  // Tab_i
  void write_table(WorkerId w, Scratch& scratch, float* table) const;
  double succession() const { return 1 / (labels_ + all_history_.seen + 2); }
  // Tab_i[., l] where not all counts are stored.
  void write_sparse_row(const TaskLabels& task, WorkerId w, ClassId label, std::span<float> row) const;
  // Tab_i[., l] of a worker of one label, stored or not; without what one task of that truth told.
  void write_one_label_row(WorkerId w, std::span<float> row, ClassId without = kNoClass) const;
  bool has_one_label(WorkerId w) const { return one_label_ != nullptr && one_label_->has(w); }
  bool one_label_prevails() const { return one_label_ != nullptr && one_label_->prevail(); }
  void change_strength(double strength);
  void build(WorkerId w, Scratch& scratch);

  ThreePassOptions options_;
  std::uint32_t classes_ = 0;
  std::size_t width_ = 0;

  const OneLabelWorkers* one_label_ = nullptr;
  CreditedCounts counts_;              // n_i; beside them Tab_i, if all cells are stored
  PooledCounts pooled_;                // P, m
  std::vector<WorkerCounts> history_;  // labels given before
  WorkerCounts all_history_;           // their sum
  double known_workers_ = 0;           // with a label or a history
  double labels_ = 0;                  // that were credited
  double tasks_ = 0;

  CrowdEffects crowd_;  // (G)
  std::optional<double> class_power_;
  std::vector<float> log_prior_;  // gamma ltau

  std::vector<WorkerFreshness> freshness_;
};

}  // namespace crowdfold
