// What iterative methods share: the posteriors of all tasks, the step that judges them, and the loop
// around it with its stopping rule, trace and progress.
//
// Sums over tasks are taken block by block, then over blocks in order: the same bytes on any number of
// threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "core/parallel.h"
#include "crowdfold/method.h"
#include "methods/option_table.h"

namespace crowdfold {

// When to stop: after so many iterations, or when a change, of which the method says what it is, is at
// most the tolerance.
struct Stopping {
  int iterations = 20;
  double tolerance = 0;  // 0: all iterations
};
template <class Options>
std::vector<OptionEntry<Options>> stopping_options(const char* what_changes) {
  return {integer<Options>("iterations", &Options::iterations, 1, 1'000'000, "iterations at most"),
          real<Options>("tolerance", &Options::tolerance, 0, 1, what_changes)};
}
inline constexpr const char* kPosteriorsMove =
    "stop when no probability moves by more; 0: after all iterations";
inline constexpr const char* kObjectiveGrows =
    "stop when the log-likelihood per label grows by less; 0: after all iterations";

// What an iteration came to.
struct Step {
  double objective = 0;
  double change = 0;
};

// Calls step() -> Step, or the like, until it is time to stop, and keeps the trace.
template <class Iteration>
void iterate(const char* stage, const Stopping& stopping, const RunContext& context, Result& result,
             const Iteration& step) {
  result.converged = stopping.tolerance == 0;
  for (int i = 0; i < stopping.iterations; ++i) {
    context.throw_if_cancelled();
    context.report(stage, static_cast<std::uint64_t>(i),
                   static_cast<std::uint64_t>(stopping.iterations));
    const auto [objective, change] = step();
    result.trace.push_back(objective);
    if (stopping.tolerance > 0 && change <= stopping.tolerance) {
      result.converged = true;
      return;
    }
  }
}

// The objective, and by how much it grew per label since the last time.
class Growth {
 public:
  explicit Growth(const Labels& labels) : labels_(static_cast<double>(labels.num_labels())) {}
  Step operator()(double objective) {
    return {objective, (objective - std::exchange(before_, objective)) / labels_};
  }

 private:
  double labels_;
  double before_ = -1e300;
};

// The logarithm of a probability of 0.
inline constexpr double kImpossible = -1e300;
// Probabilities below this are taken for it: all logarithms are finite.
inline constexpr double kLeastProbability = 1e-300;
// Sums of what was kept above 0 only for its logarithm stay below this.
inline constexpr double kNothing = 1e-250;

// The logarithms of shares of a total.
std::vector<double> log_shares(std::vector<double> totals);

// What a task is, with a probability: a class, or one of several subtypes of a class. State s is of
// class s / subtypes.
class Posteriors {
 public:
  static constexpr std::size_t kTasksPerBlock = 256;

  Posteriors(const Labels& labels, const Given& given, std::uint32_t subtypes = 1)
      : labels_(labels),
        given_(given),
        subtypes_(subtypes),
        states_(labels.num_classes() * subtypes),
        values_(static_cast<std::size_t>(labels.num_tasks()) * states_) {}

  std::uint32_t states() const { return states_; }
  std::uint32_t subtypes() const { return subtypes_; }
  std::span<const double> operator[](TaskId t) const { return rows(t, t + 1ULL); }
  std::span<double> operator[](TaskId t) { return rows(t, t + 1ULL); }

  // Shares of votes; the same for all classes where nobody voted; certainty where the truth is known.
  // Subtypes of a class share evenly.
  void start_from_votes(int threads);

  // Judges every task: score(t, row) puts the logarithm of the joint probability of the task's labels
  // and each state into the row.
  struct Judged {
    double evidence = 0;  // log-likelihood of all labels, and of the known truths
    double change = 0;    // the largest of a class's probability
  };
  template <class Score>
  Judged judge(int threads, const Score& score);

  // By state: the sum over tasks that have a label or a known truth.
  std::vector<double> totals(int threads) const;

  // Estimates, confidences, and posteriors if they are asked for.
  void report(const RunContext& context, Result& result) const;

  static std::uint64_t bytes(const Labels& labels, std::uint32_t subtypes = 1) {
    return 8ULL * labels.num_tasks() * labels.num_classes() * subtypes;
  }

 private:
  std::span<double> rows(std::size_t first, std::size_t last) {
    return {values_.data() + first * states_, (last - first) * states_};
  }
  std::span<const double> rows(std::size_t first, std::size_t last) const {
    return {values_.data() + first * states_, (last - first) * states_};
  }
  bool is_judged(TaskId t) const { return labels_.task(t).size() > 0 || given_.truth(t) != kNoClass; }
  // The largest difference of a class's probability between two arrays of rows.
  double largest_change(std::span<const double> before, std::span<const double> after) const;

  const Labels& labels_;
  const Given& given_;
  std::uint32_t subtypes_;
  std::uint32_t states_;
  FlatArray<double> values_;
};

// Turns rows of logarithms into probabilities, of which none is 0. Returns the sum over rows of the
// logarithm of what they were divided by.
double normalize_log_rows(std::span<double> rows, std::uint32_t states);

template <class Score>
Posteriors::Judged Posteriors::judge(int threads, const Score& score) {
  const std::size_t num_tasks = labels_.num_tasks();
  std::vector<Judged> blocks((num_tasks + kTasksPerBlock - 1) / kTasksPerBlock);
  parallel_ranges(threads, num_tasks, kTasksPerBlock, [&](std::size_t first, std::size_t last, int) {
    const std::span<double> block = rows(first, last);
    const std::vector<double> before(block.begin(), block.end());
    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
      const std::span<double> row = rows(t, t + 1ULL);
      score(t, row);
      if (const ClassId truth = given_.truth(t); truth != kNoClass) {
        for (std::uint32_t s = 0; s < states_; ++s) {
          if (s / subtypes_ != truth) row[s] = kImpossible;
        }
      }
    }
    Judged& judged = blocks[first / kTasksPerBlock];
    judged.evidence = normalize_log_rows(block, states_);
    judged.change = largest_change(before, block);
  });
  Judged all;
  for (const Judged& judged : blocks) {
    all.evidence += judged.evidence;
    all.change = std::max(all.change, judged.change);
  }
  return all;
}

}  // namespace crowdfold
