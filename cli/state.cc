// crowdfold state: inspects, checks, copies and merges states of streams. crowdfold next: the open tasks
// that gain most from one more label.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "crowdfold/io.h"
#include "crowdfold/words.h"
#include "flags.h"

namespace crowdfold::cli {
namespace {

constexpr std::size_t kMostRows = 1'000'000'000;

LiveStream open_state(const std::string& path) { return LiveStream(open_store_to_read(path), {}, {}); }

struct State {
  std::string file;
  std::vector<std::string> others;
  std::string output = "-";
  std::size_t most = 10;
  bool details = false;
  OutputFlags output_flags;
  RunFlags run;
};

void show(const State& options) {
  const LiveStream stream = open_state(options.file);
  const bool color = wants_color(stdout);
  const StreamTotals totals = stream.totals();
  Table summary({"measure", "value"});
  summary.add({"events", with_commas(totals.events)});
  summary.add({"workers", with_commas(totals.workers)});
  summary.add({"classes", with_commas(totals.classes)});
  summary.add({"open tasks", with_commas(totals.open_tasks)});
  summary.add({"closed tasks", with_commas(totals.closed_tasks)});
  summary.add({"too hard for everybody", fmt::format("{:.1f} % of tasks", 100 * totals.hard_share)});
  const StreamConfig& config = stream.config();
  summary.add({"prior", fmt::format("Beta({}, {})", config.alpha, config.beta)});
  if (config.half_life > 0) summary.add({"half-life", fmt::format("{} labels", config.half_life)});
  print(summary.text(color) + "\n");
  if (stream.one_label_prevails()) options.run.say(kOneLabelPrevails);

  std::vector<WorkerSummary> workers = stream.workers();
  std::stable_sort(workers.begin(), workers.end(), [](const WorkerSummary& a, const WorkerSummary& b) {
    return a.interval.lower > b.interval.lower;
  });
  Table table({"worker", "quality", "lower", "upper", "labels"});
  for (std::size_t i = 0; i < workers.size(); ++i) {
    // The best and the worst.
    if (i == options.most && workers.size() > 2 * options.most) {
      table.add(
          {fmt::format("… {} more", with_commas(workers.size() - 2 * options.most)), "", "", "", ""});
      i = workers.size() - options.most;
    }
    const WorkerSummary& w = workers[i];
    table.add({std::string(w.worker), decimal(w.quality), decimal(w.interval.lower),
               decimal(w.interval.upper), fmt::format("{:g}", w.counts.seen)});
  }
  print(table.text(color));
  const std::vector<OpenTask> next = stream.next_tasks(options.most);
  if (next.empty()) return;
  Table open({"open task", "label", "confidence", "labels", "gain of a label"});
  for (const OpenTask& task : next)
    open.add(
        {task.task, task.label, decimal(task.confidence), with_commas(task.labels), decimal(task.gain)});
  print("\n" + open.text(color));
}

// After a crash, a source without ids resumes at this number.
void count_events(const State& options) {
  print(fmt::format("{}\n", open_state(options.file).totals().events));
}

// The state that a command makes or changes. One that was not there before is taken away again unless
// the command gets to keep it.
class ChangedState {
 public:
  explicit ChangedState(const std::string& path) : path_(path), is_new_(!std::filesystem::exists(path)) {
    stream_.emplace(open_store(path), StopRule{}, StreamListener{});
    const StreamTotals totals = stream_->totals();  // somebody else may have made it in this moment
    is_new_ = is_new_ && totals.events == 0 && totals.workers == 0;
  }
  ~ChangedState() {
    stream_.reset();
    std::error_code ignored;
    for (const char* const part : {"", "-wal", "-shm"}) {
      if (is_new_) std::filesystem::remove(path_ + part, ignored);
    }
  }
  ChangedState(const ChangedState&) = delete;
  ChangedState& operator=(const ChangedState&) = delete;

  LiveStream& stream() { return *stream_; }
  void commit() {
    stream_->commit();
    is_new_ = false;
  }

 private:
  std::string path_;
  bool is_new_;
  std::optional<LiveStream> stream_;
};

// What is given twice would count twice.
void require_once(const std::vector<std::string>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!is_same_file(files[j], files[i])) continue;
      throw Error(ErrorCode::usage,
                  fmt::format("{}: given twice, and would count twice; name it once", files[i]));
    }
  }
}

// What was merged before and is merged again counts twice: then all of its tasks are known, and its
// workers with no fewer labels.
void tell_known_tasks(const State& options, LiveStream& stream, const std::string& other) {
  if (stream.totals().events == 0) return;
  std::map<std::string, double, std::less<>> seen;
  for (const WorkerSummary& worker : stream.workers())
    seen.emplace(std::string(worker.worker), worker.counts.seen);
  LiveStream theirs = open_state(other);
  for (const WorkerSummary& worker : theirs.workers()) {
    const auto known = seen.find(worker.worker);
    if (known == seen.end() || known->second < worker.counts.seen) return;
  }
  std::uint64_t tasks = 0;
  bool all_known = true;
  theirs.for_answers([&](const TaskUpdate& task) {
    ++tasks;
    all_known = all_known && stream.find_answer(task.task, [](const TaskUpdate&) {});
  });
  if (tasks == 0 || !all_known) return;
  options.run.say(fmt::format(
      "note: {} has all tasks and workers of {} already: if it was merged before, it counts twice now",
      options.file, other));
}

