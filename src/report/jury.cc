#include "crowdfold/jury.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "report/jury_parts.h"
#include "report/words.h"

namespace crowdfold {

Bounded share_with_interval(double part, double whole) {
  if (whole <= 0) return {};
  Interval interval = BetaQuality{part + 0.5, whole - part + 0.5}.credible_interval();
  if (part == 0) interval.lower = 0;  // else the share would lie outside
  if (part == whole) interval.upper = 1;
  return {part / whole, interval};
}

// D. G. Bonett, R. M. Price: Adjusted Wald Confidence Interval for a Difference of Binomial Proportions
// Based on Paired Data. Journal of Educational and Behavioral Statistics 37, 2012.
Bounded paired_difference(double more, double less, double tasks) {
  if (tasks <= 0) return {};
  const double up = (more + 1) / (tasks + 2);
  const double down = (less + 1) / (tasks + 2);
  const double middle = up - down;
  const double reach = kNormal95 * std::sqrt((up + down - middle * middle) / (tasks + 2));
  return {(more - less) / tasks, {std::max(-1.0, middle - reach), std::min(1.0, middle + reach)}};
}

double two_sided_p(double z) { return std::erfc(std::abs(z) / std::sqrt(2.0)); }

std::vector<bool> fallen(std::span<const double> p_values) {
  constexpr double kLevel = 0.05;
  std::vector<std::size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p_values[a] < p_values[b]; });
  std::vector<bool> result(p_values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (p_values[order[i]] > kLevel / static_cast<double>(order.size() - i)) break;
    result[order[i]] = true;
  }
  return result;
}

std::vector<ClassId> votes_by_task(const WorkerLabels& given, TaskId tasks) {
  std::vector<ClassId> votes(tasks, kNoClass);
  for (std::size_t j = 0; j < given.size(); ++j) votes[given.tasks[j]] = given.classes[j];
  return votes;
}

namespace {

constexpr std::uint32_t kMostJudges = 200;         // pairs are judges squared
constexpr double kFewestOfAll = 0.5;               // share of labels that a jury gives, of all it could
constexpr std::uint32_t kFewestWithoutTruths = 4;  // of three, any agreement fits qualities
constexpr std::uint32_t kMostClassesToEstimate = 30;
constexpr double kNoShare = 1e-4;  // of a class: left out
constexpr std::size_t kMostNamed = 3;

RightAnswers right_answers_of(const Labels& labels, std::span<const ClassId> truths) {
  RightAnswers reference;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (truths[t] != kNoClass && labels.task(t).size() > 0) reference.add(truths[t], 1);
    reference.end_task();
  }
  return reference;
}

// By Dawid-Skene: where judges err independently, its expected agreement is theirs. A method that is
// softened, or has a prior, would make independent judges look like kin.
RightAnswers estimated_answers(const Labels& labels, const RunContext& context) {
  RunContext with_posterior = context;
  with_posterior.posterior = true;
  with_posterior.confusion = false;
  const Result result = aggregate(labels, "ds", {}, {}, with_posterior);
  const std::size_t classes = labels.num_classes();
  RightAnswers reference;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (labels.task(t).size() > 0) {
      double sum = 0;
      for (std::size_t k = 0; k < classes; ++k) {
        const double share = result.posterior[t * classes + k];
        if (share >= kNoShare) sum += share;
      }
      for (std::size_t k = 0; k < classes; ++k) {
        const double share = result.posterior[t * classes + k];
        if (share >= kNoShare) reference.add(static_cast<ClassId>(k), share / sum);
      }
    }
    reference.end_task();
  }
  return reference;
}

// Of the judges besides these. With the versions' own votes among them, whichever weighs more would look
// better. None if there are hardly any others.
RightAnswers answers_of_others(const Labels& labels, std::span<const std::uint32_t> judges,
                               const JuryOptions& options, const RunContext& context) {
  constexpr std::size_t kFewestOthers = 3;
  std::vector<bool> is_member(labels.num_workers(), true);
  for (const std::uint32_t judge : judges) is_member[judge] = false;
  const Labels others = labels_of(labels, is_member);
  if (labels.num_workers() < judges.size() + kFewestOthers)
    return right_answers_of(others, std::vector<ClassId>(labels.num_tasks(), kNoClass));
  const Result result = aggregate(others, options.method, options.settings, {}, context);
  return right_answers_of(others, result.estimate);
}

