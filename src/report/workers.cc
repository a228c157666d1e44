// Which workers to look at. A worker's labels are compared with what the others make of the same tasks,
// without the worker's own label. measure/evidence.h has the model and the tests.
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

// Workers named wrongly in a report, on average, at most: .05 in all.
constexpr double kNamedRandom = 0.02;
constexpr double kNamedAdversary = 0.02;
constexpr double kNamedWorse = 0.01;
constexpr double kOddsOfUseful = 2.9957322735539909;  // log 20; nobody is hurt by it, so for each alone
constexpr double kDoubt = 0.05;                       // errors that all others share
constexpr double kMostKnowledge = 0.98;

// What the others make of the task of one label.
struct Others {
  ClassId vote = kNoClass;  // the class that wins among them; kNoClass if none or two do
  float believed = 0;       // the probability of the label's class
  bool heard = false;       // whether there is a truth or another worker
  bool known = false;       // whether there is a truth
};

// Every worker's knowledge, which their quality stands for, as far as the agreement of the crowd bears
// it out: methods that see a worker's own label in the answers think too well of small crowds.
std::vector<double> knowledge_of(const ReportInput& input) {
  const Labels& labels = input.labels;
  std::vector<double> chance(labels.num_workers());
  std::vector<double> given(labels.num_workers());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      chance[task.workers[j]] += input.crowd.shares[task.classes[j]];
      given[task.workers[j]] += 1;
    }
  }
  std::vector<double> knowledge(labels.num_workers());
  double sum = 0;
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    if (given[w] == 0 || chance[w] >= given[w]) continue;
    const double guess = chance[w] / given[w];
    const double quality = input.result.learned.quality(w).mean();
    knowledge[w] = std::clamp((quality - guess) / (1 - guess), 0.0, kMostKnowledge);
    sum += given[w] * knowledge[w];
  }
  const double mean = sum / static_cast<double>(std::max<std::uint64_t>(1, labels.num_labels()));
  if (mean <= input.crowd.common.knowledge) return knowledge;
  for (double& share : knowledge) share *= input.crowd.common.knowledge / mean;
  return knowledge;
}

// What all labels of a task but those of one worker say. A task has few classes, so their sums are a
// short list.
class OthersOnTask {
 public:
  // `boosts`: by label, log of how much likelier it is if it is right.
  OthersOnTask(const ReportInput& input, TaskId t, std::span<const double> log_odds,
               std::span<const double> boosts)
      : input_(input), task_(input.labels.task(t)), log_odds_(log_odds), boosts_(boosts) {
    repeats_ = input.labels.rows().duplicates > 0;
    for (std::size_t j = 0; j < task_.size(); ++j) add(j, 1);
  }

  Others without(std::size_t place) {
    for_own(place, -1);
    Others others{winner(), static_cast<float>(belief_in(task_.classes[place])), labels_ > 0};
    for_own(place, 1);
    return others;
  }

 private:
  static constexpr double kSlack = 1e-9;  // sums in another order differ by less
  struct Sum {
    ClassId label;
    std::int64_t labels = 0;
    double weight = 0;  // for the vote
    double boost = 0;   // for the belief
  };

  void for_own(std::size_t place, int sign) {
    if (!repeats_) return add(place, sign);
    for (std::size_t j = 0; j < task_.size(); ++j) {
      if (task_.workers[j] == task_.workers[place]) add(j, sign);
    }
  }

  void add(std::size_t place, int sign) {
    const ClassId label = task_.classes[place];
    auto sum = std::find_if(sums_.begin(), sums_.end(), [&](const Sum& s) { return s.label == label; });
    if (sum == sums_.end()) sum = sums_.insert(sums_.end(), Sum{label});
    sum->labels += sign;
    sum->weight += sign * log_odds_[task_.workers[place]];
    sum->boost += sign * boosts_[place];
    labels_ += sign;
  }

  ClassId winner() const {
    ClassId best = kNoClass;
    double most = 0;  // the weight of a class without labels
    bool tie = false;
    for (const Sum& sum : sums_) {
      if (sum.labels == 0) continue;
      if (sum.weight > most + kSlack) {
        best = sum.label;
        most = sum.weight;
        tie = false;
      } else if (best != kNoClass && sum.weight > most - kSlack) {
        tie = true;
      }
    }
    return tie ? kNoClass : best;
  }