void merge(const State& options) {
  std::vector<std::string> states = options.others;
  states.push_back(options.file);
  require_once(states);
  std::vector<std::shared_ptr<StreamStore>> others;  // all are there before FILE is made or changed
  for (const std::string& other : options.others) others.push_back(open_store_to_read(other));
  ChangedState state(options.file);
  LiveStream& stream = state.stream();
  for (std::size_t i = 0; i < others.size(); ++i) {
    tell_known_tasks(options, stream, options.others[i]);
    stream.merge(*others[i]);
  }
  state.commit();
  options.run.say(fmt::format("{}: {}, {}", options.file, count_noun(stream.totals().workers, "worker"),
                              count_noun(stream.totals().closed_tasks, "closed task")));
}

void export_workers(const State& options) {
  require_outputs({options.output}, {options.file});
  const LiveStream stream = open_state(options.file);
  NameTable names("workers");
  WorkerState state;
  state.alpha = stream.config().alpha;
  state.beta = stream.config().beta;
  for (const WorkerSummary& worker : stream.workers()) {
    names.intern(worker.worker);
    state.counts.push_back(worker.counts);
  }
  write_workers(options.output, names, state, options.details, options.run.context(),
                options.output_flags.options());
}

void answers(const State& options) {
  require_outputs({options.output}, {options.file});
  LiveStream stream = open_state(options.file);
  write_answers(options.output, stream, options.others, options.output_flags.options());
}

// For backup and restore: neither replaces a file.
void copy(const State& options) {
  const std::string& to = options.others.front();
  const StreamTotals totals = copy_state(options.file, to, options.run.context());
  options.run.end_progress();
  options.run.say(fmt::format("{}: {}, {}; checked", to, count_noun(totals.events, "event"),
                              count_noun(totals.open_tasks + totals.closed_tasks, "task")));
}

void import_workers(const State& options) {
  require_once(options.others);
  ChangedState state(options.file);
  LiveStream& stream = state.stream();
  for (const std::string& table : options.others) {
    NameTable workers("workers", kMaxWorkers);
    const std::vector<WorkerCounts> counts =
        read_workers(table, workers, stream.config().alpha, stream.config().beta,
                     within(options.run.context(), InputFlags().options_for_tables()));
    const std::vector<WorkerSummary> before = stream.workers();
    const auto known = std::count_if(before.begin(), before.end(), [&](const WorkerSummary& worker) {
      const auto brought = workers.find(worker.worker);
      return brought && counts[*brought].seen > 0 && worker.counts.seen >= counts[*brought].seen;
    });
    for (WorkerId w = 0; w < counts.size(); ++w) stream.remember(workers[w], counts[w]);
    if (known > 0)
      options.run.say(
          fmt::format("note: {} knew {} of {} from {} with as many labels: if it was imported before, "
                      "it counts twice "
                      "now",
                      options.file, with_commas(static_cast<std::uint64_t>(known)),
                      count_noun(counts.size(), "worker"), table));
  }
  state.commit();
}

void rejudge(const State& options) {
  open_store_to_read(options.file);  // it is there: no new one is made
  std::string lines;
  LiveStream stream(open_store(options.file), {},
                    {[&](const TaskUpdate& update) { append_line(lines, update); }});
  stream.rejudge();
  stream.commit();
  print_lines(lines);
}

void check(const State& options) {
  LiveStream stream = open_state(options.file);
  const std::vector<std::string> problems = stream.problems();
  for (const std::string& problem : problems) print(printable(problem) + "\n");
  if (!problems.empty())
    throw Error(ErrorCode::data, Location{options.file, 0, 0},
                "the state is damaged; restore it from a copy");
  options.run.say(options.file + ": everything fits together");
}

void next(const State& options) {
  const LiveStream stream = open_state(options.file);
  std::string lines;
  for (const OpenTask& task : stream.next_tasks(options.most)) append_line(lines, task);
  print_lines(lines);
}

}  // namespace

