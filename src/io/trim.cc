#include "io/trim.h"

namespace crowdfold {
namespace {

// Bytes of the blank that the text begins with; 0 if it begins with none.
std::size_t blank_at_front(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  if (byte(0) == ' ' || (byte(0) >= '\t' && byte(0) <= '\r')) return 1;
  if (text.size() >= 2 && byte(0) == 0xC2 && byte(1) == 0xA0) return 2;  // U+00A0
  if (text.size() < 3) return 0;
  const auto code = static_cast<unsigned>(byte(0) << 16 | byte(1) << 8 | byte(2));
  const bool blank = (code >= 0xE28080 && code <= 0xE2808B) ||  // U+2000 to U+200B
                     code == 0xE280AF || code == 0xE281A0 ||    // U+202F, U+2060
                     code == 0xE38080 || code == 0xEFBBBF;      // U+3000, U+FEFF
  return blank ? 3 : 0;
}

std::size_t blank_at_back(std::string_view text) {
  for (std::size_t size = 1; size <= 3 && size <= text.size(); ++size) {
    if (blank_at_front(text.substr(text.size() - size)) == size) return size;
  }
  return 0;
}

}  // namespace

std::string_view trimmed_slowly(std::string_view field) {
  bool blank_before = false;
  while (const std::size_t size = blank_at_front(field)) {
    field.remove_prefix(size);
    blank_before = true;
  }
  while (const std::size_t size = blank_at_back(field)) field.remove_suffix(size);
  if (blank_before && field.size() >= 2 && field.front() == '"' && field.back() == '"')
    field = trimmed(field.substr(1, field.size() - 2));
  return field;
}

}  // namespace crowdfold
