#include "io/input_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace crowdfold {
namespace {

constexpr std::string_view kSeparators = ",\t;";

// The separator that the first line has most of.
char guess_separator(std::string_view start) {
  const std::string_view line = start.substr(0, start.find('\n'));
  return *std::max_element(kSeparators.begin(), kSeparators.end(), [&](char a, char b) {
    return std::count(line.begin(), line.end(), a) < std::count(line.begin(), line.end(), b);
  });
}

// The name's ending, without that of compression.
bool has_extension(std::string path, std::initializer_list<const char*> extensions) {
  for (const char* compressed : {".gz", ".zst"}) {
    if (path.ends_with(compressed)) path.resize(path.size() - std::string_view(compressed).size());
  }
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const char* e) { return path.ends_with(e); });
}

}  // namespace

TableInput::TableInput(const std::string& path, const ReadOptions& options,
                       const std::vector<Role>& roles, bool rest, std::size_t block_size)
    : name_(display_name(path)), options_(options), reader_(path, block_size) {
  const std::string_view start = reader_.peek();
  const std::size_t first_byte = start.find_first_not_of(" \t\r\n");
  if (first_byte == std::string_view::npos)
    throw Error(ErrorCode::data, Location{name_, 0, 0}, "the input is empty");

  Format format = options.format;
  if (format == Format::automatic) {
    const bool object = start[first_byte] == '{';
    format = object || has_extension(path, {".jsonl", ".ndjson"}) ? Format::jsonl
             : has_extension(path, {".tsv"})                      ? Format::tsv
                                                                  : Format::csv;
  }
  if (format == Format::jsonl) {
    recognize_jsonl(start, roles, rest);
  } else {
    recognize_csv(start, format == Format::tsv ? '\t' : guess_separator(start), roles, rest);
  }
  reader_.set_separator(jsonl_ ? '\0' : layout_.separator);

  report_.source = name_;
  report_.format = jsonl_ ? "json lines" : layout_.separator == '\t' ? "tsv" : "csv";
  if (*reader_.source().compression() != '\0')
    report_.format += fmt::format(", {}", reader_.source().compression());
  for (const auto& [role, field] : role_fields_) {
    report_.columns +=
        fmt::format("{}{} = {}", report_.columns.empty() ? "" : ", ", role, names_[field]);
  }
  const auto newlines = std::count(start.begin(), start.end(), '\n');
  bytes_per_record_ =
      static_cast<double>(start.size()) / static_cast<double>(std::max<std::ptrdiff_t>(1, newlines));
}

void TableInput::recognize_csv(std::string_view start, char separator, const std::vector<Role>& roles,
                               bool rest) {
  CsvRecord record;
  std::size_t begin = 0;
  std::size_t end = 0;
  do {  // blank lines before the first row
    begin = end;
    end = record.parse(start, begin, separator);
  } while (record.ok() && record.blank() && end < start.size());
  if (!record.ok()) {
    throw Error(ErrorCode::data, Location{name_, 1, record.error_place() - begin + 1}, record.error());
  }
  std::vector<std::string> first_row;
  for (std::size_t i = 0; i < record.num_fields(); ++i) first_row.emplace_back(record.field(i));
  layout_.separator = separator;
  layout_.num_fields = first_row.size();

  std::optional<std::vector<std::size_t>> columns;
  if (options_.header != Header::no) {
    const bool by_name = options_.header == Header::yes;
    columns = match_columns(first_row, roles, options_, name_);
    if (!columns && (by_name || first_row.size() != roles.size())) {
      throw Error(ErrorCode::data, Location{name_, 1, 0},
                  fmt::format("cannot tell the columns apart: {} (name them: --map task=COLUMN,…)",
                              fmt::join(first_row, ", ")));
    }
  }
  if (columns) {
    header_bytes_ = end;
    lines_ = static_cast<std::uint64_t>(
        std::count(start.begin(), start.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    choose(first_row, roles, *columns, rest);
  } else {
    std::vector<std::string> numbers;
    for (std::size_t i = 1; i <= first_row.size(); ++i) numbers.push_back(fmt::format("column {}", i));
    choose(numbers, roles, columns_by_position(first_row.size(), roles, options_, name_), rest);
  }
}

void TableInput::recognize_jsonl(std::string_view start, const std::vector<Role>& roles, bool rest) {
  jsonl_ = true;
  const std::vector<std::string> keys = JsonlParser::keys_of_first_objects(start);
  if (keys.empty()) {
    throw Error(ErrorCode::data, Location{name_, 1, 1},
                "not JSON lines: the first line is not a JSON object");
  }
  const auto columns = match_columns(keys, roles, options_, name_);
  if (!columns) {
    throw Error(ErrorCode::data, Location{name_, 1, 0},
                fmt::format("cannot tell the keys apart: {} (name them: --map task=KEY,…)",
                            fmt::join(keys, ", ")));
  }
  choose(keys, roles, *columns, rest);
}

void TableInput::choose(const std::vector<std::string>& header, const std::vector<Role>& roles,
                        const std::vector<std::size_t>& columns, bool rest) {
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (columns[i] == kNoColumn) continue;
    role_fields_.emplace_back(roles[i].name, layout_.wanted.size());
    layout_.wanted.push_back(columns[i]);
  }
  for (std::size_t c = 0; rest && c < header.size(); ++c) {
    if (std::find(columns.begin(), columns.end(), c) == columns.end()) layout_.wanted.push_back(c);
  }
  for (const std::size_t column : layout_.wanted) names_.push_back(header[column]);
}

std::size_t TableInput::field_of(const std::string& role) const {
  for (const auto& [name, field] : role_fields_) {
    if (name == role) return field;
  }
  return kNoColumn;
}

BlockParser TableInput::make_parser() const {
  if (jsonl_) return BlockParser(JsonlParser(names_, options_.skip_bad_rows));
  return BlockParser(CsvParser(layout_, options_.skip_bad_rows));
}

bool TableInput::next(TextBlock& block) {
  if (!reader_.next(block)) return false;
  if (first_) block.begin += header_bytes_;
  first_ = false;
  return true;
}

void TableInput::settle(const BlockOutcome& outcome) {
  if (outcome.error) {
    const Location place{name_, lines_ + outcome.error->line + 1, outcome.error->column};
    if (outcome.failed) throw Error(ErrorCode::data, place, outcome.error->message);
    if (report_.first_skipped.empty())
      report_.first_skipped = Error(ErrorCode::data, place, outcome.error->message).what();
  }
  report_.skipped_rows += outcome.skipped;
  lines_ += outcome.lines;
}

}  // namespace crowdfold
