// crowdfold completion: a bash completion file, made from the commands and options that exist.
#include <fmt/format.h>

#include <string>

#include "commands.h"
#include "terminal.h"

namespace crowdfold::cli {
namespace {

std::string options_of(const CLI::App& command) {
  std::string words;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    for (const std::string& name : option->get_lnames())
      words += fmt::format("{}--{}", words.empty() ? "" : " ", name);
  }
  return words;
}

}  // namespace

void add_completion(CLI::App& app) {
  CLI::App& command =
      *app.add_subcommand("completion", "a completion file for bash, on standard output");
  command.footer(
      "Example:\n  crowdfold completion > ~/.local/share/bash-completion/completions/crowdfold");
  command.callback([&app] {
    std::string commands;
    std::string cases;
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; })) {
      commands += (commands.empty() ? "" : " ") + sub->get_name();
      cases += fmt::format("    {}) words=\"{}\" ;;\n", sub->get_name(), options_of(*sub));
    }
    print(fmt::format(
        "_crowdfold() {{\n"
        "  local current=\"${{COMP_WORDS[COMP_CWORD]}}\" previous=\"${{COMP_WORDS[COMP_CWORD-1]}}\" "
        "words=\"\"\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"{} {}\"; else case \"${{COMP_WORDS[1]}}\" in\n{}  "
        "esac; fi\n"
        "  case \"$previous\" in\n"
        "    -m|--method|--methods|methods) words=\"$(crowdfold methods 2>/dev/null | awk 'NR>1{{print "
        "$1}}')\" ;;\n"
        "  esac\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
        "}}\n"
        "complete -o default -F _crowdfold crowdfold\n",
        commands, options_of(app), cases));
  });
}

}  // namespace crowdfold::cli
