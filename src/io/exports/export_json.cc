#include "io/exports/export_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "crowdfold/error.h"
#include "io/output.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMostDocumentBytes = std::size_t{256} << 20;

// Characters that matter to the search for the end of a value.
enum class Mark : unsigned char { none, quote, open, close };
constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  marks['"'] = Mark::quote;
  marks['{'] = marks['['] = Mark::open;
  marks['}'] = marks[']'] = Mark::close;
  return marks;
}();
constexpr std::array<bool, 256> kInString = [] {
  std::array<bool, 256> special{};
  special['"'] = special['\\'] = true;
  return special;
}();

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

// Cuts a JSON text into the values inside its outermost array or object. It looks at brackets and quotes
// only: whether a value is JSON is for the parser to say.
class JsonSplitter {
 public:
  JsonSplitter(const ExportInput& input, bool members)
      : input_(input),
        name_(display_name(input.path)),
        members_(members),
        source_(open_export(input.path, input.options)) {
    buffer_.resize(input.options.block_bytes + simdjson::SIMDJSON_PADDING);
  }

  // The next value, with readable bytes behind it until the next call. False at the end.
  bool next(std::string_view& key, std::string_view& value) {
    const bool at_start = position_ == 0 && lines_ == 1;
    if (at_start && fill(3) && std::memcmp(buffer_.data(), "\xEF\xBB\xBF", 3) == 0) position_ = 3;
    drop_read();
    if (!go_to_value()) return false;
    if (members_) {
      const std::size_t key_begin = position_;
      require(buffer_[position_] == '"', "a key in quotes is missing");
      position_ = end_of_value();
      key = {buffer_.data() + key_begin, position_ - key_begin};
      require(skip_space() && buffer_[position_] == ':', "a colon behind a key is missing");
      ++position_;
      require(skip_space(), kCut);
      // Reading on may move the bytes: places are kept, not pointers.
      const std::size_t begin = position_;
      position_ = end_of_value();
      key = {buffer_.data() + key_begin, key.size()};
      value = {buffer_.data() + begin, position_ - begin};
      return true;
    }
    const std::size_t begin = position_;
    position_ = end_of_value();
    value = {buffer_.data() + begin, position_ - begin};
    return true;
  }

  // Of the value that next() gave.
  Location place() const { return {name_, record_line_, 0}; }

 private:
  static constexpr const char* kCut = "the input ends within a record: is it complete?";

  void require(bool good, const char* what) const {
    if (!good)
      throw Error(ErrorCode::data, Location{name_, lines_, 0}, fmt::format("not JSON: {}", what));
  }

  // Goes to the next value, in and out of the outermost array or object. False at the end of the input.
  bool go_to_value() {
    for (;;) {
      if (!skip_space()) {
        require(!inside_, kCut);
        return false;
      }
      const char c = buffer_[position_];
      const bool opens = !inside_ && (members_ ? c == '{' : c == '[');
      const bool closes = inside_ && (members_ ? c == '}' : c == ']');
      const bool separates = c == ',';
      if (!opens && !closes && !separates) break;
      if (opens || closes) inside_ = opens;
      ++position_;
    }
    require(inside_ || !members_, "an object is expected");
    record_line_ = lines_;
    return true;
  }

  bool skip_space() {
    for (;; ++position_) {
      if (!fill(1)) return false;
      if (!is_space(buffer_[position_])) return true;
      lines_ += buffer_[position_] == '\n' ? 1 : 0;
    }
  }

  // Where the value at position_ ends.
  std::size_t end_of_value() {
    std::size_t at = position_;
    std::size_t depth = 0;
    bool in_string = false;
    for (;; ++at) {
      if (at == size_ && !read_on()) {
        require(depth == 0 && !in_string, kCut);
        break;
      }
      if (in_string) {
        while (at < size_ && !kInString[static_cast<unsigned char>(buffer_[at])]) ++at;
        if (at == size_) {
          --at;
          continue;
        }
        if (buffer_[at] == '\\') {
          if (at + 1 == size_ && !read_on()) require(false, kCut);
          ++at;
        } else {
          in_string = false;
          if (depth == 0) return at + 1;
        }
        continue;
      }
      const char c = buffer_[at];
      const Mark mark = kMarks[static_cast<unsigned char>(c)];
      if (mark == Mark::none) {
        lines_ += c == '\n' ? 1 : 0;
        if (depth == 0 && (is_space(c) || c == ',')) break;
      } else if (mark == Mark::quote) {
        in_string = true;
      } else if (mark == Mark::open) {
        ++depth;
      } else {
        if (depth == 0) break;  // of what is around it
        if (--depth == 0) return at + 1;
      }
    }
    require(at > position_, "a value is missing");
    return at;
  }

  // Whether `count` bytes are there at the position.
  bool fill(std::size_t count) {
    while (size_ - position_ < count) {
      if (!read_on()) return false;
    }
    return true;
  }

