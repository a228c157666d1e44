// ShortTexts: ids of texts without hashing and comparing all of their bytes.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "labels/columns/load_as.h"

namespace crowdfold {

// The id of a value that was not looked up yet; no name table has that many names.
inline constexpr std::uint32_t kUnknown = 0xFFFF'FFFE;

// The ids of short texts that were met lately, in a table that stays in the cache and where the newest
// stays. A text is two words and its length there: compared without a call, and found in one cache line.
// NameKey would need slots of 40 bytes instead of 24, so that neighbours no longer share a cache line,
// and it takes names of up to three bytes by a loop, which most classes would go through.
class ShortTexts {
 public:
  static bool fits(std::string_view text) { return text.size() - 1 < kMostBytes; }  // nor is it empty

  // kUnknown if it is not here.
  std::uint32_t find(std::string_view text) const {
    if (!fits(text)) return kUnknown;
    const Slot wanted = slot_of(text);
    const std::size_t place = place_of(wanted);
    if (slots_[place].is(wanted)) return slots_[place].id;
    return slots_[place ^ 1].is(wanted) ? slots_[place ^ 1].id : kUnknown;
  }
  void put(std::string_view text, std::uint32_t id) {
    if (!fits(text)) return;
    if (++puts_ > slots_.size() && bits_ < kMostBits) {  // what is in the smaller table comes back
      slots_.assign(std::size_t{1} << ++bits_, {});
      puts_ = 0;
    }
    Slot slot = slot_of(text);
    slot.id = id;
    const std::size_t place = place_of(slot);
    slots_[place ^ 1] = std::exchange(slots_[place], slot);
  }

 private:
  static constexpr std::size_t kMostBytes = 16;
  static constexpr int kLeastBits = 6;
  static constexpr int kMostBits = 13;

  // The first and the last bytes, which overlap: with the length, they say everything.
  struct Slot {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint32_t size = 0;  // no text is empty
    std::uint32_t id = kUnknown;

    bool is(const Slot& other) const {
      return ((first ^ other.first) | (last ^ other.last) | (size ^ other.size)) == 0;
    }
  };

  static Slot slot_of(std::string_view text) {
    const char* const p = text.data();
    const std::size_t n = text.size();
    const auto size = static_cast<std::uint32_t>(n);
    if (n >= 8) return {load_as<std::uint64_t>(p), load_as<std::uint64_t>(p + n - 8), size};
    if (n >= 4) return {load_as<std::uint32_t>(p), load_as<std::uint32_t>(p + n - 4), size};
    const auto byte = [p](std::size_t i) { return std::uint64_t{static_cast<unsigned char>(p[i])}; };
    return {byte(0), byte(n / 2) << 8 | byte(n - 1), size};
  }
  // A text is here or in the neighbour.
  std::size_t place_of(const Slot& slot) const {
    const std::uint64_t mixed = (slot.first ^ slot.size) * 0x9E37'79B9'7F4A'7C15 ^ slot.last;
    return (mixed ^ mixed >> 32) * 0xE703'7ED1'A0B4'28DB >> (64 - bits_);
  }

  int bits_ = kLeastBits;
  std::vector<Slot> slots_ = std::vector<Slot>(std::size_t{1} << kLeastBits);
  std::uint64_t puts_ = 0;  // into the present table
};

}  // namespace crowdfold
