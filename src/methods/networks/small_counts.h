// Loops over classes are short, and in networks they are most of the work: with a constant number of
// rounds they are twice as fast.
#pragma once

#include <cstddef>
#include <type_traits>

namespace crowdfold {

// Calls use(count); small counts are constants.
template <class Use>
void with_count(std::size_t count, const Use& use) {
  switch (count) {
    case 2: return use(std::integral_constant<std::size_t, 2>());
    case 3: return use(std::integral_constant<std::size_t, 3>());
    case 4: return use(std::integral_constant<std::size_t, 4>());
    case 5: return use(std::integral_constant<std::size_t, 5>());
    default: return use(count);
  }
}

}  // namespace crowdfold