// By truths.
void measure_quality(const WorkerLabels& given, std::span<const ClassId> truths, std::uint32_t classes,
                     JudgeSummary& judge) {
  struct Count {
    double right = 0;
    double tasks = 0;
  };
  std::vector<Count> by_class(classes);
  Count all;
  for (std::size_t j = 0; j < given.size(); ++j) {
    const ClassId truth = truths[given.tasks[j]];
    if (truth == kNoClass) continue;
    const double right = given.classes[j] == truth ? 1 : 0;
    all.right += right;
    all.tasks += 1;
    by_class[truth].right += right;
    by_class[truth].tasks += 1;
  }
  judge.quality = share_with_interval(all.right, all.tasks);
  for (std::uint32_t k = 0; k < classes; ++k) {
    if (by_class[k].tasks > 0)
      judge.by_class.push_back({static_cast<ClassId>(k), static_cast<std::uint64_t>(by_class[k].tasks),
                                share_with_interval(by_class[k].right, by_class[k].tasks)});
  }
}

// The class that each judge names too often: mean of [x = k] - share of k over the judge's tasks. All
// judges and classes are considered together.
void find_leanings(const Labels& labels, const WorkerMajor& by_judge, const RightAnswers& reference,
                   std::vector<JudgeSummary>& judges) {
  const std::uint32_t classes = labels.num_classes();
  std::vector<double> p_values;
  std::vector<Bounded> leanings;
  for (const JudgeSummary& judge : judges) {
    std::vector<double> sum(classes);
    std::vector<double> squares(classes);
    double tasks = 0;
    const WorkerLabels given = by_judge.worker(judge.worker);
    for (std::size_t j = 0; j < given.size(); ++j) {
      const TaskId t = given.tasks[j];
      if (!reference.covers(t)) continue;
      tasks += 1;
      const double own = reference.share_of(t, given.classes[j]);
      sum[given.classes[j]] += 1 - own;
      squares[given.classes[j]] += (1 - own) * (1 - own);
      for (std::uint64_t s = reference.offsets[t]; s < reference.offsets[t + 1ULL]; ++s) {
        if (reference.classes[s] == given.classes[j]) continue;
        sum[reference.classes[s]] -= reference.shares[s];
        squares[reference.classes[s]] += reference.shares[s] * reference.shares[s];
      }
    }
    for (std::uint32_t k = 0; k < classes; ++k) {
      const double mean = tasks > 0 ? sum[k] / tasks : 0;
      const double spread = tasks > 0 ? squares[k] / tasks - mean * mean : 0;
      const double error = std::sqrt(std::max(spread, 0.0) / std::max(tasks, 1.0));
      const bool can_tell = tasks >= static_cast<double>(kFewestJudgedTasks) && mean > 0;
      p_values.push_back(!can_tell ? 1 : error > 0 ? two_sided_p(mean / error) : 0);
      leanings.push_back({mean, {mean - kNormal95 * error, mean + kNormal95 * error}});
    }
  }
  const std::vector<bool> marks = fallen(p_values);
  for (std::size_t i = 0; i < judges.size(); ++i) {
    for (std::uint32_t k = 0; k < classes; ++k) {
      const std::size_t place = i * classes + k;
      if (!marks[place] ||
          (judges[i].leans_to != kNoClass && leanings[place].value <= judges[i].leaning.value))
        continue;
      judges[i].leans_to = static_cast<ClassId>(k);
      judges[i].leaning = leanings[place];
    }
  }
}

std::vector<JudgeSummary> introduce_judges(const Labels& labels, const WorkerMajor& by_judge,
                                           const Orders& orders, Jury& jury) {
  std::vector<JudgeSummary> judges(labels.num_workers());
  std::vector<bool> is_used(jury.options.families.size());
  std::vector<std::string> without_family;
  for (WorkerId w = 0; w < judges.size(); ++w) {
    JudgeSummary& judge = judges[w];
    judge.worker = w;
    std::tie(judge.model, judge.version) = split_version(labels.workers()[w]);
    judge.votes = by_judge.worker(w).size();
    judge.missing = jury.tasks - std::min(jury.tasks, judge.votes);
    judge.is_regular = judge.votes > 0 && judge.votes >= judge.missing;
    const std::size_t row = family_of(labels.workers()[w], orders, jury.options.families);
    if (row < is_used.size()) {
      is_used[row] = true;
      judge.family = jury.options.families[row].family;
      judge.cost = jury.options.families[row].cost;
    } else {
      without_family.emplace_back(labels.workers()[w]);
    }
  }
  if (jury.options.families.empty()) return judges;
  if (!without_family.empty())
    jury.notes.push_back(fmt::format("no family, and a cost of 1, for {}: the families do not name {}",
                                     listing(without_family, kMostNamed),
                                     without_family.size() == 1 ? "this judge" : "these judges"));
  std::vector<std::string> unused;
  for (std::size_t i = 0; i < is_used.size(); ++i) {
    if (!is_used[i]) unused.push_back(jury.options.families[i].judge);
  }
  if (!unused.empty())
    jury.notes.push_back(fmt::format("the families name {} who gave no label here: {}",
                                     count_noun(unused.size(), "judge"), listing(unused, kMostNamed)));
  return judges;
}

