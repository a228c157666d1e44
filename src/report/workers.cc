// Whom to look at. A worker's labels are compared with the vote of the others on the same tasks, their
// own label left out: a worker who guesses then agrees as often as chance has it, however few labels a
// task has and however uneven the classes are. The same goes for one who always says the same.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "labels/worker_major.h"
#include "report/parts.h"

namespace crowdfold {
namespace {

constexpr std::uint64_t kEnoughConstant = 10;  // labels, all the same
constexpr std::uint64_t kEnoughHalf = 20;      // compared labels in each half of a worker's time
constexpr double kWorseBy = 0.15;              // share of agreement lost between the halves

// The class that a task's labels but one speak for; kNoClass if there is none, or two. Classes are few
// in a task, so sums lie in a short list.
class VoteOfOthers {
 public:
  VoteOfOthers(const TaskLabels& task, std::span<const double> log_odds)
      : task_(task), log_odds_(log_odds) {
    for (std::size_t j = 0; j < task.size(); ++j) add(task.classes[j], log_odds[task.workers[j]]);
  }

  ClassId without(std::size_t place) const {
    ClassId best = kNoClass;
    double most = 0;  // what a class without labels has
    bool tie = false;
    for (const Sum& sum : sums_) {
      const bool own = sum.label == task_.classes[place];
      if (own && sum.labels == 1) continue;
      const double weight = own ? sum.weight - log_odds_[task_.workers[place]] : sum.weight;
      if (weight > most + kSlack) {
        best = sum.label;
        most = weight;
        tie = false;
      } else if (best != kNoClass && weight > most - kSlack) {
        tie = true;
      }
    }
    return tie ? kNoClass : best;
  }

 private:
  static constexpr double kSlack = 1e-9;  // sums in another order differ by less
  struct Sum {
    ClassId label;
    std::uint32_t labels;
    double weight;
  };

  void add(ClassId label, double weight) {
    for (Sum& sum : sums_) {
      if (sum.label != label) continue;
      ++sum.labels;
      sum.weight += weight;
      return;
    }
    sums_.push_back({label, 1, weight});
  }

  const TaskLabels& task_;
  std::span<const double> log_odds_;
  std::vector<Sum> sums_;
};

// What the others say about each label's task, in the order of WorkerMajor.
std::vector<std::vector<ClassId>> votes_of_others(const Labels& labels,
                                                  std::span<const double> log_odds) {
  std::vector<std::vector<ClassId>> votes(labels.num_workers());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    const VoteOfOthers vote(task, log_odds);
    for (std::size_t j = 0; j < task.size(); ++j) votes[task.workers[j]].push_back(vote.without(j));
  }
  return votes;
}

WorkerMark mark_of(const Interval& beyond_chance) {
  if (beyond_chance.upper < 0) return WorkerMark::adversary;
  if (beyond_chance.lower > 0) return WorkerMark::useful;
  return beyond_chance.upper < kAtMostWeak ? WorkerMark::random : WorkerMark::unsure;
}

// Counts by class of one worker at a time: only what was touched is cleared.
class ChanceCounter {
 public:
  explicit ChanceCounter(std::uint32_t classes) : said_(classes), others_(classes) {}

  void add(ClassId said, ClassId others) {
    ++said_[said];
    ++others_[others];
    touched_.push_back(said);
    touched_.push_back(others);
  }
  // The share that would agree if the two had nothing to do with each other.
  double take(std::uint64_t labels) {
    double expected = 0;
    for (const ClassId c : touched_) {
      expected += static_cast<double>(said_[c]) * static_cast<double>(others_[c]);
      said_[c] = others_[c] = 0;
    }
    touched_.clear();
    const auto n = static_cast<double>(std::max<std::uint64_t>(labels, 1));
    return expected / (n * n);
  }

