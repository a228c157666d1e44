// A jury in words, tables and charts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/columns.h"
#include "report/jury_parts.h"
#include "report/words.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMostNamedOfPanel = 5;
constexpr std::size_t kMostRowsDrawn = 60;

std::string points(double share) { return fmt::format("{:.1f} points", 100 * share); }

std::string percent_range(const Interval& range) {
  return fmt::format("{} to {}", percent(std::max(0.0, range.lower)),
                     percent(std::min(1.0, range.upper)));
}

struct JuryView {
  const Jury& jury;
  const Labels& labels;

  std::string name(std::uint32_t judge) const {
    return std::string(labels.workers()[jury.judges[judge].worker]);
  }
  std::uint64_t regulars() const {
    return static_cast<std::uint64_t>(
        std::count_if(jury.judges.begin(), jury.judges.end(),
                      [](const JudgeSummary& judge) { return judge.is_regular; }));
  }
};

std::string say_independent_votes(const JuryView& shown) {
  const Bounded& votes = shown.jury.independent_votes;
  if (!votes.is_told()) return "";
  const std::uint64_t n = shown.regulars();
  if (shown.jury.truths == 0) {
    return fmt::format(
        "Without truths, errors that judges share look like truths: by the answers that the panel "
        "agrees on, its {} "
        "judges would be worth about {:.1f} independent votes, and they may be worth fewer.",
        n, votes.value);
  }
  const char* why = votes.interval.upper < static_cast<double>(n)
                        ? "they err together more often than independent judges would"
                    : votes.interval.lower > static_cast<double>(n)
                        ? "they err together less often than independent judges would"
                        : "nothing shows that they err together";
  return fmt::format(
      "The {} judges are worth about {:.1f} independent votes (95 % interval {:.1f} to {:.1f}): {}.", n,
      votes.value, votes.interval.lower, votes.interval.upper, why);
}

std::string say_panels(const JuryView& shown) {
  const Jury& jury = shown.jury;
  if (jury.panels.empty()) return "";
  const bool has_truths = jury.truths > 0;
  const Panel* cheapest = nullptr;
  for (const Panel& panel : jury.panels) {
    if (panel.does_as_well) cheapest = &panel;
  }
  if (cheapest == nullptr) {
    return has_truths ? fmt::format("No cheaper panel is shown to lose at most {} of accuracy.",
                                    points(jury.options.may_lose))
                      : fmt::format("No cheaper panel is shown to change at most {} of the answers.",
                                    percent(jury.options.may_lose));
  }
  std::vector<std::string> names;
  for (const std::uint32_t judge : cheapest->judges) names.push_back(shown.name(judge));
  const double lost = -cheapest->difference.interval.lower;
  const std::string who = names.size() == 1 ? fmt::format("{} alone", names.front())
                                            : fmt::format("A panel of {} ({})", names.size(),
                                                          listing(names, kMostNamedOfPanel));
  const std::string panel = fmt::format("{} costs {} of the whole panel", who, percent(cheapest->cost));
  if (!has_truths) {
    return fmt::format(
        "{} and gives another answer on at most {} of tasks; whether a better or a worse one, only "
        "truths "
        "can tell.",
        panel, percent(std::max(0.0, lost)));
  }
  const std::string loss =
      lost > 0 ? fmt::format("loses at most {} of accuracy", points(lost)) : "loses no accuracy";
  return fmt::format("{} and {}: {} of its answers are right, and {} of the whole panel's.", panel, loss,
                     percent(cheapest->accuracy.value), percent(jury.accuracy.value));
}

std::string say_positions(const JuryView& shown) {
  const std::vector<PositionBias>& positions = shown.jury.positions;
  std::uint64_t told = 0;
  std::uint64_t to_first = 0;
  std::uint64_t to_second = 0;
  const PositionBias* worst = nullptr;
  for (const PositionBias& bias : positions) {
    if (!bias.chosen_first.is_told()) continue;
    ++told;
    if (!bias.marked) continue;
    ++(bias.chosen_first.value > 0.5 ? to_first : to_second);
    const auto strength = [](const PositionBias& b) { return std::abs(b.chosen_first.value - 0.5); };
    if (worst == nullptr || strength(bias) > strength(*worst)) worst = &bias;
  }
  if (told == 0) return "";
  const std::string asked = told == 1 ? "The judge who was asked in both orders"
                                      : fmt::format("Of {} judges who were asked in both orders,", told);
  if (worst == nullptr)
    return asked + (told == 1 ? " is not" : " none is") + " shown to prefer a place.";
  const bool first = worst->chosen_first.value > 0.5;
  const Interval& range = worst->chosen_first.interval;
  const std::string most =
      fmt::format("{} of the verdicts ({})",
                  percent(first ? worst->chosen_first.value : 1 - worst->chosen_first.value),
                  percent_range(first ? range : Interval{1 - range.upper, 1 - range.lower}));
  if (told == 1) {
    return fmt::format("{}, {}, prefers the answer that is shown {}: {}.", asked, worst->judge,
                       first ? "first" : "second", most);
  }
  std::vector<std::string> counts;
  if (to_first > 0)
    counts.push_back(fmt::format("{} {} the answer that is shown first", to_first,
                                 to_first == 1 ? "prefers" : "prefer"));
  if (to_second > 0)
    counts.push_back(fmt::format("{} {} the one that is shown second", to_second,
                                 to_second == 1 ? "prefers" : "prefer"));
  return fmt::format("{} {}; most of all {}: {}.", asked, listing(counts), worst->judge, most);
}

