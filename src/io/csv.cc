#include "io/csv.h"

#include <fmt/format.h>

#include <algorithm>

namespace crowdfold {

std::size_t CsvRecord::parse(std::string_view text, std::size_t at, char separator) {
  bytes_.clear();
  fields_.clear();
  error_.clear();
  const std::size_t start = at;
  const auto fail = [&](std::size_t place, const char* message) {
    error_ = message;
    error_place_ = place;
    const std::size_t newline = text.find('\n', start);
    return newline == std::string_view::npos ? text.size() : newline + 1;
  };

  for (;;) {
    Field field{bytes_.size(), 0, at, at < text.size() && text[at] == '"'};
    if (field.quoted) {
      for (++at;; ++at) {
        if (at >= text.size()) return fail(field.place, "this quote is not closed");
        if (text[at] == '"') {
          if (at + 1 < text.size() && text[at + 1] == '"') {
            ++at;
          } else {
            break;
          }
        } else if (text[at] == '\0') {
          return fail(at, "a NUL byte: is this not a text file?");
        }
        bytes_.push_back(text[at]);
      }
      ++at;  // the closing quote
      if (at < text.size() && text[at] == '\r' && at + 1 < text.size() && text[at + 1] == '\n') ++at;
      if (at < text.size() && text[at] != separator && text[at] != '\n') {
        return fail(at, "text after a closing quote (a quote inside quotes is written twice)");
      }
    } else {
      for (; at < text.size() && text[at] != separator && text[at] != '\n'; ++at) {
        if (text[at] == '\0') return fail(at, "a NUL byte: is this not a text file?");
        bytes_.push_back(text[at]);
      }
      const bool ends_line = at >= text.size() || text[at] == '\n';
      if (ends_line && bytes_.size() > field.begin && bytes_.back() == '\r') bytes_.pop_back();
    }
    field.size = bytes_.size() - field.begin;
    fields_.push_back(field);
    if (at >= text.size()) return text.size();
    if (text[at++] == '\n') return at;
  }
}

bool CsvParser::reject(std::string_view text, std::size_t row, std::size_t place,
                       const Complaint& problem, BlockOutcome& outcome) {
  if (!outcome.error || problem.fatal) {
    const std::string_view before = text.substr(row, place - row);
    const std::size_t newline = before.rfind('\n');
    outcome.error = RowError{
        outcome.lines + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n')),
        newline == std::string_view::npos ? place - row + 1 : before.size() - newline, problem.message,
        hint_};
  }
  ++outcome.skipped;
  outcome.failed = !skip_bad_rows_ || problem.fatal;
  return !outcome.failed;
}

std::string CsvParser::wrong_count(std::size_t found, std::size_t expected) {
  return fmt::format("{} field{} where {} are expected", found, found == 1 ? "" : "s", expected);
}

std::string CsvParser::hint_at_count(std::size_t found, std::size_t expected) const {
  const std::string separator = layout_.separator == '\t' ? "\\t" : std::string(1, layout_.separator);
  return fmt::format(
      " (a value that holds a separator or a line break needs quotes{}; --skip-bad-rows leaves such "
      "rows "
      "out)",
      found != expected + 1 ? ""
                            : fmt::format("; if all rows have {}, the header lacks the first name, as "
                                          "that of R's write.table does: sed '1s/^/row{}/' adds one",
                                          found, separator));
}

}  // namespace crowdfold
