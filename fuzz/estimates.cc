// Estimates, whole and in small blocks; and the command `evaluate` on them and on the truths that follow
// behind a line of four equals signs.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "commands.h"
#include "fuzz.h"

namespace crowdfold::fuzz {
namespace {

constexpr std::string_view kTruths = "====\n";

std::string read_whole_or_not(const std::string& path, const ReadOptions& options) {
  return outcome(path, [&] {
    ReadReport report;
    const Estimates read = read_estimates(path, options, &report);
    std::string text = text_of(read.tasks) + text_of(read.classes);
    for (const ClassId label : read.estimate) text += fmt::format("{} ", label);
    for (const double number : read.confidence) text += fmt::format("{} ", number);
    for (const double number : read.posterior) text += fmt::format("{} ", number);
    return text + text_of(report);
  });
}

// Nobody wants to see what the command prints.
void silence_standard_output() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDOUT_FILENO);
  ::close(nowhere);
}

void run_evaluate(const std::string& estimates, const std::string& truths, bool json, bool skip) {
  std::string command = fmt::format("evaluate {} {} --quiet", estimates, truths);
  if (json) command += " --json";
  if (skip) command += " --skip-bad-rows";
  outcome(estimates, [&] {
    CLI::App app;
    cli::add_evaluate(app);
    app.parse(command);
    return std::string();
  });
}

}  // namespace

void estimates(std::string_view input) {
  [[maybe_unused]] static const bool silent = (silence_standard_output(), true);
  Choices choices(input);
  const ReadOptions options = read_options(choices);
  const ReadOptions small = in_small_blocks(options, choices);
  const bool json = choices.below(2) == 1;
  const std::size_t end = input.find(kTruths);
  const MemoryFile file(input.substr(0, end));
  const MemoryFile truths(end == input.npos ? "task,label\nt1,a\nt2,b\n"
                                            : input.substr(end + kTruths.size()));
  expect_same("estimates, whole and in blocks", read_whole_or_not(file.path(), options),
              read_whole_or_not(file.path(), small));
  run_evaluate(file.path(), truths.path(), json, options.skip_bad_rows);
}

}  // namespace crowdfold::fuzz
