#include "core/name_head.h"

#include <algorithm>

namespace crowdfold {

NameHead::NameHead(const std::vector<std::string_view>& names) {
  if (names.empty()) return;
  const std::string_view first = names[0];
  std::size_t shortest = first.size();
  size_ = first.size();
  for (const std::string_view name : names) {
    shortest = std::min(shortest, name.size());
    const std::size_t common = std::min(size_, name.size());
    size_ = static_cast<std::size_t>(
        std::mismatch(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(common), name.begin())
            .first -
        first.begin());
  }
  size_ = std::min(size_, shortest / 8 * 8);
  words_ = first.substr(0, size_);
  words_.resize((size_ + 7) / 8 * 8);
}

}  // namespace crowdfold
