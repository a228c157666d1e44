#include "report/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace crowdfold {

std::string count_noun(std::uint64_t number, const std::string& noun, const char* one,
                       const char* many) {
  return fmt::format("{} {}", count_noun(number, noun), number == 1 ? one : many);
}

std::string percent(double share) {
  const double rounded = std::round(100 * share);
  if (rounded >= 100 && share < 1)
    return share < 0.9995 ? fmt::format("{:.1f} %", 100 * share) : "almost 100 %";
  if (rounded <= 0 && share > 0)
    return share >= 0.0005 ? fmt::format("{:.1f} %", 100 * share) : "almost 0 %";
  return fmt::format("{:.0f} %", rounded);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return percent(whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole));
}

std::string listing(const std::vector<std::string>& names, std::size_t most) {
  const std::size_t shown = names.size() > most ? most : names.size();
  std::vector<std::string> parts(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(shown));
  if (names.size() > shown) parts.push_back(fmt::format("{} more", with_commas(names.size() - shown)));
  if (parts.empty()) return "";
  const std::string last = parts.back();
  parts.pop_back();
  return parts.empty() ? last : fmt::format("{} and {}", fmt::join(parts, ", "), last);
}

}  // namespace crowdfold
