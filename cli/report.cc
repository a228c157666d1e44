// crowdfold report: turns labels into a page to look at.
#include "crowdfold/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "flags.h"

namespace crowdfold::cli {
namespace {

struct ReportCommand {
  std::string truths;
  std::string output;
  std::string title;
  std::vector<std::string> settings;
  ReportOptions options;
  InputFlags input;
  RunFlags run;

  void operator()();
};

void ReportCommand::operator()() {
  options.settings = parse_settings(settings);
  const MethodInfo& info = find_method(options.method);
  info.check(options.settings);  // before anything is read
  options.method = info.name;
  if (options.compared == std::vector<std::string>{"none"}) options.compared.clear();
  for (std::string& name : options.compared) name = find_method(name).name;
  require_page_for(output);
  std::vector<std::string> inputs = input.named();
  inputs.push_back(truths);
  require_outputs({output}, inputs);

  const RunContext context = run.context();
  const auto [data, known] = read_with_truths(input, truths, run, context);
  const Report report = make_report(data, known, options, context);
  if (!truths.empty() && !report.has_truths)
    throw Error(ErrorCode::data, truths + ": no truth to compare with");
  Document document = document_of(report, data, known, input.files_name());
  if (!title.empty()) document.title = title;
  write_document(output, document, {.cancelled = &interrupted()});
  run.end_progress();
  run.say(document.headline);
  for (const Advice::Item& item : advice_of(report, data).items) run.say("- " + item.text);
  if (output != "-") run.say("written to " + output);
}

}  // namespace

void add_report(CLI::App& app) {
  auto state = std::make_shared<ReportCommand>();
  CLI::App& command =
      *app.add_subcommand("report", "a page to look at: tasks, workers, classes, what to do next");
  state->input.add_files_to(command);
  command.add_option("--truth", state->truths, "known truths, to compare with: task,label")
      ->type_name("FILE")
      ->check(is_file_name);
  command.add_option("-o,--output", state->output, "file of the page; .json: its data alone")
      ->required()
      ->type_name("FILE")
      ->check(is_file_name);
  command.add_option("--title", state->title,
                     "title of the page; default: the name of the file of labels");
  command.add_option("-m,--method", state->options.method, "see 'crowdfold methods'")
      ->capture_default_str();
  command.add_option("--set", state->settings, "an option of the method; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command.add_option("--methods", state->options.compared, "methods to compare with: a,b,… or none")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->capture_default_str();
  command
      .add_option("--confidence", state->options.settled,
                  "certainty at which a task is settled: its confidence before the method's doubt")
      ->check(CLI::Range(0.5, 0.999999))
      ->capture_default_str();
  command
      .add_option("--tasks", state->options.most_tasks,
                  "most rows in the list of tasks to look at first")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--workers", state->options.most_workers, "most rows in the list of workers")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  state->input.add_to(command);
  state->run.add_seed_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "The page is one file that loads nothing else, so you can mail it.\n"
      "Examples:\n"
      "  crowdfold report labels.csv -o report.html\n"
      "  crowdfold report labels.csv --truth truth.csv -o report.html\n"
      "  crowdfold report labels.csv -m twopass --confidence .95 --methods mv,ds,glad -o report.html\n"
      "  crowdfold report labels.csv -o report.json");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
