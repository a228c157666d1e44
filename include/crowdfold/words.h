// Numbers and names as people read them, for whatever talks to people: the report, the command line,
// programs on top of the library. Safe to call from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace crowdfold {

// 1234567 -> "1,234,567"
std::string with_commas(std::uint64_t number);
// (1, "task") -> "1 task"; (2000, "task") -> "2,000 tasks"; (2, "class") -> "2 classes"
std::string count_noun(std::uint64_t number, const std::string& noun);
// 1234567 -> "1.2 MB"; 12345678901 -> "12.3 GB"
std::string memory_size(std::uint64_t bytes);

// The text without power over a terminal. Control characters, and those that turn the direction of
// writing round, become escapes of JSON (\n, \u001b); bytes that are not UTF-8 become \xff. Control
// characters in `kept` stay.
std::string printable(std::string_view text, std::string_view kept = {});

// Whether two names are the same but for case, blanks, hyphens and underscores.
bool is_alike(std::string_view a, std::string_view b);
// The one of `names` that `text` was probably meant to be: mistyped, in another case, with other
// punctuation, or cut short. Empty if none is near; of equally near ones, the first in the alphabet.
std::string nearest(std::string_view text, const std::vector<std::string>& names);
// " (did you mean 'aggregate'?)", to stand behind the wrong name; empty if none is near.
std::string did_you_mean(std::string_view text, const std::vector<std::string>& names);

}  // namespace crowdfold
