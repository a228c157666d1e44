// crowdfold compare: methods side by side on one data set with truths.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "commands.h"
#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "flags.h"
#include "print_json.h"

namespace crowdfold::cli {
namespace {

struct Compare {
  std::string truths;
  std::string spill;
  std::vector<std::string> method_names = {"all"};
  std::vector<std::string> settings;
  int runs = 10;
  bool json = false;
  InputFlags input;
  RunFlags run;

  void operator()() const;
};

struct Row {
  std::string method;
  Score score;
};

void Compare::operator()() const {
  std::vector<const MethodInfo*> chosen;
  for (const std::string& name : method_names) {
    if (name == "all") {
      for (const MethodInfo& info : methods()) chosen.push_back(&info);
    } else {
      chosen.push_back(&find_method(name));
    }
  }
  const Settings asked = parse_settings(settings);
  for (const auto& [name, value] : asked) {
    if (std::none_of(chosen.begin(), chosen.end(),
                     [&, &option = name](const MethodInfo* m) { return m->has_option(option); })) {
      std::vector<std::string> known;
      for (const MethodInfo* m : chosen) {
        for (const OptionInfo& option : m->options) known.push_back(option.name);
      }
      throw Error(ErrorCode::usage, fmt::format("none of these methods has an option '{}'{}", name,
                                                did_you_mean(name, known)));
    }
  }
  for (const MethodInfo* info : chosen) info->check(settings_of_runs(*info, asked));
  const bool all = std::find(method_names.begin(), method_names.end(), "all") != method_names.end();
  const auto needs_memory = [&](const MethodInfo& info) {
    return !info.works_in_rounds(settings_of_runs(info, asked));
  };
  if (!spill.empty() && !all) {
    for (const MethodInfo* info : chosen) require_rounds(*info, settings_of_runs(*info, asked));
  }

  const RunContext context = run.context();
  ComparisonRequest request;
  request.labels = input.files(run);
  request.read = input.options();
  request.truths = truths;
  request.read_known = input.options_for_tables();
  request.spill = spill;
  const MethodComparison data(request, context,
                              {.on_read =
                                   [&](const ReadReport& read) {
                                     require_same_spelling(read);
                                     run.say(read, request.labels.size() > 1);
                                   },
                               .on_space = [&](const std::string& space) { run.say(space); }});

  std::vector<Row> rows;
  std::vector<std::string> in_memory_only;
  for (const MethodInfo* info : chosen) {
    if (all && data.num_classes() > info->traits.most_classes) {
      run.say(
          fmt::format("{} is left out: it is for {} classes", info->name, info->traits.most_classes));
      continue;
    }
    if (all && !data.in_memory() && needs_memory(*info)) {
      in_memory_only.push_back(info->name);
      continue;
    }
    rows.push_back({info->name, data.score(*info, asked, runs, context)});
  }
  if (!in_memory_only.empty())
    run.say(
        fmt::format("left out, as they need the labels in memory: {}", fmt::join(in_memory_only, ", ")));
  run.end_progress();
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Row& row : rows) {
      list.push_back({{"method", row.method},
                      {"accuracy", row.score.accuracy},
                      {"accuracy_sd", row.score.deviation},
                      {"log_loss", row.score.log_loss},
                      {"seconds", row.score.seconds},
                      {"runs", runs}});
    }
    print_json(list);
    return;
  }
  Table table({"method", "accuracy", "log-loss", "seconds"});
  for (const Row& row : rows) {
    table.add({row.method,
               fmt::format("{} ± {}", decimal(row.score.accuracy), decimal(row.score.deviation)),
               decimal(row.score.log_loss, 3), fmt::format("{:.4f}", row.score.seconds)});
  }
  print(table.text(wants_color(stdout)));
}

}  // namespace

void add_compare(CLI::App& app) {
  auto state = std::make_shared<Compare>();
  CLI::App& command = *app.add_subcommand("compare", "methods side by side, given truths");
  state->input.add_files_to(command);
  command.add_option("--truth", state->truths, "task,label")
      ->required()
      ->type_name("FILE")
      ->check(is_file_name);
  command.add_option("--methods", state->method_names, "a,b,… or all")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command.add_option("--runs", state->runs, "with different seeds: order and ties are drawn anew")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      .add_option("--set", state->settings, "an option, for the methods that have it; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      .add_option(
          "--spill", state->spill,
          "read labels from a disk in every round, packed into a temporary file in this folder; "
          "for methods that work in rounds; happens by itself where --max-memory would be passed")
      ->type_name("DIR")
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""));
  command.add_flag("--json", state->json, "as JSON");
  state->input.add_to(command);
  state->run.add_seed_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "Accuracy is the mean over the runs ± its standard deviation; seconds are of one run, reading "
      "excluded.\nLog-loss is of the probabilities of all classes.\n"
      "Examples:\n"
      "  crowdfold compare labels.csv --truth truth.csv\n"
      "  crowdfold compare labels.csv --truth truth.csv --methods mv,twopass --duplicates keep");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
