#include "io/table_format.h"

#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kSeparators = ",\t;";
constexpr std::string_view kBlank = " \t\r\n";

std::string_view without_mark(std::string_view start) {
  if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
  return start;
}

// The separator that the line around `place` has most of.
char guess_separator(std::string_view text, std::size_t place) {
  const std::size_t begin = text.rfind('\n', place) + 1;  // 0 if there is none
  const std::string_view line = text.substr(begin, text.find('\n', place) - begin);
  return *std::max_element(kSeparators.begin(), kSeparators.end(), [&](char a, char b) {
    return std::count(line.begin(), line.end(), a) < std::count(line.begin(), line.end(), b);
  });
}

// The name's ending, without that of compression.
bool has_extension(std::string path, std::initializer_list<const char*> extensions) {
  for (const char* compressed : {".gz", ".zst", ".bz2", ".xz", ".zip"}) {
    if (path.ends_with(compressed)) path.resize(path.size() - std::string_view(compressed).size());
  }
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const char* e) { return path.ends_with(e); });
}

// What is wrong with the first line that is not blank.
std::string why_no_object(std::string_view text) {
  text.remove_prefix(text.find_first_not_of(kBlank));
  std::string line(text.substr(0, text.find('\n')));
  line.push_back('\n');
  const std::size_t size = line.size();
  line.append(kBlockPadding, '\0');
  const BlockOutcome outcome = JsonlParser({}, false).parse(std::string_view(line).substr(0, size),
                                                            [](Row, bool) { return Complaint(); });
  return outcome.error ? outcome.error->message : "the first object has no keys";
}

}  // namespace

TableFormat::TableFormat(std::string_view start, const std::string& path, const ReadOptions& options)
    : name_(display_name(path)), options_(options) {
  const std::string_view text = without_mark(start);
  const std::size_t first_byte = text.find_first_not_of(kBlank);
  if (first_byte == std::string_view::npos)
    throw Error(ErrorCode::data, Location{name_, 0, 0}, "the input is empty");
  bytes_before_ = start.size() - text.size();

  Format format = options.format;
  if (format == Format::automatic) {
    const bool object = text[first_byte] == '{';
    format = object || has_extension(path, {".jsonl", ".ndjson"}) ? Format::jsonl
             : has_extension(path, {".tsv"})                      ? Format::tsv
                                                                  : Format::csv;
  }
  json_ = format == Format::jsonl;
  layout_.separator = format == Format::tsv ? '\t' : guess_separator(text, first_byte);
}

bool TableFormat::is_blank(std::string_view start) {
  return without_mark(start).find_first_not_of(kBlank) == std::string_view::npos;
}

void TableFormat::find_columns(std::string_view start, const std::vector<Role>& roles, bool rest,
                               std::uint64_t lines) {
  json_ ? find_json_columns(start, roles, rest, lines) : find_csv_columns(start, roles, rest, lines);
}

void TableFormat::find_csv_columns(std::string_view start, std::vector<Role> roles, bool rest,
                                   std::uint64_t lines) {
  for (Role& role : roles) role.late = false;
  const std::string_view text = without_mark(start);
  CsvRecord record;
  std::size_t begin = 0;
  std::size_t end = 0;
  do {  // blank lines before the first row
    begin = end;
    end = record.parse(text, begin, layout_.separator);
  } while (record.ok() && record.blank() && end < text.size());
  const auto line_of = [&](std::size_t place) {
    const auto before = text.substr(0, place);
    return lines + 1 + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
  };
  if (!record.ok()) {
    const std::size_t at = record.error_place();
    const std::size_t line_begin = text.substr(0, at).rfind('\n') + 1;  // 0 if there is no newline
    throw Error(ErrorCode::data, Location{name_, line_of(at), at - line_begin + 1}, record.error());
  }
  std::vector<std::string> first_row;
  for (std::size_t i = 0; i < record.num_fields(); ++i) first_row.emplace_back(record.field(i));
  layout_.num_fields = first_row.size();

  const Location place{name_, line_of(begin), 0};
  std::optional<std::vector<std::size_t>> columns;
  if (options_.header != Header::no) {
    const auto places =
        std::count_if(roles.begin(), roles.end(), [](const Role& r) { return r.by_position; });
    const bool by_position =
        options_.header == Header::automatic && first_row.size() == static_cast<std::size_t>(places);
    columns = match_columns(first_row, roles, options_, place);
    if (!columns && !by_position) {
      throw Error(ErrorCode::usage, place,
                  fmt::format("cannot tell the columns apart: {} (name them: --map task=COLUMN,…)",
                              fmt::join(first_row, ", ")));
    }
  }
  if (columns) {
    require_no_namesakes(first_row, roles, *columns, options_, rest, place);
    bytes_before_ = start.size() - text.size() + end;
    lines_before_ = static_cast<std::uint64_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    choose(first_row, roles, *columns, rest);
  } else {
    std::vector<std::string> numbers;
    for (std::size_t i = 1; i <= first_row.size(); ++i) numbers.push_back(fmt::format("column {}", i));
    choose(numbers, roles, columns_by_position(first_row.size(), roles, options_, place), rest);
  }
}

