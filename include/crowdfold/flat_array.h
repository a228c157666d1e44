// FlatArray: a std::vector for the large arrays of numbers. It does not write zeros that are about to be
// overwritten: with a hundred million entries, that would cost as much as the work itself.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

namespace crowdfold {

// std::allocator, but resize() leaves new entries as they are.
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
