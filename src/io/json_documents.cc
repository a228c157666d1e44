#include "io/json_documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "crowdfold/error.h"
#include "io/json_scan.h"

namespace crowdfold {
namespace {

constexpr std::string_view kJsonBlank = " \t\r\n";
constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr std::size_t kMostWhole = std::size_t{1} << 30;

using Characters = std::array<bool, 256>;

constexpr Characters characters(std::string_view text) {
  Characters set{};
  for (const char c : text) set[static_cast<unsigned char>(c)] = true;
  return set;
}
constexpr Characters kScalarEnds = characters(",:]}[{\" \t\r\n");
constexpr Characters kInStrings = characters("\"\\\n");
constexpr Characters kNesting = characters("\"[]{}");

// Where the next of these characters is; the text's size if there is none.
std::size_t find_any(std::string_view text, std::size_t at, const Characters& wanted) {
  while (at < text.size() && !wanted[static_cast<unsigned char>(text[at])]) ++at;
  return at;
}

// Goes through a JSON text value by value. It finds where values end, and checks no more than that
// takes.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  std::size_t place() const { return at_; }
  // Whether the text ended where more was looked for.
  bool ran_out() const { return ran_out_; }
  // The next character that is not blank; 0 at the end.
  char next() {
    at_ = std::min(text_.find_first_not_of(kJsonBlank, at_), text_.size());
    if (at_ == text_.size()) ran_out_ = true;
    return ran_out_ ? '\0' : text_[at_];
  }
  bool take(char wanted) {
    if (next() != wanted) return false;
    ++at_;
    return true;
  }
  // A string with its quotes; nullopt if there is none, or not all of it.
  std::optional<std::string_view> string() {
    if (next() != '"') return std::nullopt;
    const std::size_t begin = at_;
    if (!skip_string()) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }
  // Any value as it is written; nullopt if there is none, or not all of it.
  std::optional<std::string_view> value() {
    const char first = next();
    const std::size_t begin = at_;
    if (first == '"') return string();
    if (first == '{' || first == '[') {
      if (!skip_nested()) return std::nullopt;
    } else {
      at_ = find_any(text_, at_, kScalarEnds);
    }
    if (at_ == begin) return std::nullopt;
    return text_.substr(begin, at_ - begin);
  }

 private:
  bool skip_string() {
    for (std::size_t i = at_ + 1; i < text_.size(); ++i) {
      i = find_any(text_, i, kInStrings);
      if (i == text_.size()) break;
      if (text_[i] == '\n') return false;
      if (text_[i] == '\\') {
        ++i;
        continue;
      }
      at_ = i + 1;
      return true;
    }
    ran_out_ = true;
    return false;
  }
  bool skip_nested() {
    for (std::size_t depth = 0;;) {
      at_ = find_any(text_, at_, kNesting);
      if (at_ == text_.size()) {
        ran_out_ = true;
        return false;
      }
      const char c = text_[at_];
      if (c == '"') {
        if (!skip_string()) return false;
        continue;
      }
      ++at_;
      depth += c == '{' || c == '[' ? 1 : ~std::size_t{0};
      if (depth == 0) return true;
    }
  }

