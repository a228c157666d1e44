// JSON exports, one document after another: an export may be larger than memory, a record is not.
#pragma once

#include <simdjson.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/exports/export_format.h"

namespace crowdfold {

using Json = simdjson::dom::element;

// Calls take(record) for every element of a top-level array, or every top-level value (JSON lines).
// Error(data) for what is not JSON; with skip_bad_rows a record that is none is skipped.
void for_each_record(ExportInput& input, ImportedRows& rows,
                     const std::function<void(const Json& record)>& take);
// The same for the members of a top-level object.
void for_each_member(ExportInput& input, ImportedRows& rows,
                     const std::function<void(std::string_view key, const Json& value)>& take);

// Parses one text, such as a cell of a table. False if it is no JSON.
class JsonText {
 public:
  bool parse(std::string_view text);
  const Json& value() const { return value_; }

 private:
  simdjson::dom::parser parser_;
  Json value_;
};

// The value of a key; false if there is none, if it is null, or if this is no object.
bool get_json(const Json& object, std::string_view key, Json& value);

// What an array or an object holds, to go through; nothing if it is something else.
template <class Held>
class JsonContents {
 public:
  JsonContents() = default;
  explicit JsonContents(const Json& json) { holds_ = json.get(held_) == simdjson::SUCCESS; }

  using iterator = typename Held::iterator;
  iterator begin() const { return holds_ ? held_.begin() : iterator(); }
  iterator end() const { return holds_ ? held_.end() : iterator(); }
  std::size_t size() const { return holds_ ? held_.size() : 0; }
  operator std::vector<typename iterator::value_type>() const {  // NOLINT(google-explicit-constructor)
    std::vector<typename iterator::value_type> copies;
    for (const auto& one : *this) copies.push_back(one);
    return copies;
  }

 private:
  Held held_;
  bool holds_ = false;
};
using JsonElements = JsonContents<simdjson::dom::array>;
inline JsonElements elements_of(const Json& array) { return JsonElements(array); }
inline JsonElements elements_of(const std::optional<Json>& array) {
  return array ? JsonElements(*array) : JsonElements();
}
using JsonMember = simdjson::dom::key_value_pair;
inline JsonContents<simdjson::dom::object> members_of(const Json& object) {
  return JsonContents<simdjson::dom::object>(object);
}

// The values of some keys, found in one go; nullopt where get_json() would be false.
template <std::size_t N>
std::array<std::optional<Json>, N> pick_json(const Json& object, const std::string_view (&keys)[N]) {
  std::array<std::optional<Json>, N> picked;
  for (const JsonMember& member : members_of(object)) {
    for (std::size_t i = 0; i < N; ++i) {
      if (member.key != keys[i]) continue;
      if (!picked[i] && !member.value.is_null()) picked[i] = member.value;
      break;
    }
  }
  return picked;
}

// A scalar as text: "" for null, arrays and objects. 4.0 and 4 are the same.
std::string text_of_json(const Json& scalar);
// The same without a copy where it is a string, which lasts until the next record; else in `room`.
std::string_view text_of_json(const Json& scalar, std::string& room);
std::string_view text_of_json(const std::optional<Json>& scalar, std::string& room);
// The same of the value of a key.
std::string text_at(const Json& object, std::string_view key);
bool is_true(const std::optional<Json>& value);
// A scalar, or an array of scalars, as classes. False if it is something else, or has something else in
// it.
bool classes_of_json(const Json& value, std::vector<std::string>& classes);

}  // namespace crowdfold