void add_state(CLI::App& app) {
  CLI::App& command = *app.add_subcommand("state", "inspect, check, copy and merge states of streams");
  command.require_subcommand(1);
  const auto add = [&](const char* name, const char* help, void (*body)(const State&),
                       const std::string& examples, const char* file = "FILE",
                       const char* about_file = "a state that `crowdfold stream --state` made") {
    auto state = std::make_shared<State>();
    CLI::App& sub = *command.add_subcommand(name, help);
    sub.add_option(file, state->file, about_file)->required()->check(is_file_name);
    sub.callback([state, body] { body(*state); });
    sub.footer(examples);
    return std::pair(&sub, state);
  };
  const auto [show_command, show_state] =
      add("show", "show totals, workers with their intervals, and open tasks", show,
          "Examples:\n"
          "  crowdfold state show crowd.db --most 20");
  show_command->add_option("--most", show_state->most, "most rows of a table")
      ->check(CLI::Range(std::size_t{1}, kMostRows))
      ->capture_default_str();
  const auto [events_command, events_state] =
      add("events", "print the number of events: a source without ids resumes there", count_events,
          "Examples:\n"
          "  crowdfold state events crowd.db");
  const auto [merge_command, merge_state] =
      add("merge", "add other states to FILE, which is created if it does not exist", merge,
          "Examples:\n"
          "  crowdfold state merge all.db monday.db tuesday.db");
  merge_command->add_option("OTHER", merge_state->others, "states to add")->required();
  const auto [answers_command, answers_state] =
      add("answers", "write the answers of all tasks, open ones too, or of those named", answers,
          "Examples:\n"
          "  crowdfold state answers crowd.db -o answers.csv\n"
          "  crowdfold state answers crowd.db photo_17 photo_18");
  answers_command->add_option("TASK", answers_state->others, "tasks; none named: all");
  answers_command
      ->add_option("-o,--output", answers_state->output, "file of answers; -: standard output")
      ->check(is_file_name)
      ->capture_default_str();
  answers_state->output_flags.add_to(*answers_command);
  const auto [backup_command, backup_state] =
      add("backup", "copy a state, also while a stream writes to it, and check the copy", copy,
          "Examples:\n"
          "  crowdfold state backup crowd.db monday.db");
  const auto [restore_command, restore_state] =
      add("restore", "check a copy, and make a state of it", copy,
          "Examples:\n"
          "  crowdfold state restore monday.db crowd.db",
          "COPY", "what `state backup` wrote");
  const std::string new_file = "file to make; one that is there is not replaced";
  backup_command->add_option("TO", backup_state->others, new_file)
      ->required()
      ->expected(1)
      ->check(is_file_name);
  restore_command->add_option("FILE", restore_state->others, new_file)
      ->required()
      ->expected(1)
      ->check(is_file_name);
  const auto [export_command, export_state] = add("export", "write the workers as CSV", export_workers,
                                                  "Examples:\n"
                                                  "  crowdfold state export crowd.db -o workers.csv");
  export_command->add_option("-o,--output", export_state->output, "file of workers; -: standard output")
      ->check(is_file_name)
      ->capture_default_str();
  export_command->add_flag("--details", export_state->details, "write more columns");
  export_state->output_flags.add_to(*export_command);
  export_state->run.add_threads_to(*export_command);
  const auto [import_command, import_state] =
      add("import", "add worker qualities of a CSV as histories", import_workers,
          "Examples:\n"
          "  crowdfold state import crowd.db workers.csv");
  import_command->add_option("WORKERS", import_state->others, "files that --workers-out wrote")
      ->required();
  const auto [rejudge_command, rejudge_state] =
      add("rejudge", "judge closed tasks again with the workers' present qualities; print the changes",
          rejudge,
          "Examples:\n"
          "  crowdfold state rejudge crowd.db");
  const auto [check_command, check_state] =
      add("check", "check that the file is whole, its counts are right and no value was altered", check,
          "Examples:\n"
          "  crowdfold state check crowd.db");
  for (const auto& [sub, state] :
       {std::pair(show_command, show_state), std::pair(events_command, events_state),
        std::pair(answers_command, answers_state), std::pair(backup_command, backup_state),
        std::pair(restore_command, restore_state), std::pair(merge_command, merge_state),
        std::pair(export_command, export_state), std::pair(import_command, import_state),
        std::pair(rejudge_command, rejudge_state), std::pair(check_command, check_state)})
    state->run.add_quiet_to(*sub);
  import_state->run.add_memory_to(*import_command);
  command.footer(
      "Examples:\n"
      "  crowdfold state show crowd.db\n"
      "  crowdfold state answers crowd.db -o answers.csv\n"
      "  crowdfold state backup crowd.db monday.db\n"
      "  crowdfold state merge all.db monday.db tuesday.db\n"
      "  crowdfold state export crowd.db -o workers.csv");
}

void add_next(CLI::App& app) {
  auto state = std::make_shared<State>();
  CLI::App& command =
      *app.add_subcommand("next", "open tasks of a state, by the expected gain from one more label");
  command.add_option("FILE", state->file, "a state that `crowdfold stream --state` made")
      ->required()
      ->check(is_file_name);
  command.add_option("--most", state->most, "most tasks to list")
      ->check(CLI::Range(std::size_t{1}, kMostRows))
      ->capture_default_str();
  state->run.add_quiet_to(command);
  command.footer(
      "Examples:\n"
      "  crowdfold stream events.jsonl --state crowd.db --confidence .95\n"
      "  crowdfold next crowd.db --most 100");
  command.callback([state] { next(*state); });
}

}  // namespace crowdfold::cli