  std::string_view text_;
  std::size_t at_;
  bool ran_out_ = false;
};

std::size_t mark_size(std::string_view text) {
  return text.starts_with(kUtf8Mark) ? kUtf8Mark.size() : 0;
}

// What is known of the object that a text begins with.
struct ObjectStart {
  std::size_t members = 0;  // that were seen
  std::size_t arrays = 0;   // of them
  std::size_t objects = 0;
  bool has_columns = false;  // arrays of these names
  bool has_data = false;
  bool plain_arrays = true;  // no array or object in them, as far as was seen
  bool by_number = false;    // the first key in the first object is "0"
  bool closed = false;
  bool cut = false;     // the text ends in it
  std::size_t end = 0;  // where it is closed
};

ObjectStart look_into_object(std::string_view text, std::size_t at) {
  ObjectStart object;
  JsonCursor cursor(text, at);
  cursor.take('{');
  for (;;) {
    const auto key = cursor.string();
    if (!key || !cursor.take(':')) break;
    const char first = cursor.next();
    JsonCursor inner(text, cursor.place() + 1);
    ++object.members;
    if (first == '[') {
      ++object.arrays;
      object.has_columns |= *key == "\"columns\"";
      object.has_data |= *key == "\"data\"";
      const char held = inner.next();
      object.plain_arrays &= held != '{' && held != '[';
    } else if (first == '{') {
      ++object.objects;
      if (object.members == 1) object.by_number = inner.string() == "\"0\"";
    }
    if (!cursor.value()) break;
    if (cursor.take(',')) continue;
    object.closed = cursor.take('}');
    object.end = cursor.place();
    break;
  }
  object.cut = !object.closed && cursor.ran_out();
  return object;
}

JsonShape shape_of_object(std::string_view text, std::size_t at, bool ended) {
  const ObjectStart object = look_into_object(text, at);
  JsonCursor behind(text, object.end);
  const bool alone = object.closed ? ended && behind.next() == '\0' : object.cut && !ended;
  const bool several = object.members > 1 || !object.closed;
  if (alone && several && object.members > 0) {
    if (object.has_columns && object.has_data) return JsonShape::split;
    if (object.arrays == object.members && object.plain_arrays) return JsonShape::columns;
    if (object.objects == object.members)
      return object.by_number ? JsonShape::pandas_columns : JsonShape::object;
    if (object.objects + object.arrays == object.members) return JsonShape::object;
  }
  const bool over_lines = object.closed && text.substr(at, object.end - at).find('\n') != text.npos;
  return over_lines ? JsonShape::values : JsonShape::lines;
}

// Rows of columns that were read whole.
class ColumnRows {
 public:
  ColumnRows(std::string text, JsonShape shape, std::string name)
      : text_(std::move(text)), shape_(shape), name_(std::move(name)) {
    JsonCursor cursor(text_, mark_size(text_));
    if (!cursor.take('{')) fail(cursor);
    while (!cursor.take('}')) {
      const auto key = cursor.string();
      if (!key || !cursor.take(':')) fail(cursor);
      begin_column(*key, cursor);
      if (!cursor.value()) fail(cursor);
      if (!cursor.take(',') && cursor.next() != '}') fail(cursor);
    }
    if (cursor.next() != '\0') fail(cursor);
  }

  // Appends some rows; false if there are none left.
  bool append(std::string& to) {
    constexpr std::size_t kAtOnce = std::size_t{1} << 16;
    const std::size_t begin = to.size();
    while (to.size() - begin < kAtOnce && append_row(to)) {
    }
    return to.size() > begin;
  }

 private:
  struct Column {
    std::string_view key;
    JsonCursor cursor;  // at its next value
  };

  void begin_column(std::string_view key, JsonCursor cursor) {
    const char bracket = shape_ == JsonShape::pandas_columns ? '{' : '[';
    if (shape_ == JsonShape::split && key == "\"columns\"") {
      if (!cursor.take('[')) fail(cursor);
      while (!cursor.take(']')) {
        const auto name = cursor.value();
        if (!name) fail(cursor);
        names_.push_back(*name);
        if (!cursor.take(',') && cursor.next() != ']') fail(cursor);
      }
    } else if (shape_ != JsonShape::split || key == "\"data\"") {
      if (!cursor.take(bracket)) fail(cursor);
      columns_.push_back({key, cursor});
    }
  }

  bool append_row(std::string& to) {
    if (columns_.empty()) return false;
    const char closing = shape_ == JsonShape::pandas_columns ? '}' : ']';
    const bool over = columns_.front().cursor.next() == closing;
    if (!over) ++row_;
    if (!over) to += '{';
    std::string_view number;
    for (Column& column : columns_) {
      JsonCursor& cursor = column.cursor;
      if ((cursor.next() == closing) != over)
        fail_row(fmt::format("the columns {} and {} are not of the same length", columns_.front().key,
                             column.key));
      if (over) continue;
      if (shape_ == JsonShape::pandas_columns) {
        const auto key = cursor.string();
        if (!key || !cursor.take(':')) fail(cursor);
        if (number.empty()) number = *key;
        if (number != *key)
          fail_row(fmt::format("it is {} in one column and {} in another", number, *key));
      }
      const auto value = cursor.value();
      if (!value) fail(cursor);
      if (!cursor.take(',') && cursor.next() != closing) fail(cursor);
      if (to.back() != '{') to += ',';
      shape_ == JsonShape::split ? append_split(to, *value) : append_member(to, column.key, *value);
    }
    if (!over) to += "}\n";
    return !over;
  }

