// The counts of `live`, and how tasks are judged by them. live.cc has the equations.
//
// Everything is a sum over the tasks that entered, so a task can leave again. The live stream, which
// keeps tasks and workers in a store, is built on this too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "crowdfold/live.h"
#include "crowdfold/result.h"
#include "methods/live/sparse_confusion.h"
#include "methods/threepass/softening.h"

namespace crowdfold {

// A worker's label on a task.
struct LiveLabel {
  WorkerId worker = 0;
  ClassId label = 0;
  // With a half-life: how many labels of the worker had begun to count when this one did, itself
  // included. 0: it does not count yet.
  std::uint64_t tick = 0;
};

// The probability of a class, in 1024ths. Shares are whole numbers so that sums of them are exact in any
// order: a task that leaves the counts leaves no trace.
inline constexpr double kWhole = 1024;
struct Credit {
  ClassId truth = 0;
  std::uint16_t share = 0;
};

// A task, as far as the model is concerned.
struct LiveTask {
  std::vector<LiveLabel> labels;
  std::uint32_t num_labels = 0;  // also counts labels that were not kept
  ClassId truth = kNoClass;      // if it is known
  // What judge() found.
  Estimate estimate;
  std::vector<Credit> credits;  // what labels count for in confusions
  std::uint16_t hard = 0;       // the probability that labels are by chance, in 1024ths
};

// C_i, N_i and n_i of a worker.
struct WorkerRecord {
  WorkerCounts counts;
  SparseConfusion confusion;
};
struct LiveWorker : WorkerRecord {
  WorkerCounts history;     // the part of the counts that came from elsewhere
  std::uint64_t ticks = 0;  // with a half-life: labels that began to count
};

// H and T: tasks whose labels are by chance, by their probabilities; all tasks.
struct HardTasks {
  double hard = 0;
  double all = 0;
};

// A product of many factors that neither overflows nor vanishes: value * 2^(400 scale).
struct Likelihood {
  double value = 1;
  int scale = 0;

  void multiply(double factor);
  void add_exp(double nats);
  // In units of 2^(400 unit).
  double in(int unit) const;
};

// How probable the classes of one task are: what LiveModel::weigh() writes. To be used again for the
// next task, which saves allocations.
class Weighing {
 public:
  // The most probable class that was named; the lowest of several. Softened, as all that is given out.
  Estimate answer() const;
  // The probabilities of all classes, softened.
  void write_posterior(std::span<double> posterior) const;
  // The shares of known classes.
  void write_credits(std::vector<Credit>& credits) const;
  // The probability that the labels are by chance.
  double hard_share() const { return hard_share_; }

 private:
  friend class LiveModel;

  // (6)
  struct Softener {
    double temperature = 1;
    double sum = 1;
    double classes = 1;
    double other = 0;  // the power of a class that is no candidate
    double operator()(double probability) const;
    double share(double power) const;
  };
  Softener softener() const;

  // What P tells of a truth.
  struct ClassEffect {
    double odds = 1;   // r_k
    double wrong = 1;  // labels beside the diagonal
    double even = 0;   // how many of them each cell starts with
  };
  // A class that the task may be of.
  struct Candidate {
    ClassId label = 0;
    std::uint32_t votes = 0;
    ClassEffect effect = {};
    Likelihood likelihood = {};  // of the labels, in units of that of labels by chance
    double probability = 0;
  };

  double num_classes_ = 1;
  std::vector<Candidate> candidates_;  // by class
  Candidate other_;                    // any class that is not a candidate
  double hard_share_ = 0;
};

class LiveModel {
 public:
  static constexpr double kDoubt = Softening{}.doubt;  // in confidences and posteriors

  // There are at least `least_classes` classes, also while fewer are known: of one class alone, every
  // task would be certain.
  explicit LiveModel(const LiveOptions& options, std::uint32_t least_classes = 0);

  // The numbers of workers and known classes; they never shrink. Labels must have ids below them.
  void expect(std::size_t workers, std::uint32_t classes);
  std::size_t num_workers() const { return workers_.size(); }
  std::uint32_t num_classes() const { return std::max(classes_, least_classes_); }

  // Weighs the classes of a task that is not in the counts. Several threads may do so at once, each with
  // a Weighing of its own.
  void weigh(const LiveTask& task, Weighing& weighing) const;
  // Sets the estimate of a task, and what the task is to count for.
  void judge(LiveTask& task, Weighing& weighing) const;

  // A judged task enters the counts, or leaves them. Labels that enter for the first time get their
  // tick.
  void enter(LiveTask& task);
  void leave(const LiveTask& task);
  // One label enters, of a task whose other labels were not kept.
  void enter(const LiveTask& task, LiveLabel& label);
  // Adds counts from elsewhere.
  void remember(WorkerId w, const WorkerRecord& record);
  void remember(const HardTasks& elsewhere);

  const LiveWorker& worker(WorkerId w) const { return workers_[w]; }
  const HardTasks& hard_tasks() const { return hard_; }
  // P, by truth: rows beyond num_rows() are empty.
  std::size_t num_rows() const { return crowd_.size(); }
  const SparseConfusion& row(ClassId truth) const { return crowd_[truth].cells; }
  // For a store, which fills in sums as it has them, and writes those that were touched.
  LiveWorker& worker(WorkerId w) { return workers_[w]; }
  SparseConfusion& row(ClassId truth) { return crowd_[truth].cells; }
  void add_to_crowd(ClassId truth, ClassId label, double count);

  // (3), how probable it is that a worker gives this label on a task of that class.
  double chance_of_label(const LiveWorker& worker, ClassId truth, ClassId label) const;
  double hard_share() const;  // h
  // The quality of all workers together.
  double usual_quality() const;

 private:
  struct CrowdRow {
    SparseConfusion cells;
    double sum = 0;
  };

  double quality_of(const WorkerCounts& counts) const {
    return (counts.correct + options_.alpha) / (counts.seen + options_.alpha + options_.beta);
  }
  // Also of a class that is not known yet.
  const CrowdRow& crowd_row(ClassId truth) const {
    static const CrowdRow kEmpty;
    return truth < crowd_.size() ? crowd_[truth] : kEmpty;
  }
  Weighing::ClassEffect effect_of(ClassId truth) const;
  double centre_of(double expected, ClassId truth, ClassId label,
                   const Weighing::ClassEffect& effect) const;
  double own_chance(const LiveWorker& worker, ClassId truth, ClassId label, double centre) const;
  void add_candidate(ClassId label, std::uint32_t votes, Weighing& weighing) const;
  void multiply(const LiveLabel& label, Weighing& weighing) const;
  void normalise(ClassId truth, Weighing& weighing) const;

  // How a label that began to count at `tick` of `ticks` counts now.
  double worth_of(std::uint64_t ticks, std::uint64_t tick) const;
  // The worker's counts fade as one more label begins to count.
  void fade(LiveWorker& worker) const;
  void add(const LiveTask& task, const LiveLabel& label, double times);
  void count_hard(const LiveTask& task, double times);

  LiveOptions options_;
  double fading_;  // of a count, at each tick
  std::uint32_t least_classes_;

  std::uint32_t classes_ = 0;
  std::vector<LiveWorker> workers_;
  std::vector<CrowdRow> crowd_;  // P, by truth
  double crowd_right_ = 0;       // the sum of its diagonal
  double crowd_all_ = 0;         // the sum of all cells
  HardTasks hard_;
};

}  // namespace crowdfold