std::string say_versions(const JuryView& shown) {
  const VersionPair* most = nullptr;
  for (const VersionPair& pair : shown.jury.versions) {
    if (pair.marked &&
        (most == nullptr || std::abs(pair.difference.value) > std::abs(most->difference.value)))
      most = &pair;
  }
  if (most == nullptr) return "";
  const double difference = most->difference.value;
  const Interval& range = most->difference.interval;
  const Interval size = difference > 0 ? range : Interval{-range.upper, -range.lower};
  return fmt::format("{} {} {} often than {}, by {} ({:.1f} to {:.1f}).", shown.name(most->b),
                     shown.jury.truths > 0 ? "is right" : "gives the answer of the other judges",
                     difference > 0 ? "more" : "less", shown.name(most->a), points(std::abs(difference)),
                     100 * size.lower, 100 * size.upper);
}

// The pair that agrees most beyond its qualities.
std::string say_pairs(const JuryView& shown) {
  const JudgePair* most = nullptr;
  for (const JudgePair& pair : shown.jury.pairs) {
    if (pair.marked && (most == nullptr || pair.excess.value > most->excess.value)) most = &pair;
  }
  if (most == nullptr) return "";
  return fmt::format(
      "Most alike are {} and {}: they {} on {} of tasks, where their qualities would let expect {}.",
      shown.name(most->a), shown.name(most->b),
      shown.jury.by_class ? "give the same answer" : "are both right or both wrong",
      percent(most->agreed, most->common), percent(most->expected));
}

// --- tables ---------------------------------------------------------------------------------------

Column interval_column(std::string name, std::string title, auto&& items, auto&& bounded) {
  Column column{std::move(name), std::move(title), Column::Format::interval};
  for (const auto& item : items) {
    const Bounded& b = bounded(item);
    column.intervals.push_back({b.interval.lower, b.value, b.interval.upper});
  }
  return column;
}

Table judges_table(const JuryView& shown) {
  const Jury& jury = shown.jury;
  std::vector<JudgeSummary> judges = jury.judges;
  std::erase_if(judges, [](const JudgeSummary& judge) { return !judge.quality.is_told(); });
  using J = const JudgeSummary&;
  Table table;
  table.id = "judges-table";
  table.title = "Judges";
  table.description =
      "Quality with its 95 % interval. “Leans to”: a class that the judge names more often than tasks "
      "have it, and by which share of the labels.";
  table.columns = {
      text_column("judge", "Judge", judges,
                  [&](J j) { return std::string(shown.labels.workers()[j.worker]); }),
      interval_column("interval", "0 to 100 %", judges, [](J j) { return j.quality; }),
      number_column("quality", "Quality", Column::Format::percent, judges,
                    [](J j) { return j.quality.value; }),
      number_column("votes", "Votes", Column::Format::integer, judges, [](J j) { return j.votes; }),
      number_column("missing", "Missing", Column::Format::integer, judges,
                    [](J j) { return j.missing; }),
      text_column("leans_to", "Leans to", judges,
                  [&](J j) {
                    return j.leans_to == kNoClass ? std::string()
                                                  : std::string(shown.labels.classes()[j.leans_to]);
                  }),
      number_column("leaning", "By", Column::Format::percent, judges,
                    [](J j) { return j.leaning.value; })};
  if (jury.independent_votes.is_told())
    table.columns.push_back(number_column("votes_without", "Votes without", Column::Format::number,
                                          judges, [](J j) { return j.votes_without.value; }));
  if (!jury.panels.empty() && jury.truths > 0)
    table.columns.push_back(number_column("accuracy_without", "Accuracy without, points",
                                          Column::Format::signed_number, judges,
                                          [](J j) { return 100 * j.accuracy_without.value; }));
  table.sorted_by = "quality";
  table.descending = true;
  return table;
}