  static void append_member(std::string& to, std::string_view key, std::string_view value) {
    to.append(key).append(1, ':');
    const auto begin = static_cast<std::ptrdiff_t>(to.size());
    to.append(value);
    std::replace(to.begin() + begin, to.end(), '\n', ' ');
  }
  void append_split(std::string& to, std::string_view row) {
    JsonCursor cursor(row);
    if (!cursor.take('[')) fail_row("it is no JSON array");
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const auto value = cursor.value();
      if (!value || !cursor.take(i + 1 < names_.size() ? ',' : ']'))
        fail_row(fmt::format("it has not {} values", names_.size()));
      if (i > 0) to += ',';
      append_member(to, names_[i], *value);
    }
  }

  [[noreturn]] void fail(const JsonCursor& cursor) const {
    throw Error(ErrorCode::data, Location{name_, 0, 0},
                fmt::format("not a JSON object of columns: see byte {}", cursor.place() + 1));
  }
  [[noreturn]] void fail_row(const std::string& message) const {
    throw Error(ErrorCode::data, Location{name_, 0, 0}, fmt::format("element {}: {}", row_, message));
  }

  std::string text_;
  JsonShape shape_;
  std::string name_;
  std::vector<Column> columns_;
  std::vector<std::string_view> names_;  // of the columns of `split`
  std::uint64_t row_ = 0;
};

class JsonLines final : public ByteFilter {
 public:
  enum class Elements { any, any_by_two_characters, records, members };

  JsonLines(std::unique_ptr<ByteSource> text, std::string name, Elements elements)
      : ByteFilter(std::move(text)), name_(std::move(name)), wanted_(elements) {}

