#include "crowdfold/flat_array.h"

#include "base/large_pages.h"

namespace crowdfold {

// A file of 20 million labels takes 30,000 small pages, which the system hands out, and takes back, one
// by one: a tenth of the time of reading it.
void* allocate_array(std::size_t bytes) {
  constexpr std::size_t kLarge = std::size_t{4} << 20;
  void* const memory = ::operator new (bytes, std::align_val_t{kCacheLine});
  if (bytes >= kLarge) prefer_large_pages(memory, bytes);
  return memory;
}

}  // namespace crowdfold
