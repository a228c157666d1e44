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

// std::allocator, except that resize() leaves new entries uninitialised.
template <class T>
class UninitializedAllocator : public std::allocator<T> {
 public:
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr std::size_t kCacheLine = 64;
  template <class U>
  struct rebind {  // NOLINT: so allocators call it
    using other = UninitializedAllocator<U>;
  };

  UninitializedAllocator() = default;
  template <class U>
  UninitializedAllocator(const UninitializedAllocator<U>&) noexcept {}  // NOLINT: allocators convert

  // Aligned to a cache line, so that rows of numbers span as few lines as possible.
  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kCacheLine}));
  }
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
