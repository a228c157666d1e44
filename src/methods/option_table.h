// An option is declared once, beside its method, and bound to a field of its Options struct:
//
//   const OptionTable<Options> kOptions = {
//       real("alpha", &Options::alpha, 1, 1e9, "prior count of right labels, plus one"),
//       choice("ties", &Options::ties, {"first", "random"}, "which of several best classes wins")};
//
// Parsing, checking, help, documentation and bindings all come from this table; the default is the
// field's initialiser.
#pragma once

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/registry.h"
#include "crowdfold/words.h"

namespace crowdfold {

template <class Options>
struct OptionEntry {
  OptionInfo info;
  std::function<bool(Options&, std::string_view)> set;  // false: not a value, or out of range
};

// Set field by field: where memory runs out inside of nested braces, GCC 12 destroys some of the strings
// twice.
inline OptionInfo option_info(const char* name, const char* type, std::string fallback,
                              std::string range, const char* help) {
  OptionInfo info;
  info.name = name;
  info.type = type;
  info.fallback = std::move(fallback);
  info.range = std::move(range);
  info.help = help;
  return info;
}
template <class Options, class Set>
OptionEntry<Options> option_entry(const OptionInfo& info, Set set) {
  OptionEntry<Options> entry;
  entry.info = info;
  entry.set = std::move(set);
  return entry;
}

template <class Options>
OptionEntry<Options> real(const char* name, double Options::*field, double lowest, double highest,
                          const char* help) {
  const auto set = [=](Options& options, std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return false;
    if (!(value >= lowest && value <= highest)) return false;
    options.*field = value;
    return true;
  };
  return option_entry<Options>(option_info(name, "real", fmt::format("{}", Options{}.*field),
                                           fmt::format("{} to {}", lowest, highest), help),
                               set);
}

template <class Options>
OptionEntry<Options> integer(const char* name, int Options::*field, int lowest, int highest,
                             const char* help) {
  const auto set = [=](Options& options, std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return false;
    if (!(value >= lowest && value <= highest)) return false;
    options.*field = value;
    return true;
  };
  return option_entry<Options>(option_info(name, "integer", fmt::format("{}", Options{}.*field),
                                           fmt::format("{} to {}", lowest, highest), help),
                               set);
}

// An enumeration whose values are numbered as the names are.
template <class Options, class Enum>
OptionEntry<Options> choice(const char* name, Enum Options::*field, std::vector<std::string> values,
                            const char* help) {
  const OptionInfo info = option_info(name, "choice", values[static_cast<std::size_t>(Options{}.*field)],
                                      fmt::format("{}", fmt::join(values, " | ")), help);
  return option_entry<Options>(
      info, [field, values = std::move(values)](Options& options, std::string_view text) {
        for (std::size_t i = 0; i < values.size(); ++i) {
          if (values[i] != text) continue;
          options.*field = static_cast<Enum>(i);
          return true;
        }
        return false;
      });
}

template <class Options>
class OptionTable {
 public:
  OptionTable(std::initializer_list<OptionEntry<Options>> entries) : entries_(entries) {}
  // Those that several methods share, then the method's own.
  OptionTable(std::vector<OptionEntry<Options>> shared, std::initializer_list<OptionEntry<Options>> own)
      : entries_(std::move(shared)) {
    entries_.insert(entries_.end(), own);
  }

  std::vector<OptionInfo> describe() const {
    std::vector<OptionInfo> infos;
    for (const auto& entry : entries_) infos.push_back(entry.info);
    return infos;
  }

  // Error(usage) for an unknown name or a value out of range.
  Options parse(const char* method, const Settings& settings) const {
    Options options;
    for (const auto& [name, value] : settings) find(method, name, value, options);
    return options;
  }

 private:
  void find(const char* method, const std::string& name, const std::string& value,
            Options& options) const {
    std::vector<std::string> known;
    for (const auto& entry : entries_) {
      if (entry.info.name != name) {
        known.push_back(entry.info.name);
        continue;
      }
      if (entry.set(options, value)) return;
      throw Error(ErrorCode::usage,
                  fmt::format("option {}={}: {} takes {}", name, value, method, entry.info.range));
    }
    throw Error(ErrorCode::usage, fmt::format("{} has no option '{}'{}; it has: {}", method, name,
                                              did_you_mean(name, known), fmt::join(known, ", ")));
  }

  std::vector<OptionEntry<Options>> entries_;
};

}  // namespace crowdfold
