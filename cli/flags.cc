#include "flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"
#include "crowdfold/exports.h"
#include "crowdfold/words.h"
#include "usage.h"

namespace crowdfold::cli {

namespace {

const char* const kInputGroup = "Input";
const char* const kOutputGroup = "Output";
const char* const kStateGroup = "State";
const char* const kRunningGroup = "Running";

// CLI11 takes -1 and numbers that are too large for others.
std::string is_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (error == std::errc{} && end == text.data() + text.size()) return "";
  return fmt::format("{} is not a whole number from 0 to 2^64 - 1", text);
}

// Tables, and exports of platforms.
std::string is_format(const std::string& text) {
  std::vector<std::string> names = {"auto", "csv", "tsv", "jsonl"};
  for (const ExportInfo& format : export_formats()) {
    if (names.back() != format.name) names.push_back(format.name);
  }
  if (std::find(names.begin(), names.end(), text) != names.end()) return "";
  return fmt::format("no format '{}'{}; there are: {}", text, did_you_mean(text, names),
                     fmt::join(names, ", "));
}

// Which file a path leads to. A file that is written takes the place of the old one.
struct FileIdentity {
  bool exists = false;
  bool is_file = false;
  dev_t device = 0;
  ino_t number = 0;

  bool operator==(const FileIdentity&) const = default;
};
FileIdentity identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {true, S_ISREG(status.st_mode), status.st_dev, status.st_ino};
}

struct RequiredOutput {
  std::string path;
  FileIdentity before;
};
std::vector<RequiredOutput>& required_outputs() {
  static std::vector<RequiredOutput> outputs;
  return outputs;
}

// A value that is the path of a file stands for the names in it.
std::vector<std::string> workers_named_by(const std::vector<std::string>& values) {
  std::vector<std::string> names;
  for (const std::string& value : values) {
    std::error_code ignored;
    std::vector<std::string> some;
    if (std::filesystem::is_regular_file(value, ignored))
      some = read_worker_names(value);
    else
      some = CLI::detail::split(value, ',');
    names.insert(names.end(), some.begin(), some.end());
  }
  return names;
}

}  // namespace

std::string is_file_name(const std::string& value) {
  return value.empty() ? "the name of a file cannot be empty" : "";
}

void require_least_below_most(const CLI::Option& least_option, std::uint32_t least, std::uint32_t most) {
  if (least_option.count() == 0 || most == 0 || least <= most) return;
  throw Error(
      ErrorCode::usage,
      fmt::format("--min-labels {} and --max-labels {}: the least is more than the most", least, most));
}

void InputFlags::add_files_to(CLI::App& command) {
  command.add_option("LABELS", files_,
                     "files of labels, read as one; - for standard input, as without a file");
}

std::vector<std::string> expand_and_tell(const std::vector<std::string>& paths,
                                         const ReadOptions& options, const RunFlags& run) {
  std::vector<std::string> inputs;
  std::vector<std::string> left_out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    const bool expands = std::filesystem::is_directory(path, ignored) && !is_export(path, options);
    const std::vector<std::string> some = expands ? expand_inputs({path}, &left_out) : std::vector{path};
    inputs.insert(inputs.end(), some.begin(), some.end());
  }
  if (!left_out.empty())
    run.say(fmt::format("left out: {} of other kinds, such as {}", count_noun(left_out.size(), "file"),
                        left_out[0]));
  return inputs;
}

std::vector<std::string> InputFlags::files(const RunFlags& run) const {
  if (!files_.empty()) return expand_and_tell(files_, options(), run);
  if (::isatty(STDIN_FILENO) != 0) {
    throw Error(ErrorCode::usage,
                "no file of labels: name one or several, or pipe labels in (- reads what you type)");
  }
  return {"-"};
}

std::string InputFlags::files_name() const {
  if (files_.empty() || files_ == std::vector<std::string>{"-"}) return "standard input";
  const std::string first = files_[0].substr(files_[0].find_last_of('/') + 1);
  return files_.size() == 1
             ? first
             : fmt::format("{} and {} more", first, count_noun(files_.size() - 1, "file"));
}

void InputFlags::add_to(CLI::App& command) {
  add_columns_to(command, {"task", "worker", "label"}, {}, true);
  add_exports_to(command);
  add_wide_to(command);
  add_abstain_to(command);
  add_without_workers_to(command);
  add_spellings_to(command);
  add_multi_select_to(command);
  add_duplicates_to(command);
  add_skip_to(command);
}

