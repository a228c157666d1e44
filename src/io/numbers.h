// Numbers as text: the shortest that parses back to the same double.
#pragma once

#include <cstddef>

namespace crowdfold {

// Room that write_number() needs, whatever the number.
inline constexpr std::size_t kNumberRoom = 32;

// Returns where the text ends.
char* write_number(char* to, double value);

}  // namespace crowdfold
