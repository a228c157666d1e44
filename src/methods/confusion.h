// Confusion matrices of all workers: how likely, or how often, worker i says l where the truth is k. The
// truth may be finer than the labels: see the states of Posteriors.
//
// A worker's numbers lie by label, then by truth: what a label adds, or is judged by, lies in a row.
#pragma once

#include <numeric>
#include <span>

#include "core/parallel.h"
#include "core/vector_math.h"
#include "core/worker_major.h"
#include "crowdfold/result.h"
#include "methods/em.h"

namespace crowdfold {

class Confusion {
 public:
  Confusion(std::uint32_t workers, std::uint32_t labels, std::uint32_t states)
      : labels_(labels), states_(states), values_(static_cast<std::size_t>(workers) * labels * states) {}

  std::uint32_t labels() const { return labels_; }
  std::uint32_t states() const { return states_; }

  // By truth, for one worker and label.
  std::span<const double> row(WorkerId w, ClassId label) const {
    return {values_.data() + size() * w + static_cast<std::size_t>(label) * states_, states_};
  }
  // All numbers of workers first … last - 1.
  std::span<double> of(std::size_t first, std::size_t last) {
    return {values_.data() + size() * first, size() * (last - first)};
  }
  std::span<double> of(WorkerId w) { return of(w, w + 1ULL); }
  std::span<const double> of(WorkerId w) const { return {values_.data() + size() * w, size()}; }
  // Of one worker.
  std::size_t size() const { return static_cast<std::size_t>(labels_) * states_; }

  static std::uint64_t bytes(const Labels& labels, std::uint32_t subtypes = 1) {
    return 8ULL * labels.num_workers() * labels.num_classes() * labels.num_classes() * subtypes;
  }

 private:
  std::uint32_t labels_;
  std::uint32_t states_;
  FlatArray<double> values_;
};

// Adds how often a worker is expected to have said each label, by truth.
inline void add_expected_counts(const WorkerLabels& labels, const Posteriors& q,
                                std::span<double> counts) {
  const std::size_t states = q.states();
  for (std::size_t j = 0; j < labels.size(); ++j) {
    const double* const from = q[labels.tasks[j]].data();
    double* const to = counts.data() + labels.classes[j] * states;
    for (std::size_t s = 0; s < states; ++s) to[s] += from[s];
  }
}

// Counts by label and truth -> probabilities of labels given a truth; fallback(truth, label) where there
// are no counts.
template <class Fallback>
void normalize_over_labels(std::span<double> counts, std::size_t states, const Fallback& fallback) {
  const std::size_t labels = counts.size() / states;
  for (std::size_t s = 0; s < states; ++s) {
    double total = 0;
    for (std::size_t l = 0; l < labels; ++l) total += counts[l * states + s];
    for (std::size_t l = 0; l < labels; ++l) {
      double& value = counts[l * states + s];
      value = std::max(total > kNothing ? value / total : fallback(s, l), kLeastProbability);
    }
  }
}

// body(first, last) for ranges of workers, in parallel.
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
// it. A worker's history is shared evenly by the classes, and its wrong labels by the wrong classes.
struct PriorCounts {
  double right = 0;
  double wrong = 0;
  std::uint32_t classes = 1;
  const Given& given;

  struct Pair {
    double right;
    double wrong;
  };
  Pair of(WorkerId w) const {
    const WorkerCounts before = w < given.workers.size() ? given.workers[w] : WorkerCounts{};
    const double k = classes;
    return {right + before.correct / k,
            wrong + (before.seen - before.correct) / (k * std::max(1.0, k - 1))};
  }
  // As counts by label and state.
  void put(WorkerId w, std::span<double> counts) const {
    const Pair prior = of(w);
    const std::size_t states = counts.size() / classes;
    const std::size_t subtypes = states / classes;
    for (std::size_t i = 0; i < counts.size(); ++i)
      counts[i] = i % states / subtypes == i / states ? prior.right : prior.wrong;
  }
};

// The M-step of maximum likelihood, or with a prior of maximum a posteriori: shares of the expected and
// the prior's counts, as logarithms; fallback(truth, label) where there are none. Returns the logarithm
// of the prior's density, up to a constant.
template <class Fallback>
double learn_shares(const WorkerMajor& by_worker, const PriorCounts& prior, const Posteriors& q,
                    const Fallback& fallback, Confusion& log_confusion, int threads) {
  return sum_over_workers(by_worker.num_workers(), threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const std::span<double> counts = log_confusion.of(w);
      prior.put(w, counts);
      add_expected_counts(by_worker.worker(w), q, counts);
      normalize_over_labels(counts, q.states(), fallback);
    }
    vector_log(log_confusion.of(first, last));
    double log_density = 0;
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const auto [right, wrong] = prior.of(w);
      if (right == 0 && wrong == 0) continue;
      const std::span<const double> logs = std::as_const(log_confusion).of(w);
      const std::size_t states = q.states();
      for (std::size_t i = 0; i < logs.size(); ++i)
        log_density += (i % states / q.subtypes() == i / states ? right : wrong) * logs[i];
    }
    return log_density;
  });
}

// A score for Posteriors::judge: what is known beforehand, and the labels. All logarithms.
struct ConfusionScore {
  const Labels& labels;
  std::span<const double> log_prior;
  const Confusion& log_confusion;

  void operator()(TaskId t, std::span<double> row) const {
    std::copy(log_prior.begin(), log_prior.end(), row.begin());
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      const double* const add = log_confusion.row(task.workers[j], task.classes[j]).data();
      for (std::size_t s = 0; s < row.size(); ++s) row[s] += add[s];
    }
  }
};

// What a Result says of workers: their expected accuracy under the prior of states, as counts on top of
// the given ones, and their confusion matrices if asked for. `confusion` holds probabilities, `prior`
// may have any sum.
void report_workers(const WorkerMajor& by_worker, const Given& given, const Confusion& confusion,
                    std::span<const double> prior, const RunContext& context, Result& result);
// The same from logarithms, which are used up.
void report_learned(const WorkerMajor& by_worker, const Given& given, Confusion log_confusion,
                    std::vector<double> log_prior, const RunContext& context, Result& result);

}  // namespace crowdfold
