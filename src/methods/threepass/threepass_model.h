// The model of threepass (see threepass.cc, where its equations are): what is known of a crowd, and what
// follows from it. Rows of scores and credits have width() numbers in single precision, one for every
// class and what fills a vector.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "crowdfold/result.h"
#include "methods/spread_history.h"
#include "methods/threepass/credited_counts.h"
#include "methods/threepass/held_out.h"
#include "methods/vote.h"

namespace crowdfold {

struct ThreePassOptions {
  int passes = 3;
  int blocks = 8;
  double symmetry = 16;
  double crowd = 20;
  double own = 5;
  double weakest = 2;
  double strongest = 64;
  double warm = 2;
  double refresh = .5;
  double guard = .01;
  Order order = Order::given;
};

class ThreePassModel {
 public:
  ThreePassModel(const ThreePassOptions& options, std::uint32_t workers, std::uint32_t classes);

  // May grow, never shrink.
  void expect(std::uint32_t workers, std::uint32_t classes);
  std::uint32_t workers() const { return static_cast<std::uint32_t>(of_worker_.size()); }
  std::uint32_t classes() const { return classes_; }
  std::size_t width() const { return width_; }
  // Whether there are tables, of all workers.
  bool dense() const { return counts_.dense(); }
  double tasks() const { return tasks_; }

  // Room for what is computed of one worker or label at a time; one for each thread.
  struct Scratch {
    explicit Scratch(const ThreePassModel& model);
    std::vector<double> totals;      // N_i
    std::vector<double> cells;       // n_i[., l]
    std::vector<float> row;          // Tab_i[., l], h
    std::vector<float> other;        // Vm; a part of a_t
    std::vector<float> credit;       // C_t
    std::vector<float> change;       // of a credit
    std::vector<float> table;        // Tab_i
    std::vector<float> worker_rows;  // n_i
  };

  // Counts.
  void remember(WorkerId w, const WorkerCounts& history);
  // Adds to what a task is credited with.
  void credit(const TaskLabels& task, std::span<const float> change);
  // The labels of a task that is new, for their workers, when it was credited.
  void count_labels(const TaskLabels& task);
  // And the task itself, when its answer was given.
  void count_task(const TaskLabels& task);
  // The say of a majority vote in credits, as long as workers are new.
  double newness() const;
  double doubt() const { return 1 / (labels_ + all_history_.seen + 2); }

  // (G)
  void pool();
  // gamma: how much class shares count. In full, or little, as at first.
  static constexpr double kFullPower = 1;
  double little_power() const { return 1 / std::max(1.0, classes_ - 1.0); }
  double class_power() const { return class_power_ ? *class_power_ : little_power(); }
  void set_class_power(double gamma) {
    class_power_ = gamma;
    pool();
  }
  // (EB). All tables are out of date afterwards.
  void fit_strength();
  // (W) for the workers of a task whose tables are out of date; for all workers.
  void build_for(const TaskLabels& task, Scratch& scratch);
  void build_all(int threads);
  // build_for() and count_labels(), of a task that is credited next.
  void meet(const TaskLabels& task, Scratch& scratch);

  // Soon to be scored, and credited: into the cache with what that takes.
  void prefetch(const TaskLabels& task) const;
  // (S): a_t, with tables as they were built last.
  void score(const TaskLabels& task, std::span<float> a, Scratch& scratch) const;
  // The same where some tables may be out of date.
  void score_anew(const TaskLabels& task, std::span<float> a, Scratch& scratch) const;
  // Tab_i[., l] for label j of a task, from the table if it is up to date.
  std::span<const float> label_row(const TaskLabels& task, std::size_t j, Scratch& scratch) const;
  // What a task with these scores is credited with.
  void put_credit(const TaskLabels& task, std::span<const float> a, double newness,
                  std::span<float> credit) const;
  // score() and put_credit().
  void judge(const TaskLabels& task, double newness, std::span<float> a, std::span<float> credit,
             Scratch& scratch) const;
  // judge() and credit(): the new credit takes the place of the old one. And the shares, if there is
  // room for them.
  void judge_and_credit(const TaskLabels& task, double newness, std::span<float> a,
                        std::span<float> credit, Scratch& scratch, double beta = 1,
                        Shares* shares = nullptr);
  // Of softmax(beta a).
  Shares shares(std::span<const float> a, double beta) const {
    return put_shares(a.data(), beta, classes_, width_, nullptr);
  }
  // The answer to be given out, with the probabilities of all classes if there is room for them. None is
  // more certain than the rule of succession allows: (1 - doubt) softmax(beta a) + doubt / K, where the
  // doubt is the chance of what was never seen.
  Estimate answer(std::span<const float> a, double beta, std::span<double> posterior) const;
  Estimate answer(const Shares& shares) const;
  // (H): how likely label j is by the other ones, of a task with scores a of which `credit` (or nothing)
  // is in the counts.
  void hold_out(const TaskLabels& task, std::size_t j, std::span<const float> a,
                std::span<const float> credit, HeldOut& held_out, Scratch& scratch) const;

  // Right ones of a worker's labels, as far as credited, and all of them.
  WorkerCounts counts(WorkerId w) const;
  // Posterior means of V_w, by truth and label.
  void put_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const;

  WorkerState state() const;
  // A state that says which of the counts are histories: all, if they come from another method or a
  // file.
  static WorkerState with_history(WorkerState state);
  // Such a state, into a model that knows nothing.
  void restore(const WorkerState& state);

 private:
  struct OfWorker {
    std::uint32_t labels = 0;  // n_i, when the table is out of date
    std::uint32_t fresh = 0;   // for so many labels more, it is not
  };
  double labels_of(WorkerId w) const { return of_worker_[w].labels - of_worker_[w].fresh; }
  bool is_new(WorkerId w) const { return labels_of(w) == 0 && history(w).seen == 0; }
  WorkerCounts history(WorkerId w) const { return w < history_.size() ? history_[w] : WorkerCounts{}; }

  // v / (1 - v)
  double ability_of(WorkerId w) const;
  // b[k, l] of a worker with this ability.
  double centre(double ability, std::size_t k, std::size_t l) const;
  // n_i[., l] and N_i, with what the worker brought along.
  void look_at(WorkerId w, ClassId label, Scratch& scratch) const;
  // Tab_i
  void put_table(WorkerId w, Scratch& scratch, float* rows) const;
  // Tab_i[., l] where not all counts are stored.
  void put_sparse_row(const TaskLabels& task, WorkerId w, ClassId label, std::span<float> row) const;
  void change_strength(double strength);
  void build(WorkerId w, Scratch& scratch);

  ThreePassOptions options_;
  std::uint32_t classes_ = 0;
  std::size_t width_ = 0;

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

  std::vector<OfWorker> of_worker_;
};

}  // namespace crowdfold
