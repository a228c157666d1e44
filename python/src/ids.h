// Ids of tasks, workers or classes. What tells values apart is their text, whatever their type: so a
// chunk of integers and a file speak of the same worker. Text is made of different values only, never of
// every row: columns remember the ids of what they have met.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "crowdfold/names.h"
#include "short_texts.h"

namespace crowdfold::python {

inline constexpr std::uint32_t kMissing = 0xFFFF'FFFF;

class Ids {
 public:
  Ids(const char* what, std::uint64_t limit) : names(what, limit) {}
  explicit Ids(NameTable known) : names(std::move(known)) {}

  // `row` is where the value was met.
  std::uint32_t intern(std::string_view text, std::uint64_t row) {
    return intern(text, NameTable::hash(text), row);
  }
  std::uint32_t intern(std::string_view text, std::uint64_t hash, std::uint64_t row) {
    const std::uint32_t known = names.size();
    const std::uint32_t id = names.intern(text, hash);
    if (id == known) first_rows.push_back(row);
    return id;
  }

  // Room for so many values.
  void reserve(std::uint64_t values) {
    constexpr std::size_t kBytes = 12;  // of a name, mostly
    if (values > names.size()) names.reserve(values, kBytes * values);
    first_rows.reserve(values);
  }

  NameTable names;
  ShortTexts met;  // names that columns came across lately
  // Of the present chunk, the rows in which new ids appeared, in the order of the ids.
  std::vector<std::uint64_t> first_rows;
};

}  // namespace crowdfold::python
