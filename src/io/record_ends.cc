#include "io/record_ends.h"

#include <algorithm>
#include <cstring>

namespace crowdfold {
namespace {

// Behind the last newline from `begin` to `end`; `begin` if there is none.
std::size_t after_last_newline(std::string_view text, std::size_t begin, std::size_t end) {
  const void* const newline = ::memrchr(text.data() + begin, '\n', end - begin);
  if (newline == nullptr) return begin;
  return static_cast<std::size_t>(static_cast<const char*>(newline) - text.data()) + 1;
}

}  // namespace

std::size_t RecordEnds::find(std::string_view text) {
  if (at_ >= text.size()) return end_;
  if (separator_ == 0) {
    const std::size_t end = after_last_newline(text, at_, text.size());
    if (end > at_) end_ = end;
    at_ = text.size();
    return end_;
  }
  const char* const end = text.data() + text.size();
  while (at_ < text.size()) {
    if (state_ == State::record_start) {
      skip_plain_lines(text);
      continue;
    }
    const char* at = text.data() + at_;
    while (at != end && is_inside(state_)) at = step(at, end);
    at_ = static_cast<std::size_t>(at - text.data());
    if (state_ == State::record_end) end_record();
    if (state_ == State::wrong) fail(text);
  }
  return end_;
}

// Looks at a byte or more; in the states record_end and wrong, the last one of them is still at `at`.
const char* RecordEnds::step(const char* at, const char* end) {
  const char separator = separator_;  // a copy: bytes that are read could be anything, also members
  switch (state_) {
    case State::field_start:
      state_ = *at == '"' ? State::quoted : State::unquoted;
      return *at == '"' ? at + 1 : at;
    case State::unquoted:
      while (at != end && *at != separator && *at != '\n' && *at != '\0') ++at;
      if (at == end) return at;
      state_ = *at == separator ? State::field_start : *at == '\n' ? State::record_end : State::wrong;
      return *at == separator ? at + 1 : at;
    case State::quoted:
      while (at != end && *at != '"' && *at != '\0') ++at;
      if (at == end) return at;
      if (*at == '"' && at + 1 != end && at[1] == separator) {  // mostly
        state_ = State::field_start;
        return at + 2;
      }
      state_ = *at == '"' ? State::quote : State::wrong;
      return *at == '"' ? at + 1 : at;
    case State::quote:
      state_ = *at == separator ? State::field_start
               : *at == '"'     ? State::quoted
               : *at == '\n'    ? State::record_end
               : *at == '\r'    ? State::carriage_return
                                : State::wrong;
      return is_inside(state_) ? at + 1 : at;
    case State::carriage_return: state_ = *at == '\n' ? State::record_end : State::wrong; return at;
    default:  // bad_line
      at = std::find(at, end, '\n');
      if (at != end) state_ = State::record_end;
      return at;
  }
}

// Lines without a quote are records, right or wrong.
void RecordEnds::skip_plain_lines(std::string_view text) {
  state_ = State::field_start;
  if (text[at_] == '"') return;
  if (quote_ <= at_) quote_ = std::min(text.find('"', at_), text.size());
  const std::size_t end = after_last_newline(text, at_, quote_);
  if (end > at_ && end > needed_) end_ = end;
  at_ = record_ = end;
}

void RecordEnds::end_record() {
  record_ = ++at_;
  if (at_ > needed_) end_ = at_;
  state_ = State::record_start;
}

// The byte at_ shows that the record is wrong: the next one begins behind its first line.
void RecordEnds::fail(std::string_view text) {
  const std::size_t newline = std::string_view(text.data(), at_).find('\n', record_);
  if (newline == std::string_view::npos) {
    state_ = State::bad_line;
    return;
  }
  needed_ = std::max(needed_, at_);
  at_ = newline;
  quote_ = 0;  // the bytes come once more
  end_record();
}

void RecordEnds::cut(std::size_t end) {
  const auto shift = [&](std::size_t& place) { place -= std::min(place, end); };
  for (std::size_t* const place : {&at_, &record_, &end_, &quote_, &needed_}) shift(*place);
}

}  // namespace crowdfold