  bool has_elements() const override { return shape_ && !lines_; }
  bool is_array() const override { return shape_ == JsonShape::array; }

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    if (!shape_ && !recognise()) return kNoneYet;
    if (error_ && given_ == made_.size()) throw *error_;
    switch (*shape_) {
      case JsonShape::lines: return inner_->read(to, size);
      case JsonShape::values:
      case JsonShape::array: return read_elements(to, size);
      case JsonShape::object: return read_made(to, size, &JsonLines::make_members);
      default: return read_made(to, size, &JsonLines::make_rows);
    }
  }

 private:
  bool recognise() {
    const std::string_view start = inner_->peek(kMostPeeked);
    JsonCursor cursor(start, mark_size(start));
    cursor.next();
    shape_ = json_shape(start, inner_->ended(), wanted_ != Elements::any_by_two_characters);
    if (!shape_) return false;
    lines_ = *shape_ == JsonShape::lines;
    if (wanted_ == Elements::records && *shape_ != JsonShape::array) shape_ = JsonShape::values;
    if (wanted_ == Elements::members) begin_members(cursor);
    if (*shape_ == JsonShape::lines) return true;
    found_.resize(kMostScanned);
    if (*shape_ == JsonShape::values) scan_.depth = 1;
    // The scan begins at the bracket.
    std::vector<char> before(cursor.place());
    offset_ = before.size();
    if (!before.empty()) inner_->read(before.data(), before.size());
    return true;
  }

  // An empty object has no first member: it ends where it begins.
  void begin_members(JsonCursor& cursor) {
    shape_ = JsonShape::object;
    lines_ = false;
    JsonCursor within = cursor;
    if (!within.take('{'))
      throw Error(ErrorCode::data, Location{name_, 0, 0},
                  "a JSON object is expected: is it another format?");
    closed_ = within.take('}');
    if (closed_) cursor = within;
  }

  // Changes the text where it is: a byte remains a byte.
  std::size_t read_elements(char* to, std::size_t size) {
    if (closed_) return read_behind();
    const std::size_t count = inner_->read(to, size);
    if (count == kNoneYet) return kNoneYet;
    if (count == 0) return end();
    std::size_t at = 0;
    while (at < count && !closed_) {
      const std::size_t scanned = scan(to + at, std::min(kMostScanned, count - at));
      const std::size_t good = take_separators(to + at, scanned);
      at += good;
      offset_ += good;
      if (!error_) continue;
      if (at == 0) throw *error_;
      return at;
    }
    if (closed_) check_blank({to + at, count - at});
    return at;
  }

  // Returns how many bytes come before what is wrong; all of them if nothing is.
  std::size_t take_separators(char* text, std::size_t size) {
    for (std::size_t i = 0; i < num_found_; ++i) {
      const std::size_t at = found_[i];
      const char* const wrong =
          *shape_ == JsonShape::array ? take_separator(text[at]) : wrong_between_values(text[at]);
      if (wrong == nullptr) continue;
      note(wrong, offset_ + at);
      return at;
    }
    return check_strings(size);
  }

  static const char* wrong_between_values(char c) {
    return c == '}' || c == ']' ? "a bracket that was not opened" : nullptr;
  }

  // Of an array. Returns what is wrong; null if nothing is.
  const char* take_separator(char& c) {
    if (c == ':') return nullptr;  // its element's line is wrong
    if (c == '{' || c == '[') {
      in_element_ = begun_;
      if (!std::exchange(begun_, true)) c = ' ';
      return nullptr;
    }
    if (c == '}') return "a } that has no {";
    const bool empty = c == ']' && elements_ == 0;
    if (!std::exchange(in_element_, false) && !empty) return "it is no JSON object";
    ++elements_;
    closed_ = c == ']';
    c = '\n';
    return nullptr;
  }

  // What is made of pieces, not changed where it is.
  using Make = bool (JsonLines::*)(std::size_t& status);
  std::size_t read_made(char* to, std::size_t size, Make make) {
    while (given_ == made_.size()) {
      if (error_) throw *error_;
      made_.clear();
      given_ = 0;
      std::size_t status = 0;
      if (!(this->*make)(status)) return status;
    }
    const std::size_t count = made_.copy(to, size, given_);
    given_ += count;
    return count;
  }

  // The members of an object by id. False if there are no more, or none yet.
  bool make_members(std::size_t& status) {
    if (closed_) {
      status = read_behind();
      return false;
    }
    char piece[kMostScanned];
    const std::size_t count = inner_->read(piece, sizeof piece);
    if (count == kNoneYet || count == 0) {
      status = count == 0 ? end() : count;
      return false;
    }
    std::size_t at = 0;
    while (at < count && !closed_ && !error_) {
      const std::size_t scanned = scan(piece + at, count - at);
      append_members(piece + at, scanned);
      at += scanned;
      offset_ += scanned;
    }
    if (closed_) check_blank({piece + at, count - at});
    return true;
  }

  void append_members(const char* text, std::size_t size) {
    std::size_t copied = 0;
    for (std::size_t i = 0; i < num_found_; ++i) {
      const std::size_t at = found_[i];
      made_.append(text + copied, at - copied);
      append_separator(text[at], offset_ + at);
      if (error_ || closed_) return;
      copied = at + 1;
    }
    made_.append(text + copied, check_strings(size) - copied);
  }

  void append_separator(char c, std::uint64_t place) {
    if (!std::exchange(begun_, true)) {
      made_ += "{\"key\":";
    } else if (c == ':') {
      made_ += ",\"value\":";
    } else if (c == ',') {
      ++elements_;
      made_ += "}\n{\"key\":";
    } else if (c == '}') {
      made_ += "}\n";
      closed_ = true;
    } else if (c == ']') {
      note("a ] that has no [", place);
    } else {
      made_ += c;
    }
  }

  bool make_rows(std::size_t& status) {
    if (!rows_) read_whole();
    status = 0;
    return rows_->append(made_);
  }

  void read_whole() {
    std::string text;
    for (std::size_t count = 1; count > 0;) {
      const std::size_t had = text.size();
      if (had > kMostWhole)
        throw Error(ErrorCode::data, Location{name_, 0, 0},
                    fmt::format("a JSON object of columns of more than {} MB: write JSON lines instead "
                                "(in pandas: to_json(…, orient='records', lines=True))",
                                kMostWhole >> 20));
      text.resize(std::max(2 * had, kMostScanned));
      count = inner_->read(text.data() + had, text.size() - had);
      if (count == kNoneYet) count = 0;  // not where one looks ahead
      text.resize(had + count);
    }
    rows_.emplace(std::move(text), *shape_, name_);
  }

  std::size_t scan(char* text, std::size_t size) {
    return scan_json(scan_, text, size, *shape_ == JsonShape::values, found_.data(), num_found_);
  }
  // How many of the bytes that were scanned come before a newline in a string.
  std::size_t check_strings(std::size_t scanned) {
    if (!scan_.newline_in_string) return scanned;
    note("a string goes over the end of a line", offset_ + scanned - 1);
    return scanned - 1;
  }

  std::size_t end() {
    const bool whole = *shape_ == JsonShape::values && scan_.depth == 1 && scan_.in_string == 0;
    if (!whole)
      note(*shape_ == JsonShape::values ? "the text ends within a value" : "the text ends within it",
           offset_);
    if (error_) throw *error_;
    return 0;
  }

  // All of the rest must be blank; returns 0, or kNoneYet.
  std::size_t read_behind() {
    char piece[1 << 12];
    for (;;) {
      const std::size_t count = inner_->read(piece, sizeof piece);
      if (count == 0 || count == kNoneYet) return count;
      check_blank({piece, count});
      if (error_) throw *error_;
    }
  }
  void check_blank(std::string_view text) {
    const std::size_t other = text.find_first_not_of(kJsonBlank);
    if (other != text.npos)
      error_ =
          Error(ErrorCode::data, Location{name_, 0, 0},
                fmt::format("more text behind the end of the JSON: see byte {}", offset_ + other + 1));
    offset_ += text.size();
  }

  // What is wrong with the present element is told once all before it was given out, so that the error
  // does not depend on how much is read at a time.
  void note(const std::string& message, std::uint64_t place) {
    if (error_) return;
    const std::string element =
        *shape_ == JsonShape::values ? "" : fmt::format("element {}: ", elements_ + 1);
    error_ = Error(ErrorCode::data, Location{name_, 0, 0},
                   fmt::format("{}{}: see byte {}", element, message, place + 1));
  }

  std::string name_;
  Elements wanted_;
  std::optional<JsonShape> shape_;
  bool lines_ = false;  // elements are lines of the input
  JsonScan scan_;
  std::vector<std::uint32_t> found_;
  std::size_t num_found_ = 0;
  std::uint64_t offset_ = 0;    // bytes that were scanned
  std::uint64_t elements_ = 0;  // that are closed
  bool begun_ = false;          // the outermost bracket was met
  bool in_element_ = false;     // a bracket of the present element was met
  bool closed_ = false;
  std::string made_;
  std::size_t given_ = 0;  // bytes of it
  std::optional<ColumnRows> rows_;
  std::optional<Error> error_;  // to be told
};

}  // namespace

