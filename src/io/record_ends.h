// Where records end, found while bytes come. What a record is, CsvRecord decides: the two agree about
// quotes and about what follows an error, so that a text means the same whole and in pieces.
#pragma once

#include <cstdint>
#include <string_view>

namespace crowdfold {

class RecordEnds {
 public:
  // `separator` is that of fields, where quotes may hide newlines; 0 (JSON lines) where they cannot.
  // Records begin behind the first `before` bytes.
  explicit RecordEnds(char separator = ',', std::size_t before = 0)
      : separator_(separator), at_(before), record_(before) {}

  // Where the last whole record of `text` ends; 0 if none does. The text is that of the call before with
  // more bytes behind it: no byte is looked at in every call.
  std::size_t find(std::string_view text);
  // From now on the text begins at `end`, which find() returned, or later.
  void cut(std::size_t end);

 private:
  enum class State {
    record_start,
    field_start,
    unquoted,
    quoted,
    quote,            // a quote inside quotes: the end of the field, or the first of two
    carriage_return,  // behind such a quote
    bad_line,         // the record is wrong: it ends with its first line
    record_end,       // at its newline
    wrong,            // at the byte that shows it
  };

  static bool is_inside(State state) { return state != State::record_end && state != State::wrong; }
  const char* step(const char* at, const char* end);
  void skip_plain_lines(std::string_view text);
  void end_record();
  void fail(std::string_view text);

  char separator_;
  State state_ = State::record_start;
  std::size_t at_;         // the next byte to look at
  std::size_t record_;     // where the present record begins
  std::size_t end_ = 0;    // of the last whole record that may be given out
  std::size_t quote_ = 0;  // there is no quote from at_ to here
  std::size_t needed_ =
      0;  // an error is known by the bytes up to here: they go out together with its line
};

}  // namespace crowdfold