// Numbers of families by judge; -1: none.
std::vector<int> family_numbers(const std::vector<JudgeSummary>& judges) {
  std::map<std::string, int> numbers;
  std::vector<int> family;
  for (const JudgeSummary& judge : judges)
    family.push_back(
        judge.family.empty()
            ? -1
            : numbers.try_emplace(judge.family, static_cast<int>(numbers.size())).first->second);
  return family;
}

void tell_identical(const Labels& labels, Jury& jury) {
  std::vector<std::string> pairs;
  for (const JudgePair& pair : jury.pairs) {
    if (pair.common < kFewestCommonTasks || pair.agreed < pair.common) continue;
    pairs.push_back(fmt::format("{} and {}", labels.workers()[jury.judges[pair.a].worker],
                                labels.workers()[jury.judges[pair.b].worker]));
  }
  if (pairs.empty()) return;
  jury.notes.push_back(fmt::format(
      "always the same answer: {}{}",
      fmt::join(pairs.begin(),
                pairs.begin() + static_cast<std::ptrdiff_t>(std::min(kMostNamed, pairs.size())), "; "),
      pairs.size() > kMostNamed
          ? fmt::format("; and {} more", count_noun(pairs.size() - kMostNamed, "pair"))
          : ""));
}

std::vector<bool> find_regular(const Labels& labels, Jury& jury) {
  std::vector<bool> is_regular;
  std::vector<std::string> others;
  for (const JudgeSummary& judge : jury.judges) {
    is_regular.push_back(judge.is_regular);
    if (judge.votes > 0 && !judge.is_regular) others.emplace_back(labels.workers()[judge.worker]);
  }
  if (!others.empty())
    jury.notes.push_back(
        fmt::format("{} answered less than half of the tasks: not counted in the "
                    "panel's independent votes",
                    listing(others, kMostNamed)));
  return is_regular;
}

// Why nothing can be said of judges together; empty if it can.
std::string why_apart(const Labels& labels, const Jury& jury, std::size_t voters) {
  if (voters < 2) return voters == 0 ? "nobody gave labels" : "only one judge gave labels";
  if (voters > kMostJudges)
    return fmt::format("{} are a crowd, not a jury: pairs and panels are looked at up to {}",
                       count_noun(voters, "worker"), kMostJudges);
  if (labels.num_classes() < 2) return "every label is the same class";
  if (jury.truths > 0 && jury.truths < kFewestJudgedTasks)
    return fmt::format("{} with a truth {} too few to tell whether judges err together",
                       count_noun(jury.truths, "task"), jury.truths == 1 ? "is" : "are");
  if (jury.truths == 0 && voters < kFewestWithoutTruths)
    return fmt::format("of {} without truths, agreement cannot be told from shared errors",
                       count_noun(voters, "judge"));
  if (jury.truths == 0 && jury.tasks < kFewestJudgedTasks)
    return fmt::format("{} too few to tell whether judges err together",
                       count_noun(jury.tasks, "task", "is", "are"));
  if (jury.truths == 0 && labels.num_classes() > kMostClassesToEstimate)
    return fmt::format("of {} without truths, shared errors cannot be told",
                       count_noun(labels.num_classes(), "class"));
  return "";
}

}  // namespace

bool is_jury(const Labels& labels) {
  constexpr std::uint32_t kFewest = 3;
  constexpr std::uint32_t kMost = 50;
  constexpr double kNearlyAll = 0.8;
  const double could = static_cast<double>(labels.num_workers()) * labels.num_tasks();
  return labels.num_workers() >= kFewest && labels.num_workers() <= kMost && labels.num_classes() > 1 &&
         labels.num_tasks() >= kFewestJudgedTasks &&
         static_cast<double>(labels.num_labels()) >= kNearlyAll * could;
}

