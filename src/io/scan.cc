// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/scan.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "io/scan.h"

#include <hwy/highway.h>

#include <bit>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Appends the positions of the bits in `mask`. Eight are written at once, needed or not: most words of
// CSV hold a few, and the loop that stops exactly would mispredict once per word.
inline std::uint32_t* append_positions(std::uint64_t mask, std::uint32_t base, std::uint32_t* out) {
  const int count = std::popcount(mask);
  std::uint32_t* to = out;
  do {
    for (int i = 0; i < 8; ++i) {
      to[i] = base + static_cast<std::uint32_t>(std::countr_zero(mask));
      mask &= mask - 1;
    }
    to += 8;
  } while (mask != 0);
  return out + count;
}

std::size_t find_structure(const char* text, std::size_t size, char separator,
                           std::uint32_t* const out) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text);
  const auto separators = hn::Set(d, static_cast<std::uint8_t>(separator));
  const auto newlines = hn::Set(d, static_cast<std::uint8_t>('\n'));
  const auto quotes = hn::Set(d, static_cast<std::uint8_t>('"'));
  const auto zeros = hn::Zero(d);
  std::uint32_t* to = out;
  for (std::size_t at = 0; at < size; at += 64) {
    std::uint64_t mask = 0;
    for (std::size_t part = 0; part < 64; part += lanes) {
      const auto v = hn::LoadU(d, bytes + at + part);
      const auto found = hn::Or(hn::Or(hn::Eq(v, separators), hn::Eq(v, newlines)),
                                hn::Or(hn::Eq(v, quotes), hn::Eq(v, zeros)));
      std::uint8_t bits[8] = {};
      hn::StoreMaskBits(d, found, bits);
      std::uint64_t word = 0;
      std::memcpy(&word, bits, sizeof word);
      mask |= word << part;
    }
    if (size - at < 64) mask &= (1ULL << (size - at)) - 1;
    if (mask != 0) to = append_positions(mask, static_cast<std::uint32_t>(at), to);
  }
  return static_cast<std::size_t>(to - out);
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(find_structure);

std::size_t find_structure(std::string_view text, char separator, std::uint32_t* out) {
  return HWY_DYNAMIC_DISPATCH(find_structure)(text.data(), text.size(), separator, out);
}

}  // namespace crowdfold
#endif
