// crowdfold aggregate: labels in, one estimate per task and one quality per worker out.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <utility>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "flags.h"
#include "glance.h"

namespace crowdfold::cli {
namespace {

struct Aggregate {
  std::string labels;
  std::string method = "threepass";
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
  bool report = false;
  std::vector<std::string> classes;
  InputFlags input;
  RunFlags run;

  void operator()() const;

 private:
  bool streams(const MethodInfo& method_info, const Settings& set) const;
  bool try_streamed(const MethodInfo& info, const Settings& set, const RunContext& context) const;
  void in_memory(const MethodInfo& info, const Settings& set, RunContext context) const;
  void say_counts(std::uint64_t labels_read, std::uint64_t num_workers, std::uint64_t tasks,
                  std::uint64_t num_classes, std::uint64_t abstentions, std::uint64_t duplicates) const;
};

// Seconds since it was made, or since it was last asked.
class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(began_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

double setting(const Settings& settings, const MethodInfo& info, const std::string& name) {
  std::string value;
  for (const OptionInfo& option : info.options) {
    if (option.name == name) value = option.fallback;
  }
  for (const auto& [key, text] : settings) {
    if (key == name) value = text;
  }
  return value.empty() ? 2 : std::stod(value);
}

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

void Aggregate::operator()() const {
  const MethodInfo& info = find_method(method);
  const Settings set = parse_settings(settings);
  info.make(set);  // complains about options before anything is read
  if (!confusion_out.empty()) {
    require(
        info, [](const MethodInfo& m) { return m.has_confusion; }, "--confusion-out",
        "confusion matrices");
  }
  if (!trace_out.empty()) {
    require(
        info, [](const MethodInfo& m) { return m.has_option("iterations") || m.has_option("epochs"); },
        "--trace-out", "iterations");
  }
  for (const std::string* const path : {&output, &workers_out, &confusion_out, &trace_out}) {
    if (!path->empty()) require_writable(*path);
  }
  RunContext context = run.context();
  Stopwatch watch;
  if (!streams(info, set) || !try_streamed(info, set, context)) in_memory(info, set, context);
  run.say(
      fmt::format("{}: {:.2f} s{}", method, watch.lap(), output == "-" ? "" : ", written to " + output));
}

// Whether the labels need not be held in memory. Methods that look twice are faster if they are.
bool Aggregate::streams(const MethodInfo& info, const Settings& set) const {
  const bool asked = grouped || low_memory;
  std::string obstacle;
  if (!info.make_online) obstacle = fmt::format("{} works on whole data sets only", method);
  if (posterior) obstacle = "--posterior is for labels in memory";
  if (!truth_in.empty()) obstacle = "--truth is for labels in memory";
  if (!workers_in.empty()) obstacle = "--workers-in is for labels in memory";
  if (report) obstacle = "--report is for labels in memory";
  if (!confusion_out.empty()) obstacle = "--confusion-out is for labels in memory";
  for (const auto& [name, value] : set) {
    if (name == "order" && value == "shuffled") obstacle = "order=shuffled is for labels in memory";
  }
  const bool twice = info.make_online && info.make_online(set, 0)->judges_after_learning();
  const bool readable =
      labels == "-" || std::filesystem::exists(labels);  // if not, reading will say why
  if (readable && !is_rereadable(labels) && (twice || !grouped))
    obstacle = fmt::format("{} cannot be read a second time", labels == "-" ? "standard input" : labels);
  if (asked && !obstacle.empty()) {
    throw Error(ErrorCode::usage,
                fmt::format("{} does not fit: {}", grouped ? "--grouped" : "--low-memory", obstacle));
  }
  return obstacle.empty() && (asked || (!twice && info.online_equals_batch));
}

// False if the input turns out not to be grouped by task.
bool Aggregate::try_streamed(const MethodInfo& info, const Settings& set,
                             const RunContext& context) const {
  ReadReport read;
  const GroupedSummary summary =
      aggregate_grouped(labels, input.options(), {grouped, classes}, info, set, output, context, &read);
  if (!summary.grouped) {
    run.say(fmt::format("{}: not grouped by task, so the labels are held in memory", labels));
    return false;
  }
  run.say(read);
  if (!info.online_equals_batch)
    run.say(fmt::format("{}: a single pass, as the labels are not held in memory", method));
  say_counts(summary.labels, summary.workers.size(), summary.tasks, summary.classes.size(),
             summary.abstentions, summary.duplicates);
  if (summary.tasks_without_labels > 0) {
    run.say(
        fmt::format("{} without a label: no estimate", count_of(summary.tasks_without_labels, "task")));
  }
  if (!workers_out.empty()) write_workers(workers_out, summary.workers, summary.state, details, context);
  return true;
}

void Aggregate::in_memory(const MethodInfo& info, const Settings& set, RunContext context) const {
  Stopwatch watch;
  ReadReport read;
  Labels data = read_labels(labels, input.options(), context, &read);
  run.say(read);
  say_counts(data.num_labels(), data.num_workers(), data.num_tasks(), data.num_classes(),
             data.abstentions, data.duplicates);
  for (const std::string& name : classes) data.classes.intern(name);

  Knowledge given;
  if (!truth_in.empty()) {
    ReadReport truths;
    given.truths = read_truths(truth_in, data, input.options_for_tables(), &truths);
    run.say(truths);
  }
  if (!workers_in.empty()) {
    given.workers = read_workers(workers_in, data, setting(set, info, "alpha"),
                                 setting(set, info, "beta"), input.options_for_tables());
  }
  const double reading = watch.lap();
  context.posterior = posterior;
  context.confusion = !confusion_out.empty();
  const Result result = info.make(set)->fit(data, given, context);
  const double fitting = watch.lap();
  if (!result.converged) {
    run.say(fmt::format(
        "{} did not settle within {}: its estimates may still change with more, --set iterations=N",
        method, count_of(result.trace.size(), "iteration")));
  }
  std::uint64_t without = 0;
  for (const ClassId c : result.estimate) without += c == kNoClass ? 1 : 0;
  if (without > 0) run.say(fmt::format("{} without a label: no estimate", count_of(without, "task")));

  write_estimates(output, data, result, context);
  if (!workers_out.empty()) write_workers(workers_out, data.workers, result.workers, details, context);
  if (!confusion_out.empty()) write_confusion(confusion_out, data, result, context);
  if (!trace_out.empty()) write_trace(trace_out, result, context);
  run.end_progress();
  if (run.verbose()) {
    run.say(fmt::format("reading {:.2f} s, {} {:.2f} s, writing {:.2f} s", reading, method, fitting,
                        watch.lap()));
  }
  if (report) print_glance(stderr, data, result);
}

void Aggregate::say_counts(std::uint64_t labels_read, std::uint64_t num_workers, std::uint64_t tasks,
                           std::uint64_t num_classes, std::uint64_t abstentions,
                           std::uint64_t duplicates) const {
  std::string line =
      fmt::format("{} by {} on {}, {}", count_of(labels_read, "label"), count_of(num_workers, "worker"),
                  count_of(tasks, "task"), count_of(num_classes, "class"));
  if (abstentions > 0) line += fmt::format("; {}", count_of(abstentions, "abstention"));
  if (duplicates > 0) line += fmt::format("; {}", count_of(duplicates, "repeated label"));
  run.say(line);
}

}  // namespace

void add_aggregate(CLI::App& app) {
  auto state = std::make_shared<Aggregate>();
  CLI::App& command = *app.add_subcommand("aggregate", "one label per task, one quality per worker");
  command.add_option("LABELS", state->labels, "file of labels, or - for standard input")->required();
  command.add_option("-m,--method", state->method, "see 'crowdfold methods'")->capture_default_str();
  command.add_option("--set", state->settings, "an option of the method; may be repeated")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  const char* out = "Output";
  command
      .add_option("-o,--output", state->output, "estimates: task,label,confidence (.jsonl: JSON lines)")
      ->type_name("FILE")
      ->capture_default_str()
      ->group(out);
  command.add_option("--workers-out", state->workers_out, "workers: worker,quality,lower,upper,labels")
      ->type_name("FILE")
      ->group(out);
  command
      .add_flag("--details", state->details,
                "more columns for workers: counts, mode, Beta, the paper's bound")
      ->group(out);
  command
      .add_option("--confusion-out", state->confusion_out,
                  "how likely each worker says what: worker,truth,label,probability")
      ->type_name("FILE")
      ->group(out);
  command
      .add_option("--trace-out", state->trace_out,
                  "what the method climbs, after every iteration: iteration,objective")
      ->type_name("FILE")
      ->group(out);
  command.add_flag("--posterior", state->posterior, "one more column per class with its probability")
      ->group(out);
  command.add_flag("--report", state->report, "for people: best and worst workers, doubtful tasks")
      ->group(out);
  const char* known = "Knowledge";
  command.add_option("--workers-in", state->workers_in, "worker qualities of an earlier run, as prior")
      ->type_name("FILE")
      ->group(known);
  command.add_option("--truth", state->truth_in, "known truths: task,label")
      ->type_name("FILE")
      ->group(known);
  command.add_option("--truth-in", state->truth_in)->group("");  // its former name
  command
      .add_option("--classes", state->classes,
                  "classes known beforehand, also those that no label names")
      ->delimiter(',')
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
      "  zcat labels.gz | crowdfold aggregate - --no-header --posterior");
  command.callback([state] { (*state)(); });
}

}  // namespace crowdfold::cli
