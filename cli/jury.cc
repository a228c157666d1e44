// crowdfold jury: judges who label nearly everything, most often models: what each is worth, and the
// panel.
#include "crowdfold/jury.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "flags.h"
#include "print_json.h"

namespace crowdfold::cli {
namespace {

struct JuryCommand {
  std::string truths;
  std::string families;
  std::string output;
  std::vector<std::string> settings;
  JuryOptions options;
  std::size_t rows = 20;
  bool no_panels = false;
  bool json = false;
  InputFlags input;
  RunFlags run;
  OutputFlags output_flags;

  void operator()();

 private:
  void print_tables(const Jury& jury, const Labels& labels) const;
};

// ".71 (.66 to .75)"
std::string with_range(const Bounded& b, int digits = 2) {
  if (!b.is_told()) return "-";
  return fmt::format("{} ({} to {})", decimal(b.value, digits), decimal(b.interval.lower, digits),
                     decimal(b.interval.upper, digits));
}
std::string in_points(double share) {
  return std::isfinite(share) ? fmt::format("{:+.1f}", 100 * share) : "-";
}
std::string points_with_range(const Bounded& b) {
  if (!b.is_told()) return "-";
  return fmt::format("{:+.1f} ({:+.1f} to {:+.1f})", 100 * b.value, 100 * b.interval.lower,
                     100 * b.interval.upper);
}

// The rows of a list that are shown, in the order of `before`.
template <class Item, class Before>
std::vector<const Item*> first_of(const std::vector<Item>& items, std::size_t rows,
                                  const Before& before) {
  std::vector<const Item*> shown;
  for (const Item& item : items) shown.push_back(&item);
  std::stable_sort(shown.begin(), shown.end(),
                   [&](const Item* a, const Item* b) { return before(*a, *b); });
  shown.resize(std::min(rows, shown.size()));
  return shown;
}

void print_part(const std::string& title, const Table& table, std::size_t shown, std::size_t all) {
  const std::string left_out =
      shown < all ? fmt::format("{} more: --rows {}\n", with_commas(all - shown), all) : "";
  print(fmt::format("\n{}\n{}{}", title, table.text(wants_color(stdout)), left_out));
}

void print_judges(const Jury& jury, const Labels& labels, std::size_t rows) {
  const bool in_families = !jury.options.families.empty();
  const bool with_accuracy = jury.truths > 0 && jury.options.panels;
  std::vector<std::string> header = {"judge"};
  if (in_families) header.insert(header.end(), {"family", "cost"});
  header.insert(header.end(), {"votes", "missing", "quality (95 %)", "leans to", "votes without"});
  if (with_accuracy) header.emplace_back("accuracy without, points");
  if (jury.options.panels) header.emplace_back("answers changed without");
  Table table(header);
  const auto shown = first_of(jury.judges, rows, [](const JudgeSummary& a, const JudgeSummary& b) {
    return a.quality.is_told() && (!b.quality.is_told() || a.quality.value > b.quality.value);
  });
  for (const JudgeSummary* judge : shown) {
    std::vector<std::string> row = {std::string(labels.workers()[judge->worker])};
    if (in_families) {
      row.push_back(judge->family.empty() ? "-" : judge->family);
      row.push_back(fmt::format("{:g}", judge->cost));
    }
    row.insert(
        row.end(),
        {with_commas(judge->votes), with_commas(judge->missing), with_range(judge->quality),
         judge->leans_to == kNoClass
             ? "-"
             : fmt::format("{} {}", labels.classes()[judge->leans_to], in_points(judge->leaning.value)),
         judge->votes_without.is_told() ? fmt::format("{:.1f}", judge->votes_without.value) : "-"});
    if (with_accuracy) row.push_back(points_with_range(judge->accuracy_without));
    if (jury.options.panels)
      row.push_back(std::isfinite(judge->confidence_without) ? with_commas(judge->changed_without)
                                                             : "-");
    table.add(row);
  }
  print_part("Judges", table, shown.size(), jury.judges.size());
}

void print_pairs(const Jury& jury, const Labels& labels, std::size_t rows) {
  std::vector<JudgePair> told;
  for (const JudgePair& pair : jury.pairs) {
    if (pair.excess.is_told()) told.push_back(pair);
  }
  if (told.empty()) return;
  Table table({"judge", "and", "common", "agree", "expected", "excess (95 %)", "above 0"});
  const auto shown = first_of(told, rows, [](const JudgePair& a, const JudgePair& b) {
    return a.excess.value > b.excess.value;
  });
  for (const JudgePair* pair : shown) {
    table.add({std::string(labels.workers()[pair->a]), std::string(labels.workers()[pair->b]),
               with_commas(pair->common),
               decimal(static_cast<double>(pair->agreed) / static_cast<double>(pair->common), 2),
               decimal(pair->expected, 2), with_range(pair->excess), pair->marked ? "yes" : "no"});
  }
  print_part("Pairs, and how much they agree beyond their qualities", table, shown.size(), told.size());
  if (jury.within.pairs == 0 && jury.between.pairs == 0) return;
  Table means({"pairs", "number", "mean excess (95 %)"});
  means.add({"within families", with_commas(jury.within.pairs), with_range(jury.within.excess)});
  means.add({"between families", with_commas(jury.between.pairs), with_range(jury.between.excess)});
  print("\n" + means.text(wants_color(stdout)));
}

void print_positions(const Jury& jury, std::size_t rows) {
  if (jury.positions.empty()) return;
  Table table({"asked in both orders", "tasks", "same answer", "chooses the first (95 %)", "prefers"});
  const auto shown = first_of(jury.positions, rows, [](const PositionBias& a, const PositionBias& b) {
    return std::abs(a.chosen_first.value - 0.5) > std::abs(b.chosen_first.value - 0.5);
  });
  for (const PositionBias* bias : shown) {
    const double tasks = std::max(1.0, static_cast<double>(bias->tasks));
    table.add({bias->judge, with_commas(bias->tasks),
               decimal(static_cast<double>(bias->same) / tasks, 2), with_range(bias->chosen_first),
               !bias->marked                    ? "-"
               : bias->chosen_first.value > 0.5 ? "the first"
                                                : "the second"});
  }
  print_part("Positions", table, shown.size(), jury.positions.size());
}

void print_versions(const Jury& jury, std::size_t rows) {
  if (jury.versions.empty()) return;
  Table table(
      {"model", "version", "and", "common", "agree (95 %)", "difference, points (95 %)", "drift"});
  const std::size_t count = std::min(rows, jury.versions.size());
  for (std::size_t i = 0; i < count; ++i) {
    const VersionPair& pair = jury.versions[i];
    table.add({pair.model, jury.judges[pair.a].version, jury.judges[pair.b].version,
               with_commas(pair.common), with_range(pair.agreement), points_with_range(pair.difference),
               pair.marked ? "yes" : "-"});
  }
  print_part("Versions", table, count, jury.versions.size());
}

void print_panels(const Jury& jury, const Labels& labels) {
  if (jury.panels.empty()) return;
  constexpr std::size_t kMostNamed = 4;
  const bool with_accuracy = jury.truths > 0;
  std::vector<std::string> header = {"judges", "cost", "same answers"};
  if (with_accuracy) header.emplace_back("accuracy");
  header.insert(header.end(), {with_accuracy ? "difference, points (95 %)" : "changed, points (95 %)",
                               "as well", "who"});
  Table table(header);
  for (const Panel& panel : jury.panels) {
    std::vector<std::string> names;
    for (const std::uint32_t judge : panel.judges) names.emplace_back(labels.workers()[judge]);
    const std::size_t more = names.size() > kMostNamed ? names.size() - kMostNamed : 0;
    names.resize(names.size() - more);
    std::vector<std::string> row = {std::to_string(panel.judges.size()),
                                    fmt::format("{:.0f} %", 100 * panel.cost),
                                    decimal(panel.same.value, 3)};
    if (with_accuracy) row.push_back(decimal(panel.accuracy.value, 3));
    row.insert(row.end(), {points_with_range(panel.difference), panel.does_as_well ? "yes" : "-",
                           fmt::format("{}{}", fmt::join(names, ", "),
                                       more > 0 ? fmt::format(" and {} more", more) : "")});
    table.add(row);
  }
  print_part("Cheaper panels", table, 0, 0);
}

void JuryCommand::print_tables(const Jury& jury, const Labels& labels) const {
  for (const std::string& sentence : verdict_of(jury, labels)) print(printable(sentence) + "\n");
  for (const std::string& note : jury.notes) print(printable("note: " + note) + "\n");
  print_judges(jury, labels, rows);
  print_positions(jury, rows);
  print_versions(jury, rows);
  print_pairs(jury, labels, std::min<std::size_t>(rows, rows / 2 + 1));
  print_panels(jury, labels);
}

void JuryCommand::operator()() {
  options.settings = parse_settings(settings);
  const MethodInfo& info = find_method(options.method);
  info.check(options.settings);  // before anything is read
  options.method = info.name;
  options.panels = !no_panels;
  std::vector<std::string> inputs = input.named();
  inputs.insert(inputs.end(), {truths, families});
  require_jury_output(output);
  require_outputs({output}, inputs);
  const RunContext context = run.context();
  const auto [data, known] = read_with_truths(input, truths, run, context);
  if (!families.empty()) {
    ReadReport read;
    options.families = read_families(families, within(context, input.options_for_tables()), &read);
    run.say(read);
  }
  const Jury jury = make_jury(data, known, options, context);
  run.end_progress();
  if (!truths.empty() && jury.truths == 0)
    throw Error(ErrorCode::data, truths + ": no truth to compare with");
  if (!output.empty()) {
    WriteOptions write = output_flags.options();
    write_jury(output, jury, data, input.files_name(), write);
    if (output == "-") return;
  }
  json ? print_lines(to_json(jury, data) + "\n") : print_tables(jury, data);
  if (!output.empty()) run.say("written to " + output);
}

}  // namespace

void add_jury(CLI::App& app) {
  auto state = std::make_shared<JuryCommand>();
  CLI::App& command =
      *app.add_subcommand("jury", "models as judges: how many independent votes, who errs alike");
  state->input.add_files_to(command);
  command.add_option("--truth", state->truths, "known truths, to compare with: task,label")
      ->type_name("FILE")
      ->check(is_file_name);
  command
      .add_option("--family", state->families,
                  "families of judges, and what a vote costs: judge,family[,cost]")
      ->type_name("FILE")
      ->check(is_file_name);
  command
      .add_option("--orders", state->options.orders,
                  "endings of a judge's names in the two orders, as /ab,/ba; none: there are none; "
                  "default: recognised")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--places", state->options.places,
                  "the labels for the answer that the first order shows first, and second; default: the "
                  "two labels, by name")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option(
          "--may-lose", state->options.may_lose,
          "accuracy that a cheaper panel may lose; without truths, the share of answers that may "
          "change")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_flag("--no-panels", state->no_panels, "do not look at smaller panels");
  command.add_option("-m,--method", state->options.method, "judges the tasks; see 'crowdfold methods'")
      ->capture_default_str();
  command.add_option("--set", state->settings, "an option of the method; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  const char* out = "Output";
  command
      .add_option("-o,--output", state->output,
                  "also written to a file: .html a page, .json everything, else a row per judge")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(out);
  command.add_option("--rows", state->rows, "most rows of a table on the terminal")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str()
      ->group(out);
  command.add_flag("--json", state->json, "print JSON")->group(out);
  state->output_flags.add_to(command);
  state->input.add_to(command);
  state->run.add_seed_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "The first sentences are the verdict; docs/jury.md says how each figure comes about. A judge who "
      "was\n"
      "asked in both orders has two names, such as gpt/ab and gpt/ba; versions are model@version. "
      "Labels\n"
      "name the answer, not its place.\n"
      "Examples:\n"
      "  crowdfold jury votes.csv\n"
      "  crowdfold jury votes.csv --truth truth.csv --family families.csv\n"
      "  crowdfold jury votes.csv --truth truth.csv -o jury.html\n"
      "  crowdfold jury votes.csv --orders=-original,-swapped --places A,B");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
