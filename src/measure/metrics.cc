#include "crowdfold/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

constexpr std::size_t kBins = 10;
constexpr double kSmallestProbability = 1e-15;  // keeps one confident mistake from an infinite log-loss
constexpr double kRoundingSlack = 1e-9;         // how far above 1 a sum of probabilities may end up

// Beyond these Cohen's kappa would cost many times more than everything else together.
constexpr double kMaxSquaredLabels = 200e6;
constexpr std::uint64_t kMaxWorkerPairs = 5'000'000;

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

double share_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

double checked_probability(double p) {
  if (!(p >= 0 && p <= 1 + kRoundingSlack)) {
    throw Error(ErrorCode::data, fmt::format("{} is not a probability", p));
  }
  return std::min(p, 1.0);
}

// The claim about each task, from its posterior or its confidence, whichever was given.
struct Claims {
  std::span<const ClassId> estimates;
  std::span<const double> confidences;
  std::span<const double> posterior;
  std::uint32_t num_classes;

  bool have_confidence() const { return !confidences.empty() || !posterior.empty(); }

  double confidence(std::size_t task) const {
    const ClassId estimate = estimates[task];
    if (estimate == kNoClass) return 0;
    return checked_probability(confidences.empty() ? posterior[task * num_classes + estimate]
                                                   : confidences[task]);
  }

  double probability(std::size_t task, ClassId label) const {
    if (!posterior.empty()) return checked_probability(posterior[task * num_classes + label]);
    if (estimates[task] == kNoClass) return 1.0 / num_classes;
    const double claimed = confidence(task);
    return estimates[task] == label ? claimed : (1 - claimed) / (num_classes - 1);
  }
};

void check_length(const char* what, std::size_t length, std::size_t expected) {
  if (length == expected) return;
  throw Error(ErrorCode::usage, fmt::format("{} {} where {} are needed", length, what, expected));
}

void check_classes(const char* what, std::span<const ClassId> classes, std::uint32_t num_classes) {
  for (const ClassId c : classes) {
    if (c == kNoClass || c < num_classes) continue;
    throw Error(ErrorCode::usage, fmt::format("{} hold class {} of {}", what, c, num_classes));
  }
}

// Counts, the confusion matrix, and the figures that follow from them.
void score_estimates(const Claims& claims, std::span<const ClassId> truths, Evaluation& result) {
  const std::size_t num_classes = claims.num_classes;
  result.classes.resize(num_classes);
  result.confusion.resize(num_classes * num_classes);
  for (std::size_t t = 0; t < truths.size(); ++t) {
    const ClassId truth = truths[t];
    const ClassId estimate = claims.estimates[t];
    if (truth == kNoClass) continue;
    ++result.tasks;
    ++result.classes[truth].truths;
    if (estimate == kNoClass) continue;
    ++result.classes[estimate].estimates;
    ++result.confusion[truth * num_classes + estimate];
  }

  double f1_sum = 0;
  std::uint64_t occurring = 0;
  for (std::size_t k = 0; k < num_classes; ++k) {
    ClassScores& scores = result.classes[k];
    const std::uint64_t hits = result.confusion[k * num_classes + k];
    const std::uint64_t mentions = scores.truths + scores.estimates;
    scores.precision = share_of(hits, scores.estimates);
    scores.recall = share_of(hits, scores.truths);
    scores.f1 = share_of(2 * hits, mentions);
    result.correct += hits;
    f1_sum += scores.f1;
    occurring += mentions > 0 ? 1 : 0;
  }
  result.accuracy = share_of(result.correct, result.tasks);
  result.macro_f1 = occurring == 0 ? 0 : f1_sum / static_cast<double>(occurring);
}

void score_confidence(const Claims& claims, std::span<const ClassId> truths, Evaluation& result) {
  result.has_confidence = true;
  result.bins.resize(kBins);
  std::vector<std::uint64_t> correct(kBins);
  for (std::size_t t = 0; t < truths.size(); ++t) {
    if (truths[t] == kNoClass) continue;
    const double confidence = claims.confidence(t);
    const std::size_t b = std::min(static_cast<std::size_t>(confidence * kBins), kBins - 1);
    ++result.bins[b].tasks;
    result.bins[b].confidence += confidence;
    correct[b] += claims.estimates[t] == truths[t] ? 1 : 0;
    result.log_loss -= std::log(std::max(claims.probability(t, truths[t]), kSmallestProbability));
  }

  for (std::size_t b = 0; b < kBins; ++b) {
    CalibrationBin& bin = result.bins[b];
    bin.lower = static_cast<double>(b) / kBins;
    bin.upper = static_cast<double>(b + 1) / kBins;
    bin.accuracy = share_of(correct[b], bin.tasks);
    if (bin.tasks > 0) bin.confidence /= static_cast<double>(bin.tasks);
    result.calibration_error +=
        share_of(bin.tasks, result.tasks) * std::abs(bin.confidence - bin.accuracy);
  }
  if (result.tasks > 0) result.log_loss /= static_cast<double>(result.tasks);
}

