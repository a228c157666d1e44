// What names of judges say: the order in which a judge saw a pair, and the version of a model.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "crowdfold/error.h"
#include "report/jury_parts.h"
#include "report/words.h"

namespace crowdfold {
namespace {

// Not 12 and 21: workers are numbered.
constexpr std::pair<const char*, const char*> kOrderWords[] = {{"ab", "ba"},
                                                               {"original", "swapped"},
                                                               {"normal", "swapped"},
                                                               {"unswapped", "swapped"},
                                                               {"original", "reversed"},
                                                               {"normal", "reversed"},
                                                               {"original", "flipped"},
                                                               {"forward", "reverse"},
                                                               {"forward", "backward"},
                                                               {"fwd", "rev"}};
constexpr std::string_view kSeparators = "/:#_-|. ";
constexpr const char* kTieWords[] = {"tie", "tied", "draw", "equal", "same", "both", "neither"};
// Shares of pairs with the same answer in both orders below which labels may name places.
constexpr double kHardlyEverTheSame = 0.3;

std::string in_upper_case(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return text;
}

// Judges who were asked in both orders, by these endings.
std::size_t count_both(const NameTable& names, const Orders& orders) {
  std::size_t count = 0;
  for (std::uint32_t w = 0; w < names.size(); ++w) {
    const std::string_view name = names[w];
    if (name.size() <= orders.first.size() || !name.ends_with(orders.first)) continue;
    const std::string stem(name.substr(0, name.size() - orders.first.size()));
    count += names.find(stem + orders.second) ? 1 : 0;
  }
  return count;
}

ClassId class_named(const Labels& labels, const std::string& name) {
  const auto found = labels.classes().find(name);
  if (found) return static_cast<ClassId>(*found);
  std::vector<std::string> known;
  for (std::uint32_t c = 0; c < labels.num_classes(); ++c) known.emplace_back(labels.classes()[c]);
  throw Error(ErrorCode::usage, fmt::format("no label is '{}'{}", name, did_you_mean(name, known)));
}

// The classes shown first and second in the first order; empty if that cannot be told.
std::vector<ClassId> find_places(const Labels& labels, const JuryOptions& options) {
  std::vector<ClassId> places;
  for (const std::string& name : options.places) places.push_back(class_named(labels, name));
  if (!places.empty()) {
    if (places.size() != 2 || places[0] == places[1])
      throw Error(ErrorCode::usage,
                  "places are two classes: the one shown first and the one shown second");
    return places;
  }
  std::vector<bool> is_said(labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const ClassId c : labels.task(t).classes) is_said[c] = true;
  }
  for (std::uint32_t c = 0; c < labels.num_classes(); ++c) {
    const std::string_view name = labels.classes()[c];
    if (is_said[c] && std::none_of(std::begin(kTieWords), std::end(kTieWords),
                                   [&](const char* word) { return is_alike(name, word); }))
      places.push_back(static_cast<ClassId>(c));
  }
  if (places.size() != 2) return {};
  if (labels.classes()[places[1]] < labels.classes()[places[0]]) std::swap(places[0], places[1]);
  return places;
}

// P of a split of a fair coin's throws that is as uneven as this one, or more.
double sign_test(std::uint64_t a, std::uint64_t b) {
  const auto n = static_cast<double>(a + b);
  double sum = 0;
  for (std::uint64_t k = 0; k <= std::min(a, b); ++k) {
    const auto x = static_cast<double>(k);
    sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) - n * std::log(2));
  }
  return std::min(1.0, 2 * sum);
}