Chart excess_chart(const JuryView& shown) {
  struct Cell {
    std::uint32_t row;
    std::uint32_t column;
    const JudgePair* pair;
  };
  std::vector<Cell> cells;
  for (const JudgePair& pair : shown.jury.pairs) {
    if (pair.b >= kMostRowsDrawn || !pair.excess.is_told()) continue;
    cells.push_back({pair.a, pair.b, &pair});
    cells.push_back({pair.b, pair.a, &pair});
  }
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  Chart chart;
  chart.id = "excess";
  chart.title = "Who agrees more than their qualities explain";
  chart.description =
      "0: as judges who err independently; 1: always the same answer. It is shown, and changes no "
      "answer.";
  chart.kind = Chart::Kind::heatmap;
  chart.columns = {text_column("x", "Judge", cells, [&](const Cell& c) { return shown.name(c.column); }),
                   text_column("y", "Judge", cells, [&](const Cell& c) { return shown.name(c.row); }),
                   number_column("value", "Excess", Column::Format::number, cells,
                                 [](const Cell& c) { return c.pair->excess.value; }),
                   number_column("common", "Common tasks", Column::Format::integer, cells,
                                 [](const Cell& c) { return c.pair->common; })};
  chart.value.domain = {0, 1};
  const std::size_t judges = shown.jury.judges.size();
  chart.left_out = {judges > kMostRowsDrawn ? judges - kMostRowsDrawn : 0,
                    "judges; `crowdfold jury -o jury.json` writes all pairs"};
  return chart;
}

Table panels_table(const JuryView& shown) {
  const std::vector<Panel>& panels = shown.jury.panels;
  using P = const Panel&;
  Table table;
  table.id = "panels-table";
  table.title = "Cheaper panels";
  table.description =
      "The best panel found at each cost. “Difference”: from the whole panel, on tasks other than those "
      "it was chosen by, with the lower end of its 95 % interval.";
  table.columns = {
      number_column("judges", "Judges", Column::Format::integer, panels,
                    [](P p) { return p.judges.size(); }),
      number_column("cost", "Cost", Column::Format::percent, panels, [](P p) { return p.cost; }),
      number_column("same", "Same answers", Column::Format::percent, panels,
                    [](P p) { return p.same.value; }),
      number_column("difference", "Difference, points", Column::Format::signed_number, panels,
                    [](P p) { return 100 * p.difference.value; }),
      number_column("lower", "At least, points", Column::Format::signed_number, panels,
                    [](P p) { return 100 * p.difference.interval.lower; }),
      text_column("members", "Who", panels, [&](P p) {
        std::vector<std::string> names;
        for (const std::uint32_t judge : p.judges) names.push_back(shown.name(judge));
        return listing(names, kMostNamedOfPanel);
      })};
  if (shown.jury.truths > 0)
    table.columns.insert(table.columns.begin() + 2,
                         number_column("accuracy", "Accuracy", Column::Format::percent, panels,
                                       [](P p) { return p.accuracy.value; }));
  return table;
}

Table positions_table(const JuryView& shown) {
  std::vector<PositionBias> positions = shown.jury.positions;
  std::erase_if(positions, [](const PositionBias& bias) { return !bias.chosen_first.is_told(); });
  using P = const PositionBias&;
  Table table;
  table.id = "positions-table";
  table.title = "The same pair in both orders";
  table.description =
      "The share of verdicts for the answer that is shown first, with its 95 % interval: 50 % has no "
      "bias.";
  table.columns = {
      text_column("judge", "Judge", positions, [](P p) { return p.judge; }),
      interval_column("interval", "0 to 100 %", positions, [](P p) { return p.chosen_first; }),
      number_column("chosen_first", "Chooses the first", Column::Format::percent, positions,
                    [](P p) { return p.chosen_first.value; }),
      text_column("bias", "Bias", positions,
                  [](P p) {
                    return !p.marked ? "none shown" : p.chosen_first.value > 0.5 ? "first" : "second";
                  }),
      number_column("tasks", "Tasks", Column::Format::integer, positions, [](P p) { return p.tasks; }),
      number_column("same", "Same answer in both", Column::Format::percent, positions, [](P p) {
        return static_cast<double>(p.same) / static_cast<double>(std::max<std::uint64_t>(p.tasks, 1));
      })};
  table.columns[3].tones = {
      {"first", Tone::warning}, {"second", Tone::warning}, {"none shown", Tone::muted}};
  table.sorted_by = "chosen_first";
  table.descending = true;
  return table;
}

