// A glimpse of an input: the first megabyte of its records, column by column. What a first row is and
// which column is which are decided by functions of it (guess_columns.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/names.h"

namespace crowdfold {

inline constexpr std::size_t kGlimpseBytes = std::size_t{1} << 20;

// The number of a column that is not found yet.
inline constexpr std::size_t kUnknown = static_cast<std::size_t>(-1);

struct GlimpseColumn {
  static constexpr std::uint32_t kNothing = 0xFFFF'FFFF;

  std::string name;
  NameTable values;                   // without blanks at their ends
  std::vector<std::uint32_t> counts;  // rows, by value
  std::vector<std::uint32_t> ids;     // values, by row; kNothing where the cell is empty
  std::size_t filled = 0;             // rows whose cell is not empty

  std::size_t distinct() const { return counts.size(); }
  bool is_unique() const { return filled >= 2 && distinct() == filled; }
  bool is_constant() const { return distinct() <= 1; }
  void add(std::string_view cell);
};

struct Glimpse {
  std::vector<GlimpseColumn> columns;
  std::size_t rows = 0;
  bool whole = false;  // there is no more

  void add(const std::vector<std::string_view>& cells);
};

// Records of delimited text that have a field for each name; others are left out, and so is a last one
// without a newline unless the text is the `whole` input.
Glimpse glimpse_of_csv(std::string_view text, char separator, const std::vector<std::string>& names,
                       bool whole);
// Objects of JSON lines; arrays and objects in them are empty cells.
Glimpse glimpse_of_json(std::string_view text, const std::vector<std::string>& keys, bool whole);

}  // namespace crowdfold
