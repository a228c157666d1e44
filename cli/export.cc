// crowdfold export: estimates in the form that a platform takes back.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.h"
#include "crowdfold/words.h"
#include "crowdfold/write_back.h"
#include "flags.h"

namespace crowdfold::cli {
namespace {

struct Export {
  std::string estimates;
  std::string format;
  std::string output = "-";
  ExportOptions options;
  InputFlags input;
  OutputFlags output_flags;
  RunFlags run;

  void operator()();
};

void Export::operator()() {
  options.write = output_flags.options();
  require_exportable(output, format, options);
  require_outputs({output}, {estimates});
  ReadReport read;
  const Estimates given = read_estimates(estimates, within(run.context(), input.options()), &read);
  run.say(read);
  const std::uint64_t without = export_estimates(output, format, given, options);
  if (without > 0) run.say(fmt::format("{} without an estimate: left out", count_noun(without, "task")));
}

}  // namespace

void add_export(CLI::App& app) {
  auto state = std::make_shared<Export>();
  CLI::App& command =
      *app.add_subcommand("export", "estimates as a platform takes them back, or as soft labels");
  command.add_option("ESTIMATES", state->estimates, "what `crowdfold aggregate -o` wrote")->required();
  command.add_option("--to", state->format, fmt::format("{}", fmt::join(write_back_formats(), ", ")))
      ->required()
      ->type_name("FORMAT");
  command.add_option("-o,--output", state->output, "file to write")
      ->type_name("FILE")
      ->check(is_file_name)
      ->capture_default_str();
  const char* names = "Names on the platform";
  command
      .add_option("--question", state->options.question,
                  "the question that the estimates answer; Label Studio: the name of its tag")
      ->type_name("NAME")
      ->group(names);
  command
      .add_option("--object", state->options.object, "Label Studio: the toName of the question's tag")
      ->type_name("NAME")
      ->group(names);
  command
      .add_option("--data-key", state->options.data_key,
                  "Label Studio: make new tasks, whose data hold the task under this key; default: "
                  "predictions for tasks that are there, by id")
      ->type_name("KEY")
      ->group(names);
  command
      .add_option("--agent", state->options.agent, "who suggests it: model version, agent or session")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(names);
  state->output_flags.add_to(command);
  state->input.add_columns_to(command, {"task", "label", "confidence"});
  state->input.add_skip_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "Examples:\n"
      "  crowdfold aggregate labels.csv --posterior -o answers.csv\n"
      "  crowdfold export answers.csv --to label-studio --question animal --object img -o "
      "predictions.json\n"
      "  crowdfold export answers.csv --to argilla --question animal -o suggestions.json\n"
      "  crowdfold export answers.csv --to soft-labels -o soft.jsonl");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
