// crowdfold stream: events in, answers out, as they come.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

#include "commands.h"
#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "crowdfold/words.h"
#include "flags.h"

namespace crowdfold::cli {
namespace {

class Session;

struct Stream {
  std::string input = "-";
  std::string state;
  bool follow = false;
  bool close_at_end = false;
  bool keep_open = false;
  bool ack = false;
  bool summary = false;
  std::uint64_t commit_every = 100'000;
  StopRule stop;
  double alarm_below = 0;
  ConfigFlags config;
  InputFlags input_flags;
  RunFlags run;

  void operator()() const;
  void say_notes(Session& session) const;
  // Tasks wait for later labels where there is a state that keeps them.
  bool closes_at_end() const { return close_at_end || (state.empty() && !keep_open); }
};

// Lines are printed once the events that caused them are on disk.
class Session {
 public:
  Session(const Stream& options)
      : options_(options),
        stream_(open_store(options.state, options.config.overrides()), options.stop,
                {[this](const TaskUpdate& update) { append_line(lines_, update); },
                 [this](const WorkerSummary& alarm) { append_line(lines_, alarm); },
                 [this](const StreamEvent& event, const std::string& why) {
                   append_line(lines_, event, why);
                 },
                 [this](const StreamTotals& totals) { append_line(lines_, totals); }}) {
    if (options.alarm_below > 0) stream_.set_alarm(options.alarm_below);
    before_ = stream_.totals().events;
  }

