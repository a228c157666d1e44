// Digits as numbers. Most ids end in digits, and four bytes are quicker than a string of them. Every
// string of one to eight digits has a number of its own, shorter strings first: "0" is 0, "9" is 9, "00"
// is 10, "99999999" is 111,111,109.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "labels/name_key.h"

namespace crowdfold {

inline constexpr std::size_t kMostDigits = 8;
inline constexpr std::uint32_t kNoNumber = 0xFFFF'FFFF;

// How many strings are shorter, by length.
inline constexpr std::array<std::uint32_t, kMostDigits + 1> kShorterDigits = {
    0, 0, 10, 110, 1'110, 11'110, 111'110, 1'111'110, 11'111'110};

// The number of the digits behind the first `from` bytes of a name, kNoNumber if they are something
// else.
inline std::uint32_t number_behind(std::string_view name, std::size_t from) {
  const std::size_t length = name.size() - from;
  if (length - 1 >= kMostDigits) return kNoNumber;
  // A byte for each digit, zeros in front, the first digit lowest.
  const std::size_t front = 64 - 8 * length;
  std::uint64_t digits = (last_bytes(name) ^ 0x3030'3030'3030'3030ULL) >> front << front;
  if (((digits | (digits + 0x7676'7676'7676'7676ULL)) & 0x8080'8080'8080'8080ULL) != 0) return kNoNumber;
  // Neighbours make pairs, the four pairs a number.
  digits = digits * 10 + (digits >> 8);
  constexpr std::uint64_t kEveryOther = 0x0000'00FF'0000'00FFULL;
  const std::uint64_t number = (digits & kEveryOther) * (100 + (1'000'000ULL << 32)) +
                               (digits >> 16 & kEveryOther) * (1 + (10'000ULL << 32));
  return kShorterDigits[length] + static_cast<std::uint32_t>(number >> 32);
}

// The digits again.
std::string digits_of(std::uint32_t number);

}  // namespace crowdfold
