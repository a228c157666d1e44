// JSON exports, one document after another: an export may be larger than memory, a record is not.
#pragma once

#include <simdjson.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/exports/export_format.h"

namespace crowdfold {

using Json = simdjson::dom::element;

// Calls take(record) for every element of a top-level array, or every top-level value (JSON lines).
// Error(data) for what is not JSON; with skip_bad_rows a record that is none is skipped.
void for_each_record(const ExportInput& input, ImportedRows& rows,
                     const std::function<void(const Json& record)>& take);
// The same for the members of a top-level object.
void for_each_member(const ExportInput& input, ImportedRows& rows,
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
// The elements; none if it is no array.
std::vector<Json> elements_of(const Json& array);
struct JsonMember {
  std::string_view key;
  Json value;
};
std::vector<JsonMember> members_of(const Json& object);
// A scalar as text: "" for null, arrays and objects. 4.0 and 4 are the same.
std::string text_of_json(const Json& scalar);
// The same of the value of a key.
std::string text_at(const Json& object, std::string_view key);
bool is_true(const Json& object, std::string_view key);
// A scalar, or an array of scalars, as classes. False if it is something else, or has something else in
// it.
bool classes_of_json(const Json& value, std::vector<std::string>& classes);

}  // namespace crowdfold