  void take(std::span<const StreamEvent> events) {
    while (!events.empty()) {
      const std::uint64_t room = options_.commit_every - (taken() - committed_);
      const std::size_t some = std::min<std::uint64_t>(events.size(), room);
      stream_.consume(events.first(some));
      events = events.subspan(some);
      if (some == room) commit();
    }
  }
  void close_all() { stream_.close_all(); }
  void commit() {
    if (taken() == committed_ && lines_.empty()) return;
    stream_.commit();
    committed_ = taken();
    committed_at_ = Clock::now();
    if (options_.ack) lines_ += fmt::format("{{\"ack\": {}}}\n", committed_);
    print();
  }
  // While events keep coming, people want to see something of it.
  void commit_now_and_then() {
    constexpr auto kPatience = std::chrono::milliseconds(200);
    if (Clock::now() - committed_at_ > kPatience) commit();
  }
  StreamTotals totals() const { return stream_.totals(); }
  bool one_label_prevails() const { return stream_.one_label_prevails(); }
  // Notes that were not given out before, if there are new classes.
  std::vector<std::string> new_notes() {
    std::vector<std::string> notes;
    const std::uint64_t classes = stream_.totals().classes;
    if (std::exchange(classes_noted_, classes) == classes) return notes;
    for (std::string& note : stream_.notes()) {
      if (noted_.insert(note).second) notes.push_back(std::move(note));
    }
    return notes;
  }
  bool told_all() const { return told_all_; }
  void print_summary() {
    append_line(lines_, stream_.totals());
    print();
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Events of this input. The stream knows, also where one failed amid the others.
  std::uint64_t taken() const {
    const StreamTotals totals = stream_.totals();
    return totals.events + totals.repeated - before_;
  }
  void print() {
    const std::string lines = std::exchange(lines_, {});  // not twice, where it is interrupted
    told_all_ = false;
    print_lines(lines);
    told_all_ = true;
  }

  const Stream& options_;
  std::string lines_;
  LiveStream stream_;
  std::uint64_t before_ = 0;  // events of earlier inputs
  std::uint64_t committed_ = 0;
  Clock::time_point committed_at_ = Clock::now();
  std::uint64_t classes_noted_ = 0;
  std::set<std::string> noted_;
  bool told_all_ = true;  // lines that nobody read are gone
};

void Stream::say_notes(Session& session) const {
  for (const std::string& note : session.new_notes()) run.say("note: " + note);
}

void Stream::operator()() const {
  require_separate({state}, {input});
  if (std::error_code unknown; follow && input != "-" && !std::filesystem::exists(input, unknown))
    run.say(fmt::format("{} is not there yet: waiting for it", input));
  EventReader reader(input, input_flags.options(), follow);
  Session session(*this);
  const auto take = [&](std::span<const StreamEvent> events) { session.take(events); };
  bool said = false;
  try {
    for (auto status = EventReader::ReadStatus::some; status != EventReader::ReadStatus::end;) {
      status = reader.read(take);
      if (reader.is_recognised() && !std::exchange(said, true)) {
        run.say_recognised(reader.report());
        run.say_notes(reader.report());
      }
      if (follow) say_notes(session);
      if (interrupted()) throw Error(ErrorCode::interrupted, "interrupted");
      if (status == EventReader::ReadStatus::some) {
        session.commit_now_and_then();
      } else if (status == EventReader::ReadStatus::none_yet) {
        session.commit();
        reader.wait();
      }
    }
  } catch (const Error& error) {
    // Whatever is wrong with the input: what came before is kept.
    if (error.code() != ErrorCode::io && error.code() != ErrorCode::internal) session.commit();
    // A service is stopped by SIGTERM, and goes on from its state: nothing went wrong.
    const bool was_stopped =
        error.code() == ErrorCode::interrupted && terminated() && !state.empty() && session.told_all();
    if (!was_stopped) throw;
    run.say(fmt::format("stopped; {} holds {}", state, count_noun(session.totals().events, "event")));
    return;
  }
  say_notes(session);
  if (closes_at_end()) session.close_all();
  session.commit();
  if (summary) session.print_summary();
  run.say_skipped(reader.report());
  if (const std::uint64_t headers = reader.report().repeated_headers; headers > 0)
    run.say(
        fmt::format("{}: {} left out", reader.report().source, count_noun(headers, "repeated header")));
  if (session.one_label_prevails()) run.say(kOneLabelPrevails);
  const std::uint64_t open = session.totals().open_tasks;
  if (!keep_open && open > 0)
    run.say(fmt::format("{} {} open, for labels that come later; --close-at-end closes tasks at the end",
                        count_noun(open, "task"), open == 1 ? "stays" : "stay"));
}

}  // namespace

void add_stream(CLI::App& app) {
  auto state = std::make_shared<Stream>();
  CLI::App& command = *app.add_subcommand("stream", "answers while labels come in, one event at a time");
  command.add_option("EVENTS", state->input, "JSON lines, or a table of labels; - is standard input")
      ->capture_default_str();
  command.add_option("--state", state->state, "keep everything in this file, and go on from it")
      ->type_name("FILE")
      ->check(is_file_name);
  command.add_flag("--follow", state->follow,
                   "wait for more at the end of the file, and where it is not there yet");
  const char* closing = "Closing tasks";
  command.add_option("--labels-per-task", state->stop.labels_per_task, "a task closes with N labels")
      ->type_name("N")
      ->group(closing);
  command
      .add_option("--confidence", state->stop.confidence,
                  "a task closes at this certainty: its confidence before the doubt")
      ->check(CLI::Range(0.0, 1.0))
      ->group(closing);
  CLI::Option* const least =
      command
          .add_option("--min-labels", state->stop.min_labels, "least labels for closing by --confidence")
          ->capture_default_str()
          ->type_name("N")
          ->group(closing);
  command
      .add_option("--max-labels", state->stop.max_labels,
                  "a task closes with N labels, however uncertain")
      ->type_name("N")
      ->group(closing);
  CLI::Option* const close_at_end =
      command
          .add_flag("--close-at-end", state->close_at_end,
                    "open tasks close at the end of the input, as they do without --state")
          ->group(closing);
  command
      .add_flag("--keep-open", state->keep_open,
                "open tasks stay open at the end of the input, as they do with --state")
      ->excludes(close_at_end)
      ->group(closing);
  state->config.add_to(command);
  const char* output = "Output";
  command
      .add_option("--alarm-below", state->alarm_below,
                  "warn of workers whose 95 % interval falls below this quality")
      ->check(CLI::Range(0.0, 1.0))
      ->group(output);
  command.add_flag("--ack", state->ack, "tell how many events are on disk, after every group")
      ->group(output);
  command.add_flag("--summary", state->summary, "totals in the last line")->group(output);
  command
      .add_option("--commit-every", state->commit_every,
                  "events that go to disk together at most; waiting input never waits for more")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{100'000'000}))
      ->capture_default_str()
      ->type_name("N")
      ->group(output);
  state->input_flags.add_columns_to(command, {"task", "worker", "label"}, {"id"});
  state->input_flags.add_abstain_to(command);
  state->input_flags.add_skip_to(command);
  state->run.add_quiet_to(command);
  command.footer(
      "Events, one a line:\n"
      "  {\"task\": \"t1\", \"worker\": \"ann\", \"label\": \"cat\", \"id\": \"e1\"}\n"
      "  {\"retract\": {\"task\": \"t1\", \"worker\": \"ann\"}}\n"
      "  {\"truth\": {\"task\": \"t1\", \"label\": \"cat\"}}\n"
      "  {\"close\": \"t1\"}\n"
      "  {\"reopen\": \"t1\"}\n"
      "  {\"summary\": true}\n"
      "\n"
      "Examples:\n"
      "  crowdfold stream labels.csv --labels-per-task 5\n"
      "  crowdfold stream events.jsonl --follow --state crowd.db --confidence .95 --max-labels 10\n"
      "  producer | crowdfold stream --state crowd.db --alarm-below .6 --ack");
  command.callback([state, least] {
    require_least_below_most(*least, state->stop.min_labels, state->stop.max_labels);
    (*state)();
  });
}

}  // namespace crowdfold::cli
