// Panels without some of the judges: each judge left out, and cheaper panels.
//
// Panels are looked for by a vote weighted with the method's qualities, which is quick: all subsets of
// few judges; of many, judges are taken off one after another, always the one whose absence costs least.
// What is told of a panel comes from the method itself. The panel that looks best on some tasks looks
// too good there: so the difference from the whole panel is measured on halves of the tasks, by panels
// chosen on the others.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>

#include "base/random.h"
#include "crowdfold/aggregate.h"
#include "report/jury_parts.h"

namespace crowdfold {
namespace {

constexpr double kMostSubsetWork = 1e8;  // subsets times labels
constexpr std::size_t kMostSubsetJudges = 16;
constexpr std::size_t kMostPanels = 16;
constexpr double kLeastWeight = 1e-3;      // of a vote: a panel of one judge has an answer
constexpr double kMostLeaveOutWork = 2e8;  // judges times labels

using Members = std::vector<std::uint32_t>;  // sorted

Result judged_by(const PanelInput& input, const std::vector<bool>& is_member,
                 const RunContext& context) {
  RunContext plain = context;
  plain.posterior = false;
  plain.confusion = false;
  return aggregate(labels_of(input.labels, is_member), input.options.method, input.options.settings, {},
                   plain);
}

std::vector<bool> marked(const Members& members, std::size_t judges) {
  std::vector<bool> is_member(judges);
  for (const std::uint32_t member : members) is_member[member] = true;
  return is_member;
}

double mean_confidence(const Result& result) {
  double sum = 0;
  double tasks = 0;
  for (std::size_t t = 0; t < result.estimate.size(); ++t) {
    if (result.estimate[t] == kNoClass) continue;
    sum += result.confidence[t];
    tasks += 1;
  }
  return tasks > 0 ? sum / tasks : Bounded::kUntold;
}

// What panels are measured by: truths, or the whole panel's answers.
class Yardstick {
 public:
  explicit Yardstick(const PanelInput& input) : whole_(input.whole.estimate) {
    has_truths_ =
        std::any_of(input.truths.begin(), input.truths.end(), [](ClassId c) { return c != kNoClass; });
    for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
      const ClassId right = has_truths_ ? input.truths[t] : whole_[t];
      right_.push_back(input.labels.task(t).size() == 0 ? kNoClass : right);
    }
  }

  bool has_truths() const { return has_truths_; }
  bool covers(TaskId t) const { return right_[t] != kNoClass; }
  ClassId right(TaskId t) const { return right_[t]; }

  struct Tally {
    double tasks = 0;
    double more = 0;  // tasks on which the panel is right and the whole one wrong
    double less = 0;
    double right = 0;
    double same = 0;
  };
  void compare(TaskId t, ClassId said, Tally& tally) const {
    if (!covers(t)) return;
    const bool is_right = said == right_[t];
    const bool was_right = whole_[t] == right_[t];
    tally.tasks += 1;
    tally.more += is_right && !was_right ? 1 : 0;
    tally.less += was_right && !is_right ? 1 : 0;
    tally.right += is_right ? 1 : 0;
  }

 private:
  std::span<const ClassId> whole_;
  std::vector<ClassId> right_;
  bool has_truths_ = false;
};

// A panel that was found on some tasks.
struct Candidate {
  Members members;
  double cost = 0;
  double score = 0;  // tasks that its weighted vote has right
};

// Looks for panels on the tasks of some folds.
class PanelSearch {
 public:
  PanelSearch(const PanelInput& input, const Yardstick& yardstick, std::vector<TaskId> tasks)
      : input_(input), yardstick_(yardstick), tasks_(std::move(tasks)) {
    weigh();
  }

  std::vector<Candidate> candidates() {
    const std::size_t judges = voters_.size();
    double labels = 0;
    for (const TaskId t : tasks_) labels += static_cast<double>(input_.labels.task(t).size());
    const bool few = judges <= kMostSubsetJudges && std::exp2(judges) * labels < kMostSubsetWork;
    return few ? all_subsets() : one_after_another();
  }

 private:
  struct Sum {
    ClassId label;
    double weight;
  };

  // ln(q (K - 1) / (1 - q)), q the quality that the method gives the judge: it judges the panels too.
  void weigh() {
    const std::size_t n = input_.labels.num_workers();
    std::vector<bool> votes(n);
    for (const TaskId t : tasks_) {
      for (const WorkerId w : input_.labels.task(t).workers) votes[w] = true;
    }
    const double others = std::max(1.0, input_.labels.num_classes() - 1.0);
    for (std::uint32_t i = 0; i < n; ++i) {
      const double quality = input_.whole.learned.quality(i).mean();
      weights_.push_back(std::max(kLeastWeight, std::log(quality * others / (1 - quality))));
      if (votes[i]) voters_.push_back(i);
    }
  }