Table versions_table(const JuryView& shown) {
  const std::vector<VersionPair>& versions = shown.jury.versions;
  using V = const VersionPair&;
  Table table;
  table.id = "versions-table";
  table.title = "Versions of one model";
  table.description = "How often two versions agree, and how much oftener the second is right.";
  table.columns = {
      text_column("a", "Version", versions, [&](V v) { return shown.name(v.a); }),
      text_column("b", "And", versions, [&](V v) { return shown.name(v.b); }),
      number_column("common", "Common tasks", Column::Format::integer, versions,
                    [](V v) { return v.common; }),
      number_column("agreement", "Agree", Column::Format::percent, versions,
                    [](V v) { return v.agreement.value; }),
      number_column("difference", "Difference, points", Column::Format::signed_number, versions,
                    [](V v) { return 100 * v.difference.value; }),
      number_column("lower", "At least", Column::Format::signed_number, versions,
                    [](V v) { return 100 * v.difference.interval.lower; }),
      number_column("upper", "At most", Column::Format::signed_number, versions,
                    [](V v) { return 100 * v.difference.interval.upper; }),
      text_column("drift", "Drift", versions, [](V v) { return v.marked ? "yes" : "none shown"; })};
  return table;
}

Facts jury_facts(const JuryView& shown) {
  const Jury& jury = shown.jury;
  Facts facts;
  facts.facts = {{with_commas(shown.regulars()), "judges"}, {with_commas(jury.tasks), "tasks"}};
  if (jury.independent_votes.is_told())
    facts.facts.push_back({fmt::format("{:.1f}", jury.independent_votes.value), "independent votes",
                           jury.truths > 0 ? "" : "by the answers that the panel agrees on"});
  if (jury.accuracy.is_told()) facts.facts.push_back({percent(jury.accuracy.value), "accuracy"});
  const auto add_excess = [&](const char* what, const FamilyExcess& family) {
    if (family.excess.is_told())
      facts.facts.push_back(
          {fmt::format("{:.2f}", family.excess.value), what, count_noun(family.pairs, "pair")});
  };
  add_excess("excess agreement", jury.all);
  add_excess("within families", jury.within);
  add_excess("between families", jury.between);
  return facts;
}

bool has_pairs(const Jury& jury) {
  return std::any_of(jury.pairs.begin(), jury.pairs.end(),
                     [](const JudgePair& pair) { return pair.excess.is_told(); });
}

}  // namespace

std::vector<std::string> verdict_of(const Jury& jury, const Labels& labels) {
  const JuryView shown{jury, labels};
  std::vector<std::string> sentences = {say_independent_votes(shown), say_panels(shown),
                                        say_positions(shown), say_versions(shown)};
  if (jury.positions.empty() && jury.versions.empty()) sentences.push_back(say_pairs(shown));
  std::erase(sentences, "");
  if (!jury.untold.empty())
    sentences.push_back(fmt::format("Nothing is said of these judges as a panel: {}.", jury.untold));
  if (sentences.empty()) sentences.emplace_back("There is nothing to say of these judges as a panel.");
  return sentences;
}

Section jury_section(const Jury& jury, const Labels& labels) {
  const JuryView shown{jury, labels};
  Section section{"jury", "As a jury", {}};
  for (const std::string& sentence : verdict_of(jury, labels))
    section.blocks.emplace_back(Prose{sentence});
  section.blocks.emplace_back(jury_facts(shown));
  section.blocks.emplace_back(judges_table(shown));
  if (has_pairs(jury)) section.blocks.emplace_back(excess_chart(shown));
  if (!jury.panels.empty()) section.blocks.emplace_back(panels_table(shown));
  if (!jury.positions.empty()) section.blocks.emplace_back(positions_table(shown));
  if (!jury.versions.empty()) section.blocks.emplace_back(versions_table(shown));
  for (const std::string& note : jury.notes) section.blocks.emplace_back(Prose{"Note: " + note + "."});
  return section;
}

Document document_of(const Jury& jury, const Labels& labels, const std::string& source) {
  Document document;
  document.title = fmt::format("Jury of {}", source);
  document.headline = verdict_of(jury, labels).front();
  document.subtitle =
      fmt::format("{} by {} on {}, judged by {}; {}.", count_noun(jury.labels, "label"),
                  count_noun(jury.judges.size(), "judge"), count_noun(jury.tasks, "task"),
                  jury.options.method, jury.truths > 0 ? count_noun(jury.truths, "truth") : "no truths");
  document.sections.push_back(jury_section(jury, labels));
  document.sections.push_back(
      {"rules",
       "How to read this",
       {Prose{
            "Independent votes: n / (1 + (n − 1) ρ) for n judges whose errors have the mean correlation "
            "ρ. Errors are what judges say beyond how often they say it of tasks of that class. The "
            "interval comes from drawing the tasks again."},
        Prose{"Excess agreement of two judges: (agreed − expected) / (1 − expected), where the expected "
              "share follows from how often each gives which answer by class. Tasks that are hard for "
              "everybody and habits that judges share both raise it."},
        Prose{"Marks consider all judges, pairs or versions together: a wrong one among all of a kind "
              "has a "
              "probability of at most 5 %. What is found is shown; answers are those of the method."}}});
  return document;
}

}  // namespace crowdfold
