#include "crowdfold/flat_array.h"

#include <sys/mman.h>

#include <cstdlib>

namespace crowdfold {
namespace {

constexpr std::size_t kLargePage = std::size_t{2} << 20;

}  // namespace

void* allocate_pages(std::size_t bytes) {
  const bool large = bytes >= 2 * kLargePage;
  const std::size_t rounded = large ? (bytes + kLargePage - 1) / kLargePage * kLargePage : bytes;
  void* memory = large ? std::aligned_alloc(kLargePage, rounded) : std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  if (large) static_cast<void>(::madvise(memory, rounded, MADV_HUGEPAGE));  // a wish, not a need
  return memory;
}

void free_pages(void* memory) noexcept { std::free(memory); }

}  // namespace crowdfold
