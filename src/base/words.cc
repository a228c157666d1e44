#include "crowdfold/words.h"

#include <fmt/format.h>

namespace crowdfold {

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string count_noun(std::uint64_t number, const std::string& noun) {
  const bool hisses = noun.ends_with("s");
  return fmt::format("{} {}{}", with_commas(number), noun, number == 1 ? "" : hisses ? "es" : "s");
}

}  // namespace crowdfold
