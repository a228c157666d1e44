#include "io/numbers.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace crowdfold {
namespace {

constexpr int kDoubleDigits = 17;
constexpr std::uint64_t kScale = 100'000'000'000'000'000;  // 10^17
constexpr std::uint64_t kNone = 0;

// A choice that compilers make no branch of.
std::uint64_t all_bits_if(bool condition) {
  return std::uint64_t{0} - static_cast<std::uint64_t>(condition);
}

// Eight digits as bytes of a word, the first one lowest.
std::uint64_t eight_digits(std::uint32_t number) {
  const std::uint64_t fours = number / 10'000 | std::uint64_t{number % 10'000} << 32;
  const std::uint64_t hundreds = (fours * 10'486 >> 20) & 0x0000'007F'0000'007FULL;
  const std::uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
  const std::uint64_t tens = (twos * 103 >> 10) & 0x000F'000F'000F'000FULL;
  return tens | (twos - 10 * tens) << 8;
}

// The digits behind "0.", as a whole number of 17, for most doubles from .1 to below 1: what confidences
// are. kNone for others, and where two answers are equally near.
//
// The value is m / 2^s. Any decimal within 1/2 / 2^s of it parses back to it; that is .7 to 5.6 units of
// the 17th digit. So there is at most one such decimal of 15 digits or fewer: it is the shortest one.
// If there is none, it is the nearest of 16 digits, or else that of 17. All of it is exact: what is
// behind the 17th digit is kept as s bits, with up to two digits before them.
std::uint64_t shortest_digits(double value) {
  constexpr int kFractionBits = 52;
  constexpr std::uint64_t kHidden = std::uint64_t{1} << kFractionBits;
  constexpr std::uint64_t kHalf = kScale / 2;  // 1/2 / 2^s, in units of 1 / 2^s / 10^17
  if (!(value >= .1 && value < 1)) return kNone;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const std::uint64_t fraction = bits & (kHidden - 1);
  if (fraction == 0) return kNone;  // a power of two: its neighbour below is nearer than the one above
  const int shift = 1022 + kFractionBits + 1 - static_cast<int>(bits >> kFractionBits);
  __extension__ using Wide = unsigned __int128;
  const Wide scaled = static_cast<Wide>(kHidden | fraction) * kScale;
  const auto whole = static_cast<std::uint64_t>(scaled >> shift);
  const std::uint64_t rest = static_cast<std::uint64_t>(scaled) & ((std::uint64_t{1} << shift) - 1);

  // Without branches: how many digits there will be, and whether they are rounded up, nobody can
  // predict.
  std::uint64_t digits = 0;
  std::uint64_t unclear = 0;
  for (const std::uint64_t unit : {1, 10, 100}) {
    const std::uint64_t part = whole % unit;
    const std::uint64_t above = part << shift | rest;
    const std::uint64_t below = (unit << shift) - above;
    const std::uint64_t up = all_bits_if(above > below);
    const std::uint64_t distance = above ^ ((above ^ below) & up);
    const std::uint64_t nearest = whole - part + (unit & up);
    digits ^= (digits ^ nearest) & all_bits_if(distance < kHalf);
    unclear |= all_bits_if(above == below) | all_bits_if(distance == kHalf);
  }
  return unclear != 0 ? kNone : digits;
}

}  // namespace

// A confidence takes half the time of the general way.
char* write_number(char* to, double value) {
  const std::uint64_t digits = shortest_digits(value);
  if (digits == kNone) return fmt::format_to(to, FMT_COMPILE("{}"), value);
  constexpr std::uint64_t kSixteen = kScale / 10;
  constexpr std::uint64_t kEight = 100'000'000;
  constexpr std::uint64_t kZeros = 0x3030'3030'3030'3030ULL;
  const std::uint64_t behind = digits % kSixteen;
  const std::uint64_t high = eight_digits(static_cast<std::uint32_t>(behind / kEight));
  const std::uint64_t low = eight_digits(static_cast<std::uint32_t>(behind % kEight));
  const std::uint64_t shown_high = high | kZeros;
  const std::uint64_t shown_low = low | kZeros;
  to[0] = '0';
  to[1] = '.';
  to[2] = static_cast<char>('0' + digits / kSixteen);
  std::memcpy(to + 3, &shown_high, 8);
  std::memcpy(to + 11, &shown_low, 8);
  const int zeros = low != 0    ? std::countl_zero(low) / 8
                    : high != 0 ? 8 + std::countl_zero(high) / 8
                                : 16;
  return to + 2 + kDoubleDigits - zeros;
}

}  // namespace crowdfold
