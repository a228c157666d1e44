// Finds where the elements of a JSON array or object end, many bytes at a time, and takes newlines out
// of them. Values are not looked at: the parser of an element does that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crowdfold {

// Where a piece of text begins: between pieces, all that is known of the bytes before.
struct JsonScan {
  std::uint64_t depth = 0;      // brackets that are open
  std::uint64_t in_string = 0;  // all bits, or none
  std::uint64_t escaped = 0;    // 1 behind a backslash
  bool newline_in_string = false;
};

// At most that many bytes at a time.
inline constexpr std::size_t kMostScanned = std::size_t{1} << 14;

// Looks at `size` bytes, up to the bracket that closes the outermost one; returns how many that are.
// Newlines outside of strings become blanks, but with `keep_lines` not those at depth 1. Commas, colons
// and brackets that stand at depth 0 or 1 are `found`, in order; there is room for kMostScanned. Stops
// behind a newline in a string, which JSON does not allow.
std::size_t scan_json(JsonScan& scan, char* text, std::size_t size, bool keep_lines,
                      std::uint32_t* found, std::size_t& num_found);

}  // namespace crowdfold
