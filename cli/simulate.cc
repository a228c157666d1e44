// crowdfold simulate: crowds of known quality, as files of labels and truths.
#include "crowdfold/simulate.h"

#include <fmt/format.h>

#include <charconv>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "flags.h"
#include "usage.h"

namespace crowdfold::cli {
namespace {

constexpr int kMostDigits = 100;

struct Simulate {
  SimulationOptions crowd;
  std::string labels_per_task = "5";
  std::string quality = "beta:4,2";
  std::string model = "one_coin";
  SimulationNames names;
  bool shuffle = false;
  std::string output = "-";
  std::string truth_out;
  std::string workers_out;
  OutputFlags output_flags;
  RunFlags run;

  void operator()() const;
};

// "5" or "3-7".
std::pair<std::uint32_t, std::uint32_t> parse_range(const std::string& text) {
  const char* const end = text.data() + text.size();
  std::uint32_t from = 0;
  const auto [behind, wrong] = std::from_chars(text.data(), end, from);
  if (wrong == std::errc{} && behind == end) return {from, from};
  std::uint32_t to = 0;
  if (wrong == std::errc{} && *behind == '-') {
    const auto [last, wrong_too] = std::from_chars(behind + 1, end, to);
    if (wrong_too == std::errc{} && last == end) return {from, to};
  }
  throw Error(ErrorCode::usage,
              fmt::format("--labels-per-task {}: a number, or a range such as 3-7", text));
}

void Simulate::operator()() const {
  SimulationOptions options = crowd;
  std::tie(options.min_labels, options.max_labels) = parse_range(labels_per_task);
  options.quality = QualityDistribution::parse(quality);
  options.confusion = model == "confusion";
  const SimulationFiles files{output, truth_out, workers_out, output_flags.options()};
  require_outputs({output, truth_out, workers_out}, {});
  write_simulation(options, names, shuffle, files, run.context());
  run.end_progress();
}

}  // namespace

void add_simulate(CLI::App& app) {
  auto state = std::make_shared<Simulate>();
  CLI::App& command = *app.add_subcommand("simulate", "a crowd of known quality, for trying things out");
  const char* who = "Crowd";
  command.add_option("--tasks", state->crowd.tasks, "number of tasks")
      ->check(CLI::Range(std::uint64_t{1}, kMaxTasks))
      ->capture_default_str()
      ->group(who);
  command.add_option("--workers", state->crowd.workers, "number of workers")
      ->check(CLI::Range(std::uint64_t{1}, kMaxWorkers))
      ->capture_default_str()
      ->group(who);
  command.add_option("--classes", state->crowd.classes, "number of classes")
      ->check(CLI::Range(std::uint64_t{1}, kMaxClasses))
      ->capture_default_str()
      ->group(who);
  command.add_option("--labels-per-task", state->labels_per_task, "a number, or a range such as 3-7")
      ->capture_default_str()
      ->group(who);
  command
      .add_option("--quality", state->quality,
                  "distribution of worker quality: fixed:Q, uniform:LOW,HIGH or beta:A,B")
      ->capture_default_str()
      ->group(who);
  command
      .add_option("--model", state->model,
                  "one_coin: errors are uniform; confusion: each worker has a confusion matrix")
      ->check(one_of({"one_coin", "confusion"}))
      ->capture_default_str()
      ->group(who);
  command.add_option("--spammers", state->crowd.spammers, "share of workers who answer at random")
      ->capture_default_str()
      ->group(who);
  command
      .add_option("--adversaries", state->crowd.adversaries,
                  "share of workers who answer wrongly on purpose")
      ->capture_default_str()
      ->group(who);
  command.add_option("--skew", state->crowd.skew, "frequency of class k is proportional to (k+1)^-SKEW")
      ->capture_default_str()
      ->group(who);
  const char* out = "Output";
  command
      .add_option(
          "-o,--output", state->output,
          "file of labels: task,worker,label; .csv, .tsv, .json or .jsonl, also .gz or .zst; .cfp: "
          "packed, as 'crowdfold pack' packs them")
      ->type_name("FILE")
      ->check(is_file_name)
      ->capture_default_str()
      ->group(out);
  command.add_option("--truth-out", state->truth_out, "file of truths: task,label")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(out);
  command.add_option("--workers-out", state->workers_out, "file of true qualities: worker,quality")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(out);
  command.add_flag("--shuffle", state->shuffle, "write rows in random order, not grouped by task")
      ->group(out);
  command
      .add_option("--task-prefix", state->names.task_prefix, "name of a task: this prefix and a number")
      ->capture_default_str()
      ->group(out);
  command
      .add_option("--worker-prefix", state->names.worker_prefix,
                  "name of a worker: this prefix and a number")
      ->capture_default_str()
      ->group(out);
  command
      .add_option("--task-digits", state->names.task_digits, "digits of a task's number; 0: as needed")
      ->check(CLI::Range(0, kMostDigits))
      ->capture_default_str()
      ->group(out);
  command
      .add_option("--worker-digits", state->names.worker_digits,
                  "digits of a worker's number; 0: as needed")
      ->check(CLI::Range(0, kMostDigits))
      ->capture_default_str()
      ->group(out);
  command.add_option("--class-names", state->names.classes, "names of classes, not class_0, class_1, …")
      ->delimiter(',')
      ->type_name("A,B,…")
      ->group(out);
  state->output_flags.add_to(command);
  state->run.add_seed_to(command);
  state->run.add_quiet_to(command);
  command.footer(
      "Examples:\n"
      "  crowdfold simulate --tasks 1000 --workers 200 --spammers .2 -o labels.csv --truth-out "
      "truth.csv\n"
      "  crowdfold simulate --classes 10 --labels-per-task 3-7 --quality uniform:.4,.9 --seed 7 -o "
      "labels.jsonl\n"
      "  crowdfold simulate --tasks 100000000 --workers 1000000 --classes 5 --labels-per-task 10 -o "
      "crowd.cfp");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
