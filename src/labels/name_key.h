// Names on the hot path. A name of up to 24 bytes is three words and a length, held in registers:
// compared without a loop, hashed without a call, and stored inside the slot of a hash table, so that a
// look-up touches one cache line instead of three. (Words are copied as they lie in memory:
// little-endian machines only.)
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace crowdfold {

static_assert(std::endian::native == std::endian::little);

template <class Word>
std::uint64_t load(const char* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// The first, or the last, eight bytes of a text, the first one lowest. Zeros behind, or in front, where
// it is shorter.
inline std::uint64_t first_bytes(std::string_view text) {
  const std::size_t n = text.size();
  if (n >= 8) return load<std::uint64_t>(text.data());
  if (n >= 4) {
    return load<std::uint32_t>(text.data()) | load<std::uint32_t>(text.data() + n - 4) << (8 * (n - 4));
  }
  if (n == 0) return 0;
  // One to three, without a loop, whose end could not be predicted: some are looked at twice.
  const auto byte = [&](std::size_t i) {
    return std::uint64_t{static_cast<unsigned char>(text[i])} << 8 * i;
  };
  return byte(0) | byte(n / 2) | byte(n - 1);
}
inline std::uint64_t last_bytes(std::string_view text) {
  const std::size_t n = text.size();
  if (n >= 8) return load<std::uint64_t>(text.data() + n - 8);
  return n == 0 ? 0 : first_bytes(text) << (64 - 8 * n);
}

inline std::uint64_t fold(std::uint64_t x, std::uint64_t y) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

struct NameKey {
  static constexpr std::size_t kMostBytes = 24;

  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t size = 0;

  bool operator==(const NameKey&) const = default;

  // The name must fit. Words overlap where the length is no multiple of eight: with the length beside
  // them, they still say everything.
  static NameKey of(std::string_view name) {
    const char* p = name.data();
    const std::size_t n = name.size();
    if (n > 16)
      return {load<std::uint64_t>(p), load<std::uint64_t>(p + 8), load<std::uint64_t>(p + n - 8), n};
    if (n >= 8) return {load<std::uint64_t>(p), load<std::uint64_t>(p + n - 8), 0, n};
    if (n >= 4) return {load<std::uint32_t>(p), load<std::uint32_t>(p + n - 4), 0, n};
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < n; ++i) word = word << 8 | static_cast<unsigned char>(p[i]);
    return {word, 0, 0, n};
  }

  // Multiply and fold, as wyhash does.
  std::uint64_t hash() const {
    return fold(fold(a ^ 0x9E3779B97F4A7C15ULL, b ^ 0xE7037ED1A0B428DBULL) ^ size,
                c ^ 0x8EBC6AF09C88C6E3ULL);
  }
};

// memcpy for names: most are short, and a call for each would cost more than the copy.
inline char* copy_name(char* to, std::string_view name) {
  const char* from = name.data();
  const std::size_t n = name.size();
  if (n >= 8 && n <= 16) {
    std::memcpy(to, from, 8);
    std::memcpy(to + n - 8, from + n - 8, 8);
  } else if (n > 16 && n <= 32) {
    std::memcpy(to, from, 16);
    std::memcpy(to + n - 16, from + n - 16, 16);
  } else if (n >= 4 && n < 8) {
    std::memcpy(to, from, 4);
    std::memcpy(to + n - 4, from + n - 4, 4);
  } else {
    std::memcpy(to, from, n);
  }
  return to + n;
}

inline std::uint64_t hash_number(std::uint32_t number) {
  return fold(number ^ 0x9E3779B97F4A7C15ULL, 0xE7037ED1A0B428DBULL);
}

// Of names of any length.
std::uint64_t hash_long_name(std::string_view name);
inline std::uint64_t hash_name(std::string_view name) {
  return name.size() <= NameKey::kMostBytes ? NameKey::of(name).hash() : hash_long_name(name);
}

}  // namespace crowdfold
