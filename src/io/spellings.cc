#include "io/spellings.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

#include "io/trim.h"

namespace crowdfold {
namespace {

// The name in another form of Unicode; as it is where it is not UTF-8.
std::string mapped_by(std::string_view name, utf8proc_option_t how) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(name.data()),
                                 static_cast<utf8proc_ssize_t>(name.size()), &mapped, how);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> held(mapped, &std::free);
  if (size < 0) return std::string(name);
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(size)};
}

std::string with_single_blanks(std::string_view text) {
  std::string single;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      single.push_back(c);
    else if (!single.empty() && single.back() != ' ')
      single.push_back(' ');
  }
  while (single.ends_with(' ')) single.pop_back();
  return single;
}

// "1.50" -> "1.5", "0.0" -> "0"; others stay.
std::string without_last_zeros(std::string number) {
  const std::size_t digits = number.starts_with('-') ? 1 : 0;
  const std::size_t dot = number.find('.');
  const bool decimal = dot != number.npos && dot > digits &&
                       number.find_first_not_of("0123456789", digits) == dot &&
                       number.find_first_not_of("0123456789", dot + 1) == number.npos;
  if (!decimal) return number;
  while (number.back() == '0') number.pop_back();
  if (number.back() == '.') number.pop_back();
  return number;
}

constexpr auto kFold =
    static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD);
constexpr auto kCompatible = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE |
                                                            UTF8PROC_COMPAT | UTF8PROC_IGNORE);

}  // namespace

std::string fold_case(std::string_view name) { return mapped_by(name, kFold); }

std::string normalize_spelling(std::string_view name) {
  return without_last_zeros(with_single_blanks(mapped_by(name, kCompatible)));
}

std::string loose_spelling(std::string_view name) { return normalize_spelling(fold_case(name)); }

std::string options_that_merge(const std::vector<std::string_view>& names) {
  const auto differ = [&](const auto& spelling) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return spelling(name) != spelling(names[0]); });
  };
  return !differ(normalize_spelling) ? "--normalize"
         : !differ(fold_case)        ? "--fold-case"
                                     : "--fold-case --normalize";
}

std::string ClassSpellings::class_of(std::string_view label) {
  if (!changes()) return std::string(label);
  std::string name(label);
  if (first_) name = choices_in(label)[0];
  std::string key = name;
  if (fold_) key = fold_case(key);
  if (normalize_) key = normalize_spelling(key);
  return first_spellings_.try_emplace(std::move(key), std::move(name)).first->second;
}

std::vector<std::string> choices_in(std::string_view label) {
  const bool list = label.size() >= 2 && label.front() == '[' && label.back() == ']';
  if (list) label = label.substr(1, label.size() - 2);
  char separator = ',';
  for (const char candidate : {';', '|', '\n'}) {
    if (!list && label.find(candidate) != label.npos) separator = candidate;
  }
  std::vector<std::string> choices;
  for (std::size_t at = 0; at <= label.size();) {
    const std::size_t end = std::min(label.find(separator, at), label.size());
    std::string_view choice = trimmed(label.substr(at, end - at));
    if (choice.size() >= 2 && choice.front() == choice.back() &&
        (choice.front() == '"' || choice.front() == '\''))
      choice = choice.substr(1, choice.size() - 2);
    if (!choice.empty()) choices.emplace_back(choice);
    at = end + 1;
  }
  if (choices.empty()) choices.emplace_back(label);
  return choices;
}

}  // namespace crowdfold