void InputFlags::add_columns_to(CLI::App& command, const std::vector<std::string>& roles,
                                const std::vector<std::string>& named, bool exports) {
  CLI::Option& format =
      *command
           .add_option("--format", format_,
                       exports ? "auto, csv, tsv, jsonl, or a platform (see 'crowdfold import "
                                 "--formats'); compression is recognised by itself"
                               : "auto, csv, tsv or jsonl; compression is recognised by itself")
           ->capture_default_str()
           ->group(kInputGroup);
  if (exports)
    format.check(is_format)->type_name("NAME");
  else
    format.check(one_of({"auto", "csv", "tsv", "jsonl"}));
  command
      .add_option("--encoding", encoding_,
                  "of the text: utf-8, utf-16le, latin1, … (default: recognised, else utf-8)")
      ->type_name("NAME")
      ->group(kInputGroup);
  auto* header =
      command.add_flag("--header", header_, "the first row names the columns (default: recognised)")
          ->group(kInputGroup);
  command
      .add_flag("--no-header", no_header_,
                exports ? "the first row is data: values say which column is which, or --map by number"
                        : fmt::format("the first row is data: columns in the order {}",
                                      fmt::join(roles, ", ")))
      ->excludes(header)
      ->group(kInputGroup);
  std::vector<std::string> mapped = roles;
  mapped.insert(mapped.end(), named.begin(), named.end());
  command
      .add_option(
          "--map", map_,
          fmt::format("which column is which: {}=COL, by name or number", fmt::join(mapped, "=COL,")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("ROLE=COL,…")
      ->group(kInputGroup);
  command
      .add_option("--skip-lines", skip_lines_,
                  "lines above the table, such as a title; those above a header with usual names are "
                  "recognised")
      ->type_name("N")
      ->group(kInputGroup);
}

void InputFlags::add_wide_to(CLI::App& command) {
  command.add_flag("--wide", wide_, "a row per task, a column per worker (default: recognised)")
      ->group(kInputGroup);
  command.add_option("--wide-workers", wide_workers_, "the same, and which columns are workers")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B,…")
      ->group(kInputGroup);
}

void InputFlags::add_exports_to(CLI::App& command) {
  command
      .add_option("--question", question_,
                  "of an export: the question to read; NAME=CLASS makes yes or no of several classes")
      ->type_name("NAME")
      ->group(kInputGroup);
  command
      .add_flag("--with-predictions", with_predictions_,
                "of an export: predictions are labels of workers model:VERSION")
      ->group(kInputGroup);
}

void InputFlags::add_abstain_to(CLI::App& command) {
  command
      .add_option("--abstain", abstain_,
                  "labels that mean 'no label' (an empty one always does); may be repeated")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("VALUE,…")
      ->group(kInputGroup);
}

void InputFlags::add_without_workers_to(CLI::App& command) {
  command
      .add_option("--without-workers", without_workers_,
                  "workers whose labels do not count: names, or a file of them, one per line or as "
                  "'crowdfold workers' writes it; may be repeated")
      ->allow_extra_args(false)
      ->type_name("FILE|A,B,…")
      ->group(kInputGroup);
}

void InputFlags::add_spellings_to(CLI::App& command) {
  command.add_flag("--fold-case", fold_case_, "'Cat' and 'cat' are one class")->group(kInputGroup);
  command
      .add_flag("--normalize", normalize_,
                "so are '0' and '0.0', and spellings that differ in blanks inside and Unicode's forms")
      ->group(kInputGroup);
}

void InputFlags::add_multi_select_to(CLI::App& command) {
  command
      .add_option("--multi-select", multi_select_,
                  "labels with several choices, as a;b: refuse, keep (each combination is a class) or "
                  "first (that choice counts)")
      ->check(CLI::IsMember({"refuse", "keep", "first"}))
      ->capture_default_str()
      ->group(kInputGroup);
}

void InputFlags::add_duplicates_to(CLI::App& command) {
  command
      .add_option("--duplicates", duplicates_,
                  "a worker's second label on a task: last, first, error or keep")
      ->check(one_of({"last", "first", "error", "keep"}))
      ->capture_default_str()
      ->group(kInputGroup);
}

void InputFlags::add_skip_to(CLI::App& command) {
  command.add_flag("--skip-bad-rows", skip_bad_rows_, "leave malformed rows out and count them")
      ->group(kInputGroup);
}

ReadOptions InputFlags::options() const {
  ReadOptions options = options_for_tables();
  options.format = format_ == "csv"     ? Format::csv
                   : format_ == "tsv"   ? Format::tsv
                   : format_ == "jsonl" ? Format::jsonl
                                        : Format::automatic;
  if (options.format == Format::automatic && format_ != "auto") options.platform = format_;
  options.question = question_;
  options.with_predictions = with_predictions_;
  options.header = header_ ? Header::yes : no_header_ ? Header::no : Header::automatic;
  options.columns = parse_settings(map_);
  options.skip_lines = skip_lines_;
  options.wide = wide_;
  options.wide_workers = wide_workers_;
  options.abstain = abstain_;
  options.without_workers = workers_named_by(without_workers_);
  options.duplicates = duplicates_ == "first"   ? Duplicates::first
                       : duplicates_ == "error" ? Duplicates::error
                       : duplicates_ == "keep"  ? Duplicates::keep
                                                : Duplicates::last;
  return options;
}

ReadOptions InputFlags::options_for_tables() const {
  ReadOptions options;
  options.encoding = encoding_;
  options.fold_case = fold_case_;
  options.normalize = normalize_;
  options.multi_select = multi_select_ == "keep"    ? MultiSelect::keep
                         : multi_select_ == "first" ? MultiSelect::first
                                                    : MultiSelect::refuse;
  options.skip_bad_rows = skip_bad_rows_;
  options.cancelled = &interrupted();
  return options;
}

void ConfigFlags::add_to(CLI::App& command) {
  add_judging_to(command);
  command.add_option("--classes", classes_, "all classes there may be; default: whatever comes")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("A,B,…")
      ->group(kStateGroup);
  command
      .add_flag("--forget-closed", forget_closed_,
                "do not keep the labels of closed tasks: nothing of them can be taken back")
      ->group(kStateGroup);
}

void ConfigFlags::add_judging_to(CLI::App& command) {
  const LiveOptions defaults;
  const auto prior = [](double fallback) {
    return fmt::format("prior of worker quality: Beta(alpha, beta); default {}", fallback);
  };
  command.add_option("--alpha", alpha_, prior(defaults.alpha))
      ->check(CLI::Range(1.0, 1e9))
      ->group(kStateGroup);
  command.add_option("--beta", beta_, prior(defaults.beta))
      ->check(CLI::Range(1.0, 1e9))
      ->group(kStateGroup);
  command
      .add_option("--half-life", half_life_,
                  "a worker's labels are worth half after N more of theirs; default: for ever")
      ->check(CLI::Range(1.0, 1e15))
      ->type_name("N")
      ->group(kStateGroup);
}

std::function<void(StreamConfig&)> ConfigFlags::overrides() const {
  return [flags = *this](StreamConfig& config) {
    config.alpha = flags.alpha_.value_or(config.alpha);
    config.beta = flags.beta_.value_or(config.beta);
    config.half_life = flags.half_life_.value_or(config.half_life);
    config.forget_closed = flags.forget_closed_ || config.forget_closed;
    if (!flags.classes_.empty()) config.classes = flags.classes_;
  };
}

Settings ConfigFlags::settings() const {
  Settings given;
  const auto add = [&](const char* name, const std::optional<double>& value) {
    if (value) given.emplace_back(name, fmt::format("{}", *value));
  };
  add("alpha", alpha_);
  add("beta", beta_);
  add("half_life", half_life_);
  return given;
}

void OutputFlags::add_to(CLI::App& command) {
  command
      .add_flag("--spreadsheet-safe", spreadsheet_safe_,
                "CSV: an apostrophe before names that a spreadsheet would take for a formula")
      ->group(kOutputGroup);
}

void RunFlags::add_seed_to(CLI::App& command) {
  command.add_option("--seed", seed_, "decides ties, shuffles and simulations")
      ->check(is_seed)
      ->capture_default_str()
      ->group(kRunningGroup);
}

void RunFlags::add_threads_to(CLI::App& command) {
  command.add_option("--threads", threads_, "default: all cores; results do not depend on it")
      ->check(CLI::Range(1, kMaxThreads))
      ->type_name("N")
      ->group(kRunningGroup);
}

void RunFlags::add_quiet_to(CLI::App& command) {
  command.add_flag("-q,--quiet", quiet_, "say nothing but errors")->group(kRunningGroup);
}

void RunFlags::add_verbose_to(CLI::App& command) {
  command.add_flag("-v,--verbose", verbose_, "say more")
      ->excludes(command.get_option("--quiet"))
      ->group(kRunningGroup);
}

void RunFlags::add_memory_to(CLI::App& command) {
  command
      .add_option("--max-memory", max_memory_,
                  "what an input or a method may take, as 500MB or 8GB; default: 80 % of the machine's")
      ->transform(CLI::AsSizeValue(true).description(""))
      ->type_name("SIZE")
      ->group(kRunningGroup);
}

RunContext RunFlags::context() const {
  RunContext context;
  context.seed = seed_;
  context.threads = threads_;
  context.max_memory = max_memory_;
  context = within_machine(std::move(context));
  context.cancelled = &interrupted();
  if (!quiet_ && stderr_is_terminal()) {
    context.progress = [bar = progress_](const Progress& progress) { bar->show(progress); };
  }
  return context;
}

void RunFlags::say(const std::string& line) const {
  progress_->end();
  if (!quiet_) tell(printable(line) + "\n");
}

void RunFlags::say(const ReadReport& report, bool one_of_several) const {
  std::vector<std::string> left_out;
  if (report.repeated_headers > 0)
    left_out.push_back(count_noun(report.repeated_headers, "repeated header"));
  if (report.total_rows > 0) left_out.push_back(count_noun(report.total_rows, "row") + " of totals");
  if (report.empty_rows > 0) left_out.push_back(count_noun(report.empty_rows, "empty row"));
  std::string rows;
  if (one_of_several || !left_out.empty()) rows = "; " + count_noun(report.rows, "row");
  if (!left_out.empty()) rows += fmt::format("; left out: {}", fmt::join(left_out, ", "));
  say(fmt::format("{}: {}; {}{}", report.source, report.format, report.columns, rows));
  say_skipped(report);
  say_notes(report);
}

void RunFlags::say_recognised(const ReadReport& report) const {
  say(fmt::format("{}: {}; {}", report.source, report.format, report.columns));
}

void RunFlags::say_notes(const ReadReport& report) const {
  for (const std::string& note : report.notes) say(fmt::format("note: {}", note));
}

void RunFlags::say_skipped(const ReadReport& report) const {
  if (report.skipped_rows > 0) {
    say(fmt::format("{}: {} skipped, the first: {}", report.source,
                    count_noun(report.skipped_rows, "bad row"), report.first_skipped));
  }
}

Labels read_and_tell(const InputFlags& input, const RunFlags& run, const RunContext& context) {
  std::vector<ReadReport> reports;
  Labels labels = read_labels(input.files(run), input.options(), context, &reports);
  for (const ReadReport& report : reports) run.say(report, reports.size() > 1);
  return labels;
}

void require_same_spelling(const ReadReport& truths) {
  if (truths.spelled_otherwise)
    throw Error(ErrorCode::data, Location{truths.source, 0, 0}, truths.notes.back());
}

LabelsAndTruths read_with_truths(const InputFlags& input, const std::string& truths, const RunFlags& run,
                                 const RunContext& context) {
  LabelsAndTruths data;
  data.labels = read_and_tell(input, run, context);
  if (truths.empty()) return data;
  ReadReport read;
  data.truths = read_truths(truths, data.labels, within(context, input.options_for_tables()), &read);
  require_same_spelling(read);
  run.say(read);
  return data;
}

void require_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  require_separate(outputs, inputs);
  for (const std::string& path : outputs) {
    if (path.empty()) continue;
    require_writable(path);
    required_outputs().push_back({path, identity_of(path)});
  }
}

std::string outcome_of_outputs() {
  std::vector<std::string> written;
  bool all_files = !required_outputs().empty();
  for (const RequiredOutput& output : required_outputs()) {
    const FileIdentity now = identity_of(output.path);
    if (output.path == "-" || (now.exists && !now.is_file)) {
      all_files = false;
    } else if (now != output.before) {
      written.push_back(output.path);
    }
  }
  if (!written.empty())
    return fmt::format(": only {} {} written", fmt::join(written, ", "),
                       written.size() == 1 ? "was" : "were");
  return all_files ? ": nothing was written" : "";
}

Settings parse_settings(const std::vector<std::string>& texts) {
  Settings settings;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw Error(ErrorCode::usage, fmt::format("'{}' is not of the form NAME=VALUE", text));
    }
    settings.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return settings;
}

}  // namespace crowdfold::cli
