#include "flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
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
  return fmt::format("no format '{}'; there are: {}", text, fmt::join(names, ", "));
}

}  // namespace

std::string is_file_name(const std::string& value) {
  return value.empty() ? "the name of a file cannot be empty" : "";
}

void InputFlags::add_to(CLI::App& command) {
  add_columns_to(command, {"task", "worker", "label"}, {}, true);
  add_exports_to(command);
  add_abstain_to(command);
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
                fmt::format("the first row is data: columns in the order {}", fmt::join(roles, ", ")))
      ->excludes(header)
      ->group(kInputGroup);
  std::vector<std::string> mapped = roles;
  mapped.insert(mapped.end(), named.begin(), named.end());
  command
      .add_option(
          "--map", map_,
          fmt::format("which column is which: {}=COL, by name or number", fmt::join(mapped, "=COL,")))
      ->delimiter(',')
      ->type_name("ROLE=COL,…")
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
  command.add_option("--abstain", abstain_, "a label that means 'no label' (an empty one always does)")
      ->type_name("VALUE")
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
  options.abstain = abstain_;
  options.duplicates = duplicates_ == "first"   ? Duplicates::first
                       : duplicates_ == "error" ? Duplicates::error
                       : duplicates_ == "keep"  ? Duplicates::keep
                                                : Duplicates::last;
  return options;
}

ReadOptions InputFlags::options_for_tables() const {
  ReadOptions options;
  options.encoding = encoding_;
  options.skip_bad_rows = skip_bad_rows_;
  options.cancelled = &interrupted();
  return options;
}

void ConfigFlags::add_to(CLI::App& command) {
  add_judging_to(command);
  command.add_option("--classes", classes_, "all classes there may be; default: whatever comes")
      ->delimiter(',')
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
                  "what labels or a method may take, as 500MB or 8GB; default: 80 % of the machine's")
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

void RunFlags::say(const ReadReport& report) const {
  say_recognised(report);
  for (const std::string& note : report.notes) say(fmt::format("{}: {}", report.source, note));
  say_skipped(report);
}

void RunFlags::say_recognised(const ReadReport& report) const {
  say(fmt::format("{}: {}; {}", report.source, report.format, report.columns));
}

void RunFlags::say_skipped(const ReadReport& report) const {
  if (report.skipped_rows > 0) {
    say(fmt::format("{}: {} skipped, the first: {}", report.source,
                    count_noun(report.skipped_rows, "bad row"), report.first_skipped));
  }
}

LabelsAndTruths read_with_truths(const std::string& labels, const std::string& truths,
                                 const InputFlags& input, const RunFlags& run,
                                 const RunContext& context) {
  LabelsAndTruths data;
  ReadReport read;
  data.labels = read_labels(labels, input.options(), context, &read);
  run.say(read);
  if (truths.empty()) return data;
  data.truths = read_truths(truths, data.labels, input.options_for_tables(), &read);
  run.say(read);
  return data;
}

void require_outputs(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  require_separate(outputs, inputs);
  for (const std::string& path : outputs) {
    if (!path.empty()) require_writable(path);
  }
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

std::atomic<bool>& interrupted() {
  static std::atomic<bool> flag = false;
  return flag;
}

}  // namespace crowdfold::cli