 private:
  std::vector<std::uint64_t> said_;
  std::vector<std::uint64_t> others_;
  std::vector<ClassId> touched_;
};

// Standard errors by which a share must fall to be spoken of: so many that in a crowd of this size, in
// which nobody changes, hardly anyone would be named.
double worse_errors(std::size_t workers) {
  return std::max(3.0, std::sqrt(2 * std::log(static_cast<double>(workers))));
}

void compare_with_others(const WorkerLabels& given, std::span<const ClassId> others,
                         ChanceCounter& counter, double errors, ReportedWorker& worker) {
  std::vector<bool> agreed;
  for (std::size_t j = 0; j < given.size(); ++j) {
    if (others[j] == kNoClass) continue;
    counter.add(given.classes[j], others[j]);
    agreed.push_back(given.classes[j] == others[j]);
  }
  worker.compared = agreed.size();
  worker.agreed = static_cast<std::uint64_t>(std::count(agreed.begin(), agreed.end(), true));
  const double chance = counter.take(worker.compared);
  worker.by_chance = chance * static_cast<double>(worker.compared);
  // Jeffreys' interval of the share that agrees, on the scale where chance is 0 and always is 1.
  const BetaQuality share{static_cast<double>(worker.agreed) + 0.5,
                          static_cast<double>(worker.compared - worker.agreed) + 0.5};
  const Interval interval = share.credible_interval();
  const double room = std::max(1 - chance, 1e-9);
  worker.beyond_chance = {(interval.lower - chance) / room, (interval.upper - chance) / room};
  const bool can_tell = worker.compared > 0 && chance < 1;
  worker.mark = can_tell ? mark_of(worker.beyond_chance) : WorkerMark::unsure;

  const std::size_t half = agreed.size() / 2;
  worker.early = worker.late = kNone;
  if (half < kEnoughHalf) return;
  const auto middle = agreed.begin() + static_cast<std::ptrdiff_t>(half);
  const auto first = static_cast<double>(half);
  const auto second = static_cast<double>(agreed.size() - half);
  worker.early = static_cast<double>(std::count(agreed.begin(), middle, true)) / first;
  worker.late = static_cast<double>(std::count(middle, agreed.end(), true)) / second;
  const double mean = static_cast<double>(worker.agreed) / static_cast<double>(worker.compared);
  const double error = std::sqrt(mean * (1 - mean) * (1 / first + 1 / second));
  const double lost = worker.early - worker.late;
  worker.got_worse = lost >= kWorseBy && lost >= errors * error;
}

ReportedWorker describe(const ReportInput& reported, WorkerId w, const WorkerLabels& given) {
  ReportedWorker worker;
  const BetaQuality quality = reported.result.learned.quality(w);
  worker.worker = w;
  worker.labels = given.size();
  worker.quality = quality.mean();
  worker.interval = quality.credible_interval();
  std::uint64_t correct = 0;
  for (std::size_t j = 0; j < given.size(); ++j) {
    const ClassId truth = reported.truth(given.tasks[j]);
    worker.truths += truth != kNoClass ? 1 : 0;
    correct += truth == given.classes[j] ? 1 : 0;
  }
  worker.accuracy =
      worker.truths > 0 ? static_cast<double>(correct) / static_cast<double>(worker.truths) : kNone;
  const bool constant =
      given.size() >= kEnoughConstant && std::all_of(given.classes.begin(), given.classes.end(),
                                                     [&](ClassId c) { return c == given.classes[0]; });
  if (constant) worker.constant = given.classes[0];
  return worker;
}

}  // namespace

std::vector<ReportedWorker> judge_workers(const ReportInput& reported, std::span<const double> log_odds,
                                          int threads) {
  const Labels& labels = reported.labels;
  const WorkerMajor by_worker(labels, threads);
  const std::vector<std::vector<ClassId>> others = votes_of_others(labels, log_odds);
  std::vector<ReportedWorker> workers(labels.num_workers());
  std::vector<ChanceCounter> counters(static_cast<std::size_t>(std::max(1, threads)),
                                      ChanceCounter(labels.num_classes()));
  const double errors = worse_errors(workers.size());
  parallel_for(threads, workers.size(), [&](std::size_t w, int thread) {
    const auto id = static_cast<WorkerId>(w);
    workers[w] = describe(reported, id, by_worker.worker(id));
    workers[w].log_odds = log_odds[w];
    compare_with_others(by_worker.worker(id), others[w], counters[static_cast<std::size_t>(thread)],
                        errors, workers[w]);
  });
  std::erase_if(workers, [](const ReportedWorker& worker) { return worker.labels == 0; });
  std::stable_sort(workers.begin(), workers.end(), [](const ReportedWorker& a, const ReportedWorker& b) {
    return a.interval.lower > b.interval.lower;
  });
  return workers;
}

}  // namespace crowdfold