PositionBias compare_two_orders(std::span<const ClassId> first, std::span<const ClassId> second,
                                const std::vector<ClassId>& places) {
  PositionBias bias;
  for (std::size_t t = 0; t < first.size(); ++t) {
    if (first[t] == kNoClass || second[t] == kNoClass) continue;
    ++bias.tasks;
    bias.same += first[t] == second[t] ? 1 : 0;
    if (places.empty()) continue;
    bias.to_first += first[t] == places[0] && second[t] == places[1] ? 1 : 0;
    bias.to_second += first[t] == places[1] && second[t] == places[0] ? 1 : 0;
  }
  if (places.empty() || bias.tasks < kFewestCommonTasks) return bias;
  const Bounded lean =
      paired_difference(static_cast<double>(bias.to_first), static_cast<double>(bias.to_second),
                        static_cast<double>(bias.tasks));
  bias.chosen_first = {(1 + lean.value) / 2,
                       {(1 + lean.interval.lower) / 2, (1 + lean.interval.upper) / 2}};
  return bias;
}

}  // namespace

Orders find_orders(const Labels& labels, const JuryOptions& options) {
  if (options.orders == std::vector<std::string>{"none"}) return {};
  const NameTable& names = labels.workers();
  if (!options.orders.empty()) {
    if (options.orders.size() != 2 || options.orders[0].empty() || options.orders[1].empty() ||
        options.orders[0] == options.orders[1])
      throw Error(ErrorCode::usage, "orders are two endings of names, such as /ab,/ba");
    Orders asked{options.orders[0], options.orders[1]};
    if (count_both(names, asked) == 0) {
      throw Error(ErrorCode::usage,
                  fmt::format("no judge has both names, with '{}' and with '{}' at the end", asked.first,
                              asked.second));
    }
    return asked;
  }
  Orders best;
  std::size_t most = 0;
  for (const char separator : kSeparators) {
    for (const auto& [one, other] : kOrderWords) {
      for (const bool upper : {false, true}) {
        const Orders orders{separator + (upper ? in_upper_case(one) : std::string(one)),
                            separator + (upper ? in_upper_case(other) : std::string(other))};
        const std::size_t count = count_both(names, orders);
        if (count <= most) continue;
        most = count;
        best = orders;
      }
    }
  }
  return best;
}

std::string without_order(std::string_view name, const Orders& orders) {
  if (!orders.are_there()) return std::string(name);
  for (const std::string& ending : {orders.first, orders.second}) {
    if (name.size() > ending.size() && name.ends_with(ending))
      return std::string(name.substr(0, name.size() - ending.size()));
  }
  return std::string(name);
}

std::pair<std::string, std::string> split_version(std::string_view name) {
  const std::size_t at = name.rfind('@');
  if (at == std::string_view::npos || at == 0) return {std::string(name), ""};
  const std::size_t end = std::min(name.find('/', at), name.size());
  if (end == at + 1) return {std::string(name), ""};
  return {fmt::format("{}{}", name.substr(0, at), name.substr(end)),
          std::string(name.substr(at + 1, end - at - 1))};
}

std::size_t family_of(std::string_view judge, const Orders& orders,
                      std::span<const FamilyRow> families) {
  const std::string stem = without_order(judge, orders);
  for (const std::string& name :
       {std::string(judge), stem, split_version(judge).first, split_version(stem).first}) {
    const auto found = std::find_if(families.begin(), families.end(),
                                    [&](const FamilyRow& row) { return row.judge == name; });
    if (found != families.end()) return static_cast<std::size_t>(found - families.begin());
  }
  return families.size();
}

