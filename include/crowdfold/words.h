// Numbers as people write them, for whatever talks to people: the report, the command line, programs on
// top of the library. Safe to call from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace crowdfold {

// 1234567 -> "1,234,567"
std::string with_commas(std::uint64_t number);
// (1, "task") -> "1 task"; (2000, "task") -> "2,000 tasks"; (2, "class") -> "2 classes"
std::string count_noun(std::uint64_t number, const std::string& noun);

}  // namespace crowdfold
