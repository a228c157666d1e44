// Memory for many small pieces that are all given back at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "crowdfold/flat_array.h"

namespace crowdfold {

class BytePool {
 public:
  char* allocate(std::size_t bytes) {
    if (bytes > left_) {
      region_ = std::min(2 * region_, kMostRegion);
      left_ = std::max(region_, bytes);
      bytes_ += left_;
      free_ = regions_.emplace_back(left_).data();
    }
    left_ -= bytes;
    return std::exchange(free_, free_ + bytes);
  }

  // Of memory.
  std::uint64_t bytes() const { return bytes_; }

  // Room for numbers. To be asked for arrays only: bytes before might leave them unaligned.
  template <class T>
  std::span<T> array(std::size_t count) {
    constexpr std::size_t kAligned = sizeof(std::uint64_t);
    static_assert(alignof(T) <= kAligned);
    const std::size_t bytes = (count * sizeof(T) + kAligned - 1) / kAligned * kAligned;
    return {reinterpret_cast<T*>(allocate(bytes)), count};
  }
  template <class Numbers>
  auto copy_of(const Numbers& numbers) {
    const auto copy = array<typename Numbers::value_type>(numbers.size());
    std::copy(numbers.begin(), numbers.end(), copy.begin());
    return copy;
  }

 private:
  static constexpr std::size_t kMostRegion = std::size_t{8} << 20;  // large enough for large pages

  std::vector<FlatArray<char>> regions_;
  std::size_t region_ = std::size_t{64} << 10;  // grows, so that little data takes little
  char* free_ = nullptr;
  std::size_t left_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace crowdfold
