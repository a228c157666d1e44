// Confusion matrices of all workers: how likely, or how often, worker i says l where the truth is k. The
// truth may be finer than the labels: see the states of Posteriors.
//
// A worker's numbers lie by label, then by truth: all numbers that one label needs lie in a row.
#pragma once

#include <numeric>
#include <span>

#include "base/parallel.h"
#include "base/vector_math.h"
#include "crowdfold/result.h"
#include "methods/confusion/confusion_rows.h"
#include "methods/em.h"
#include "methods/spread_history.h"

namespace crowdfold {

class Confusion {
 public:
  Confusion(std::uint32_t workers, std::uint32_t labels, States states)
      : labels_(labels),
        states_(std::move(states)),
        values_(static_cast<std::size_t>(workers) * labels * states_.width()) {}

  std::uint32_t labels() const { return labels_; }
  const States& states() const { return states_; }
  // Changes to fewer states. The old numbers are lost.
  void narrow(const States& states) { states_ = states; }

  // By truth, for one worker and label.
  std::span<const double> row(WorkerId w, ClassId label) const {
    return {values_.data() + size() * w + label * states_.width(), states_.size()};
  }
  std::span<double> row(WorkerId w, ClassId label) {
    return {values_.data() + size() * w + label * states_.width(), states_.size()};
  }
  // All numbers of workers first … last - 1.
  std::span<double> of(std::size_t first, std::size_t last) {
    return {values_.data() + size() * first, size() * (last - first)};
  }
  std::span<double> of(WorkerId w) { return of(w, w + 1ULL); }
  std::span<const double> of(WorkerId w) const { return {values_.data() + size() * w, size()}; }
  // Of one worker.
  std::size_t size() const { return labels_ * states_.width(); }

  static std::uint64_t bytes(const Labels& labels, std::uint32_t subtypes = 1) {
    const std::uint64_t classes = labels.num_classes();
    return 8 * labels.num_workers() * classes * row_width(classes * subtypes);
  }

 private:
  std::uint32_t labels_;
  States states_;
  FlatArray<double> values_;
};

// How often every worker is expected to have said each label, by truth. Learns from Posteriors: every
// range of tasks has counts of its own, so that no thread waits for another.
class ExpectedCounts {
 public:
  ExpectedCounts(const Labels& labels, const States& states)
      : labels_(labels), ranges_(how_many(labels)) {
    for (std::size_t r = 0; r < ranges_; ++r)
      of_range_.emplace_back(labels.num_workers(), labels.num_classes(), states);
  }

  std::size_t ranges() const { return ranges_; }
  void begin(std::size_t range) {
    const std::span<double> counts = of_range_[range].of(0, labels_.num_workers());
    std::fill(counts.begin(), counts.end(), 0.0);
  }
  void add(std::size_t range, TaskId first, TaskId last, std::span<const double> rows) {
    add_to_labels(block_of(labels_, first, last), labels_.num_classes(), first, last, rows,
                  of_range_[range].of(0, 0).data());
  }

  std::uint32_t workers() const { return labels_.num_workers(); }
  const States& states() const { return of_range_[0].states(); }
  // Adds the expected labels of one worker to `counts`.
  void add_to(WorkerId w, std::span<double> counts) const {
    for (const Confusion& of_range : of_range_) {
      const std::span<const double> add = of_range.of(w);
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += add[i];
    }
  }
  // Changes to fewer states. The old numbers are lost.
  void narrow(const States& states) {
    for (Confusion& of_range : of_range_) of_range.narrow(states);
  }

  static std::uint64_t bytes(const Labels& labels, std::uint32_t subtypes = 1) {
    return how_many(labels) * Confusion::bytes(labels, subtypes);
  }

 private:
  static std::size_t how_many(const Labels& labels) {
    return ranges_to_learn(labels,
                           static_cast<std::uint64_t>(labels.num_workers()) * labels.num_classes());
  }

