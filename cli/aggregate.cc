// crowdfold aggregate: labels in, one estimate per task and one quality per worker out.
#include "crowdfold/aggregate.h"

#include <fmt/format.h>

#include <chrono>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "flags.h"
#include "glance.h"

namespace crowdfold::cli {
namespace {

struct Aggregate {
  std::string method = kDefaultMethod;
  std::vector<std::string> settings;
  std::string output = "-";
  std::string workers_out;
  std::string confusion_out;
  std::string trace_out;
  std::string workers_in;
  std::string truth_in;
  bool posterior = false;
  bool details = false;
  bool grouped = false;
  bool low_memory = false;
  std::string spill;
  bool report = false;
  std::vector<std::string> classes;
  InputFlags input;
  OutputFlags output_flags;
  RunFlags run;

  void operator()() const;

 private:
  AggregateRequest request() const;
  void say(const LabelCounts& counts) const;
  void say(const AggregateSummary& summary) const;
};

// Error(usage) if a file is asked for that the method has nothing for.
void require(const MethodInfo& info, bool (*has)(const MethodInfo&), const char* flag,
             const char* what) {
  if (has(info)) return;
  std::vector<std::string> those;
  for (const MethodInfo& other : methods()) {
    if (has(other)) those.push_back(other.name);
  }
  throw Error(ErrorCode::usage, fmt::format("{}: {} has no {}; methods that have: {}", flag, info.name,
                                            what, fmt::join(those, ", ")));
}

AggregateRequest Aggregate::request() const {
  AggregateRequest request;
  request.method = find_method(method).name;
  request.settings = parse_settings(settings);
  request.labels = input.files(run);
  request.read = input.options();
  request.classes = classes;
  request.truths = truth_in;
  request.workers = workers_in;
  request.read_known = input.options_for_tables();
  request.road = grouped          ? Road::grouped
                 : low_memory     ? Road::low_memory
                 : !spill.empty() ? Road::spilled
                                  : Road::automatic;
  request.spill = spill;
  request.keep_labels = report;
  request.output = output;
  request.write = output_flags.options();
  return request;
}

void Aggregate::operator()() const {
  const AggregateRequest wanted = request();
  const MethodInfo& info = find_method(wanted.method);
  info.check(wanted.settings);
  if (!confusion_out.empty()) {
    require(
        info, [](const MethodInfo& m) { return m.traits.has_confusion; }, "--confusion-out",
        "confusion matrices");
  }
  if (!trace_out.empty()) {
    require(
        info, [](const MethodInfo& m) { return m.traits.has_trace; }, "--trace-out", "iterations");
  }
  std::vector<std::string> inputs = wanted.labels;
  inputs.push_back(truth_in);
  require_outputs({output, workers_out, confusion_out, trace_out}, inputs);
  // --workers-out may replace --workers-in: the history goes on.
  require_separate({output, confusion_out, trace_out}, {workers_in});
  RunContext context = run.context();
  context.posterior = posterior;
  context.confusion = !confusion_out.empty();
  if (!spill.empty() && (grouped || low_memory)) {
    throw Error(ErrorCode::usage, fmt::format("--spill and {} are two ways to save memory: take one",
                                              grouped ? "--grouped" : "--low-memory"));
  }
  if (grouped || low_memory) {
    const std::string obstacle = why_in_memory(wanted, context);
    if (!obstacle.empty()) {
      throw Error(ErrorCode::usage,
                  fmt::format("{} does not fit: {}", grouped ? "--grouped" : "--low-memory", obstacle));
    }
  }

  const auto began = std::chrono::steady_clock::now();
  const AggregateSummary summary =
      aggregate(wanted, context,
                {[&](const ReadReport& read) { run.say(read, wanted.labels.size() > 1); },
                 [this](const LabelCounts& counts) { say(counts); },
                 [this] {
                   run.say(fmt::format("{}: not grouped by task, so the labels are held in memory",
                                       input.files_name()));
                 },
                 [this](const std::string& space) { run.say(space); },
                 [this](const std::string& note) { run.say("note: " + note); }});
  say(summary);
  if (!workers_out.empty())
    write_workers(workers_out, summary.workers(), summary.result.learned, details, context,
                  wanted.write);
  if (!confusion_out.empty())
    write_confusion(confusion_out, summary.workers(), summary.classes(), summary.result, context,
                    wanted.write);
  if (!trace_out.empty()) write_trace(trace_out, summary.result, context);
  run.end_progress();
  if (run.verbose() && summary.reading_seconds > 0) {
    run.say(fmt::format("reading {:.2f} s, {} {:.2f} s, writing {:.2f} s", summary.reading_seconds,
                        info.name, summary.fitting_seconds, summary.writing_seconds));
  }
  if (report) tell_glance(*summary.labels, summary.result);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
  const char* const kind = tells_its_kind(output) ? "" : " as CSV";
  run.say(fmt::format("{}: {:.2f} s{}", info.name, taken.count(),
                      output == "-" ? "" : fmt::format(", written to {}{}", output, kind)));
}

void Aggregate::say(const AggregateSummary& summary) const {
  if (!summary.result.converged) {
    run.say(fmt::format(
        "{} did not settle within {}: its estimates may still change with more, --set iterations=N",
        find_method(method).name, count_noun(summary.result.trace.size(), "iteration")));
  }
  if (summary.tasks_without_estimate > 0) {
    run.say(fmt::format("{} without a label: no estimate",
                        count_noun(summary.tasks_without_estimate, "task")));
  }
}

void Aggregate::say(const LabelCounts& counts) const {
  const MethodInfo& info = find_method(method);
  if (!counts.in_memory && (grouped || low_memory) && !info.traits.online_equals_batch)
    run.say(fmt::format("{}: a single pass, as the labels are not held in memory", info.name));
  std::string line = fmt::format("{} by {} on {}, {}", count_noun(counts.labels, "label"),
                                 count_noun(counts.workers, "worker"), count_noun(counts.tasks, "task"),
                                 count_noun(counts.classes, "class"));
  if (counts.rows.abstentions > 0)
    line += fmt::format("; {}{}", count_noun(counts.rows.abstentions, "abstention"),
                        input.leaves_workers_out() ? " (labels of workers left out count as such)" : "");
  if (counts.rows.duplicates > 0)
    line += fmt::format("; {}", count_noun(counts.rows.duplicates, "repeated label"));
  run.say(line);
}

}  // namespace

void add_aggregate(CLI::App& app) {
  auto state = std::make_shared<Aggregate>();
  CLI::App& command = *app.add_subcommand("aggregate", "one label per task, one quality per worker");
  state->input.add_files_to(command);
  command.add_option("-m,--method", state->method, "see 'crowdfold methods'")->capture_default_str();
  command.add_option("--set", state->settings, "an option of the method; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  const char* out = "Output";
  command
      .add_option("-o,--output", state->output,
                  "estimates: task,label,confidence; .csv, .tsv, .json or .jsonl, also .gz or .zst")
      ->type_name("FILE")
      ->check(is_file_name)
      ->capture_default_str()
      ->group(out);
  command.add_option("--workers-out", state->workers_out, "workers: worker,quality,lower,upper,labels")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(out);
  command
      .add_flag("--details", state->details,
                "more columns for workers: counts, mode, Beta, the paper's bound")
      ->group(out);
  command
      .add_option("--confusion-out", state->confusion_out,
                  "how likely each worker says what: worker,truth,label,probability")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(out);
  command
      .add_option("--trace-out", state->trace_out,
                  "what the method climbs, after every iteration: iteration,objective")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(out);
  command.add_flag("--posterior", state->posterior, "one more column per class with its probability")
      ->group(out);
  command.add_flag("--report", state->report, "for people: best and worst workers, doubtful tasks")
      ->group(out);
  state->output_flags.add_to(command);
  const char* known = "Knowledge";
  command.add_option("--workers-in", state->workers_in, "worker qualities of an earlier run, as prior")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(known);
  command.add_option("--truth", state->truth_in, "known truths: task,label")
      ->type_name("FILE")
      ->check(is_file_name)
      ->group(known);
  command.add_option("--truth-in", state->truth_in)->group("");  // its former name
  command
      .add_option("--classes", state->classes,
                  "classes known beforehand, also those that no label names")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B,…")
      ->group(known);
  const char* memory = "Memory";
  command
      .add_flag("--grouped", state->grouped,
                "vouch that rows are grouped by task: estimates leave at once (threepass: one pass)")
      ->group(memory);
  command
      .add_flag("--low-memory", state->low_memory,
                "do not keep grouped input: read it twice (threepass: one pass)")
      ->group(memory);
  command
      .add_option("--spill", state->spill,
                  "pack labels into a temporary file in this folder, and read them from there in every "
                  "round; happens by itself where --max-memory would be passed")
      ->type_name("DIR")
      ->check(CLI::Validator(CLI::ExistingDirectory).description(""))
      ->group(memory);
  state->input.add_to(command);
  state->run.add_seed_to(command);
  state->run.add_threads_to(command);
  state->run.add_quiet_to(command);
  state->run.add_verbose_to(command);
  state->run.add_memory_to(command);
  command.footer(
      "Examples:\n"
      "  crowdfold aggregate labels.csv\n"
      "  crowdfold aggregate labels.csv -m twopass --report\n"
      "  crowdfold aggregate labels.csv.gz -m onepass --set alpha=3 -o answers.csv --workers-out "
      "workers.csv\n"
      "  crowdfold aggregate export.tsv --map task=image,worker=email,label=verdict --report\n"
      "  crowdfold aggregate monday.csv tuesday.csv --abstain N/A,unsure --fold-case\n"
      "  crowdfold aggregate huge.csv -m fivepass --spill /var/tmp -o answers.csv\n"
      "  zcat labels.gz | crowdfold aggregate --no-header --posterior");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