  // The sums of a task's classes, the heaviest first: of equals the one with the smaller id.
  template <class IsMember>
  void vote(TaskId t, const IsMember& is_member) {
    const TaskLabels task = input_.labels.task(t);
    sums_.clear();
    for (std::size_t j = 0; j < task.size(); ++j) {
      if (!is_member(task.workers[j])) continue;
      const auto place = std::find_if(sums_.begin(), sums_.end(),
                                      [&](const Sum& sum) { return sum.label == task.classes[j]; });
      if (place == sums_.end()) {
        sums_.push_back({task.classes[j], weights_[task.workers[j]]});
      } else {
        place->weight += weights_[task.workers[j]];
      }
    }
    std::sort(sums_.begin(), sums_.end(), [](const Sum& a, const Sum& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.label < b.label;
    });
  }

  std::vector<Candidate> all_subsets() {
    std::vector<Candidate> found;
    std::vector<std::uint32_t> bit(input_.labels.num_workers());
    for (std::size_t i = 0; i < voters_.size(); ++i) bit[voters_[i]] = 1U << i;
    for (std::uint32_t set = 1; set < 1U << voters_.size(); ++set) {
      Candidate candidate;
      for (const std::uint32_t i : voters_) {
        if ((set & bit[i]) == 0) continue;
        candidate.members.push_back(i);
        candidate.cost += input_.costs[i];
      }
      for (const TaskId t : tasks_) {
        vote(t, [&](WorkerId w) { return (set & bit[w]) != 0; });
        candidate.score += !sums_.empty() && sums_[0].label == yardstick_.right(t) ? 1 : 0;
      }
      found.push_back(std::move(candidate));
    }
    return found;
  }

  // Every judge alone, which the end of the other list may miss, and what is left of all.
  std::vector<Candidate> one_after_another() {
    std::vector<Candidate> found;
    std::vector<double> right(input_.labels.num_workers());
    for (const TaskId t : tasks_) {
      const TaskLabels task = input_.labels.task(t);
      for (std::size_t j = 0; j < task.size(); ++j)
        right[task.workers[j]] += task.classes[j] == yardstick_.right(t) ? 1 : 0;
    }
    for (const std::uint32_t i : voters_) found.push_back({{i}, input_.costs[i], right[i]});
    Members members = voters_;
    while (members.size() > 1) {
      const std::vector<bool> is_member = marked(members, input_.labels.num_workers());
      std::vector<double> gain(is_member.size());  // of taking the judge off, in tasks
      Candidate candidate{members, 0, 0};
      for (const std::uint32_t i : members) candidate.cost += input_.costs[i];
      for (const TaskId t : tasks_) {
        vote(t, [&](WorkerId w) { return is_member[w]; });
        if (sums_.empty()) continue;
        const bool is_right = sums_[0].label == yardstick_.right(t);
        const Sum second = sums_.size() > 1 ? sums_[1] : Sum{kNoClass, 0};
        const bool would_be = second.label == yardstick_.right(t);
        candidate.score += is_right ? 1 : 0;
        if (is_right == would_be) continue;
        const TaskLabels task = input_.labels.task(t);
        for (std::size_t j = 0; j < task.size(); ++j) {
          const WorkerId w = task.workers[j];
          if (!is_member[w] || task.classes[j] != sums_[0].label) continue;
          const double left = sums_[0].weight - weights_[w];
          const bool falls =
              left < second.weight || (left == second.weight && second.label < sums_[0].label);
          if (falls) gain[w] += would_be ? 1 : -1;
        }
      }
      const std::uint32_t leaves =
          *std::max_element(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
            const auto worth = [&](std::uint32_t i) {
              return gain[i] < 0 ? gain[i] / input_.costs[i] : gain[i];
            };
            if (worth(a) != worth(b)) return worth(a) < worth(b);
            return weights_[a] / input_.costs[a] > weights_[b] / input_.costs[b];
          });
      found.push_back(std::move(candidate));
      std::erase(members, leaves);
    }
    return found;
  }

  const PanelInput& input_;
  const Yardstick& yardstick_;
  std::vector<TaskId> tasks_;
  std::vector<double> weights_;
  Members voters_;
  std::vector<Sum> sums_;
};

constexpr double kCostSlack = 1e-9;  // sums of costs in another order differ by less

// The best panel that costs no more; the cheapest of equals.
const Candidate& best_within(const std::vector<Candidate>& candidates, double cost) {
  const Candidate* best = nullptr;
  const Candidate* cheapest = &candidates.front();
  for (const Candidate& c : candidates) {
    if (c.cost < cheapest->cost) cheapest = &c;
    if (c.cost > cost * (1 + kCostSlack)) continue;
    if (best == nullptr || c.score > best->score ||
        (c.score == best->score && c.cost < best->cost * (1 - kCostSlack)))
      best = &c;
  }
  return best == nullptr ? *cheapest : *best;
}