std::vector<PositionBias> compare_orders(const Labels& labels, const WorkerMajor& by_judge,
                                         const Orders& orders, const JuryOptions& options,
                                         std::vector<std::string>& notes) {
  if (!orders.are_there()) {
    if (!options.places.empty())
      throw Error(ErrorCode::usage, "places are known, but no judge was asked in two orders");
    return {};
  }
  const std::vector<ClassId> places = find_places(labels, options);
  std::vector<PositionBias> found;
  std::uint64_t tasks = 0;
  std::uint64_t same = 0;
  std::vector<double> p_values;
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const std::string_view name = labels.workers()[w];
    if (!name.ends_with(orders.first)) continue;
    const std::string stem = without_order(name, orders);
    const auto other = labels.workers().find(stem + orders.second);
    if (!other) continue;
    PositionBias bias =
        compare_two_orders(votes_by_task(by_judge.worker(w), labels.num_tasks()),
                           votes_by_task(by_judge.worker(*other), labels.num_tasks()), places);
    bias.judge = stem;
    bias.first = w;
    bias.second = *other;
    tasks += bias.tasks;
    same += bias.same;
    p_values.push_back(bias.chosen_first.is_told() ? sign_test(bias.to_first, bias.to_second) : 1);
    found.push_back(std::move(bias));
  }
  const std::vector<bool> marks = fallen(p_values);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].marked = marks[i];
  const std::string endings = fmt::format("names that end in {} and {}", orders.first, orders.second);
  if (places.empty()) {
    notes.push_back(fmt::format(
        "{} asked in both orders ({}); which answer was shown first cannot be told from {}: name the "
        "two (--places)",
        count_noun(found.size(), "judge", "was", "were"), endings,
        count_noun(labels.num_classes(), "class")));
  } else {
    notes.push_back(
        fmt::format("{} asked in both orders ({}); {} is taken for the order that shows "
                    "{} first",
                    count_noun(found.size(), "judge", "was", "were"), endings, orders.first,
                    labels.classes()[places[0]]));
  }
  if (tasks >= kFewestCommonTasks &&
      static_cast<double>(same) < kHardlyEverTheSame * static_cast<double>(tasks)) {
    notes.push_back(fmt::format(
        "only {} of verdicts stay when the order changes: if labels name the place of an answer rather "
        "than the answer, turn them round in one order before anything is counted",
        percent(same, tasks)));
  }
  return found;
}

std::vector<VersionPair> compare_versions(const Labels& labels, const WorkerMajor& by_judge,
                                          std::span<const JudgeSummary> judges,
                                          const AnswersFor& answers_for) {
  std::map<std::string, std::vector<std::uint32_t>> models;
  for (std::uint32_t i = 0; i < judges.size(); ++i) {
    if (!judges[i].version.empty() && judges[i].votes > 0) models[judges[i].model].push_back(i);
  }
  std::vector<VersionPair> found;
  std::vector<double> p_values;
  for (auto& [model, members] : models) {
    if (members.size() < 2) continue;
    std::stable_sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
      return judges[a].version < judges[b].version;
    });
    const RightAnswers answers = answers_for(members);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const auto a = votes_by_task(by_judge.worker(members[i]), labels.num_tasks());
      for (std::size_t j = i + 1; j < members.size(); ++j) {
        const auto b = votes_by_task(by_judge.worker(members[j]), labels.num_tasks());
        VersionPair pair{model, members[i], members[j], 0, {}, {}, false};
        double agreed = 0;
        double covered = 0;
        double better = 0;
        double worse = 0;
        for (TaskId t = 0; t < labels.num_tasks(); ++t) {
          if (a[t] == kNoClass || b[t] == kNoClass) continue;
          ++pair.common;
          agreed += a[t] == b[t] ? 1 : 0;
          if (!answers.covers(t)) continue;
          const double gain = answers.share_of(t, b[t]) - answers.share_of(t, a[t]);
          covered += 1;
          (gain > 0 ? better : worse) += std::abs(gain);
        }
        if (pair.common >= kFewestCommonTasks)
          pair.agreement = share_with_interval(agreed, static_cast<double>(pair.common));
        if (covered >= static_cast<double>(kFewestCommonTasks))
          pair.difference = paired_difference(better, worse, covered);
        const Interval& d = pair.difference.interval;
        p_values.push_back(pair.difference.is_told()
                               ? two_sided_p(kNormal95 * (d.lower + d.upper) / (d.upper - d.lower))
                               : 1);
        found.push_back(std::move(pair));
      }
    }
  }
  const std::vector<bool> marks = fallen(p_values);
  for (std::size_t i = 0; i < found.size(); ++i) found[i].marked = marks[i];
  return found;
}

}  // namespace crowdfold
