#include "io/exports/export_json.h"

#include <fmt/format.h>

#include <memory>
#include <new>
#include <utility>

#include "crowdfold/error.h"
#include "io/block_reader.h"
#include "io/json_documents.h"
#include "io/json_memory.h"
#include "io/output.h"

namespace crowdfold {

static_assert(kBlockPadding >= simdjson::SIMDJSON_PADDING);

namespace {

constexpr std::string_view kBlank = " \t\r\n";

// Calls take(object) for each line of a source, a JSON object. False from it: the object does not fit.
template <class Take>
void for_each_document(const ExportInput& input, std::unique_ptr<ByteSource> lines, ImportedRows& rows,
                       const Take& take) {
  BlockReader reader(std::move(lines), input.path, input.options.block_bytes);
  reader.begin_records('\0', 0);
  simdjson::dom::parser parser;
  std::uint64_t number = 0;  // of the line
  const auto complain = [&](const std::string& message) {
    const bool is_line = !reader.source().has_elements();
    const Error error(ErrorCode::data, Location{display_name(input.path), is_line ? number : 0, 0},
                      is_line ? message : fmt::format("element {}: {}", number, message));
    if (!input.options.skip_bad_rows) throw error;
    rows.skip(error);
  };
  for (TextBlock block; reader.next(block);) {
    input.context.throw_if_cancelled();
    input.context.report("reading", reader.source().file_position(), reader.source().file_size());
    std::string_view text = block.text();
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(line.size() + 1);
      ++number;
      if (line.find_first_not_of(kBlank) == line.npos) continue;
      Json document;
      const simdjson::error_code code = parser.parse(line.data(), line.size(), false).get(document);
      require_memory(code);
      if (code != simdjson::SUCCESS)
        complain(fmt::format("not JSON: {}", simdjson::error_message(code)));
      else if (!document.is_object() || !take(document))
        complain("no JSON object: is this another format?");
    }
  }
}

}  // namespace

void for_each_record(ExportInput& input, ImportedRows& rows,
                     const std::function<void(const Json& record)>& take) {
  auto lines = as_json_records(std::move(input.source), display_name(input.path));
  for_each_document(input, std::move(lines), rows, [&](const Json& record) {
    take(record);
    return true;
  });
}

void for_each_member(ExportInput& input, ImportedRows& rows,
                     const std::function<void(std::string_view key, const Json& value)>& take) {
  auto lines = as_json_members(std::move(input.source), display_name(input.path));
  for_each_document(input, std::move(lines), rows, [&](const Json& member) {
    Json value;
    if (member["value"].get(value) != simdjson::SUCCESS || members_of(member).size() != 2) return false;
    take(text_at(member, "key"), value);
    return true;
  });
}

bool JsonText::parse(std::string_view text) {
  if (text.empty()) return false;
  const simdjson::error_code code = parser_.parse(text.data(), text.size(), true).get(value_);
  require_memory(code);
  return code == simdjson::SUCCESS;
}

bool get_json(const Json& object, std::string_view key, Json& value) {
  simdjson::dom::object members;
  return object.get(members) == simdjson::SUCCESS &&
         members.at_key(key).get(value) == simdjson::SUCCESS && !value.is_null();
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

std::string_view text_of_json(const Json& scalar, std::string& room) {
  std::string_view text;
  if (scalar.get(text) == simdjson::SUCCESS) return text;
  room = text_of_json(scalar);
  return room;
}

std::string_view text_of_json(const std::optional<Json>& scalar, std::string& room) {
  return scalar ? text_of_json(*scalar, room) : std::string_view();
}

std::string text_at(const Json& object, std::string_view key) {
  Json value;
  return get_json(object, key, value) ? text_of_json(value) : "";
}

bool is_true(const std::optional<Json>& value) {
  bool truth = false;
  return value && value->get(truth) == simdjson::SUCCESS && truth;
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
