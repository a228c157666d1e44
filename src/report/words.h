// Numbers and lists as people write them; more in crowdfold/words.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "crowdfold/words.h"

namespace crowdfold {

// (2, "task", "needs", "need") -> "2 tasks need"
std::string count_noun(std::uint64_t number, const std::string& noun, const char* one, const char* many);
// .973 -> "97 %"; "0 %" and "100 %" are exact
std::string percent(double share);
std::string percent(std::uint64_t part, std::uint64_t whole);
// "a", "a and b", "a, b and 3 more" for more than `most`
std::string listing(const std::vector<std::string>& names, std::size_t most = 3);

}  // namespace crowdfold
