// FlatArray: a std::vector for large arrays of numbers. It does not zero entries that are about to be
// overwritten: with a hundred million entries, zeroing would cost as much as the work itself.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace crowdfold {

// Memory for an array, aligned to a cache line, so that rows of numbers span as few lines as possible;
// of large arrays on large pages. operator delete takes it back.
inline constexpr std::size_t kCacheLine = 64;
void* allocate_array(std::size_t bytes);

// std::allocator, except that resize() leaves new entries uninitialised.
template <class T>
class UninitializedAllocator : public std::allocator<T> {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  template <class U>
  struct rebind {  // NOLINT: so allocators call it
    using other = UninitializedAllocator<U>;
  };

  UninitializedAllocator() = default;
  template <class U>
  UninitializedAllocator(const UninitializedAllocator<U>&) noexcept {}  // NOLINT: allocators convert

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_array(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) noexcept {
    ::operator delete (memory, std::align_val_t{kCacheLine});
  }

  template <class U>
  void construct(U* at) noexcept {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Args>
  void construct(U* at, Args&&... args) {
    ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
};

template <class T>
using FlatArray = std::vector<T, UninitializedAllocator<T>>;

}  // namespace crowdfold
