// Blanks at the ends of a field: nobody means them. Spreadsheets, copied web pages and hands behind
// commas leave them there, and one class becomes two.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace crowdfold {

// First and last bytes that a field with something to trim may have; few others have them.
struct TrimmedEdges {
  std::array<std::uint8_t, 256> first{};  // 1 or 0, so that both are asked without a branch
  std::array<std::uint8_t, 256> last{};
};
constexpr TrimmedEdges trimmed_edges() {
  TrimmedEdges edges;
  for (const char c : {' ', '\t', '\v', '\f', '\r', '\n'}) {
    const auto byte = static_cast<unsigned char>(c);
    edges.first[byte] = 1;
    edges.last[byte] = 1;
  }
  // U+00A0, U+2000 to U+200B, U+202F, U+2060, U+3000, U+FEFF.
  for (const int c : {0xC2, 0xE2, 0xE3, 0xEF}) edges.first[static_cast<std::size_t>(c)] = 1;
  for (const int c : {0xA0, 0xAF, 0xBF}) edges.last[static_cast<std::size_t>(c)] = 1;
  for (std::size_t c = 0x80; c <= 0x8B; ++c) edges.last[c] = 1;
  return edges;
}
inline constexpr TrimmedEdges kTrimmedEdges = trimmed_edges();

// Whether trimmed() has to look at the field, which must not be empty.
inline bool may_need_trim(std::string_view field) {
  return (kTrimmedEdges.first[static_cast<unsigned char>(field.front())] |
          kTrimmedEdges.last[static_cast<unsigned char>(field.back())]) != 0;
}

// The field without blanks at its ends: ASCII ones, non-breaking and other wide ones, and characters
// without a width. Quotes behind a blank, as in `a, "b"`, go too.
std::string_view trimmed_slowly(std::string_view field);
inline std::string_view trimmed(std::string_view field) {
  return field.empty() || !may_need_trim(field) ? field : trimmed_slowly(field);
}

}  // namespace crowdfold
