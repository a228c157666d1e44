#include "core/page_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace crowdfold {
namespace {

constexpr std::size_t kRegion = std::size_t{32} << 20;

}  // namespace

PagePool::~PagePool() {
  for (const auto& [memory, size] : regions_) ::munmap(memory, size);
}

char* PagePool::take(std::size_t bytes) {
  if (bytes > left_) {
    const std::size_t size = std::max(kRegion, bytes);
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    static_cast<void>(::madvise(memory, size, MADV_HUGEPAGE));  // a wish, not a need
    regions_.emplace_back(static_cast<char*>(memory), size);
    free_ = static_cast<char*>(memory);
    left_ = size;
  }
  left_ -= bytes;
  return std::exchange(free_, free_ + bytes);
}

}  // namespace crowdfold
