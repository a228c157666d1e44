// crowdfold budget: how many labels a stop rule saves, and how much accuracy it costs.
#include "crowdfold/budget.h"

#include <fmt/format.h>

#include <cmath>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "flags.h"
#include "print_json.h"

namespace crowdfold::cli {
namespace {

struct Budget {
  std::string truths;
  std::string method = "live";
  std::vector<std::string> settings;
  std::vector<double> confidences = {.9, .95, .99};
  std::vector<std::uint32_t> fixed = {3, 5};
  std::uint32_t min_labels = 3;
  std::uint32_t max_labels = 0;
  int runs = 10;
  bool json = false;
  ConfigFlags config;
  InputFlags input;
  RunFlags run;

  void operator()() const;
  std::unique_ptr<OnlineMethod> make(std::uint64_t seed) const;
};

struct RuleRow {
  std::string rule;
  Spending mean;
  double deviation = 0;  // of the accuracy
};

std::unique_ptr<OnlineMethod> Budget::make(std::uint64_t seed) const {
  const MethodInfo& info = find_method(method);
  if (!info.make_online)
    throw Error(
        ErrorCode::usage,
        fmt::format("{} works on whole data sets; a stop rule needs an online method", info.name));
  Settings wanted = config.settings();
  if (!wanted.empty() && info.name != "live") {
    throw Error(ErrorCode::usage, fmt::format("--alpha, --beta and --half-life are options of live; "
                                              "those of {} are given by --set NAME=VALUE",
                                              info.name));
  }
  for (auto& setting : parse_settings(settings)) wanted.push_back(std::move(setting));
  return info.make_online(wanted, seed);
}

void Budget::operator()() const {
  make(0);
  const RunContext context = run.context();
  const auto [data, known] = read_with_truths(input, truths, run, context);

  std::vector<std::pair<std::string, StopRule>> rules = {{"all labels", {}}};
  for (const std::uint32_t n : fixed) rules.emplace_back(fmt::format("{} labels", n), StopRule{n});
  for (const double c : confidences)
    rules.emplace_back(fmt::format("confidence {}", decimal(c, 3)),
                       StopRule{0, c, min_labels, max_labels});
  std::vector<RuleRow> rows;
  for (const auto& [name, rule] : rules) {
    RuleRow row{name, {}, 0};
    std::vector<double> accuracies;
    for (int i = 0; i < runs; ++i) {
      context.report(name.c_str(), static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(runs));
      const std::uint64_t seed = context.seed + static_cast<std::uint64_t>(i);
      const Spending spent = replay(data, known, *make(seed), rule, seed, context);
      accuracies.push_back(spent.accuracy);
      row.mean.accuracy += spent.accuracy / runs;
      row.mean.accuracy_then += spent.accuracy_then / runs;
      row.mean.claimed += spent.claimed / runs;
      row.mean.labels_per_task += spent.labels_per_task / runs;
      row.mean.closed += spent.closed / runs;
    }
    for (const double a : accuracies)
      row.deviation += std::pow(a - row.mean.accuracy, 2) / std::max(1, runs - 1);
    row.deviation = std::sqrt(row.deviation);
    rows.push_back(row);
  }
  run.end_progress();
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const RuleRow& row : rows)
      list.push_back({{"rule", row.rule},
                      {"accuracy", row.mean.accuracy},
                      {"accuracy_sd", row.deviation},
                      {"accuracy_when_closed", row.mean.accuracy_then},
                      {"confidence_when_closed", row.mean.claimed},
                      {"labels_per_task", row.mean.labels_per_task},
                      {"closed", row.mean.closed}});
    print_json(list);
    return;
  }
  Table table({"rule", "labels per task", "accuracy", "when closed", "claimed", "closed by the rule"});
  for (const RuleRow& row : rows)
    table.add({row.rule, fmt::format("{:.1f}", row.mean.labels_per_task),
               fmt::format("{} ± {}", decimal(row.mean.accuracy), decimal(row.deviation)),
               decimal(row.mean.accuracy_then), decimal(row.mean.claimed), decimal(row.mean.closed, 2)});
  print(table.text(wants_color(stdout)));
}

}  // namespace

void add_budget(CLI::App& app) {
  auto state = std::make_shared<Budget>();
  CLI::App& command = *app.add_subcommand("budget", "how many labels a stop rule saves, given truths");
  state->input.add_files_to(command);
  command.add_option("--truth", state->truths, "known truths: task,label")
      ->required()
      ->type_name("FILE")
      ->check(is_file_name);
  command
      .add_option(
          "--confidence", state->confidences,
          "stop rules: a task is done at this certainty: its confidence before the method's doubt")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  CLI::Option* const least =
      command.add_option("--min-labels", state->min_labels, "labels that a task needs at least")
          ->capture_default_str();
  command.add_option("--max-labels", state->max_labels,
                     "labels after which a task is done, however uncertain");
  command.add_option("--fixed", state->fixed, "rules to compare with: this many labels for every task")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        return text.find_first_not_of('0') == std::string::npos ? "a task needs 1 label or more" : "";
      })
      ->capture_default_str();
  command.add_option("--runs", state->runs, "runs, each in another order of tasks and labels")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      .add_option("-m,--method", state->method, "an online method; `crowdfold stream` judges by live")
      ->capture_default_str();
  command.add_option("--set", state->settings, "an option of the method; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_flag("--json", state->json, "print JSON");
  state->config.add_judging_to(command);
  state->input.add_to(command);
  state->run.add_seed_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "The labels are bought again, task by task in a random order, and only as many as the rule asks\n"
      "for. `accuracy`: all tasks are judged once more at the end; `when closed`: the answers they "
      "closed\n"
      "with; `claimed`: the mean confidence of those answers.\n"
      "Examples:\n"
      "  crowdfold budget labels.csv --truth truth.csv\n"
      "  crowdfold budget labels.csv --truth truth.csv -m threepass --confidence .95 --max-labels 10");
  command.callback([state, least] {
    require_least_below_most(*least, state->min_labels, state->max_labels);
    (*state)();
  });
}

}  // namespace crowdfold::cli
