#include "measure/evidence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "labels/worker_major.h"

namespace crowdfold {
namespace {

// Nobody knows by how much a hypothesis is wrong, so evidence is the mean over these stakes.
constexpr std::array kStakes = {0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9};

double log_of_mean(std::span<const double> logs) {
  const double most = *std::max_element(logs.begin(), logs.end());
  double sum = 0;
  for (const double x : logs) sum += std::exp(x - most);
  return most + std::log(sum / static_cast<double>(logs.size()));
}

// The logarithm of the mean over stakes of a product over labels.
template <class Factor>
double log_mean_evidence(std::span<const Comparison> labels, const Factor& factor) {
  std::array<double, kStakes.size()> logs{};
  for (const Comparison& label : labels) {
    for (std::size_t i = 0; i < kStakes.size(); ++i) logs[i] += std::log(factor(label, kStakes[i]));
  }
  return log_of_mean(logs);
}

double log_factorial(std::uint64_t n) {
  // Stirling's series: exact to 1e-10 above 15, and a product below.
  if (n < 16) {
    double product = 1;
    for (std::uint64_t i = 2; i <= n; ++i) product *= static_cast<double>(i);
    return std::log(product);
  }
  const auto x = static_cast<double>(n) + 1;
  constexpr double kHalfLogTwoPi = 0.91893853320467274;
  return (x - 0.5) * std::log(x) - x + kHalfLogTwoPi + 1 / (12 * x) - 1 / (360 * x * x * x);
}

double log_choose(std::uint64_t n, std::uint64_t k) {
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

// A worker's repeated labels on a task are no two witnesses: the first one counts.
bool is_repeated(const TaskLabels& task, std::size_t place) {
  const auto own = task.workers.begin() + static_cast<std::ptrdiff_t>(place);
  return std::find(task.workers.begin(), own, *own) != own;
}

// The likelihood of all labels over that of guesses, for workers of knowledge s_i:
//     prod_t sum_k share(k) prod_{(i, x) in t} (1 - s_i + s_i [x = k] / h_i(x)).
// Of very many labels, evenly spread tasks tell enough.
class CommonLikelihood {
 public:
  CommonLikelihood(const Labels& labels, std::span<const float> habits, std::span<const double> shares)
      : shares_(shares), boost_(labels.num_classes()), knowledge_(labels.num_workers()) {
    const std::uint64_t stride = labels.num_labels() / kEnoughLabels + 1;
    const bool repeats = labels.rows().duplicates > 0;
    std::size_t first = 0;  // of the task's labels
    for (TaskId t = 0; t < labels.num_tasks(); first += labels.task(t++).size()) {
      const TaskLabels task = labels.task(t);
      const std::size_t before = heard_.size();
      for (std::size_t j = 0; j < task.size(); ++j) {
        if (!repeats || !is_repeated(task, j))
          heard_.push_back({task.workers[j], task.classes[j], habits[first + j]});
      }
      const bool shared = heard_.size() - before >= 2;
      tasks_ += shared ? 1 : 0;
      if (shared && t % stride == 0)
        ends_.push_back(heard_.size());
      else
        heard_.resize(before);
    }
  }

  std::uint64_t tasks() const { return tasks_; }

  // If everybody knows the same.
  double log_ratio(double knowledge) {
    std::fill(knowledge_.begin(), knowledge_.end(), knowledge);
    return sum_over_tasks([](std::span<const Heard>, double) {});
  }

  // If everybody knows what they seem to know by the tasks before. This only bets on what is not yet
  // seen, so its expected value is that of guesses, too.
  double log_ratio_while_learning() {
    std::vector<Learned> learned(knowledge_.size());
    for (std::size_t w = 0; w < learned.size(); ++w) knowledge_[w] = learned[w].knowledge();
    return sum_over_tasks([&](std::span<const Heard> task, double log_mean) {
      learn(task, log_mean, learned);
      for (const Heard& label : task) knowledge_[label.worker] = learned[label.worker].knowledge();
    });
  }

  // The mean over labels of their workers' knowledge, after a few steps of EM.
  double mean_knowledge() {
    constexpr int kSteps = 8;
    log_ratio_while_learning();
    for (int step = 0; step < kSteps; ++step) {
      std::vector<Learned> learned(knowledge_.size());
      sum_over_tasks(
          [&](std::span<const Heard> task, double log_mean) { learn(task, log_mean, learned); });
      for (std::size_t w = 0; w < learned.size(); ++w) knowledge_[w] = learned[w].knowledge();
    }
    double sum = 0;
    for (const Heard& label : heard_) sum += knowledge_[label.worker];
    return heard_.empty() ? 0 : sum / static_cast<double>(heard_.size());
  }

 private:
  static constexpr std::uint64_t kEnoughLabels = 1'000'000;
  struct Heard {
    WorkerId worker;
    ClassId said;
    float habit;
  };
  struct Learned {
    double known = 1;  // of two labels before any
    double labels = 2;

    double knowledge() const { return std::min(known / labels, 0.98); }
  };

  double boost_of(const Heard& label) const {
    const double s = knowledge_[label.worker];
    return std::log1p(s / ((1 - s) * static_cast<double>(label.habit)));
  }

  // The sum of log ratios; after_task(labels, log mean) may read boost_, and change what comes after.
  template <class AfterTask>
  double sum_over_tasks(const AfterTask& after_task) {
    double sum = 0;
    std::size_t at = 0;
    for (const std::size_t end : ends_) {
      const std::span<const Heard> task = std::span(heard_).subspan(at, end - at);
      at = end;
      for (const Heard& label : task) sum += std::log1p(-knowledge_[label.worker]);
      const double mean = log_mean(task);
      sum += mean;
      after_task(task, mean);
      for (const Heard& label : task) boost_[label.said] = 0;
    }
    return sum;
  }

  // log sum_k share(k) exp(boost(k)), where boost is 0 for a class that nobody names. Leaves boost_
  // filled.
  double log_mean(std::span<const Heard> task) {
    double most = 0;
    for (const Heard& label : task) most = std::max(most, boost_[label.said] += boost_of(label));
    named_.clear();
    for (const Heard& label : task) named_.push_back(label.said);
    std::sort(named_.begin(), named_.end());
    named_.erase(std::unique(named_.begin(), named_.end()), named_.end());
    double sum = 0;
    double share_of_others = 1;
    for (const ClassId c : named_) {
      sum += shares_[c] * std::exp(boost_[c] - most);
      share_of_others -= shares_[c];
    }
    return most + std::log(sum + std::max(0.0, share_of_others) * std::exp(-most));
  }

  // The expected number of labels that were known, not guessed.
  void learn(std::span<const Heard> task, double log_mean, std::vector<Learned>& learned) const {
    for (const Heard& label : task) {
      const double right = shares_[label.said] * std::exp(boost_[label.said] - log_mean);
      const double s = knowledge_[label.worker];
      const double known_if_right = s / (s + (1 - s) * static_cast<double>(label.habit));
      learned[label.worker].known += std::min(1.0, right) * known_if_right;
      learned[label.worker].labels += 1;
    }
  }

  std::span<const double> shares_;
  std::uint64_t tasks_ = 0;
  std::vector<Heard> heard_;
  std::vector<std::size_t> ends_;
  std::vector<double> boost_;  // by class: log of the product over the labels of a task that name it
  std::vector<ClassId> named_;
  std::vector<double> knowledge_;  // by worker
};

}  // namespace

double log_evidence_of_knowledge(std::span<const Comparison> labels) {
  return log_mean_evidence(labels, [](const Comparison& label, double stake) {
    return 1 + stake * (label.believed / label.habit - 1);
  });
}

// The likelihood of knowledge 0 over that of `knowledge`. It is a concave function of the knowledge, so
// its expected value falls from 1 as the worker knows more.
double log_evidence_of_guessing(std::span<const Comparison> labels, double knowledge) {
  double sum = 0;
  for (const Comparison& label : labels)
    sum -= std::log1p(knowledge * (label.believed / label.habit - 1));
  return sum;
}

double log_evidence_of_contradiction(std::span<const Comparison> labels) {
  return log_mean_evidence(labels, [](const Comparison& label, double stake) {
    if (label.by_chance >= 1) return 1.0;
    return label.agreed ? 1 - stake : 1 + stake * label.by_chance / (1 - label.by_chance);
  });
}

double log_evidence_of_dependence(std::span<const ClassId> said, std::span<const ClassId> others) {
  std::unordered_map<std::uint32_t, double> together;
  std::unordered_map<ClassId, double> alone;
  std::unordered_map<ClassId, double> row;
  for (const ClassId x : said) alone.try_emplace(x, 0);
  const double prior = 1 / static_cast<double>(std::max<std::size_t>(1, alone.size()));
  double sum = 0;
  for (std::size_t i = 0; i < said.size(); ++i) {
    double& here = together[(std::uint32_t{others[i]} << 16) | said[i]];
    double& in_row = row[others[i]];
    double& in_all = alone[said[i]];
    sum += std::log((here + prior) / (in_row + 1)) -
           std::log((in_all + prior) / (static_cast<double>(i) + 1));
    ++here;
    ++in_row;
    ++in_all;
  }
  return sum;
}

double hypergeometric_tail(std::uint64_t found, std::uint64_t drawn, std::uint64_t marked,
                           std::uint64_t all) {
  const std::uint64_t most = std::min(drawn, marked);
  double tail = 0;
  for (std::uint64_t k = found; k <= most; ++k) {
    if (drawn - k > all - marked) continue;
    tail +=
        std::exp(log_choose(marked, k) + log_choose(all - marked, drawn - k) - log_choose(all, drawn));
  }
  return std::min(tail, 1.0);
}

Interval share_interval(std::uint64_t successes, std::uint64_t trials) {
  if (trials == 0) return {0, 1};
  constexpr double kZ = 1.959963984540054;
  const auto n = static_cast<double>(trials);
  const double share = static_cast<double>(successes) / n;
  const double middle = (share + kZ * kZ / (2 * n)) / (1 + kZ * kZ / n);
  const double half =
      kZ / (1 + kZ * kZ / n) * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

double normal_quantile_above(double tail) {
  double low = 0;
  double high = 40;
  for (int i = 0; i < 100; ++i) {
    const double z = (low + high) / 2;
    (std::erfc(z / std::sqrt(2.0)) / 2 > tail ? low : high) = z;
  }
  return low;
}

std::vector<float> habits_of(const Labels& labels) {
  // Labels by worker: their places in the order of tasks.
  std::vector<std::uint64_t> end(labels.num_workers());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const WorkerId w : labels.task(t).workers) ++end[w];
  }
  std::uint64_t at = 0;
  for (std::uint64_t& place : end) at = std::exchange(place, at) + at;
  struct Given {
    std::uint64_t place;
    ClassId said;
  };
  std::vector<Given> given(labels.num_labels());
  std::uint64_t place = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j)
      given[end[task.workers[j]]++] = {place++, task.classes[j]};
  }
  std::vector<float> habits(labels.num_labels());
  std::vector<std::uint64_t> counts(labels.num_classes());
  std::uint64_t begin = 0;
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const auto own = std::span(given).subspan(begin, end[w] - begin);
    begin = end[w];
    for (const Given& label : own) ++counts[label.said];
    for (const Given& label : own) {
      habits[label.place] =
          static_cast<float>(static_cast<double>(counts[label.said]) / static_cast<double>(own.size()));
    }
    for (const Given& label : own) counts[label.said] = 0;
  }
  return habits;
}