// Every coefficient has this form; they differ in their expected agreement. Where chance alone agrees
// always, as with one class, there is nothing beyond it.
double beyond_chance(double observed, double expected) {
  return expected >= 1 ? kUndefined : (observed - expected) / (1 - expected);
}

// Lists with known maximal lengths, in one flat array.
template <class T>
class FlatLists {
 public:
  explicit FlatLists(const std::vector<std::uint64_t>& capacities) {
    std::uint64_t begin = 0;
    for (const std::uint64_t capacity : capacities) {
      begins_.push_back(begin);
      begin += capacity;
    }
    ends_ = begins_;
    items_.resize(begin);
  }

  std::span<T> operator[](std::size_t list) {
    return {items_.data() + begins_[list], static_cast<std::size_t>(ends_[list] - begins_[list])};
  }
  void push_back(std::size_t list, const T& item) { items_[ends_[list]++] = item; }

 private:
  std::vector<std::uint64_t> begins_;
  std::vector<std::uint64_t> ends_;
  std::vector<T> items_;
};

struct LabelOfTask {
  TaskId task;
  ClassId label;
};

struct LabelOfWorker {
  WorkerId worker;
  ClassId label;
};

// One worker's label and another's, on the same task.
struct Encounter {
  WorkerId other;
  ClassId own_label;
  ClassId other_label;
};

// Each worker's labels by task, the last one where there are several. Tasks with a single
// label are left out: no two workers meet there.
FlatLists<LabelOfTask> last_labels_by_worker(const Labels& labels) {
  std::vector<std::uint64_t> counts(labels.num_workers());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    if (task.size() < 2) continue;
    for (const WorkerId w : task.workers) ++counts[w];
  }

  FlatLists<LabelOfTask> lists(counts);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    if (task.size() < 2) continue;
    for (std::size_t j = 0; j < task.size(); ++j) {
      const auto list = lists[task.workers[j]];
      if (!list.empty() && list.back().task == t) {
        list.back().label = task.classes[j];
      } else {
        lists.push_back(task.workers[j], {t, task.classes[j]});
      }
    }
  }
  return lists;
}

// Cohen's kappa of one pair of workers. `counts` is scratch, by class: zero before and after.
double cohen_kappa(std::span<const Encounter> encounters, std::vector<std::uint32_t>& counts) {
  std::uint64_t agreeing = 0;
  for (const Encounter& e : encounters) {
    agreeing += e.own_label == e.other_label ? 1 : 0;
    ++counts[e.own_label];
  }
  // The product of the two workers' class counts, summed over the classes.
  std::uint64_t agreeing_by_chance = 0;
  for (const Encounter& e : encounters) agreeing_by_chance += counts[e.other_label];
  for (const Encounter& e : encounters) counts[e.own_label] = 0;

  const auto n = static_cast<double>(encounters.size());
  return beyond_chance(static_cast<double>(agreeing) / n,
                       static_cast<double>(agreeing_by_chance) / (n * n));
}

struct PairwiseKappa {
  double mean = kUndefined;
  std::uint64_t pairs = 0;
};

// Workers enter one after the other and meet those who entered before on every common task. So
// each pair is complete once its later worker has been handled, and only one worker's encounters
// are held at a time: memory O(labels), time O(sum of squared labels per task), up to a logarithm.
PairwiseKappa pairwise_kappa(const Labels& labels) {
  FlatLists<LabelOfTask> labels_of = last_labels_by_worker(labels);
  std::vector<std::uint64_t> sizes;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) sizes.push_back(labels.task(t).size());
  FlatLists<LabelOfWorker> entered(sizes);

  PairwiseKappa result;
  double weighted_sum = 0;
  std::uint64_t weight = 0;
  std::vector<Encounter> encounters;
  std::vector<std::uint32_t> counts(labels.num_classes());
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    encounters.clear();
    for (const LabelOfTask& own : labels_of[w]) {
      for (const LabelOfWorker& other : entered[own.task]) {
        encounters.push_back({other.worker, own.label, other.label});
      }
      entered.push_back(own.task, {w, own.label});
    }

    std::ranges::sort(encounters, {}, &Encounter::other);
    for (auto begin = encounters.begin(); begin != encounters.end();) {
      const auto end = std::find_if(begin, encounters.end(),
                                    [&](const Encounter& e) { return e.other != begin->other; });
      if (++result.pairs > kMaxWorkerPairs) return {};
      const std::span<const Encounter> common(begin, end);
      const double kappa = cohen_kappa(common, counts);
      begin = end;
      if (std::isnan(kappa)) continue;  // both gave one class alone
      weighted_sum += static_cast<double>(common.size()) * kappa;
      weight += common.size();
    }
  }
  if (weight > 0) result.mean = weighted_sum / static_cast<double>(weight);
  return result;
}

}  // namespace

