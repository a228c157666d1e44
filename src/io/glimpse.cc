#include "io/glimpse.h"

#include <simdjson.h>

#include <algorithm>

#include "io/csv.h"
#include "io/json_memory.h"
#include "io/trim.h"

namespace crowdfold {
namespace {

Glimpse glimpse_at(const std::vector<std::string>& names) {
  Glimpse glimpse;
  for (const std::string& name : names) glimpse.columns.emplace_back().name = name;
  return glimpse;
}

std::string text_of_scalar(const simdjson::dom::element& value) {
  std::string_view text;
  if (value.get(text) == simdjson::SUCCESS) return std::string(text);
  const bool scalar = !value.is_null() && !value.is_array() && !value.is_object();
  return scalar ? simdjson::minify(value) : "";
}

// An object's members, and those of objects directly in it.
void fill_cells(const simdjson::dom::object& object, const std::string& prefix,
                const std::vector<std::string>& keys, std::vector<std::string>& cells) {
  for (const auto& [key, value] : object) {
    const std::string name = prefix + std::string(key);
    const auto found = std::find(keys.begin(), keys.end(), name);
    simdjson::dom::object inner;
    if (found != keys.end())
      cells[static_cast<std::size_t>(found - keys.begin())] = text_of_scalar(value);
    else if (prefix.empty() && value.get(inner) == simdjson::SUCCESS)
      fill_cells(inner, name + ".", keys, cells);
  }
}

}  // namespace

void GlimpseColumn::add(std::string_view cell) {
  cell = trimmed(cell);
  if (cell.empty()) {
    ids.push_back(kNothing);
    return;
  }
  const std::uint32_t id = values.intern(cell);
  if (id == counts.size()) counts.push_back(0);
  ++counts[id];
  ++filled;
  ids.push_back(id);
}

void Glimpse::add(const std::vector<std::string_view>& cells) {
  for (std::size_t c = 0; c < columns.size(); ++c) columns[c].add(cells[c]);
  ++rows;
}

Glimpse glimpse_of_csv(std::string_view text, char separator, const std::vector<std::string>& names,
                       bool whole) {
  Glimpse glimpse = glimpse_at(names);
  glimpse.whole = whole;
  CsvRecord record;
  std::vector<std::string_view> cells(names.size());
  for (std::size_t at = 0; at < text.size();) {
    at = record.parse(text, at, separator);
    const bool complete = whole || (at <= text.size() && text[at - 1] == '\n');
    if (!complete || !record.ok() || record.num_fields() != names.size() || record.blank()) continue;
    for (std::size_t c = 0; c < cells.size(); ++c) cells[c] = record.field(c);
    glimpse.add(cells);
  }
  return glimpse;
}

Glimpse glimpse_of_json(std::string_view text, const std::vector<std::string>& keys, bool whole) {
  Glimpse glimpse = glimpse_at(keys);
  glimpse.whole = whole;
  simdjson::dom::parser parser;
  std::vector<std::string> texts(keys.size());
  std::vector<std::string_view> cells(keys.size());
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos && !whole) break;
    const simdjson::padded_string line = padded(text.substr(0, end));
    text.remove_prefix(std::min(end, text.size() - 1) + 1);
    simdjson::dom::object object;
    const simdjson::error_code code = parser.parse(line).get(object);
    require_memory(code);
    if (code != simdjson::SUCCESS) continue;
    for (std::string& cell : texts) cell.clear();
    fill_cells(object, "", keys, texts);
    std::copy(texts.begin(), texts.end(), cells.begin());
    glimpse.add(cells);
  }
  return glimpse;
}

}  // namespace crowdfold
