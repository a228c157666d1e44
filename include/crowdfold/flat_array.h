// FlatArray: a std::vector for the large arrays of numbers. It does not write zeros that are about to be
// overwritten, and asks for large pages where the system has them: both cost as much as the work itself
// when an array has a hundred million entries.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace crowdfold {

// Memory for large arrays; throws std::bad_alloc.
void* allocate_pages(std::size_t bytes);
void free_pages(void* memory) noexcept;

template <class T>
class PageAllocator {
 public:
  using value_type = T;
  static_assert(std::is_trivially_copyable_v<T>);

  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) noexcept {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_pages(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept { free_pages(memory); }

  // resize() leaves new entries as they are.
  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }

  friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
};

template <class T>
using FlatArray = std::vector<T, PageAllocator<T>>;

}  // namespace crowdfold
