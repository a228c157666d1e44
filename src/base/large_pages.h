// Large pages for tables that are read in random places: with thousands of small pages, translating an
// address takes as long as reading the number there.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace crowdfold {

// Asks the system for large pages below memory that was not written yet. Does nothing on systems that
// have none.
inline void prefer_large_pages(void* memory, std::size_t bytes) {
#ifdef __linux__
  constexpr std::uintptr_t kLarge = 1 << 21;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + kLarge - 1) / kLarge * kLarge;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / kLarge * kLarge;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the system takes an address that was rounded
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
#else
  static_cast<void>(memory);
  static_cast<void>(bytes);
#endif
}

}  // namespace crowdfold