  // Appends bytes; places stay valid. False at the end of the input.
  bool read_on() {
    input_.context.throw_if_cancelled();
    input_.context.report("reading", source_->file_position(), source_->file_size());
    if (size_ == space()) {
      if (size_ - position_ > kMostDocumentBytes) {
        throw Error(ErrorCode::data, Location{name_, record_line_, 0},
                    fmt::format("a record is longer than {} MB: is a quote or bracket not closed?",
                                kMostDocumentBytes >> 20));
      }
      buffer_.resize(2 * space() + simdjson::SIMDJSON_PADDING);
    }
    const std::size_t wanted = std::min(input_.options.block_bytes, space() - size_);
    const std::size_t count = source_->read(buffer_.data() + size_, wanted);
    size_ += count;
    return count > 0;
  }

  // Bytes that the buffer can hold: the parser reads beyond the end of a value.
  std::size_t space() const { return buffer_.size() - simdjson::SIMDJSON_PADDING; }

  // Forgets what was given out, once it is half of the buffer.
  void drop_read() {
    if (position_ < buffer_.size() / 2) return;
    std::memmove(buffer_.data(), buffer_.data() + position_, size_ - position_);
    size_ -= position_;
    position_ = 0;
  }

  const ExportInput& input_;
  std::string name_;
  bool members_;
  std::unique_ptr<ByteSource> source_;
  std::vector<char> buffer_;
  std::size_t size_ = 0;
  std::size_t position_ = 0;
  bool inside_ = false;  // of the outermost array or object
  std::uint64_t lines_ = 1;
  std::uint64_t record_line_ = 1;
};

template <class Take>
void for_each_document(const ExportInput& input, ImportedRows& rows, bool members, const Take& take) {
  JsonSplitter splitter(input, members);
  simdjson::dom::parser parser;
  JsonText key_text;
  std::string_view key;
  std::string_view value;
  while (splitter.next(key, value)) {
    const bool good_key = !members || key_text.parse(key);
    Json document;
    const simdjson::error_code code = parser.parse(value.data(), value.size(), false).get(document);
    if (code == simdjson::MEMALLOC) throw std::bad_alloc();
    const bool fits = code == simdjson::SUCCESS && good_key && (members || document.is_object());
    if (fits) {
      take(members ? text_of_json(key_text.value()) : std::string(), document);
      continue;
    }
    const Error error(ErrorCode::data, splitter.place(),
                      code == simdjson::SUCCESS
                          ? "a record is no JSON object: is this another format?"
                          : fmt::format("a record is not JSON: {}", simdjson::error_message(code)));
    if (!input.options.skip_bad_rows) throw error;
    rows.skip(error);
  }
}

}  // namespace

void for_each_record(const ExportInput& input, ImportedRows& rows,
                     const std::function<void(const Json& record)>& take) {
  for_each_document(input, rows, false, [&](const std::string&, const Json& record) { take(record); });
}

void for_each_member(const ExportInput& input, ImportedRows& rows,
                     const std::function<void(std::string_view key, const Json& value)>& take) {
  for_each_document(input, rows, true, take);
}

bool JsonText::parse(std::string_view text) {
  return !text.empty() && parser_.parse(text.data(), text.size(), true).get(value_) == simdjson::SUCCESS;
}

bool get_json(const Json& object, std::string_view key, Json& value) {
  simdjson::dom::object members;
  return object.get(members) == simdjson::SUCCESS &&
         members.at_key(key).get(value) == simdjson::SUCCESS && !value.is_null();
}

std::vector<Json> elements_of(const Json& array) {
  std::vector<Json> elements;
  simdjson::dom::array held;
  if (array.get(held) != simdjson::SUCCESS) return elements;
  for (const Json element : held) elements.push_back(element);
  return elements;
}

std::vector<JsonMember> members_of(const Json& object) {
  std::vector<JsonMember> members;
  simdjson::dom::object held;
  if (object.get(held) != simdjson::SUCCESS) return members;
  for (const auto& [key, value] : held) members.push_back({key, value});
  return members;
}

std::string text_of_json(const Json& scalar) {
  std::string_view text;
  std::int64_t whole = 0;
  std::uint64_t large = 0;
  double number = 0;
  bool truth = false;
  if (scalar.get(text) == simdjson::SUCCESS) return std::string(text);
  if (scalar.get(whole) == simdjson::SUCCESS) return std::to_string(whole);
  if (scalar.get(large) == simdjson::SUCCESS) return std::to_string(large);
  if (scalar.get(truth) == simdjson::SUCCESS) return truth ? "true" : "false";
  std::string digits;
  if (scalar.get(number) == simdjson::SUCCESS) append_number(digits, number);
  return digits;
}

std::string text_at(const Json& object, std::string_view key) {
  Json value;
  return get_json(object, key, value) ? text_of_json(value) : "";
}

bool is_true(const Json& object, std::string_view key) {
  Json value;
  bool truth = false;
  return get_json(object, key, value) && value.get(truth) == simdjson::SUCCESS && truth;
}

bool classes_of_json(const Json& value, std::vector<std::string>& classes) {
  if (value.is_object()) return false;
  if (!value.is_array()) {
    std::string text = text_of_json(value);
    if (!text.empty()) classes.push_back(std::move(text));
    return true;
  }
  for (const Json& element : elements_of(value)) {
    if (element.is_array() || element.is_object()) return false;
    classes.push_back(text_of_json(element));
  }
  return true;
}

}  // namespace crowdfold
