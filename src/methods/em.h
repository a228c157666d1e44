// What iterative methods share: the posteriors of all tasks, the step that judges them, and the loop
// around it with its stopping rule, trace and progress.
//
// Sums over tasks are taken block by block, then over blocks in order: the same bytes on any number of
// threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "base/parallel.h"
#include "base/vector_math.h"
#include "crowdfold/method.h"
#include "methods/option_table.h"

namespace crowdfold {

// Stop after `iterations`, or once the method's own measure of change is at most `tolerance`.
struct Stopping {
  int iterations = 20;
  double tolerance = 0;  // 0: all iterations
};
// Where no probability moves by more, only rounding moves them. Where workers are equals, EM rests on a
// point that it would leave in any direction: going on would let rounding choose one, and reach
// certainty.
inline constexpr double kOnlyRounding = 1e-12;
template <class Options>
std::vector<OptionEntry<Options>> stopping_options(const char* what_changes, int fewest = 1) {
  return {integer<Options>("iterations", &Options::iterations, fewest, 1'000'000, "iterations at most"),
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

// Calls step() -> Step until it is time to stop, and keeps the trace. `rounding`: a change that is none,
// if changes are those of probabilities; from the second step on, as the first one may repeat the start.
template <class Iteration>
void iterate(const char* stage, const Stopping& stopping, const RunContext& context, Result& result,
             const Iteration& step, double rounding = -1) {
  result.converged = stopping.tolerance == 0;
  for (int i = 0; i < stopping.iterations; ++i) {
    context.throw_if_cancelled();
    context.report_at_most(stage, static_cast<std::uint64_t>(i),
                           static_cast<std::uint64_t>(stopping.iterations));
    const Step done = step();
    result.trace.push_back(done.objective);
    if ((stopping.tolerance > 0 && done.change <= stopping.tolerance) ||
        (i > 0 && done.change <= rounding)) {
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
// Sums of numbers that are above 0 only so that they have a logarithm stay below this.
inline constexpr double kNothing = 1e-250;

// The logarithms of shares of a total.
std::vector<double> log_shares(std::vector<double> totals);

// The lowest class of those with most votes, among classes that differ by rounding only.
ClassId most_probable(std::span<const double> of_class, const TaskLabels& task);

// The states of a task: the classes, or subtypes of the classes, class by class. Numbers by state lie in
// rows of width(); the first size() are in use.
class States {
 public:
  explicit States(std::uint32_t classes, std::uint32_t subtypes = 1);

  std::uint32_t size() const { return static_cast<std::uint32_t>(class_of_.size()); }
  // Of a row in memory.
  std::size_t width() const { return row_width(class_of_.size()); }
  ClassId class_of(std::size_t state) const { return class_of_[state]; }
  // By class: the state after its last one.
  std::span<const std::uint32_t> ends() const { return ends_; }
  // Only these are left, which are in order.
  void keep(std::span<const std::uint32_t> states);

 private:
  void count();

  std::vector<ClassId> class_of_;
  std::vector<std::uint32_t> ends_;
};

// Per task, a probability for each state.
class Posteriors {
 public:
  static constexpr std::size_t kTasksPerBlock = 256;

  Posteriors(const Labels& labels, const Knowledge& given, std::uint32_t subtypes = 1);

  const States& states() const { return states_; }
  std::span<const double> operator[](TaskId t) const { return rows(t, t + 1ULL).first(states_.size()); }
  std::span<double> operator[](TaskId t) { return rows(t, t + 1ULL).first(states_.size()); }

  // Shares of votes; the same for all classes where nobody voted; certainty where the truth is known.
  // Subtypes of a class share evenly.
  void start_from_votes(int threads);

  // Judges every task: score(t, row) puts the logarithm of the joint probability of the task's labels
  // and each state into the row; or score(first, last, rows) does so for several tasks, and puts
  // kImpossible where rows are wider than there are states.
  struct Judged {
    double evidence = 0;         // log-likelihood of all labels, and of the known truths
    double change = 0;           // the largest of a class's probability
    std::vector<double> totals;  // as totals() has them
    operator Step() const { return {evidence, change}; }  // NOLINT: it is one, and more
  };
  template <class Score>
  Judged judge(int threads, const Score& score);
  // The same for several ranges of tasks side by side. Learns from the judged rows while they are in the
  // cache: learner.begin(range), then learner.add(range, first, last, rows) for the range's tasks in
  // order. There are learner.ranges(), whatever the number of threads.
  template <class Score, class Learner>
  Judged judge(int threads, const Score& score, Learner& learner);
  // Learns from the present probabilities.
  template <class Learner>
  void teach(int threads, Learner& learner) const;

  // By state: the sum over tasks that have a label or a known truth.
  std::vector<double> totals(int threads) const;

  // Leaves out the other states, which are in order, as if they were impossible.
  void keep(std::span<const std::uint32_t> states);

  // Estimates, confidences, and posteriors if they are asked for.
  void report(const RunContext& context, Result& result) const;

  static std::uint64_t bytes(const Labels& labels, std::uint32_t subtypes = 1) {
    const std::uint64_t classes = labels.num_classes();
    return 8ULL * labels.num_tasks() * (row_width(classes * subtypes) + (subtypes > 1 ? classes : 0));
  }

 private:
  std::span<double> rows(std::size_t first, std::size_t last) {
    return {values_.data() + first * states_.width(), (last - first) * states_.width()};
  }
  std::span<const double> rows(std::size_t first, std::size_t last) const {
    return {values_.data() + first * states_.width(), (last - first) * states_.width()};
  }
  // judge() for a few tasks, whose logarithms come to lie in `logs`; adds to `judged`.
  template <class Score>
  void judge_some(std::size_t first, std::size_t last, const Score& score, std::span<double> logs,
                  Judged& judged);
  // What scores do not know: truths, and that a task without labels can be of any class.
  void correct(TaskId t, std::span<double> logs) const;
  // The sums of subtypes. Returns the largest change.
  double add_up_classes(std::size_t first, std::size_t last);
  // Adds the rows of tasks that have a label or a known truth.
  void add_up_judged(std::size_t first, std::size_t last, std::span<double> totals) const;
  std::size_t tasks_at_once() const {
    constexpr std::size_t kNumbers = 4'096;  // that stay in the first-level cache
    return std::clamp<std::size_t>(kNumbers / states_.width(), 1, kTasksPerBlock);
  }
  // body(begin(range), range, first, last) for the tasks of every range, a few at a time, in order.
  template <class Begin, class Body>
  void for_ranges(int threads, std::size_t ranges, const Begin& begin, const Body& body) const;
  // Probabilities of a task's classes.
  std::span<const double> classes(TaskId t) const {
    const std::size_t count = labels_.num_classes();
    return subtypes_ > 1 ? std::span(by_class_).subspan(t * count, count) : (*this)[t];
  }
  std::span<double> classes(TaskId t) {
    const std::size_t count = labels_.num_classes();
    return subtypes_ > 1 ? std::span(by_class_).subspan(t * count, count) : (*this)[t];
  }
  bool is_judged(TaskId t) const { return labels_.task(t).size() > 0 || given_.truth(t) != kNoClass; }

  const Labels& labels_;
  const Knowledge& given_;
  std::uint32_t subtypes_;
  States states_;
  FlatArray<double> values_;
  FlatArray<double> by_class_;  // where classes have subtypes: their sums
  bool all_labelled_ = true;    // every task has a label
};

template <class Score>
void Posteriors::judge_some(std::size_t first, std::size_t last, const Score& score,
                            std::span<double> logs, Judged& judged) {
  const std::size_t width = states_.width();
  if constexpr (std::is_invocable_v<Score, TaskId, TaskId, std::span<double>>) {
    score(static_cast<TaskId>(first), static_cast<TaskId>(last), logs);
  } else {
    std::fill(logs.begin(), logs.end(), kImpossible);
    for (auto t = static_cast<TaskId>(first); t < last; ++t)
      score(t, logs.subspan((t - first) * width, states_.size()));
  }
  if (!all_labelled_ || !given_.truths.empty()) {
    for (auto t = static_cast<TaskId>(first); t < last; ++t)
      correct(t, logs.subspan((t - first) * width, states_.size()));
  }
  const Normalized normalized = normalize_log_rows(logs, width, rows(first, last));
  judged.evidence += normalized.log_sums;
  judged.change =
      std::max(judged.change, subtypes_ > 1 ? add_up_classes(first, last) : normalized.change);
  add_up_judged(first, last, judged.totals);
}

template <class Begin, class Body>
void Posteriors::for_ranges(int threads, std::size_t ranges, const Begin& begin,
                            const Body& body) const {
  const std::size_t num_tasks = labels_.num_tasks();
  const std::size_t blocks = (num_tasks + kTasksPerBlock - 1) / kTasksPerBlock;
  const std::size_t step = tasks_at_once();
  parallel_for(threads, ranges, [&](std::size_t range, int) {
    auto of_range = begin(range);
    const std::size_t end = std::min(num_tasks, blocks * (range + 1) / ranges * kTasksPerBlock);
    for (std::size_t first = blocks * range / ranges * kTasksPerBlock; first < end; first += step)
      body(of_range, range, first, std::min(end, first + step));
  });
}

template <class Score, class Learner>
Posteriors::Judged Posteriors::judge(int threads, const Score& score, Learner& learner) {
  const std::size_t width = states_.width();
  std::vector<Judged> judged(learner.ranges());
  for_ranges(
      threads, learner.ranges(),
      [&](std::size_t range) {
        judged[range].totals.resize(width);
        learner.begin(range);
        return FlatArray<double>(tasks_at_once() * width);
      },
      [&](FlatArray<double>& logs, std::size_t range, std::size_t first, std::size_t last) {
        judge_some(first, last, score, std::span(logs).first((last - first) * width), judged[range]);
        learner.add(range, static_cast<TaskId>(first), static_cast<TaskId>(last),
                    std::as_const(*this).rows(first, last));
      });
  Judged all;
  all.totals.resize(width);
  for (const Judged& of_range : judged) {
    all.evidence += of_range.evidence;
    all.change = std::max(all.change, of_range.change);
    add_up_rows(of_range.totals, all.totals);
  }
  all.totals.resize(states_.size());
  return all;
}

template <class Score>
Posteriors::Judged Posteriors::judge(int threads, const Score& score) {
  struct Nothing {
    std::size_t ranges() const { return count; }
    void begin(std::size_t) {}
    void add(std::size_t, TaskId, TaskId, std::span<const double>) {}
    std::size_t count;
  } nothing{(labels_.num_tasks() + kTasksPerBlock - 1) / kTasksPerBlock};
  return judge(threads, score, nothing);
}

template <class Learner>
void Posteriors::teach(int threads, Learner& learner) const {
  struct Nothing {};
  for_ranges(
      threads, learner.ranges(),
      [&](std::size_t range) {
        learner.begin(range);
        return Nothing{};
      },
      [&](const Nothing&, std::size_t range, std::size_t first, std::size_t last) {
        learner.add(range, static_cast<TaskId>(first), static_cast<TaskId>(last), rows(first, last));
      });
}

// The number of ranges of tasks for a learner that has `entries` numbers for each range, chosen so that
// clearing and adding up the numbers costs less than the labels.
std::size_t ranges_to_learn(const Labels& labels, std::uint64_t entries);

// By worker.
std::vector<double> numbers_of_labels(const Labels& labels);

}  // namespace crowdfold