  double belief_in(ClassId label) const {
    double most = 0;
    for (const Sum& sum : sums_) most = std::max(most, sum.labels > 0 ? sum.boost : 0);
    double all = std::exp(-most);  // of classes that nobody names: their share, times this
    double own = input_.crowd.shares[label] * std::exp(-most);
    for (const Sum& sum : sums_) {
      if (sum.labels == 0) continue;
      const double share = input_.crowd.shares[sum.label];
      all += share * (std::exp(sum.boost - most) - std::exp(-most));
      if (sum.label == label) own = share * std::exp(sum.boost - most);
    }
    return (1 - kDoubt) * own / all + kDoubt * input_.crowd.shares[label];
  }

  const ReportInput& input_;
  TaskLabels task_;
  std::span<const double> log_odds_;
  std::span<const double> boosts_;
  bool repeats_ = false;
  std::vector<Sum> sums_;
  std::int64_t labels_ = 0;
};

// By worker, in the order of WorkerMajor.
std::vector<std::vector<Others>> hear_others(const ReportInput& input,
                                             std::span<const double> log_odds) {
  const Labels& labels = input.labels;
  const std::vector<double> knowledge = knowledge_of(input);
  std::vector<std::vector<Others>> heard(labels.num_workers());
  std::vector<double> boosts;
  std::size_t first = 0;  // of the task's labels
  for (TaskId t = 0; t < labels.num_tasks(); first += labels.task(t++).size()) {
    const TaskLabels task = labels.task(t);
    const ClassId truth = input.truth(t);
    boosts.clear();
    for (std::size_t j = 0; j < task.size(); ++j) {
      const double s = knowledge[task.workers[j]];
      boosts.push_back(std::log1p(s / ((1 - s) * static_cast<double>(input.crowd.habits[first + j]))));
    }
    OthersOnTask others(input, t, log_odds, boosts);
    for (std::size_t j = 0; j < task.size(); ++j) {
      const bool right = task.classes[j] == truth;
      heard[task.workers[j]].push_back(
          truth == kNoClass ? others.without(j) : Others{truth, right ? 1.0F : 0.0F, true, true});
    }
  }
  return heard;
}

// The number of workers to divide by: those who could be named at all. Labels that all speak for a guess
// are evidence of -log(1 - kLittleKnowledge) each, so a worker with too few of them is never named and
// costs the others nothing (Tarone, Biometrics 46, 1990).
struct Bar {
  double workers = 1;
  double fewest_labels = 0;
};
Bar bar_for(std::vector<double> labels_heard) {
  std::sort(labels_heard.begin(), labels_heard.end(), std::greater<>());
  Bar bar;
  for (std::size_t k = 1;; ++k) {
    bar.workers = static_cast<double>(k);
    bar.fewest_labels = std::log(bar.workers / kNamedRandom) / -std::log(1 - kLittleKnowledge);
    if (k >= labels_heard.size() || labels_heard[k] < bar.fewest_labels) return bar;
  }
}

// One worker at a time, by one thread.
class WorkerReviewer {
 public:
  WorkerReviewer(const ReportInput& input, std::span<const double> truth_shares, const Bar& bar)
      : input_(input), truth_shares_(truth_shares), bar_(bar), counts_(input.labels.num_classes()) {}

  void review(const WorkerLabels& given, std::span<const Others> heard, ReportedWorker& worker) {
    for (const ClassId said : given.classes) ++counts_[said];
    compare(given, heard, worker);
    for (const ClassId said : given.classes) counts_[said] = 0;
    worker.mark = mark();
    look_for_decline(worker);
  }

 private:
  double habit(ClassId c, std::size_t labels) const {
    return static_cast<double>(counts_[c]) / static_cast<double>(labels);
  }

  void compare(const WorkerLabels& given, std::span<const Others> heard, ReportedWorker& worker) {
    comparisons_.clear();
    usual_.clear();
    said_.clear();
    votes_.clear();
    for (std::size_t j = 0; j < given.size(); ++j) {
      if (!heard[j].heard) continue;
      const ClassId said = given.classes[j];
      const ClassId vote = heard[j].vote;
      Comparison comparison{heard[j].believed, habit(said, given.size())};
      if (vote != kNoClass) {
        comparison.agreed = said == vote;
        comparison.by_chance = habit(vote, given.size());
        worker.by_chance += comparison.by_chance;
        votes_.push_back(vote);
        said_.push_back(said);
      }
      comparisons_.push_back(comparison);
      usual_.push_back(heard[j].known ? truth_shares_[said] : input_.crowd.shares[said]);
    }
    worker.compared = said_.size();
    for (std::size_t j = 0; j < said_.size(); ++j) worker.agreed += said_[j] == votes_[j] ? 1 : 0;
  }

