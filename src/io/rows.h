// What passes between a parser of blocks and the code that takes its rows.
//
// Blocks are parsed side by side and do not know how many lines come before them, so the place of an
// error is relative to its block until blocks are put in order.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace crowdfold {

// The wanted fields of a row.
using Row = std::span<const std::string_view>;

// What a sink has against a row: nothing, or a message about wanted field number `field`, from 1.
struct Complaint {
  std::size_t field = 0;
  std::string message;
  bool fatal = false;  // also where bad rows are skipped
};

struct RowError {
  std::uint64_t line = 0;    // lines of the block before this one
  std::uint64_t column = 1;  // bytes from the start of the line, from 1
  std::string message;
  std::string hint = {};  // what to do, for those who do not skip bad rows
};

// What parsing a block brought besides its rows.
struct BlockOutcome {
  std::uint64_t lines = 0;
  std::uint64_t skipped = 0;
  std::uint64_t repeated_headers = 0;  // left out
  std::uint64_t total_rows = 0;        // left out
  std::uint64_t empty_rows = 0;        // left out
  std::optional<RowError> error;       // the first; with skipping, of a row that was left out
  bool failed = false;                 // the error ended the block
};

}  // namespace crowdfold
