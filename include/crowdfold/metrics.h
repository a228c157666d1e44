// Measures of estimates and workers against truths, and of the agreement of a crowd.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

struct ClassScores {
  std::uint64_t truths = 0;     // tasks whose truth is this class
  std::uint64_t estimates = 0;  // tasks, among those with a truth, estimated to be this class
  double precision = 0;         // 0 if no task is estimated to be this class
  double recall = 0;            // 0 if no truth is this class
  double f1 = 0;
};

// One bin of the reliability diagram: tasks whose confidence lies in [lower, upper).
struct CalibrationBin {
  double lower = 0;
  double upper = 1;
  std::uint64_t tasks = 0;
  double confidence = 0;  // mean
  double accuracy = 0;
};

struct Evaluation {
  std::uint64_t tasks = 0;  // with a known truth
  std::uint64_t correct = 0;
  double accuracy = 0;
  double macro_f1 = 0;  // mean over the classes that occur as a truth or an estimate
  std::vector<ClassScores> classes;
  std::vector<std::uint64_t> confusion;  // K x K: truths in rows, estimates in columns

  bool has_confidence = false;   // the three below are filled
  double log_loss = 0;           // mean of -log p(truth), natural logarithm
  double calibration_error = 0;  // mean over tasks of |confidence - accuracy| of their bin
  std::vector<CalibrationBin> bins;
};

// `estimates` and `truths` are by task, kNoClass where there is none: a task without a truth is left
// out, one without an estimate counts as wrong (and in no confusion column). `confidence` is by
// task, or empty. `posterior` is T x K, or empty; then the remaining 1 - confidence is spread evenly
// over the other classes. The log-loss raises probabilities below 1e-15 to that value.
Evaluation evaluate(std::span<const ClassId> estimates, std::span<const ClassId> truths,
                    std::uint32_t num_classes, std::span<const double> confidence = {},
                    std::span<const double> posterior = {});

struct Agreement {
  std::uint64_t tasks = 0;   // with at least two labels
  std::uint64_t labels = 0;  // on those tasks
  double percent = 0;        // mean over tasks of the share of label pairs that agree, as 0 … 1
  double cohen_kappa = 0;    // mean over pairs of workers, weighted by the number of their common tasks
  std::uint64_t worker_pairs = 0;  // pairs with common tasks
  double fleiss_kappa = 0;         // tasks may have different numbers of labels
  double krippendorff_alpha = 0;   // nominal
};

// Undefined coefficients are NaN: there is nothing to compare, or a single class, on which chance agrees
// always. Cohen's kappa leaves out pairs of workers for whom it is undefined.
// A worker's repeated labels on a task count separately, except that Cohen's kappa uses the worker's
// last. Cohen's kappa is costly. It is left out (NaN, and worker_pairs 0) if more than 5 million pairs
// of workers share a task, or if the sum of n^2 over tasks with n >= 2 labels exceeds 200 million.
Agreement agreement(const Labels& labels);

// By worker, over the tasks whose truth is known.
struct WorkerHits {
  std::vector<std::uint64_t> right;   // labels that are the truth
  std::vector<std::uint64_t> labels;  // all
};

// truths by task, kNoClass where there is none.
WorkerHits count_hits(const Labels& labels, std::span<const ClassId> truths);

// Tasks that have labels, all of them by workers w with marked[w].
std::uint64_t count_tasks_of_only(const Labels& labels, std::span<const bool> marked);

}  // namespace crowdfold
