#include "labels/name_head.h"

#include <algorithm>

namespace crowdfold {

NameHead::NameHead(const std::vector<std::string_view>& names) {
  if (names.empty()) return;
  std::string_view head = names[0];
  std::size_t longest = 0;
  for (const std::string_view name : names) {
    head = {head.begin(), std::mismatch(head.begin(), head.end(), name.begin(), name.end()).first};
    longest = std::max(longest, name.size());
  }
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  while (!head.empty() && is_digit(head.back()) && longest - head.size() < kMostDigits)
    head.remove_suffix(1);
  text_ = head;
}

}  // namespace crowdfold