// The panels to which no other is both cheaper and as good, dearest first, and not too many. Below them
// all sizes down to one judge stay in sight.
std::vector<Candidate> frontier(const std::vector<Candidate>& candidates, double whole_cost) {
  std::vector<double> costs;
  for (const Candidate& c : candidates) {
    if (c.cost < whole_cost * (1 - kCostSlack)) costs.push_back(c.cost);
  }
  std::sort(costs.begin(), costs.end(), std::greater<>());
  std::vector<Candidate> found;
  for (const double cost : costs) {
    const Candidate& best = best_within(candidates, cost);
    if (found.empty() || best.members != found.back().members) found.push_back(best);
  }
  if (found.size() <= kMostPanels) return found;
  // The smallest half of the list as it is; of the others some, evenly.
  std::vector<Candidate> shown;
  const std::size_t kept = kMostPanels / 2;
  const std::size_t dear = found.size() - kept;
  for (std::size_t i = 0; i < kept; ++i) shown.push_back(found[i * dear / kept]);
  shown.insert(shown.end(), found.end() - static_cast<std::ptrdiff_t>(kept), found.end());
  return shown;
}

}  // namespace

Labels labels_of(const Labels& labels, const std::vector<bool>& is_member) {
  LabelNames names{labels.tasks(), labels.workers(), labels.classes()};
  LabelArrays arrays;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      if (!is_member[task.workers[j]]) continue;
      arrays.workers.push_back(task.workers[j]);
      arrays.classes.push_back(task.classes[j]);
    }
    arrays.offsets.push_back(arrays.workers.size());
  }
  return {std::move(names), std::move(arrays), {}};
}

bool leave_out_each(const PanelInput& input, std::vector<JudgeSummary>& judges,
                    const RunContext& context) {
  const Yardstick yardstick(input);
  const double work =
      static_cast<double>(judges.size()) * static_cast<double>(input.labels.num_labels());
  if (judges.size() < 2 || work > kMostLeaveOutWork) return false;
  for (std::size_t i = 0; i < judges.size(); ++i) {
    if (judges[i].votes == 0) continue;
    context.report("leaving out", i, judges.size());
    context.throw_if_cancelled();
    std::vector<bool> is_member(judges.size(), true);
    is_member[i] = false;
    const Result others = judged_by(input, is_member, context);
    Yardstick::Tally tally;
    for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
      judges[i].changed_without += others.estimate[t] != input.whole.estimate[t] ? 1 : 0;
      yardstick.compare(t, others.estimate[t], tally);
    }
    judges[i].confidence_without = mean_confidence(others);
    if (yardstick.has_truths() && tally.tasks > 0)
      judges[i].accuracy_without = paired_difference(tally.more, tally.less, tally.tasks);
  }
  return true;
}

std::vector<Panel> find_panels(const PanelInput& input, const RunContext& context) {
  const Yardstick yardstick(input);
  std::vector<TaskId> halves[2];
  std::vector<TaskId> all;
  for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
    if (!yardstick.covers(t)) continue;
    all.push_back(t);
    halves[pick(context.seed, t, 2)].push_back(t);
  }
  if (halves[0].size() < kFewestCommonTasks || halves[1].size() < kFewestCommonTasks) return {};
  const std::vector<Candidate> candidates = PanelSearch(input, yardstick, all).candidates();
  std::vector<Candidate> on_half[2];
  for (int h = 0; h < 2; ++h) on_half[h] = PanelSearch(input, yardstick, halves[h]).candidates();

  std::map<Members, Result> runs;
  const auto run = [&](const Members& members) -> const Result& {
    const auto [place, is_new] = runs.try_emplace(members);
    if (is_new) {
      context.throw_if_cancelled();
      place->second = judged_by(input, marked(members, input.labels.num_workers()), context);
    }
    return place->second;
  };
  double whole_cost = 0;
  for (const Candidate& c : candidates) whole_cost = std::max(whole_cost, c.cost);
  std::vector<Panel> panels;
  bool as_well = true;
  const std::vector<Candidate> shown = frontier(candidates, whole_cost);
  for (const Candidate& candidate : shown) {
    context.report("panels", panels.size(), shown.size());
    const Result& result = run(candidate.members);
    Panel panel;
    panel.judges = candidate.members;
    panel.cost = candidate.cost / whole_cost;
    panel.confidence = mean_confidence(result);
    Yardstick::Tally tally;
    double same = 0;
    double tasks = 0;
    for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
      yardstick.compare(t, result.estimate[t], tally);
      if (input.whole.estimate[t] == kNoClass) continue;
      tasks += 1;
      same += result.estimate[t] == input.whole.estimate[t] ? 1 : 0;
    }
    panel.same = share_with_interval(same, tasks);
    if (yardstick.has_truths()) panel.accuracy = share_with_interval(tally.right, tally.tasks);
    Yardstick::Tally held_out;
    for (int h = 0; h < 2; ++h) {
      const Result& other = run(best_within(on_half[h], candidate.cost).members);
      for (const TaskId t : halves[1 - h]) yardstick.compare(t, other.estimate[t], held_out);
    }
    panel.difference = paired_difference(held_out.more, held_out.less, held_out.tasks);
    as_well = as_well && panel.difference.interval.lower >= -input.options.may_lose;
    panel.does_as_well = as_well;
    panels.push_back(std::move(panel));
  }
  return panels;
}

}  // namespace crowdfold