Evaluation evaluate(std::span<const ClassId> estimates, std::span<const ClassId> truths,
                    std::uint32_t num_classes, std::span<const double> confidence,
                    std::span<const double> posterior) {
  check_length("estimates", estimates.size(), truths.size());
  if (!confidence.empty()) check_length("confidences", confidence.size(), truths.size());
  if (!posterior.empty())
    check_length("posterior values", posterior.size(), truths.size() * num_classes);
  check_classes("estimates", estimates, num_classes);
  check_classes("truths", truths, num_classes);

  const Claims claims{estimates, confidence, posterior, num_classes};
  Evaluation result;
  score_estimates(claims, truths, result);
  if (claims.have_confidence()) score_confidence(claims, truths, result);
  return result;
}

Agreement agreement(const Labels& labels) {
  Agreement result;
  double share_sum = 0;     // of agreeing pairs, over tasks
  double weighted_sum = 0;  // the same, each task weighted by its labels
  double squared_labels = 0;
  std::vector<std::uint64_t> totals(labels.num_classes());
  std::vector<std::uint64_t> counts(labels.num_classes());  // of one task
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    if (task.size() < 2) continue;
    const auto n = static_cast<double>(task.size());

    std::uint64_t agreeing_pairs = 0;  // each label agrees with those of its class before it
    for (const ClassId k : task.classes) agreeing_pairs += counts[k]++;
    for (const ClassId k : task.classes) {
      counts[k] = 0;
      ++totals[k];
    }
    const double share = 2 * static_cast<double>(agreeing_pairs) / (n * (n - 1));

    ++result.tasks;
    result.labels += task.size();
    share_sum += share;
    weighted_sum += n * share;
    squared_labels += n * n;
  }
  if (result.tasks == 0) {
    result.percent = result.cohen_kappa = result.fleiss_kappa = result.krippendorff_alpha = kUndefined;
    return result;
  }

  // Chance draws two labels: Fleiss puts the first one back, Krippendorff does not.
  const auto n = static_cast<double>(result.labels);
  double expected_with_return = 0;
  double expected_without_return = 0;
  for (const std::uint64_t total : totals) {
    const auto count = static_cast<double>(total);
    expected_with_return += count / n * (count / n);
    expected_without_return += count / n * ((count - 1) / (n - 1));
  }
  result.percent = share_sum / static_cast<double>(result.tasks);
  result.fleiss_kappa = beyond_chance(result.percent, expected_with_return);
  // The diagonal of the coincidence matrix sums to weighted_sum, its marginals are the totals.
  result.krippendorff_alpha = beyond_chance(weighted_sum / n, expected_without_return);

  const PairwiseKappa cohen =
      squared_labels > kMaxSquaredLabels ? PairwiseKappa{} : pairwise_kappa(labels);
  result.cohen_kappa = cohen.mean;
  result.worker_pairs = cohen.pairs;
  return result;
}

WorkerHits count_hits(const Labels& labels, std::span<const ClassId> truths) {
  check_length("truths", truths.size(), labels.num_tasks());
  WorkerHits hits{std::vector<std::uint64_t>(labels.num_workers()),
                  std::vector<std::uint64_t>(labels.num_workers())};
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (truths[t] == kNoClass) continue;
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      hits.right[task.workers[j]] += task.classes[j] == truths[t] ? 1 : 0;
      ++hits.labels[task.workers[j]];
    }
  }
  return hits;
}

std::uint64_t count_tasks_of_only(const Labels& labels, std::span<const bool> marked) {
  check_length("marks", marked.size(), labels.num_workers());
  std::uint64_t count = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const std::span<const WorkerId> workers = labels.task(t).workers;
    const auto is_marked = [&](WorkerId w) { return marked[w]; };
    count += !workers.empty() && std::all_of(workers.begin(), workers.end(), is_marked) ? 1 : 0;
  }
  return count;
}

}  // namespace crowdfold
