// crowdfold compare: methods side by side on one data set with truths.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/metrics.h"
#include "flags.h"

namespace crowdfold::cli {
namespace {

struct Compare {
  std::string labels;
  std::string truths;
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
  double accuracy = 0;
  double deviation = 0;
  double log_loss = 0;
  double seconds = 0;  // of one run, the median
};

// What a method's option is set to in a comparison, unless the user says otherwise: runs should differ
// by what the paper averages over.
Settings settings_for(const MethodInfo& method, const Settings& asked) {
  Settings settings;
  if (method.has_option("order")) settings.emplace_back("order", "shuffled");
  if (method.has_option("ties")) settings.emplace_back("ties", "random");
  for (const auto& [name, value] : asked) {
    if (method.has_option(name)) settings.emplace_back(name, value);
  }
  return settings;
}

Row measure(const MethodInfo& info, const Settings& settings, const Labels& data,
            const std::vector<ClassId>& known, int runs, RunContext context) {
  const std::unique_ptr<Method> method = info.make(settings);
  std::vector<double> accuracies;
  std::vector<double> seconds;
  Row row{info.name, 0, 0, 0, 0};
  const std::uint64_t first_seed = context.seed;
  for (int i = 0; i < runs; ++i) {
    context.seed = first_seed + static_cast<std::uint64_t>(i);
    const auto began = std::chrono::steady_clock::now();
    const Result result = method->fit(data, context);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count());
    const Evaluation evaluation =
        evaluate(result.estimate, known, data.num_classes(), result.confidence);
    accuracies.push_back(evaluation.accuracy);
    row.accuracy += evaluation.accuracy / runs;
    row.log_loss += evaluation.log_loss / runs;
  }
  for (const double a : accuracies)
    row.deviation += (a - row.accuracy) * (a - row.accuracy) / std::max(1, runs - 1);
  row.deviation = std::sqrt(row.deviation);
  std::nth_element(seconds.begin(), seconds.begin() + runs / 2, seconds.end());
  row.seconds = seconds[static_cast<std::size_t>(runs / 2)];
  return row;
}

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
      throw Error(ErrorCode::usage, fmt::format("none of these methods has an option '{}'", name));
    }
  }
  for (const MethodInfo* info : chosen) info->make(settings_for(*info, asked));

  const RunContext context = run.context();
  ReadReport read;
  Labels data = read_labels(labels, input.options(), context, &read);
  run.say(read);
  const std::vector<ClassId> known = read_truths(truths, data, input.options_for_tables(), &read);
  run.say(read);

  std::vector<Row> rows;
  const bool all = std::find(method_names.begin(), method_names.end(), "all") != method_names.end();
  for (const MethodInfo* info : chosen) {
    if (all && data.num_classes() > info->most_classes) {
      run.say(fmt::format("{} is left out: it is for {} classes", info->name, info->most_classes));
      continue;
    }
    rows.push_back(measure(*info, settings_for(*info, asked), data, known, runs, context));
  }
  run.end_progress();
  if (json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Row& row : rows) {
      list.push_back({{"method", row.method},
                      {"accuracy", row.accuracy},
                      {"accuracy_sd", row.deviation},
                      {"log_loss", row.log_loss},
                      {"seconds", row.seconds},
                      {"runs", runs}});
    }
    fmt::print("{}\n", list.dump(2));
    return;
  }
  Table table({"method", "accuracy", "log-loss", "seconds"});
  for (const Row& row : rows) {
    table.add({row.method, fmt::format("{} ± {}", decimal(row.accuracy), decimal(row.deviation)),
               decimal(row.log_loss, 3), fmt::format("{:.4f}", row.seconds)});
  }
  fmt::print("{}", table.text(wants_color(stdout)));
}

}  // namespace

void add_compare(CLI::App& app) {
  auto state = std::make_shared<Compare>();
  CLI::App& command = *app.add_subcommand("compare", "methods side by side, given truths");
  command.add_option("LABELS", state->labels, "file of labels")->required();
  command.add_option("--truth", state->truths, "task,label")->required()->type_name("FILE");
  command.add_option("--methods", state->method_names, "a,b,… or all")
      ->delimiter(',')
      ->capture_default_str();
  command.add_option("--runs", state->runs, "with different seeds: order and ties are drawn anew")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  command
      .add_option("--set", state->settings, "an option, for the methods that have it; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_flag("--json", state->json, "as JSON");
  state->input.add_to(command);
  state->run.add_seed_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "Accuracy is the mean over the runs ± its standard deviation; seconds are of one run, reading "
      "excluded.\n"
      "Examples:\n"
      "  crowdfold compare labels.csv --truth truth.csv\n"
      "  crowdfold compare labels.csv --truth truth.csv --methods mv,twopass --duplicates keep");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
