// The model of threepass (see threepass.cc): what is known of a crowd, and what follows from it.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/vector_math.h"
#include "crowdfold/result.h"
#include "methods/credited_counts.h"
#include "methods/threepass_rows.h"
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
  double guard = .008;
  Order order = Order::given;
};

// How likely held-out labels were, as sums of logarithms.
inline constexpr std::array kTemperatures = {.05, .1, .2, .35, .5, .7, 1., 1.4, 2.};
struct HeldOut {
  std::array<double, kTemperatures.size()> by_temperature{};
  double little_shares = 0;  // at temperature 1, had class shares counted little
  double full_shares = 0;    // and had they counted in full
  double labels = 0;

  double gain_of_full_shares() const;  // per label
  double best_temperature() const;

  // For a state. Numbers that are not there are 0.
  std::vector<double> save() const;
  static HeldOut load(std::span<const double> saved);
};

class CrowdModel {
 public:
  CrowdModel(const ThreePassOptions& options, std::uint32_t workers, std::uint32_t classes);

  // May grow, never shrink.
  void expect(std::uint32_t workers, std::uint32_t classes);
  std::uint32_t workers() const { return static_cast<std::uint32_t>(of_worker_.size()); }
  std::uint32_t classes() const { return classes_; }
  // Of rows of numbers by class.
  std::size_t width() const { return width_; }
  bool dense() const { return counts_.dense(); }
  double tasks() const { return tasks_; }
  const CrowdEffects& crowd() const { return crowd_; }

  // Room for what is computed of one worker or label at a time; one for each thread.
  struct Scratch {
    explicit Scratch(const CrowdModel& model);
    std::vector<double> totals;  // N_i
    std::vector<double> counts;  // n_i[., l]
    std::vector<double> pooled;  // P[., l]
    std::vector<double> row;
    std::vector<double> powers;  // rows by temperature
  };

  // Counts.
  void remember(WorkerId w, const WorkerCounts& history);
  // Adds to what a task is credited with, by class.
  void credit(const TaskLabels& task, std::span<const double> change);
  // A task that is new, when it was credited.
  void count(const TaskLabels& task);
  // The say of a majority vote in credits, as long as workers are new.
  double newness() const;
  // The chance of what was never seen, by the rule of succession: no answer is more certain.
  double doubt() const;

  // (G)
  void pool();
  // gamma: 1, or 1 / (K - 1), as at first.
  bool class_shares_in_full() const { return class_shares_in_full_; }
  void count_class_shares(bool in_full) {
    class_shares_in_full_ = in_full;
    pool();
  }
  // (EB). All tables are out of date afterwards.
  void fit_strength();
  // (W) for the workers of a task whose tables are out of date; for all workers.
  void build_for(const TaskLabels& task, Scratch& scratch);
  void build_all(int threads);

  // Soon to be scored, and credited: into the cache with what that takes.
  void prefetch(const TaskLabels& task) const;
  // (S): a_t, with tables as they were built last.
  void score(const TaskLabels& task, std::span<double> a, Scratch& scratch) const;
  // Of several tasks, in rows.
  void score(const Labels& labels, std::span<const TaskId> tasks, std::span<double> rows,
             Scratch& scratch) const;
  // The same where some tables may be out of date.
  void score_anew(const TaskLabels& task, std::span<double> a, Scratch& scratch) const;
  // Tab_i[., l] for label j of a task, from the table if it is up to date.
  std::span<const double> label_row(const TaskLabels& task, std::size_t j, Scratch& scratch) const;
  // What a task with these scores is credited with.
  void put_credit(const TaskLabels& task, std::span<const double> a, double newness,
                  std::span<double> credit) const;
  // score(), put_credit() and, if there is room for an answer, put_answers() of a task whose tables are
  // up to date.
  void judge(const TaskLabels& task, double beta, std::span<double> a, std::span<double> credit,
             std::span<double> answer, Scratch& scratch) const;
  // Of several tasks whose workers are not new. Scores are used up.
  void put_credits(std::span<double> a, std::span<double> credits) const;
  // Probabilities of classes to be given out, of one or several tasks.
  void put_answers(std::span<const double> a, double beta, std::span<double> answers) const;
  // (H): how likely label j is by the other ones, of a task with scores a of which `credit` (or nothing)
  // is in the counts.
  void hold_out(const TaskLabels& task, std::size_t j, std::span<const double> a,
                std::span<const double> credit, HeldOut& held_out, Scratch& scratch) const;

  // Right ones of a worker's labels, as far as credited, and all of them.
  WorkerCounts counts(WorkerId w) const;
  // Posterior means of V_w, by truth and label.
  void put_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const;

  WorkerState state() const;
  // Into a model that knows nothing.
  void restore(const WorkerState& state);

 private:
  struct OfWorker {
    std::uint32_t labels = 0;  // n_i, when the table is out of date
    std::uint32_t fresh = 0;   // for so many labels more, it is not
  };
  double labels_of(WorkerId w) const { return of_worker_[w].labels - of_worker_[w].fresh; }
  // Counts that a history stands for, in every cell on the diagonal and beside it.
  struct Pair {
    double right = 0;
    double wrong = 0;
  };
  Pair spread(const WorkerCounts& history) const;
  WorkerCounts history(WorkerId w) const { return w < history_.size() ? history_[w] : WorkerCounts{}; }

  // What (W) starts from: ability, N_i; for one label or all of them.
  WorkerRows look_at(WorkerId w, Scratch& scratch) const;
  WorkerRows look_at(WorkerId w, ClassId label, Scratch& scratch) const;
  // b[k, l] of a worker with this ability, from P[k, l].
  double centre(double ability, std::size_t k, std::size_t l, double pooled) const {
    const double wrong = 1 / (1 + ability * crowd_.ease[k]);
    if (k == l) return 1 - wrong;
    return wrong * crowd_.error_scale[k] * (pooled + crowd_.symmetric_errors);
  }
  double ability_of(WorkerId w) const;
  // Tab_i[., l] where not all counts are stored.
  void put_sparse_row(const TaskLabels& task, WorkerId w, ClassId label, std::span<double> row) const;
  double little_power() const { return 1 / std::max(1.0, classes_ - 1.0); }
  double class_power() const { return class_shares_in_full_ ? 1 : little_power(); }
  // Where not all counts are stored, small credits are left out.
  void trim(std::span<double> credits) const;
  double pooled_right(std::size_t k) const {
    return pooled_.cell(0, static_cast<ClassId>(k), static_cast<ClassId>(k));
  }
  void symmetrise();
  void build(WorkerId w, Scratch& scratch);

  ThreePassOptions options_;
  std::uint32_t classes_ = 0;
  std::size_t width_ = 0;

  CreditedCounts counts_;              // n_i; beside them Tab_i, if all cells are stored
  CreditedCounts pooled_;              // P, as of one worker
  std::vector<double> pooled_totals_;  // its sums over labels
  std::vector<double> class_mass_;     // m
  std::vector<WorkerCounts> history_;  // labels given before
  WorkerCounts all_history_;           // their sum
  double known_workers_ = 0;           // with a label or a history
  double labels_ = 0;                  // that were credited
  double tasks_ = 0;
  std::vector<WorkerId> one_worker_;  // for pooled_: worker 0, as often as a task has labels

  CrowdEffects crowd_;  // (G)
  bool class_shares_in_full_ = false;
  std::vector<double> log_prior_;  // gamma ltau

  std::vector<OfWorker> of_worker_;
};

}  // namespace crowdfold
