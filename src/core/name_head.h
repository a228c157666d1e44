// The beginning that the names of a data set share ("image_", "https://…/photos/"), which need not be
// kept with each of them.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace crowdfold {

class NameHead {
 public:
  NameHead() = default;  // empty: every name begins with it
  // The longest that all of these names begin with, and that can be compared by whole words.
  explicit NameHead(const std::vector<std::string_view>& names);

  std::string_view text() const { return {words_.data(), size_}; }
  std::size_t size() const { return size_; }

  bool begins(std::string_view name) const {
    if (name.size() < words_.size()) return false;
    std::size_t at = 0;
    for (; at + 8 <= size_; at += 8) {
      if (difference(name, at) != 0) return false;
    }
    return at == size_ || difference(name, at) << (64 - 8 * (size_ - at)) == 0;
  }

 private:
  std::uint64_t difference(std::string_view name, std::size_t at) const {
    std::uint64_t a = 0;
    std::uint64_t b = 0;
    std::memcpy(&a, name.data() + at, 8);
    std::memcpy(&b, words_.data() + at, 8);
    return a ^ b;
  }

  std::string words_;  // the head, filled up to a multiple of eight bytes
  std::size_t size_ = 0;
};

}  // namespace crowdfold
