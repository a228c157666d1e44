// Memory for many small pieces that are all given back at once.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace crowdfold {

class BytePool {
 public:
  char* allocate(std::size_t bytes) {
    if (bytes > left_) {
      left_ = std::max(kRegion, bytes);
      bytes_ += left_;
      regions_.push_back(std::make_unique_for_overwrite<char[]>(left_));
      free_ = regions_.back().get();
    }
    left_ -= bytes;
    return std::exchange(free_, free_ + bytes);
  }

  // Of memory.
  std::uint64_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kRegion = std::size_t{4} << 20;

  std::vector<std::unique_ptr<char[]>> regions_;
  char* free_ = nullptr;
  std::size_t left_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace crowdfold