std::optional<JsonShape> json_shape(std::string_view start, bool ended, bool look_ahead) {
  const bool all = ended || start.size() >= kMostPeeked;
  if (!all && kUtf8Mark.starts_with(start)) return std::nullopt;  // the mark itself may be cut
  JsonCursor cursor(start, mark_size(start));
  const char first = cursor.next();
  if (first == '\0' && !all) return std::nullopt;
  if (first == '{' && look_ahead) return shape_of_object(start, cursor.place(), ended);
  if (first != '[') return JsonShape::lines;
  cursor.take('[');
  const char second = cursor.next();
  if (second == '\0' && !all) return std::nullopt;
  return second == '{' || second == '[' || second == ']' ? JsonShape::array : JsonShape::lines;
}

std::unique_ptr<ByteSource> as_json_lines(std::unique_ptr<ByteSource> text, const std::string& name,
                                          bool look_ahead) {
  using Elements = JsonLines::Elements;
  return std::make_unique<JsonLines>(std::move(text), name,
                                     look_ahead ? Elements::any : Elements::any_by_two_characters);
}

std::unique_ptr<ByteSource> as_json_records(std::unique_ptr<ByteSource> text, const std::string& name) {
  return std::make_unique<JsonLines>(std::move(text), name, JsonLines::Elements::records);
}

std::unique_ptr<ByteSource> as_json_members(std::unique_ptr<ByteSource> text, const std::string& name) {
  return std::make_unique<JsonLines>(std::move(text), name, JsonLines::Elements::members);
}

}  // namespace crowdfold
