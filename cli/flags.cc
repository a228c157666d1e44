#include "flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "crowdfold/aggregate.h"
#include "crowdfold/error.h"

namespace crowdfold::cli {

void InputFlags::add_to(CLI::App& command) {
  const char* group = "Input";
  command
      .add_option("--format", format_,
                  "auto, csv, tsv or jsonl; .gz and .zst are recognised by themselves")
      ->check(CLI::IsMember({"auto", "csv", "tsv", "jsonl"}))
      ->capture_default_str()
      ->group(group);
  auto* header =
      command.add_flag("--header", header_, "the first row names the columns (default: recognised)")
          ->group(group);
  command
      .add_flag("--no-header", no_header_,
                "the first row is data: columns in the order task, worker, label")
      ->excludes(header)
      ->group(group);
  command
      .add_option("--map", map_,
                  "which column is which: task=COL,worker=COL,label=COL, by name or number")
      ->delimiter(',')
      ->type_name("ROLE=COL,…")
      ->group(group);
  command.add_option("--abstain", abstain_, "a label that means 'no label' (an empty one always does)")
      ->type_name("VALUE")
      ->group(group);
  command
      .add_option("--duplicates", duplicates_,
                  "a worker's second label on a task: last, first, error or keep")
      ->check(CLI::IsMember({"last", "first", "error", "keep"}))
      ->capture_default_str()
      ->group(group);
  command.add_flag("--skip-bad-rows", skip_bad_rows_, "leave malformed rows out and count them")
      ->group(group);
}

ReadOptions InputFlags::options() const {
  ReadOptions options = options_for_tables();
  options.format = format_ == "csv"     ? Format::csv
                   : format_ == "tsv"   ? Format::tsv
                   : format_ == "jsonl" ? Format::jsonl
                                        : Format::automatic;
  options.header = header_ ? Header::yes : no_header_ ? Header::no : Header::automatic;
  options.columns = parse_settings(map_);
  options.abstain = abstain_;
  return options;
}

ReadOptions InputFlags::options_for_tables() const {
  ReadOptions options;
  options.duplicates = duplicates_ == "first"   ? Duplicates::first
                       : duplicates_ == "error" ? Duplicates::error
                       : duplicates_ == "keep"  ? Duplicates::keep
                                                : Duplicates::last;
  options.skip_bad_rows = skip_bad_rows_;
  return options;
}

void ConfigFlags::add_to(CLI::App& command) {
  const char* group = "State";
  command.add_option("--alpha", alpha_, "prior of worker quality: Beta(alpha, beta); default 4")
      ->check(CLI::Range(1.0, 1e9))
      ->group(group);
  command.add_option("--beta", beta_, "prior of worker quality: Beta(alpha, beta); default 1.5")
      ->check(CLI::Range(1.0, 1e9))
      ->group(group);
  command
      .add_option("--half-life", half_life_,
                  "a worker's labels are worth half after so many more; default: for ever")
      ->check(CLI::Range(1.0, 1e15))
      ->type_name("N")
      ->group(group);
  command.add_option("--classes", classes_, "all classes there may be; default: whatever comes")
      ->delimiter(',')
      ->type_name("A,B,…")
      ->group(group);
  command
      .add_flag("--forget-closed", forget_closed_,
                "do not keep the labels of closed tasks: nothing of them can be taken back")
      ->group(group);
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

void RunFlags::add_to(CLI::App& command, bool with_seed) {
  const char* group = "Running";
  if (with_seed) {
    command.add_option("--seed", seed_, "decides ties, shuffles and simulations")
        ->capture_default_str()
        ->group(group);
  }
  command.add_option("--threads", threads_, "default: all cores; results do not depend on it")
      ->check(CLI::Range(1, 1024))
      ->type_name("N")
      ->group(group);
  auto* quiet = command.add_flag("-q,--quiet", quiet_, "say nothing but errors")->group(group);
  command.add_flag("-v,--verbose", verbose_, "say more")->excludes(quiet)->group(group);
}

void RunFlags::add_memory_to(CLI::App& command) {
  command
      .add_option("--max-memory", max_memory_,
                  "what a method may take, as 500MB or 8GB; default: 80 % of the machine's")
      ->transform(CLI::AsSizeValue(true).description(""))
      ->type_name("SIZE")
      ->group("Running");
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
  if (!quiet_) fmt::print(stderr, "{}\n", line);
}

void RunFlags::say(const ReadReport& report) const {
  say(fmt::format("{}: {}; {}", report.source, report.format, report.columns));
  if (report.skipped_rows > 0) {
    say(fmt::format("{}: {} skipped, the first: {}", report.source,
                    count_of(report.skipped_rows, "bad row"), report.first_skipped));
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
