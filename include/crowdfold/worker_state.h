// The state of workers: counts, and the Beta posterior they stand for.
// Counts are all the state that onepass and twopass have; they add. Other methods add sections of their
// own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
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

// What one method keeps besides counts, as rows of numbers. Only that method knows what the numbers
// mean. Keys say which workers and classes a row is about: so states are renumbered, added up and saved
// without asking the method.
struct StateSection {
  enum class Axis : std::uint8_t { worker, label_class };

  std::string name;
  std::vector<Axis> axes = {};           // of a key; none: there is one row
  std::size_t width = 1;                 // numbers of a row
  bool adds = true;                      // rows of two states add; if not, the states cannot be merged
  std::vector<std::uint32_t> keys = {};  // of all rows, axes.size() each; rows are in the order of keys
  std::vector<double> values = {};       // of all rows, `width` each

  std::size_t rows() const { return values.size() / std::max<std::size_t>(1, width); }
  std::span<const std::uint32_t> key(std::size_t row) const {
    return std::span(keys).subspan(row * axes.size(), axes.size());
  }
  std::span<const double> row(std::size_t row) const {
    return std::span(values).subspan(row * width, width);
  }
  // To be added in the order of keys.
  void add(std::initializer_list<std::uint32_t> key, std::initializer_list<double> numbers) {
    keys.insert(keys.end(), key);
    values.insert(values.end(), numbers);
  }
  bool operator==(const StateSection&) const = default;

  // Gives workers and classes other ids: by the id that they have now, the new one.
  void renumber(std::span<const std::uint32_t> workers, std::span<const std::uint32_t> classes);
  // Adds rows of the same key. Error(usage) if the other section has other axes or another width.
  void merge(const StateSection& other);
};

// What an online method has learned, and all it needs to go on.
struct WorkerState {
  double alpha = 2;  // the prior, the same for every worker
  double beta = 2;
  std::uint32_t classes = 0;
  std::vector<WorkerCounts> counts;    // by WorkerId; workers beyond the end are unseen
  std::vector<StateSection> sections;  // the method's own, each name once

  WorkerCounts counts_of(WorkerId w) const { return w < counts.size() ? counts[w] : WorkerCounts{}; }
  BetaQuality quality(WorkerId w) const {
    const WorkerCounts c = counts_of(w);
    return {c.correct + alpha, c.seen - c.correct + beta};
  }
  // nullptr if there is none of that name.
  const StateSection* find(std::string_view section) const;

  // Makes room for workers and classes up to these numbers.
  void expect(std::uint32_t num_workers, std::uint32_t num_classes) {
    if (num_workers > counts.size()) counts.resize(num_workers);
    classes = std::max(classes, num_classes);
  }
  // Counts one task whose answer is `label`: every worker on it was seen, some were right. The workers
  // must be among the expected ones.
  void add(const TaskLabels& labels, ClassId label) {
    for (std::size_t j = 0; j < labels.size(); ++j) {
      WorkerCounts& of_worker = counts[labels.workers[j]];
      of_worker.correct += labels.classes[j] == label ? 1 : 0;
      of_worker.seen += 1;
    }
  }
  // Error(usage) unless the state was made with this prior.
  void require_prior(double prior_alpha, double prior_beta) const;
  // Gives workers and classes other ids: by the id that they have now, the new one.
  void renumber(std::span<const std::uint32_t> worker_ids, std::span<const std::uint32_t> class_ids);
  // Counts add, and sections of the same name. Error(usage) if the priors differ or a section does not
  // add.
  void merge(const WorkerState& other);
};

}  // namespace crowdfold
