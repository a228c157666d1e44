// crowdfold pack: labels in the packed form, which every command reads at once.
#include <fmt/format.h>

#include <memory>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/packed.h"
#include "crowdfold/words.h"
#include "flags.h"

namespace crowdfold::cli {
namespace {

struct Pack {
  std::string output;
  std::string spill;
  InputFlags input;
  RunFlags run;

  void operator()() const;
};

std::string bytes_a_label(const PackSummary& packed) {
  if (packed.labels == 0) return "";
  return fmt::format(", {:.1f} bytes a label",
                     static_cast<double>(packed.bytes) / static_cast<double>(packed.labels));
}

void Pack::operator()() const {
  PackRequest request;
  request.labels = input.files(run);
  request.read = input.options();
  request.folder = spill;
  require_outputs({output}, request.labels);
  const PackSummary packed =
      pack_labels(request, output, run.context(),
                  {.on_space = [&](const std::string& sentence) { run.say(sentence); }});
  for (const ReadReport& report : packed.reports) run.say(report, packed.reports.size() > 1);
  run.say(fmt::format("{} by {} on {}, {}, packed into {}: {}{}", count_noun(packed.labels, "label"),
                      count_noun(packed.workers, "worker"), count_noun(packed.tasks, "task"),
                      count_noun(packed.classes, "class"), output == "-" ? "standard output" : output,
                      memory_size(packed.bytes), bytes_a_label(packed)));
}

}  // namespace

void add_pack(CLI::App& app) {
  auto state = std::make_shared<Pack>();
  CLI::App& command =
      *app.add_subcommand("pack", "labels in a packed form, which every command reads at once");
  state->input.add_files_to(command);
  const char* out = "Output";
  command.add_option("-o,--output", state->output, "the packed labels, such as labels.cfp")
      ->type_name("FILE")
      ->required()
      ->check(is_file_name)
      ->group(out);
  command
      .add_option("--spill", state->spill,
                  "where rows wait that are not grouped by task and do not fit into memory; default: "
                  "where the output is")
      ->type_name("DIR")
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""))
      ->group(out);
  state->input.add_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "How labels are to be understood is said here, once: --map, --abstain, --duplicates, … A command "
      "that\n"
      "reads the packed labels takes of these --without-workers only.\n"
      "Examples:\n"
      "  crowdfold pack labels.csv -o labels.cfp\n"
      "  crowdfold aggregate labels.cfp -o answers.csv\n"
      "  crowdfold pack monday.csv tuesday.csv.gz --max-memory 2GB --spill /var/tmp -o week.cfp");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