std::vector<double> class_shares(const Labels& labels) {
  std::vector<double> shares(labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const ClassId c : labels.task(t).classes) shares[c] += 1;
  }
  const double all = static_cast<double>(std::max<std::uint64_t>(1, labels.num_labels()));
  for (double& share : shares) share /= all;
  return shares;
}

double agreement_beyond_habits(const Labels& labels) {
  constexpr std::uint64_t kFewestTasks = 10;
  constexpr std::uint64_t kEnoughWork = 20'000'000;  // evenly spread tasks of larger inputs tell enough
  struct Habit {
    ClassId said;
    double share;
  };
  const WorkerMajor by_worker(labels, 1);
  std::vector<std::vector<Habit>> habits(labels.num_workers());
  std::vector<double> sums(labels.num_classes());
  std::uint64_t work = 0;
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const std::span<const ClassId> given = by_worker.worker(w).classes;
    for (const ClassId c : given) sums[c] += 1;
    for (const ClassId c : given) {
      if (sums[c] > 0) habits[w].push_back({c, sums[c] / static_cast<double>(given.size())});
      sums[c] = 0;
    }
    work += given.size() * habits[w].size();
  }
  const std::uint64_t stride = work / kEnoughWork + 1;
  const bool repeats = labels.rows().duplicates > 0;
  std::uint64_t tasks = 0;
  double total = 0;
  double squares = 0;
  std::vector<double> counts(labels.num_classes());
  std::vector<std::size_t> heard;  // places in the task
  for (std::uint64_t t = 0; t < labels.num_tasks(); t += stride) {
    const TaskLabels task = labels.task(static_cast<TaskId>(t));
    heard.clear();
    for (std::size_t j = 0; j < task.size(); ++j) {
      if (!repeats || !is_repeated(task, j)) heard.push_back(j);
    }
    if (heard.size() < 2) continue;
    double beyond = 0;
    for (const std::size_t j : heard) {
      beyond += counts[task.classes[j]]++;  // pairs that agree
      for (const Habit& habit : habits[task.workers[j]]) {
        sums[habit.said] += habit.share;
        beyond -= habit.share * habit.share / 2;  // no pair with itself, here and below
        if (habit.said == task.classes[j]) beyond += habit.share;
      }
    }
    for (const std::size_t j : heard) beyond -= sums[task.classes[j]];
    for (const std::size_t j : heard) {
      counts[task.classes[j]] = 0;
      for (const Habit& habit : habits[task.workers[j]]) {
        beyond += sums[habit.said] * sums[habit.said] / 2;
        sums[habit.said] = 0;  // each class once
      }
    }
    ++tasks;
    total += beyond;
    squares += beyond * beyond;
  }
  return tasks < kFewestTasks || squares == 0 ? 0 : total / std::sqrt(squares);
}

CommonKnowledge common_knowledge(const Labels& labels, std::span<const float> habits,
                                 std::span<const double> shares) {
  CommonLikelihood likelihood(labels, habits, shares);
  CommonKnowledge common;
  common.tasks = likelihood.tasks();
  if (common.tasks == 0) return common;
  std::array<double, kStakes.size() + 1> logs{};
  for (std::size_t i = 0; i < kStakes.size(); ++i) logs[i] = likelihood.log_ratio(kStakes[i]);
  logs.back() = likelihood.log_ratio_while_learning();
  common.log_evidence = log_of_mean(logs);
  common.errors = agreement_beyond_habits(labels);
  common.knowledge = likelihood.mean_knowledge();
  return common;
}

}  // namespace crowdfold