void TableFormat::find_json_columns(std::string_view start, std::vector<Role> roles, bool rest,
                                    std::uint64_t lines) {
  for (Role& role : roles) role.required = role.required && !role.late;
  const std::string_view text = without_mark(start);
  const std::vector<std::string> keys = JsonlParser::keys_of_first_objects(text);
  if (keys.empty()) {
    throw Error(ErrorCode::data, Location{name_, lines + 1, 1},
                text[text.find_first_not_of(kBlank)] == '{'
                    ? why_no_object(text)
                    : "not JSON lines: the first line is not a JSON object");
  }
  const Location place{name_, lines + 1, 0};
  const auto columns = match_columns(keys, roles, options_, place);
  if (!columns) {
    throw Error(ErrorCode::usage, place,
                fmt::format("cannot tell the keys apart: {} (name them: --map task=KEY,…)",
                            fmt::join(keys, ", ")));
  }
  choose(keys, roles, *columns, rest);
}

void TableFormat::assume_columns(std::vector<Role> roles) {
  check_mapping(roles, options_);
  for (Role& role : roles) role.late = true;
  choose({}, roles, std::vector<std::size_t>(roles.size(), kNoColumn), false);
}

void TableFormat::choose(const std::vector<std::string>& header, const std::vector<Role>& roles,
                         const std::vector<std::size_t>& columns, bool rest) {
  layout_.wanted.clear();
  names_.clear();
  role_fields_.clear();
  const auto want = [&](const std::string& name, std::size_t column) {
    names_.push_back(name);
    layout_.wanted.push_back(column);
  };
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (columns[i] == kNoColumn && !roles[i].late) continue;
    role_fields_.push_back({roles[i].name, names_.size(), !roles[i].aliases.empty()});
    const std::string* const mapped = mapping_of(roles[i].name, options_);
    want(columns[i] != kNoColumn ? header[columns[i]]
         : mapped != nullptr     ? *mapped
                                 : roles[i].name,
         columns[i]);
  }
  for (std::size_t c = 0; rest && c < header.size(); ++c) {
    if (std::find(columns.begin(), columns.end(), c) == columns.end()) want(header[c], c);
  }
}

std::size_t TableFormat::field_of(const std::string& role) const {
  for (const RoleField& known : role_fields_) {
    if (known.role == role) return known.field;
  }
  return kNoColumn;
}

BlockParser TableFormat::make_parser() const {
  if (json_) return BlockParser(JsonlParser(names_, options_.skip_bad_rows));
  return BlockParser(CsvParser(layout_, options_.skip_bad_rows));
}

void TableFormat::describe(ReadReport& report, const ByteSource& source) const {
  report.source = name_;
  report.format = source.has_elements()       ? "json"
                  : json_                     ? "json lines"
                  : layout_.separator == '\t' ? "tsv"
                                              : "csv";
  report.encoding = source.encoding();
  for (const std::string& part : {report.encoding, std::string(source.compression())}) {
    if (!part.empty()) report.format += fmt::format(", {}", part);
  }
  report.columns.clear();
  for (const RoleField& known : role_fields_) {
    if (!known.told) continue;
    report.columns +=
        fmt::format("{}{} = {}", report.columns.empty() ? "" : ", ", known.role, names_[known.field]);
  }
}

bool FirstRecord::is_in(std::string_view start) {
  if (!ends_) {
    if (kByteOrderMark.starts_with(start)) return false;  // the mark itself may be cut
    const std::size_t mark = start.size() - without_mark(start).size();
    first_byte_ = std::min(start.find_first_not_of(kBlank, std::max(first_byte_, mark)), start.size());
    const std::size_t newline = start.find('\n', std::max(first_byte_, searched_));
    searched_ = start.size();
    if (newline == std::string_view::npos) return false;
    ends_.emplace(TableFormat(start, path_, options_).separator(), mark);
  }
  return ends_->find(start) > first_byte_;
}

void ReadTally::settle(const BlockOutcome& outcome) {
  if (outcome.error) {
    const Error error =
        error_of(lines_ + outcome.error->line + 1, outcome.error->column, outcome.error->message);
    if (outcome.failed) throw error;
    if (report_.first_skipped.empty()) report_.first_skipped = error.what();
  }
  report_.skipped_rows += outcome.skipped;
  lines_ += outcome.lines;
}

Error ReadTally::error_of(std::uint64_t line, std::uint64_t column, const std::string& message) const {
  if (!has_elements_) return {ErrorCode::data, Location{report_.source, line, column}, message};
  return {ErrorCode::data, Location{report_.source, 0, 0}, fmt::format("element {}: {}", line, message)};
}

void ReadTally::skip_line(const std::string& why) {
  if (report_.first_skipped.empty()) report_.first_skipped = why;
  ++report_.skipped_rows;
  ++lines_;
}

}  // namespace crowdfold
