#include "io/exports/export_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "crowdfold/error.h"
#include "io/input_paths.h"

namespace crowdfold {

std::size_t ExportTable::find(std::string_view name) const {
  for (std::size_t i = 0; i < names().size(); ++i) {
    if (equals_ignoring_case(names()[i], name)) return i;
  }
  return kNoColumn;
}

std::size_t ExportTable::need(std::string_view name) const {
  const std::size_t column = find(name);
  if (column != kNoColumn) return column;
  throw Error(ErrorCode::data, Location{display_name(input_.path), 0, 0},
              fmt::format("no column '{}', which this export should have", name));
}

std::string_view ExportTable::field(Row row, std::size_t column) {
  return column == kNoColumn ? std::string_view() : stripped(row[column]);
}

bool ExportTable::is_blank(Row row) {
  return std::all_of(row.begin(), row.end(),
                     [](std::string_view field) { return stripped(field).empty(); });
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::vector<std::string> split_text(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view part = stripped(text.substr(0, end));
    if (!part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view stripped(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string stem_of(const std::string& path) {
  // Other dots belong to the name, as in an e-mail address.
  std::string name = file_name_of(path);
  for (const std::string_view ending :
       {".gz", ".zst", ".bz2", ".xz", ".zip", ".jsonl", ".json", ".csv", ".tsv", ".txt", ".xml"}) {
    if (name.size() > ending.size() && name.ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name;
}

}  // namespace crowdfold
