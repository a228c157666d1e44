// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/json_scan.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "io/json_scan.h"

#include <hwy/highway.h>

#include <bit>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A bit for each of 64 bytes.
struct JsonMasks {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;
  std::uint64_t closes = 0;
  std::uint64_t separators = 0;  // commas and colons
  std::uint64_t newlines = 0;
};

template <class D, class M>
HWY_INLINE std::uint64_t bits_of(D d, M mask) {
  std::uint8_t bytes[8] = {};
  hn::StoreMaskBits(d, mask, bytes);
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

HWY_INLINE JsonMasks masks_of(const char* text) {
  const hn::CappedTag<std::uint8_t, 64> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto set = [&](char c) { return hn::Set(d, static_cast<std::uint8_t>(c)); };
  JsonMasks masks;
  for (std::size_t part = 0; part < 64; part += lanes) {
    const auto v = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(text) + part);
    const auto lower = hn::Or(v, set(0x20));  // '[' and ']' differ from '{' and '}' by this bit
    masks.quotes |= bits_of(d, hn::Eq(v, set('"'))) << part;
    masks.backslashes |= bits_of(d, hn::Eq(v, set('\\'))) << part;
    masks.opens |= bits_of(d, hn::Eq(lower, set('{'))) << part;
    masks.closes |= bits_of(d, hn::Eq(lower, set('}'))) << part;
    masks.separators |= bits_of(d, hn::Or(hn::Eq(v, set(',')), hn::Eq(v, set(':')))) << part;
    masks.newlines |= bits_of(d, hn::Eq(v, set('\n'))) << part;
  }
  return masks;
}

// Bytes that a backslash stands before which is not escaped itself; `escaped` goes from block to block.
HWY_INLINE std::uint64_t escaped_bytes(std::uint64_t backslashes, std::uint64_t& escaped,
                                       unsigned size) {
  std::uint64_t result = escaped;
  std::uint64_t next = 0;
  backslashes &= ~escaped;
  while (backslashes != 0) {
    const auto at = static_cast<unsigned>(std::countr_zero(backslashes));
    if (at + 1 >= size) {
      next = 1;
      break;
    }
    const std::uint64_t behind = std::uint64_t{1} << (at + 1);
    result |= behind;
    backslashes &= backslashes - 1;
    backslashes &= ~behind;
  }
  escaped = next;
  return result;
}

// Bit i: the number of bits up to i is odd.
HWY_INLINE std::uint64_t odd_before(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

HWY_INLINE std::uint64_t below(unsigned place) {
  return place >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << place) - 1;
}

std::size_t scan_json(JsonScan& state, char* text, std::size_t size, bool keep_lines,
                      std::uint32_t* const found, std::size_t& num_found) {
  JsonScan scan = state;  // a copy: bytes that are written could be anything, also members
  std::uint32_t* to = found;
  std::size_t at = 0;
  bool stopped = false;
  for (; at < size && !stopped; at += 64) {
    char last[64];
    const char* block = text + at;
    const auto length = static_cast<unsigned>(size - at < 64 ? size - at : 64);
    if (length < 64) {
      std::memset(last, ' ', sizeof last);
      std::memcpy(last, block, length);
      block = last;
    }
    const JsonMasks masks = masks_of(block);
    const std::uint64_t quotes = masks.quotes & ~escaped_bytes(masks.backslashes, scan.escaped, length);
    const std::uint64_t inside = odd_before(quotes) ^ scan.in_string;
    scan.in_string = static_cast<std::uint64_t>(static_cast<std::int64_t>(inside) >> 63);

    std::uint64_t newlines = masks.newlines & ~inside;
    const std::uint64_t opens = masks.opens & ~inside;
    const std::uint64_t closes = masks.closes & ~inside;
    unsigned end = length;  // of what is looked at
    if ((masks.newlines & inside) != 0) {
      scan.newline_in_string = stopped = true;
      end = static_cast<unsigned>(std::countr_zero(masks.newlines & inside)) + 1;
    }
    const auto num_closes = static_cast<std::uint64_t>(std::popcount(closes));
    if (scan.depth > num_closes + 1 && !stopped) {  // depth 1 is out of reach
      scan.depth += static_cast<std::uint64_t>(std::popcount(opens)) - num_closes;
    } else {
      std::uint64_t brackets = (opens | closes) & below(end);
      const std::uint64_t separators = masks.separators & ~inside & below(end);
      unsigned begin = 0;
      for (;;) {
        const auto next = brackets == 0 ? end : static_cast<unsigned>(std::countr_zero(brackets));
        if (scan.depth == 1) {
          const std::uint64_t here = below(next) & ~below(begin);
          for (std::uint64_t bits = separators & here; bits != 0; bits &= bits - 1)
            *to++ = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(std::countr_zero(bits));
          if (keep_lines) newlines &= ~here;
        }
        if (brackets == 0) break;
        const std::uint64_t bit = brackets & (~brackets + 1);
        const bool open = (opens & bit) != 0;
        if (scan.depth <= 1) *to++ = static_cast<std::uint32_t>(at) + static_cast<std::uint32_t>(next);
        if (!open && scan.depth <= 1) {
          scan.depth = 0;
          scan.newline_in_string = false;  // that is behind it
          stopped = true;
          end = next + 1;
          newlines &= below(end);
          break;
        }
        scan.depth += open ? 1 : ~std::uint64_t{0};
        brackets &= brackets - 1;
        begin = next + 1;
      }
    }
    for (newlines &= below(end); newlines != 0; newlines &= newlines - 1)
      text[at + static_cast<std::size_t>(std::countr_zero(newlines))] = ' ';
    if (stopped) {
      at += end;
      break;
    }
  }
  num_found = static_cast<std::size_t>(to - found);
  state = scan;
  return stopped ? at : size;
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(scan_json);

std::size_t scan_json(JsonScan& scan, char* text, std::size_t size, bool keep_lines,
                      std::uint32_t* found, std::size_t& num_found) {
  return HWY_DYNAMIC_DISPATCH(scan_json)(scan, text, size, keep_lines, found, num_found);
}

}  // namespace crowdfold
#endif