Jury make_jury(const Labels& given, std::span<const ClassId> truths, const JuryOptions& options,
               const RunContext& context) {
  const Labels labels = keep_last_labels(given);
  if (!(options.may_lose >= 0 && options.may_lose <= 1))
    throw Error(ErrorCode::usage, "what a panel may lose is a share: 0 to 1");
  Jury jury;
  jury.options = options;
  jury.labels = labels.num_labels();
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (labels.task(t).size() == 0) continue;
    ++jury.tasks;
    jury.truths += t < truths.size() && truths[t] != kNoClass ? 1 : 0;
  }
  const bool has_truths = jury.truths > 0;
  const WorkerMajor by_judge(labels, context.threads);
  const Orders orders = find_orders(labels, options);
  jury.judges = introduce_judges(labels, by_judge, orders, jury);
  const auto voters =
      static_cast<std::size_t>(std::count_if(jury.judges.begin(), jury.judges.end(),
                                             [](const JudgeSummary& judge) { return judge.votes > 0; }));
  jury.density = voters == 0 || jury.tasks == 0
                     ? 0
                     : static_cast<double>(jury.labels) /
                           (static_cast<double>(voters) * static_cast<double>(jury.tasks));

  context.report("judging", 0, 0);
  const Result whole = aggregate(labels, options.method, options.settings, {}, context);
  double confidence = 0;
  double right = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (whole.estimate[t] == kNoClass) continue;
    confidence += whole.confidence[t];
    right += has_truths && truths[t] == whole.estimate[t] ? 1 : 0;
  }
  if (jury.tasks > 0) jury.confidence = confidence / static_cast<double>(jury.tasks);
  if (has_truths) jury.accuracy = share_with_interval(right, static_cast<double>(jury.truths));
  for (JudgeSummary& judge : jury.judges) {
    if (judge.votes == 0) continue;
    if (has_truths) {
      measure_quality(by_judge.worker(judge.worker), truths, labels.num_classes(), judge);
    } else {
      const BetaQuality quality = whole.learned.quality(judge.worker);
      judge.quality = {quality.mean(), quality.credible_interval()};
    }
  }

  jury.positions = compare_orders(labels, by_judge, orders, options, jury.notes);
  jury.untold = why_apart(labels, jury, voters);
  if (!jury.untold.empty()) return jury;
  const RightAnswers reference =
      has_truths ? right_answers_of(labels, truths) : estimated_answers(labels, context);
  find_leanings(labels, by_judge, reference, jury.judges);
  jury.versions =
      compare_versions(labels, by_judge, jury.judges, [&](std::span<const std::uint32_t> versions) {
        return has_truths ? reference : answers_of_others(labels, versions, options, context);
      });
  const ReferredVotes votes = refer(labels, reference, has_truths);
  jury.by_class = votes.by_class;
  if (votes.judges > 0 && votes.strata > 0) {
    PairedJudges paired = pair_judges(votes, family_numbers(jury.judges));
    jury.pairs = std::move(paired.pairs);
    jury.all = paired.all;
    if (!options.families.empty()) {
      jury.within = paired.within;
      jury.between = paired.between;
    }
    if (jury.by_class) {
      tell_identical(labels, jury);
    } else {
      jury.notes.emplace_back(
          "too few tasks per class: errors are compared as right and wrong, whatever "
          "the wrong answer");
    }
  } else {
    jury.notes.emplace_back(
        "too few tasks per class to tell without truths whether judges err together");
  }
  if (jury.all.pairs == 0 && !jury.pairs.empty())
    jury.notes.push_back(
        fmt::format("no two judges share {} tasks: how they agree cannot be told", kFewestCommonTasks));
  if (jury.density < kFewestOfAll) {
    jury.untold =
        fmt::format("they answered {} of what they could, and in a jury all answer nearly everything",
                    percent(jury.density));
    return jury;
  }
  if (jury.all.pairs > 0) {
    const std::vector<bool> is_regular = find_regular(labels, jury);
    const IndependentVotes independent = count_independent_votes(
        refer(labels_of(labels, is_regular), reference, has_truths), options.resamples, context);
    jury.independent_votes = independent.whole;
    for (std::size_t i = 0; i < jury.judges.size(); ++i)
      jury.judges[i].votes_without = independent.without[i];
    if (std::count(is_regular.begin(), is_regular.end(), true) < 2) {
      jury.notes.emplace_back("fewer than two judges answered half of the tasks: no panel");
    } else if (!independent.whole.is_told()) {
      jury.notes.emplace_back(
          has_truths ? "the judges hardly ever err: whether they err together cannot be told"
                     : "the judges hardly ever differ: whether all are right or all err together, only "
                       "truths can tell");
    }
  }
  std::vector<double> costs;
  for (const JudgeSummary& judge : jury.judges) costs.push_back(judge.cost);
  const PanelInput input{labels, has_truths ? truths : std::span<const ClassId>{}, whole, options,
                         costs};
  if (options.panels) {
    if (!leave_out_each(input, jury.judges, context))
      jury.notes.emplace_back("the panel is not judged without each judge: that would take too long");
    jury.panels = find_panels(input, context);
    if (jury.panels.empty())
      jury.notes.emplace_back("too few tasks to compare cheaper panels with the whole one");
  }
  return jury;
}

}  // namespace crowdfold
