// The beginning that the names of a data set share ("image_", "https://…/photos/"). It need not be kept
// with each of them, and what follows is often no more than a number.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "labels/digits.h"
#include "labels/name_key.h"

namespace crowdfold {

// A name without the head. Equal names are cut equally.
struct CutName {
  std::uint32_t number = kNoNumber;  // of the digits behind the head, if that is all; or
  std::string_view text;             // what follows the head; or
  bool whole = false;                // all of a name that begins otherwise, or is long

  std::uint64_t hash() const { return number != kNoNumber ? hash_number(number) : hash_name(text); }
};

class NameHead {
 public:
  NameHead() = default;  // empty: every name begins with it
  // The longest that all of these names begin with; without digits at its end if the others, too, are a
  // number then.
  explicit NameHead(const std::vector<std::string_view>& names);

  const std::string& text() const { return text_; }

  CutName cut(std::string_view name) const {
    const std::size_t size = text_.size();
    if (!begins(name) || name.size() - size > NameKey::kMostBytes) return {kNoNumber, name, true};
    return {number_behind(name, size), name.substr(size), false};
  }
  // That of the digits behind the head, if this is what the name is; else kNoNumber.
  std::uint32_t number_of(std::string_view name) const {
    return begins(name) ? number_behind(name, text_.size()) : kNoNumber;
  }
  // The name again.
  std::string restore(const CutName& name) const {
    if (name.number != kNoNumber) return text_ + digits_of(name.number);
    return (name.whole ? "" : text_) + std::string(name.text);
  }

 private:
  // Word by word: a call for each name would cost more than the comparison.
  bool begins(std::string_view name) const {
    const std::size_t size = text_.size();
    if (name.size() < size) return false;
    if (size == 0) return true;
    if (size < 8) return (first_bytes(name) ^ first_bytes(text_)) << (64 - 8 * size) == 0;
    for (std::size_t at = 0; at + 8 < size; at += 8) {
      if (!equal_words(name, at)) return false;
    }
    return equal_words(name, size - 8);
  }
  bool equal_words(std::string_view name, std::size_t at) const {
    return std::memcmp(name.data() + at, text_.data() + at, 8) == 0;
  }

  std::string text_;
};

}  // namespace crowdfold