  const Labels& labels_;
  std::size_t ranges_;
  std::vector<Confusion> of_range_;
};

// Turns the counts of one worker, by label and truth, into probabilities of labels given a truth;
// fallback(truth, label) where there are no counts.
template <class Fallback>
void normalize_over_labels(std::span<double> counts, const States& states, const Fallback& fallback) {
  const std::size_t width = states.width();
  const std::size_t labels = counts.size() / width;
  for (std::size_t s = 0; s < width; ++s) {
    double total = 0;
    for (std::size_t l = 0; l < labels; ++l) total += counts[l * width + s];
    for (std::size_t l = 0; l < labels; ++l) {
      double& value = counts[l * width + s];
      if (s >= states.size())
        value = 1;  // means nothing
      else
        value = std::max(total > kNothing ? value / total : fallback(s, l), kLeastProbability);
    }
  }
}

// Calls body(first, last) for ranges of workers, in parallel.
inline constexpr std::size_t kWorkersPerBlock = 16;
template <class Body>
void for_worker_blocks(std::uint32_t workers, int threads, const Body& body) {
  parallel_ranges(threads, workers, kWorkersPerBlock,
                  [&](std::size_t first, std::size_t last, int) { body(first, last); });
}

// The sum of body(first, last) over the ranges, in their order.
template <class Body>
double sum_over_workers(std::uint32_t workers, int threads, const Body& body) {
  std::vector<double> sums((workers + kWorkersPerBlock - 1) / kWorkersPerBlock);
  for_worker_blocks(workers, threads, [&](std::size_t first, std::size_t last) {
    sums[first / kWorkersPerBlock] = body(first, last);
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

// Labels that a worker is taken to have given before: on the diagonal of a confusion matrix, and beside
// it. A worker's history is spread over both.
struct PriorCounts {
  double right = 0;
  double wrong = 0;
  std::uint32_t classes = 1;
  std::span<const WorkerCounts> histories;

  struct Pair {
    double right;
    double wrong;
    bool operator==(const Pair&) const = default;
  };
  Pair of(WorkerId w) const {
    const WorkerCounts history = w < histories.size() ? histories[w] : WorkerCounts{};
    const SpreadHistory before = spread_history(history, classes);
    return {right + before.right, wrong + before.wrong};
  }
  // As counts by label and state.
  void put(WorkerId w, const States& states, std::span<double> counts) const {
    const Pair prior = of(w);
    std::fill(counts.begin(), counts.end(), prior.wrong);
    for (std::size_t s = 0; s < states.size(); ++s)
      counts[states.class_of(s) * states.width() + s] = prior.right;
  }
};

// The M-step of maximum likelihood, or with a prior of maximum a posteriori: shares of the expected and
// the prior's counts, as logarithms; fallback(truth, label) where there are none. Returns the logarithm
// of the prior's density, up to a constant.
template <class Counts, class Fallback>
double learn_shares(const Counts& said, const PriorCounts& prior, const Fallback& fallback,
                    Confusion& log_confusion, int threads) {
  const States& states = said.states();
  return sum_over_workers(said.workers(), threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const std::span<double> counts = log_confusion.of(w);
      prior.put(w, states, counts);
      said.add_to(w, counts);
      normalize_over_labels(counts, states, fallback);
    }
    vector_log(log_confusion.of(first, last));
    double log_density = 0;
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const auto [right, wrong] = prior.of(w);
      if (right == 0 && wrong == 0) continue;
      const std::span<const double> logs = std::as_const(log_confusion).of(w);
      for (const double log : logs) log_density += wrong * log;
      for (std::size_t s = 0; s < states.size(); ++s)
        log_density += (right - wrong) * logs[states.class_of(s) * states.width() + s];
    }
    return log_density;
  });
}

// A score for Posteriors::judge: the prior and the labels, all as logarithms.
class ConfusionScore {
 public:
  ConfusionScore(const Labels& labels, std::vector<double> log_prior, const Confusion& log_confusion)
      : labels_(labels), log_prior_(std::move(log_prior)), log_confusion_(log_confusion) {
    log_prior_.resize(log_confusion.states().width(), kImpossible);
  }
  void operator()(TaskId first, TaskId last, std::span<double> rows) const {
    add_up_labels(block_of(labels_, first, last), labels_.num_classes(), first, last, log_prior_,
                  log_confusion_.of(0).data(), rows);
  }

 private:
  const Labels& labels_;
  std::vector<double> log_prior_;
  const Confusion& log_confusion_;
};

// Writes a Result's workers: their expected accuracy under the prior of states, as counts of `labels` by
// worker on top of their histories, and their confusion matrices if asked for. `confusion` holds
// probabilities, `prior` may have any sum.
void report_confusion(std::span<const double> labels, std::span<const WorkerCounts> histories,
                      const Confusion& confusion, std::span<const double> prior,
                      const RunContext& context, Result& result);
// The same from logarithms, which it overwrites.
void report_learned(std::span<const double> labels, std::span<const WorkerCounts> histories,
                    Confusion log_confusion, std::vector<double> log_prior, const RunContext& context,
                    Result& result);

}  // namespace crowdfold