  WorkerMark mark() {
    if (input_.footing != Footing::sound && input_.footing != Footing::contradicted &&
        input_.truths.empty())
      return WorkerMark::unsure;
    const bool may_be_named = static_cast<double>(comparisons_.size()) >= bar_.fewest_labels;
    if (may_be_named &&
        log_evidence_of_contradiction(comparisons_) >= std::log(bar_.workers / kNamedAdversary))
      return WorkerMark::adversary;
    if (log_evidence_of_knowledge(comparisons_) >= kOddsOfUseful) return WorkerMark::useful;
    const bool guesses = may_be_named && log_evidence_of_guessing(comparisons_, kLittleKnowledge) >=
                                             std::log(bar_.workers / kNamedRandom);
    return guesses && !depends_on_tasks() ? WorkerMark::random : WorkerMark::unsure;
  }

  // In another way than by agreeing: whose labels depend on the tasks may mean other classes by them,
  // and whose labels stand on the right tasks, more often than such tasks are, may leave out the others.
  // Neither answers at random.
  bool depends_on_tasks() {
    if (log_evidence_of_dependence(said_, votes_) > 0) return true;
    for (std::size_t j = 0; j < comparisons_.size(); ++j) comparisons_[j].habit = usual_[j];
    return log_evidence_of_knowledge(comparisons_) >= kOddsOfUseful;
  }

  // By Fisher's exact test of the halves of a worker's time.
  void look_for_decline(ReportedWorker& worker) const {
    worker.early = worker.late = kNone;
    const std::size_t all = said_.size();
    const std::size_t half = all / 2;
    if (half < kEnoughHalf) return;
    std::uint64_t early = 0;
    for (std::size_t j = 0; j < half; ++j) early += said_[j] == votes_[j] ? 1 : 0;
    worker.early = static_cast<double>(early) / static_cast<double>(half);
    worker.late = static_cast<double>(worker.agreed - early) / static_cast<double>(all - half);
    worker.got_worse =
        worker.early - worker.late >= kWorseBy &&
        hypergeometric_tail(early, half, worker.agreed, all) * bar_.workers <= kNamedWorse;
  }

  const ReportInput& input_;
  std::span<const double> truth_shares_;
  const Bar& bar_;
  std::vector<std::uint64_t> counts_;  // of one worker's labels, by class
  std::vector<Comparison> comparisons_;
  std::vector<double> usual_;  // how often tasks have the class of the label that is compared
  std::vector<ClassId> said_;  // where there is a vote
  std::vector<ClassId> votes_;
};

// Of classes among the known truths.
std::vector<double> truth_shares_of(const ReportInput& input) {
  std::vector<double> shares(input.labels.num_classes());
  double known = 0;
  for (const ClassId truth : input.truths) {
    if (truth == kNoClass) continue;
    shares[truth] += 1;
    known += 1;
  }
  for (double& share : shares) share /= std::max(1.0, known);
  return shares;
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
  const std::vector<std::vector<Others>> heard = hear_others(reported, log_odds);
  std::vector<double> labels_heard;
  for (const std::vector<Others>& of_worker : heard) {
    labels_heard.push_back(static_cast<double>(std::count_if(
        of_worker.begin(), of_worker.end(), [](const Others& others) { return others.heard; })));
  }
  const Bar bar = bar_for(std::move(labels_heard));
  const std::vector<double> truth_shares = truth_shares_of(reported);
  std::vector<ReportedWorker> workers(labels.num_workers());
  std::vector<WorkerReviewer> reviewers(static_cast<std::size_t>(std::max(1, threads)),
                                        WorkerReviewer(reported, truth_shares, bar));
  parallel_for(threads, workers.size(), [&](std::size_t w, int thread) {
    const auto id = static_cast<WorkerId>(w);
    workers[w] = describe(reported, id, by_worker.worker(id));
    workers[w].log_odds = log_odds[w];
    reviewers[static_cast<std::size_t>(thread)].review(by_worker.worker(id), heard[w], workers[w]);
  });
  std::erase_if(workers, [](const ReportedWorker& worker) { return worker.labels == 0; });
  std::stable_sort(workers.begin(), workers.end(), [](const ReportedWorker& a, const ReportedWorker& b) {
    return a.interval.lower > b.interval.lower;
  });
  return workers;
}

}  // namespace crowdfold
