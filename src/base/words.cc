#include "crowdfold/words.h"

#include <fmt/format.h>

namespace crowdfold {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with UTF-8
};

CodePoint first_of(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t value = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3FU);
  }
  // A longer form than needed, half of a pair of UTF-16, or beyond Unicode.
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[bytes] || (value >= 0xD800 && value < 0xE000) || value > 0x10FFFF) return {};
  return {value, bytes};
}

bool steers_terminal(char32_t c) {
  const bool control = c < 0x20 || (c >= 0x7F && c < 0xA0);
  const bool direction = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return control || direction;
}

}  // namespace

std::string with_commas(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string count_noun(std::uint64_t number, const std::string& noun) {
  const bool hisses = noun.ends_with("s");
  return fmt::format("{} {}{}", with_commas(number), noun, number == 1 ? "" : hisses ? "es" : "s");
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = first_of(text);
    const std::size_t bytes = c.bytes == 0 ? 1 : c.bytes;
    if (c.bytes == 0) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (!steers_terminal(c.value) || kept.find(text[0]) != std::string_view::npos) {
      shown += text.substr(0, bytes);
    } else if (c.value == '\n' || c.value == '\r' || c.value == '\t') {
      shown += c.value == '\n' ? "\\n" : c.value == '\r' ? "\\r" : "\\t";
    } else {
      shown += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(c.value));
    }
    text.remove_prefix(bytes);
  }
  return shown;
}

std::string memory_size(std::uint64_t bytes) {
  const auto value = static_cast<double>(bytes);
  return value < 1e3   ? fmt::format("{} bytes", bytes)
         : value < 1e5 ? fmt::format("{:.1f} KB", value / 1e3)
         : value < 1e9 ? fmt::format("{:.1f} MB", value / 1e6)
                       : fmt::format("{:.1f} GB", value / 1e9);
}

}  // namespace crowdfold
