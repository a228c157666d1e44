// Finds the bytes that structure delimited text, many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace crowdfold {

// Positions of separators, newlines, quotes and NUL bytes, in order. `out` has room for text.size() + 64
// positions, and 64 bytes behind the text are readable. Uses the widest vectors of the machine it runs
// on.
std::size_t find_structure(std::string_view text, char separator, std::uint32_t* out);

}  // namespace crowdfold
