// crowdfold methods: shows the registry.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "commands.h"
#include "crowdfold/registry.h"
#include "print_json.h"

namespace crowdfold::cli {
namespace {

nlohmann::json to_json(const MethodInfo& info) {
  nlohmann::json json = {{"name", info.name},
                         {"aliases", info.aliases},
                         {"summary", info.summary},
                         {"citation", info.citation},
                         {"online", static_cast<bool>(info.make_online)},
                         {"most_classes", info.traits.most_classes},
                         {"takes_truths", info.traits.takes_truths},
                         {"takes_workers", info.traits.takes_workers},
                         {"has_confusion", info.traits.has_confusion},
                         {"options", nlohmann::json::array()}};
  for (const OptionInfo& o : info.options) {
    json["options"].push_back({{"name", o.name},
                               {"type", o.type},
                               {"default", o.fallback},
                               {"range", o.range},
                               {"help", o.help}});
  }
  return json;
}

void print_list() {
  Table table({"method", "online", "what it does", "also called"});
  for (const MethodInfo& info : methods()) {
    table.add({info.name, info.make_online ? "yes" : "no", info.summary,
               fmt::format("{}", fmt::join(info.aliases, ", "))});
  }
  print(table.text(wants_color(stdout)));
}

void print_one(const MethodInfo& info) {
  print(fmt::format("{}: {}\n{}\n", info.name, info.summary, info.citation));
  if (!info.aliases.empty()) print(fmt::format("also called {}\n", fmt::join(info.aliases, ", ")));
  print("\n");
  const auto yes = [](bool value) { return value ? "yes" : "no"; };
  print(fmt::format(
      "classes: {}; known truths: {}; worker qualities as prior: {}; confusion matrices: {}\n\n",
      info.traits.most_classes < kMaxClasses ? fmt::format("at most {}", info.traits.most_classes)
                                             : "any number",
      yes(info.traits.takes_truths), yes(info.traits.takes_workers), yes(info.traits.has_confusion)));
  if (info.options.empty()) return;
  Table table({"option", "default", "range", "meaning"});
  for (const OptionInfo& o : info.options) table.add({o.name, o.fallback, o.range, o.help});
  print(table.text(wants_color(stdout)));
}

}  // namespace

void add_methods(CLI::App& app) {
  struct Methods {
    std::string name;
    bool json = false;
  };
  auto state = std::make_shared<Methods>();
  CLI::App& command = *app.add_subcommand("methods", "the methods and their options");
  command.add_option("NAME", state->name, "show this method, with its options");
  command.add_flag("--json", state->json, "print JSON");
  command.footer(
      "Case, blanks, hyphens and underscores in names of methods do not matter.\n"
      "Examples:\n"
      "  crowdfold methods\n"
      "  crowdfold methods twopass");
  command.callback([state] {
    if (state->json) {
      nlohmann::json json = nlohmann::json::array();
      const MethodInfo* const one = state->name.empty() ? nullptr : &find_method(state->name);
      for (const MethodInfo& info : methods()) {
        if (one == nullptr || one == &info) json.push_back(to_json(info));
      }
      print_json(json);
    } else {
      state->name.empty() ? print_list() : print_one(find_method(state->name));
    }
  });
}

}  // namespace crowdfold::cli
