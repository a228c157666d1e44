// Memory for many small pieces that are all given back at once, and to the system: what malloc keeps for
// later after a free would count twice when another large array takes its place.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace crowdfold {

class PagePool {
 public:
  PagePool() = default;
  ~PagePool();
  PagePool(PagePool&& other) noexcept { swap(other); }
  PagePool& operator=(PagePool&& other) noexcept {
    swap(other);
    return *this;
  }

  // Throws std::bad_alloc.
  char* take(std::size_t bytes);

 private:
  void swap(PagePool& other) noexcept {
    std::swap(regions_, other.regions_);
    std::swap(free_, other.free_);
    std::swap(left_, other.left_);
  }

  std::vector<std::pair<char*, std::size_t>> regions_;
  char* free_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace crowdfold
