// What is known about workers: counts, and the Beta posterior they stand for.
// Counts are all the state that onepass and twopass have; they add.
#pragma once

#include <algorithm>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

// How often a worker was seen and how often right. Doubles: exact up to 2^53 labels, and
// ready for histories that fade.
struct WorkerCounts {
  double correct = 0;
  double seen = 0;

  WorkerCounts& operator+=(const WorkerCounts& other) {
    correct += other.correct;
    seen += other.seen;
    return *this;
  }
  bool operator==(const WorkerCounts&) const = default;
};

struct Interval {
  double lower = 0;
  double upper = 1;
};

// A worker's quality: the probability that a label of theirs is right, as a Beta(alpha, beta).
struct BetaQuality {
  double alpha = 1;
  double beta = 1;

  double mean() const { return alpha / (alpha + beta); }
  // The weight that onepass votes with. Beta(1, 1) has no mode: 1/2.
  double mode() const;
  // Holds the quality with the given probability, equal tails.
  Interval credible_interval(double probability = 0.95) const;
};

// The paper's bound (its Corollary 1): after t tasks the estimate is within epsilon / sqrt(t)
// of the true quality with probability at least Phi(epsilon) - Phi(-epsilon); epsilon = 2: 95 %.
Interval error_bound(double estimate, double seen, double epsilon = 2);

// What a method with confusion matrices has learned besides. All of it adds.
struct ConfusionState {
  // Labels `label` of a worker on tasks of class `truth`; tasks may be credited in parts.
  struct Cell {
    WorkerId worker = 0;
    ClassId label = 0;
    ClassId truth = 0;
    double count = 0;
    bool operator==(const Cell&) const = default;
  };
  std::vector<Cell> cells;            // in the order of worker, label, truth; none is 0
  std::vector<WorkerCounts> history;  // what of the workers' counts is not in cells; or empty
  std::vector<double> class_counts;   // tasks by class
  std::vector<double> held_out;       // log-likelihoods from which a temperature is chosen

  bool empty() const { return class_counts.empty(); }
  void merge(const ConfusionState& other);
};

// What a method with a network has learned besides. Nothing of it adds: the weights of two networks that
// were trained apart say nothing about each other.
struct NetworkState {
  std::vector<std::uint32_t> layers;  // their widths, from the inputs on
  std::vector<float> weights;         // in an order that only the method knows
  std::vector<float> mean_squares;    // of their gradients, in the same order
  std::vector<std::uint8_t> started;  // by worker: whether it was met

  bool empty() const { return layers.empty(); }
  bool operator==(const NetworkState&) const = default;
};

// What an online method has learned, and all it needs to go on.
struct WorkerState {
  double alpha = 2;  // the prior, the same for every worker
  double beta = 2;
  std::uint32_t classes = 0;
  std::vector<WorkerCounts> workers;  // by WorkerId; workers beyond the end are unseen
  ConfusionState confusion;           // empty for methods without confusion matrices
  NetworkState network;               // empty for methods without a network

  WorkerCounts counts(WorkerId w) const { return w < workers.size() ? workers[w] : WorkerCounts{}; }
  BetaQuality quality(WorkerId w) const {
    const WorkerCounts c = counts(w);
    return {c.correct + alpha, c.seen - c.correct + beta};
  }
  // Makes room for workers and classes up to these numbers.
  void expect(std::uint32_t num_workers, std::uint32_t num_classes) {
    if (num_workers > workers.size()) workers.resize(num_workers);
    classes = std::max(classes, num_classes);
  }
  // Counts one task whose answer is `label`: every worker on it was seen, some were right. The workers
  // must be among the expected ones.
  void add(const TaskLabels& labels, ClassId label) {
    for (std::size_t j = 0; j < labels.size(); ++j) {
      WorkerCounts& counts = workers[labels.workers[j]];
      counts.correct += labels.classes[j] == label ? 1 : 0;
      counts.seen += 1;
    }
  }
  // Error(usage) unless the state was made with this prior.
  void require_prior(double prior_alpha, double prior_beta) const;
  // Counts add. Both sides must have the same prior, and none a network: Error(usage) otherwise.
  void merge(const WorkerState& other);
};

}  // namespace crowdfold
