#include "usage.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "crowdfold/error.h"
#include "crowdfold/words.h"

namespace crowdfold::cli {
namespace {

bool is_option(const std::string& word) { return word.starts_with("-"); }

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> command_names(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

bool is_program(const CLI::App& app) { return app.get_parent() == nullptr; }

// "state show".
std::string full_name(const CLI::App& command) {
  const bool inner = !is_program(*command.get_parent());
  return (inner ? full_name(*command.get_parent()) + " " : "") + command.get_name();
}

std::string see_help_of(const CLI::App& command) {
  return is_program(command) ? " (see crowdfold --help)"
                             : fmt::format(" (see crowdfold {} --help)", full_name(command));
}

// The command that the words chose, or the program itself.
const CLI::App& chosen_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : chosen_command(*parsed.front());
}

[[noreturn]] void refuse(const std::string& message) { throw Error(ErrorCode::usage, message); }

// A file where a command belongs.
bool looks_like_file(const std::string& word) {
  std::error_code no_matter;
  return std::filesystem::is_regular_file(word, no_matter) || word.find('.') != std::string::npos;
}

[[noreturn]] void refuse_word(const CLI::App& app, const std::string& word) {
  const std::vector<std::string> names = command_names(commands_of(app));
  const std::string meant = did_you_mean(word, names);
  if (!is_program(app)) {
    refuse(fmt::format("{} has no command '{}'{}; there are: {}", full_name(app), word, meant,
                       fmt::join(names, ", ")));
  }
  if (meant.empty() && looks_like_file(word)) {
    refuse(fmt::format("no command '{0}'; for the answers in a file: crowdfold aggregate {0}", word));
  }
  refuse(fmt::format("no command '{}'{}; there are: {}", word, meant, fmt::join(names, ", ")));
}

[[noreturn]] void ask_for_command(const CLI::App& app) {
  if (is_program(app)) {
    refuse(
        "which command? For the answers in a file: crowdfold aggregate labels.csv (all commands: "
        "crowdfold --help)");
  }
  refuse(fmt::format("{}: which command? There are: {}{}", full_name(app),
                     fmt::join(command_names(commands_of(app)), ", "), see_help_of(app)));
}

[[noreturn]] void refuse_option(const CLI::App& app, const std::string& option) {
  refuse(fmt::format("no option '{}' before a command{}{}", option,
                     did_you_mean(option, option_names(app)), see_help_of(app)));
}

// What nobody asked for.
std::string unexpected(const CLI::App& command, const std::string& word) {
  if (!is_option(word)) return fmt::format("{}: '{}' is one word too many", full_name(command), word);
  const std::string name = word.substr(0, word.find('='));
  return fmt::format("{} has no option '{}'{}", full_name(command), name,
                     did_you_mean(name, option_names(command)));
}

}  // namespace

std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

void require_command(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* at = &app;
  for (std::size_t i = 0; !commands_of(*at).empty(); ++i) {
    if (i >= words.size()) ask_for_command(*at);
    const auto commands = commands_of(*at);
    const auto found = std::find_if(commands.begin(), commands.end(), [&](const CLI::App* command) {
      return command->get_name() == words[i];
    });
    if (found != commands.end()) {
      at = *found;
      continue;
    }
    if (!is_option(words[i])) refuse_word(*at, words[i]);
    const std::vector<std::string> options = option_names(*at);
    if (std::find(options.begin(), options.end(), words[i]) == options.end())
      refuse_option(*at, words[i]);
    return;  // --help or --version
  }
}

std::string explain(const CLI::ParseError& error, const CLI::App& app) {
  const CLI::App& command = chosen_command(app);
  const std::vector<std::string> left = app.remaining(true);
  const bool is_extra = dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && !left.empty();
  // A word is left over, too, where a mistyped option should have taken it: the option is the cause.
  const auto option = std::find_if(left.begin(), left.end(), is_option);
  const bool lacks = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
  if (is_extra || (lacks && option != left.end()))
    return unexpected(command, option != left.end() ? *option : left.front()) + see_help_of(command);
  return fmt::format("{}{}", error.what(), see_help_of(command));
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  CLI::Validator check = CLI::IsMember(words);
  check.operation([words](const std::string& word) {
    if (std::find(words.begin(), words.end(), word) != words.end()) return std::string();
    return fmt::format("'{}' is none of {}{}", word, fmt::join(words, ", "), did_you_mean(word, words));
  });
  return check;
}

}  // namespace crowdfold::cli
