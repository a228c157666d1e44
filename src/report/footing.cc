// Whether the labels show anything at all about the answers.
#include <algorithm>
#include <map>
#include <utility>

#include "report/parts.h"

namespace crowdfold {
namespace {

// Guesses are taken for knowledge in less than 1 of 20 crowds: 1 of 40 by the evidence, and about as
// many by agreement, whose standard errors have few degrees of freedom where tasks are few.
constexpr double kOddsAgainstGuesses = 3.6888794541139363;  // log 40
constexpr double kErrorsAgainstGuesses = 2.33;

// Whether too few of the tasks that would be settled are right.
bool truths_contradict(const ReportInput& input) {
  std::uint64_t known = 0;
  std::uint64_t right = 0;
  for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
    const ClassId truth = input.truth(t);
    if (truth == kNoClass || input.undecided[t] || !(input.result.certainty(t) >= input.options.settled))
      continue;
    ++known;
    right += input.result.estimate[t] == truth ? 1 : 0;
  }
  return share_interval(right, known).upper < input.settled_confidence;
}

// How often a worker's labels were as truths and other people have them.
struct Standing {
  std::uint64_t agreed = 0;
  std::uint64_t compared = 0;

  void add(bool agrees) {
    agreed += agrees ? 1 : 0;
    ++compared;
  }
  Standing without(const Standing& other) const {
    return {agreed - other.agreed, compared - other.compared};
  }
};

// Whether one is better than the other for all that is known, beyond chance.
bool is_better(const Standing& a, const Standing& b) {
  if (a.compared == 0 || b.compared == 0) return false;
  const auto share = [](const Standing& s) {
    return static_cast<double>(s.agreed) / static_cast<double>(s.compared);
  };
  return share_interval(a.agreed, a.compared).lower > share(b) &&
         share_interval(b.agreed, b.compared).upper < share(a);
}

// The class that more of the others than any other class name; kNoClass if there is none, or fewer than
// two others.
ClassId majority_without(const TaskLabels& task, std::size_t left_out,
                         std::vector<std::uint32_t>& counts) {
  ClassId best = kNoClass;
  bool tied = false;
  for (std::size_t j = 0; j < task.size(); ++j) counts[task.classes[j]] += j == left_out ? 0 : 1;
  for (std::size_t j = 0; j < task.size(); ++j) {
    const ClassId c = task.classes[j];
    if (j == left_out || c == best) continue;
    if (best == kNoClass || counts[c] > counts[best]) {
      best = c;
      tied = false;
    } else if (counts[c] == counts[best]) {
      tied = true;
    }
  }
  for (const ClassId c : task.classes) counts[c] = 0;
  return tied ? kNoClass : best;
}

}  // namespace

std::vector<bool> undecided_tasks(const Labels& labels, std::span<const ClassId> truths) {
  constexpr std::size_t kMostCompared = 50;  // labels of a task: enough to know its workers by
  std::vector<Standing> by_worker(labels.num_workers());
  std::map<std::pair<WorkerId, WorkerId>, Standing> of_two;  // where nobody else labelled the task
  std::vector<std::uint32_t> counts(labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    const ClassId truth = t < truths.size() ? truths[t] : kNoClass;
    if (truth != kNoClass) {
      for (std::size_t j = 0; j < task.size(); ++j)
        by_worker[task.workers[j]].add(task.classes[j] == truth);
    } else if (task.size() == 2) {
      const bool agree = task.classes[0] == task.classes[1];
      for (const WorkerId w : task.workers) by_worker[w].add(agree);
      of_two[std::minmax(task.workers[0], task.workers[1])].add(agree);
    } else if (task.size() > 2) {
      for (std::size_t j = 0; j < std::min(task.size(), kMostCompared); ++j) {
        const ClassId others = majority_without(task, j, counts);
        if (others != kNoClass) by_worker[task.workers[j]].add(task.classes[j] == others);
      }
    }
  }
  std::vector<bool> undecided(labels.num_tasks());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    if (task.size() != 2 || task.workers[0] == task.workers[1] || task.classes[0] == task.classes[1])
      continue;
    const auto both = of_two.find(std::minmax(task.workers[0], task.workers[1]));
    const Standing among_them = both == of_two.end() ? Standing() : both->second;
    const Standing first = by_worker[task.workers[0]].without(among_them);
    const Standing second = by_worker[task.workers[1]].without(among_them);
    undecided[t] = !is_better(first, second) && !is_better(second, first);
  }
  return undecided;
}

Footing footing_of(const CrowdHabits& crowd) {
  const auto named =
      std::count_if(crowd.shares.begin(), crowd.shares.end(), [](double share) { return share > 0; });
  if (crowd.common.tasks == 0) return Footing::no_overlap;
  if (named < 2) return Footing::one_class;
  const bool known =
      crowd.common.log_evidence >= kOddsAgainstGuesses || crowd.common.errors >= kErrorsAgainstGuesses;
  return known ? Footing::sound : Footing::no_agreement;
}

Footing footing_of(const Labels& labels) { return footing_of(CrowdHabits(labels)); }

std::string words_of(Footing footing) {
  switch (footing) {
    case Footing::no_overlap:
      return "no task has labels of two workers, so nothing shows how good a worker or an answer is";
    case Footing::one_class:
      return "all labels are the same, so nothing shows whether workers look at the tasks";
    case Footing::no_agreement:
      return "the labels agree no more often than guesses may, so nothing shows that workers know the "
             "answers";
    case Footing::contradicted:
      return "answers are right less often than their confidence promises, by the truths";
    case Footing::sound: break;
  }
  return "";
}

Footing footing_by_truths(const ReportInput& input) {
  std::uint64_t known = 0;
  std::uint64_t right = 0;
  std::vector<std::uint64_t> counts(input.labels.num_classes());
  for (TaskId t = 0; t < input.labels.num_tasks(); ++t) {
    const ClassId truth = input.truth(t);
    if (truth == kNoClass) continue;
    ++known;
    ++counts[truth];
    right += input.result.estimate[t] == truth ? 1 : 0;
  }
  if (known == 0) return input.footing;
  const double by_one_class =
      static_cast<double>(*std::max_element(counts.begin(), counts.end())) / static_cast<double>(known);
  const bool shown = share_interval(right, known).lower > by_one_class;
  const Footing footing =
      input.footing == Footing::no_agreement && shown ? Footing::sound : input.footing;
  return truths_contradict(input) ? Footing::contradicted : footing;
}

}  // namespace crowdfold
