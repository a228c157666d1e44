// crowdfold import: exports of platforms as plain rows.
#include <fmt/format.h>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "crowdfold/words.h"
#include "flags.h"
#include "print_json.h"

namespace crowdfold::cli {
namespace {

struct Import {
  std::vector<std::string> files;
  std::string output = "-";
  std::string truth_out;
  bool formats = false;
  bool json = false;
  InputFlags input;
  OutputFlags output_flags;
  RunFlags run;

  void operator()() const;

 private:
  void print_formats() const;
};

void Import::print_formats() const {
  nlohmann::json list = nlohmann::json::array();
  Table table({"--format", "export", "recognised by"});
  for (const ExportInfo& format : export_formats()) {
    table.add({format.name, format.title, format.recognised_by});
    list.push_back({{"name", format.name},
                    {"title", format.title},
                    {"recognised_by", format.recognised_by},
                    {"task", format.task},
                    {"worker", format.worker},
                    {"label", format.label},
                    {"left_out", format.left_out}});
  }
  json ? print_json(list) : print(table.text(wants_color(stdout)));
}

void Import::operator()() const {
  if (formats) return print_formats();
  if (files.empty()) throw Error(ErrorCode::usage, "import: which file? (crowdfold import --help)");
  require_outputs({output, truth_out}, files);
  const ImportedLabels imported =
      import_labels(expand_and_tell(files, input.options(), run), input.options(), run.context());
  run.say(imported.report);
  const Labels& labels = imported.labels;
  run.say(fmt::format("{} by {} on {}, {}{}", count_noun(labels.num_labels(), "label"),
                      count_noun(labels.num_workers(), "worker"), count_noun(labels.num_tasks(), "task"),
                      count_noun(labels.num_classes(), "class"),
                      output == "-" ? "" : ", written to " + output));
  if (!truth_out.empty() && imported.truths.empty())
    run.say(fmt::format("no truths are in it: {} is not written", truth_out));
  write_labels(output, labels, output_flags.options());
  if (!truth_out.empty() && !imported.truths.empty())
    write_truths(truth_out, imported.truths, output_flags.options());
}

}  // namespace

void add_import(CLI::App& app) {
  auto state = std::make_shared<Import>();
  CLI::App& command =
      *app.add_subcommand("import", "the export of a platform as rows task,worker,label");
  command.add_option(
      "FILES", state->files,
      "exports, folders or zip archives of them, or a table, which make one data set; - for "
      "standard input");
  command.add_flag("--formats", state->formats, "print the exports that are recognised");
  command.add_flag("--json", state->json, "the same as JSON")->needs("--formats");
  const char* out = "Output";
  command.add_option("-o,--output", state->output, "labels: task,worker,label (.jsonl: JSON lines)")
      ->type_name("FILE")
      ->check(is_file_name)
      ->capture_default_str()
      ->group(out);
  command
      .add_option("--truth-out", state->truth_out,
                  "truths, if the export has any (gold, ground truth, control tasks): task,label")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(out);
  state->output_flags.add_to(command);
  state->input.add_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "Every command that reads labels takes an export as it is; this one is for looking at what it "
      "holds.\n"
      "Examples:\n"
      "  crowdfold import project-7.json -o labels.csv --truth-out truth.csv\n"
      "  crowdfold import Batch_301_batch_results.csv --question category -o labels.csv\n"
      "  crowdfold import job_12.xml job_13.xml -o labels.csv");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
