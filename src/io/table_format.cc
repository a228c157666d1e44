#include "io/table_format.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "crowdfold/error.h"
#include "io/column_looks.h"
#include "io/guess_columns.h"
#include "io/trim.h"

namespace crowdfold {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kSeparators = ",\t;|";
constexpr std::size_t kLinesLookedAt = 30;  // for separators, and for lines above a header
constexpr std::size_t kLinesOfTable = 4;    // below a title, to be a table for sure
constexpr std::string_view kBlank = " \t\r\n";

std::size_t count_places(const std::vector<Role>& roles) {
  return static_cast<std::size_t>(std::count_if(
      roles.begin(), roles.end(), [](const Role& role) { return role.by_position && role.required; }));
}

std::string_view without_mark(std::string_view start) {
  if (start.starts_with(kByteOrderMark)) start.remove_prefix(kByteOrderMark.size());
  return start;
}

// Lines of the text that are not blank, with the places where they begin.
struct TextLine {
  std::size_t begin = 0;
  std::uint64_t before = 0;  // lines before it
  std::string_view text;
};
std::vector<TextLine> first_lines(std::string_view text, std::size_t most) {
  std::vector<TextLine> lines;
  std::uint64_t before = 0;
  for (std::size_t at = 0; at < text.size() && lines.size() < most; ++before) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.find_first_not_of(kBlank) != std::string_view::npos) lines.push_back({at, before, line});
    at = end + 1;
  }
  return lines;
}

// Outside of quotes.
std::size_t count_separators(std::string_view line, char separator) {
  std::size_t count = 0;
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    count += c == separator && !quoted ? 1 : 0;
  }
  return count;
}

// The last lines that have the separator equally often, of those in sight.
struct EvenLines {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t width = 0;  // separators
};
EvenLines even_lines(const std::vector<TextLine>& lines, char separator, Sight sight) {
  const bool may_be_cut = sight == Sight::glimpse && lines.size() > 1;
  const std::size_t last = lines.size() - (may_be_cut ? 1 : 0);
  EvenLines even{last - 1, 1, count_separators(lines[last - 1].text, separator)};
  for (; even.first > 0 && count_separators(lines[even.first - 1].text, separator) == even.width;
       ++even.count)
    --even.first;
  return even;
}

// The separator that the first line has most of; where the lines below are in sight, one of those that
// these have as often.
char guess_separator(std::string_view text, Sight sight) {
  const bool alone = sight == Sight::first_record;
  std::vector<TextLine> lines = first_lines(text, alone ? 1 : kLinesLookedAt);
  if (sight == Sight::glimpse && lines.size() > 1) lines.pop_back();  // it may be cut
  const auto worth = [&](char separator) {
    const std::size_t count = count_separators(lines[0].text, separator);
    const bool even = count > 0 && std::all_of(lines.begin(), lines.end(), [&](const TextLine& line) {
                        return count_separators(line.text, separator) == count;
                      });
    return std::pair(even, count);
  };
  const char best = *std::max_element(kSeparators.begin(), kSeparators.end(),
                                      [&](char a, char b) { return worth(a) < worth(b); });
  // Blanks, where there is nothing else, and as many in each of several lines.
  const auto [even, blanks] = worth(' ');
  const bool by_blanks =
      even && blanks >= 2 && lines.size() >= 3 &&
      std::all_of(lines.begin(), lines.end(), [](const TextLine& line) {
        return std::none_of(kSeparators.begin(), kSeparators.end(), [&](char separator) {
          return line.text.find(separator) != std::string_view::npos;
        });
      });
  return by_blanks ? ' ' : best;
}

// A line below the header of a Markdown table: |---|:--:|
bool is_ruler(std::string_view line) {
  return line.find("--") != std::string_view::npos &&
         line.find_first_not_of("|-: \t\r") == std::string_view::npos;
}

// "sep=;", which Excel writes and reads as the first line: the separator, or 0.
char named_separator(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == '"')) line.remove_suffix(1);
  if (line.starts_with('"')) line.remove_prefix(1);
  const bool named = line.size() == 5 && (line.starts_with("sep=") || line.starts_with("SEP="));
  return named ? line[4] : '\0';
}

// What comes before the table: a byte-order mark, lines that the user has skipped, "sep=;".
struct Preamble {
  std::size_t bytes = 0;
  std::uint64_t lines = 0;
  char separator = '\0';
  bool complete = true;  // all of it is there
};
Preamble preamble_of(std::string_view start, const ReadOptions& options) {
  Preamble preamble;
  preamble.bytes = start.size() - without_mark(start).size();
  const auto skip_line = [&] {
    const std::size_t newline = start.find('\n', preamble.bytes);
    preamble.complete = newline != std::string_view::npos;
    preamble.bytes = preamble.complete ? newline + 1 : start.size();
    ++preamble.lines;
  };
  for (std::uint64_t line = 0; preamble.complete && line < options.skip_lines; ++line) skip_line();
  const std::string_view rest = start.substr(preamble.bytes);
  preamble.separator = named_separator(rest.substr(0, rest.find('\n')));
  if (preamble.separator != '\0') skip_line();
  return preamble;
}

std::vector<std::string> cells_of(const CsvRecord& record) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < record.num_fields(); ++i) cells.emplace_back(trimmed(record.field(i)));
  return cells;
}

// Whether every required role has a column by its name or a mapping.
bool are_all_named(const std::vector<std::string>& header, const std::vector<Role>& roles,
                   const ReadOptions& options) {
  return std::all_of(roles.begin(), roles.end(), [&](const Role& role) {
    if (!role.required) return true;
    const std::string* const mapped = mapping_of(role.name, options);
    if (mapped != nullptr) return std::find(header.begin(), header.end(), *mapped) != header.end();
    return !columns_named(role, header).empty();
  });
}

// Roles that have a column by its name, not by its number.
std::size_t count_named(const std::vector<std::string>& header, const std::vector<Role>& roles,
                        const ReadOptions& options) {
  return static_cast<std::size_t>(std::count_if(roles.begin(), roles.end(), [&](Role role) {
    role.required = true;
    return are_all_named(header, {role}, options);
  }));
}

bool looks_like_data(const std::vector<std::string>& row) {
  return std::any_of(row.begin(), row.end(), [](const std::string& cell) {
    return cell.empty() || cell.find_first_of("0123456789@/") != cell.npos;
  });
}

// The names behind the last dot that all have up to it: "ann" and "bob" of "labels.ann", "labels.bob".
std::vector<std::string> without_common_path(std::vector<std::string> names) {
  const std::string path = names[0].substr(0, names[0].rfind('.') + 1);
  const bool common = std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.starts_with(path) && name.size() > path.size();
  });
  for (std::string& name : names) name.erase(0, common ? path.size() : 0);
  return names;
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

// Error(data) for a JSON array in place of the first object: rows without names.
void require_no_arrays(std::string_view text, const std::string& name) {
  if (text[0] != '[') return;
  const simdjson::padded_string line(text.substr(0, text.find('\n')));
  simdjson::dom::parser parser;
  simdjson::dom::array array;
  if (parser.parse(line).get(array) != simdjson::SUCCESS) return;
  throw Error(ErrorCode::data, Location{name, 0, 0},
              "JSON arrays in an array: write objects, such as {\"task\": …, \"worker\": …, \"label\": "
              "…}, or CSV (jq -r '.[] | @csv')");
}

// ".id", as jq takes it.
std::string jq_key(std::string_view key) {
  const bool simple =
      !key.empty() && !is_digit(key[0]) && std::all_of(key.begin(), key.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
      });
  return simple ? fmt::format(".{}", key) : fmt::format(".\"{}\"", key.substr(0, 40));
}

std::vector<std::string> keys_of(const simdjson::dom::object& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object) keys.emplace_back(key);
  return keys;
}

// Rows that an object holds further down, and what makes rows of them.
struct RowsBelow {
  std::string what_to_do;
  bool named = false;  // a key of these rows is called like a worker or a label
};
// `elements`: the objects are elements of an array.
std::optional<RowsBelow> rows_below(std::string_view text, bool elements) {
  const simdjson::padded_string line(text.substr(0, text.find('\n')));
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  if (parser.parse(line).get(object) != simdjson::SUCCESS) return std::nullopt;
  const std::string each = elements ? ".[] | " : "";
  for (const auto& [key, value] : object) {
    simdjson::dom::array array;
    simdjson::dom::object row;
    if (value.get(array) != simdjson::SUCCESS || array.size() == 0 ||
        array.at(0).get(row) != simdjson::SUCCESS)
      continue;
    const std::vector<std::string> inner = keys_of(row);
    const bool named =
        !columns_named(worker_role(), inner).empty() || !columns_named(label_role(), inner).empty();
    if (object.size() == 2 && key == "value")
      return RowsBelow{
          "the rows are in arrays by task: jq -c 'to_entries[] | {task: .key} + .value[]' "
          "makes rows of them",
          named};
    // The task, which the rows do not have themselves: a key that is called so, or the first of all.
    std::vector<std::string> scalars;
    for (const auto& [other, held] : object) {
      if (!held.is_array() && !held.is_object()) scalars.emplace_back(other);
    }
    const std::vector<NamedColumn> tasks = columns_named(task_role(), scalars);
    if (scalars.empty() || !columns_named({"task", {"task", "item", "question"}}, inner).empty())
      return RowsBelow{fmt::format("the rows are in an array under '{}': jq -c '{}{}[]' takes them out",
                                   key.substr(0, 40), each, jq_key(key)),
                       named};
    return RowsBelow{
        fmt::format("the rows are in an array under '{}': jq -c '{}{} as $t | {}[] | . + {{task: $t}}' "
                    "makes rows of them",
                    key.substr(0, 40), each, jq_key(scalars[tasks.empty() ? 0 : tasks[0].column]),
                    jq_key(key)),
        named};
  }
  return std::nullopt;
}

// What to do where columns of these roles cannot be told apart: --map is about tables of tasks.
std::string how_to_name(const std::vector<Role>& roles, bool has_header) {
  if (!are_of_truths(roles) && roles.front().name == "task") return "name them: --map task=COLUMN,…";
  std::vector<std::string> names;
  for (const Role& role : roles) {
    if (role.required)
      names.push_back(
          fmt::format("'{}'", are_of_truths(roles) && role.name == "label" ? "truth" : role.name));
  }
  return has_header ? fmt::format("name them {}", fmt::join(names, " and "))
                    : fmt::format("write {} above them", fmt::join(names, " and "));
}

}  // namespace

TableFormat::TableFormat(std::string_view start, const std::string& path, const ReadOptions& options,
                         Sight sight)
    : name_(display_name(path)), options_(options), sight_(sight) {
  const Preamble preamble = preamble_of(start, options);
  const std::string_view text = start.substr(preamble.bytes);
  const std::size_t first_byte = text.find_first_not_of(kBlank);
  if (first_byte == std::string_view::npos)
    throw Error(ErrorCode::data, Location{name_, 0, 0}, "the input is empty");
  bytes_before_ = preamble.bytes;
  lines_before_ = preamble.lines;

  Format format = options.format;
  if (format == Format::automatic) require_no_arrays(text.substr(first_byte), name_);
  if (format == Format::automatic) {
    const bool object = text[first_byte] == '{';
    format = object || has_extension(path, {".jsonl", ".ndjson"}) ? Format::jsonl
             : has_extension(path, {".tsv"})                      ? Format::tsv
                                                                  : Format::csv;
  }
  json_ = format == Format::jsonl;
  layout_.separator = preamble.separator != '\0' ? preamble.separator
                      : format == Format::tsv    ? '\t'
                                                 : guess_separator(text, sight);
}

bool TableFormat::is_blank(std::string_view start) {
  return without_mark(start).find_first_not_of(kBlank) == std::string_view::npos;
}

void TableFormat::find_columns(std::string_view start, const std::vector<Role>& roles, bool rest,
                               std::uint64_t lines) {
  for_truths_ = are_of_truths(roles);
  json_ ? find_json_columns(start, roles, rest, lines) : find_csv_columns(start, roles, rest, lines);
}

bool TableFormat::needs_glimpse(std::string_view start, const std::vector<Role>& roles) const {
  if (options_.wide || !options_.wide_workers.empty()) return true;
  const std::string_view text = start.substr(bytes_before_);
  if (json_) return !are_names_clear(JsonlParser::keys_of_first_objects(text), roles, options_);
  if (options_.header == Header::no) return may_guess_positions(roles);
  return !are_names_clear(read_opening(text, 0).first_row, roles, options_);
}

bool TableFormat::is_table_of_labels(const std::vector<Role>& roles) const {
  return sight_ != Sight::first_record && roles.size() == 3 && roles[0].name == "task" &&
         roles[1].name == "worker" && roles[2].name == "label";
}

TableFormat::Opening TableFormat::read_opening(std::string_view text, std::uint64_t lines) const {
  CsvRecord record;
  Opening opening;
  const auto is_blank = [&] {
    return record.blank() || trimmed(text.substr(opening.begin, opening.end - opening.begin)).empty();
  };
  do {  // blank lines before the first row
    opening.begin = opening.end;
    opening.end = record.parse(text, opening.begin, layout_.separator);
  } while (record.ok() && is_blank() && opening.end < text.size());
  const auto line_of = [&](std::size_t place) {
    const auto before = text.substr(0, place);
    return lines + 1 + static_cast<std::uint64_t>(std::count(before.begin(), before.end(), '\n'));
  };
  if (!record.ok()) {
    const std::size_t at = record.error_place();
    const std::size_t line_begin = text.substr(0, at).rfind('\n') + 1;  // 0 if there is no newline
    const std::vector<TextLine> first_two = first_lines(text, 2);
    const bool from_r =
        first_two.size() == 2 && first_two[0].text.starts_with('"') &&
        count_separators(first_two[0].text, ' ') > 0 &&
        count_separators(first_two[0].text, ' ') + 1 == count_separators(first_two[1].text, ' ');
    throw Error(ErrorCode::data, Location{name_, line_of(at), at - line_begin + 1},
                record.error() +
                    (from_r ? "; if blanks separate the columns and the header lacks the first name, as "
                              "R's write.table writes them: sed '1s/^/row /' adds one"
                            : ""));
  }
  opening.line = line_of(opening.begin);
  require_few_columns(record.num_fields(), {name_, opening.line, 0});
  opening.first_row = cells_of(record);
  return opening;
}

// Lines above the header, such as a title and a date: they have fewer fields than a line below them that
// names all roles.
void TableFormat::skip_metadata(std::string_view start, const std::vector<Role>& roles) {
  const std::string_view text = start.substr(bytes_before_);
  const std::vector<TextLine> lines = first_lines(text, kLinesLookedAt);
  for (const char separator : kSeparators) {
    std::size_t most = 0;  // separators in a line above
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::size_t count = count_separators(lines[i].text, separator);
      CsvRecord record;
      record.parse(lines[i].text, 0, separator);
      const bool header = record.ok() && record.num_fields() <= kMostColumns &&
                          are_all_named(cells_of(record), roles, options_);
      if (header && i == 0) return;
      const bool remarks = std::all_of(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(i),
                                       [](const TextLine& line) { return line.text.starts_with('#'); });
      const bool below_title = (remarks || i == 1) && count == most && record.ok() &&
                               are_names_clear(cells_of(record), roles, options_);
      if (header && (count > most || below_title)) {
        layout_.separator = separator;
        skip_lines_above(lines[i].begin, lines[i].before);
        return;
      }
      most = std::max(most, count);
    }
  }
}

// Lines of a title, without any separator, above lines that all have as many.
void TableFormat::skip_title(std::string_view start, const std::vector<Role>& roles) {
  const std::vector<TextLine> lines = first_lines(start.substr(bytes_before_), kLinesLookedAt);
  for (const char separator : kSeparators) {
    const EvenLines even = even_lines(lines, separator, sight_);
    if (even.first == 0 || even.count < kLinesOfTable || even.width + 1 < count_places(roles) ||
        std::any_of(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(even.first),
                    [&](const TextLine& line) { return line.text.find(separator) != line.text.npos; }))
      continue;
    layout_.separator = separator;
    skip_lines_above(lines[even.first].begin, lines[even.first].before);
    return;
  }
}

void TableFormat::skip_lines_above(std::size_t bytes, std::uint64_t lines) {
  bytes_before_ += bytes;
  lines_before_ += lines;
  remarks_.push_back(
      fmt::format("the table begins in line {}: the lines above it are left out", lines_before_ + 1));
}

// Error(data) if all rows below the first have more fields than it: then lines above the header are in
// the way, and where that is not clear the user has to say so.
void TableFormat::require_no_title(std::string_view text, const Opening& opening) const {
  const std::vector<TextLine> lines = first_lines(text, kLinesLookedAt);
  for (const char separator : kSeparators) {
    const EvenLines even = even_lines(lines, separator, sight_);
    if (even.width == 0 || even.count < 2 || even.first == 0 ||
        count_separators(lines[0].text, separator) >= even.width)
      continue;
    const bool lacks_one = even.first == 1 && lines[1].before == lines[0].before + 1 &&
                           count_separators(lines[0].text, separator) + 1 == even.width;
    throw Error(
        ErrorCode::usage, Location{name_, opening.line, 0},
        fmt::format("this line has fewer fields than the {} from line {} on: if the table begins "
                    "there, --skip-lines {}{}",
                    even.width + 1, lines_before_ + lines[even.first].before + 1,
                    lines_before_ + lines[even.first].before,
                    lacks_one
                        ? fmt::format("; if the header lacks the first name, as that of R's "
                                      "write.table does: sed '1s/^/row{}/' adds one",
                                      separator == '\t' ? std::string("\\t") : std::string(1, separator))
                        : ""));
  }
}

// Whether the first row names the columns.
bool TableFormat::is_header(const Opening& opening, const Glimpse& below, const std::vector<Role>& roles,
                            const Location& place) const {
  if (options_.header != Header::automatic) return options_.header == Header::yes;
  const std::vector<std::string>& row = opening.first_row;
  if (options_.wide || !options_.wide_workers.empty() || are_all_named(row, roles, options_))
    return true;
  const std::size_t named = count_named(row, roles, options_);
  if (named > 1) return true;
  const bool alone = sight_ == Sight::first_record || below.rows == 0;
  FirstRow first = !alone                 ? guess_first_row(row, below)
                   : looks_like_data(row) ? FirstRow::data
                                          : FirstRow::unclear;
  // The name of a role that is no value of its column is a name, even if other cells come again below:
  // workers of a wide table may be called 1 and 2, as classes are.
  const auto is_value = [&](std::size_t c) {
    return count_named({row[c]}, roles, options_) > 0 && below.columns[c].values.find(row[c]);
  };
  bool may_be_value = false;
  for (std::size_t c = 0; !alone && c < row.size(); ++c) may_be_value = may_be_value || is_value(c);
  if (named == 1 && (first != FirstRow::data || !may_be_value)) return true;
  // Who maps columns by their numbers has no names for them, most likely.
  if (first == FirstRow::no_matter && !options_.columns.empty()) first = FirstRow::unclear;
  if (first == FirstRow::unclear) {
    throw Error(ErrorCode::usage, place,
                fmt::format("cannot tell whether the first row names the columns: {} (say --header or "
                            "--no-header)",
                            columns_to_show(row)));
  }
  return first != FirstRow::data;
}

void TableFormat::find_csv_columns(std::string_view start, std::vector<Role> roles, bool rest,
                                   std::uint64_t lines) {
  for (Role& role : roles) role.late = false;
  check_mapping(roles, options_);
  const bool guessing = sight_ != Sight::first_record && options_.header != Header::no;
  if (guessing && options_.skip_lines == 0) {
    skip_metadata(start, roles);
    if (remarks_.empty()) skip_title(start, roles);
  }
  const std::string_view text = start.substr(bytes_before_);
  const Opening opening = read_opening(text, lines + lines_before_);
  layout_.num_fields = opening.first_row.size();
  const Location place{name_, opening.line, 0};
  require_table(text, opening, place);

  Glimpse below;
  const bool clear = are_names_clear(opening.first_row, roles, options_);
  if (guessing && (!clear || options_.wide || !options_.wide_workers.empty())) {
    below = glimpse_of_csv(text.substr(opening.end), layout_.separator, opening.first_row,
                           sight_ == Sight::all);
    if (!clear && (below.rows == 0 || below.columns.size() == 1)) require_no_title(text, opening);
  }
  if (is_header(opening, below, roles, place)) {
    use_header(opening, below, roles, rest, place);
    bytes_before_ += opening.end;
    lines_before_ += static_cast<std::uint64_t>(
        std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(opening.end), '\n'));
    skip_ruler(text.substr(opening.end));
  } else {
    use_positions(text, opening, roles, rest, place);
  }
}

// Error(data) for text whose lines are no records, with what makes some of them.
void TableFormat::require_table(std::string_view text, const Opening& opening,
                                const Location& place) const {
  const std::string_view line = text.substr(opening.begin, opening.end - opening.begin);
  const std::size_t carriage = line.find('\r');
  if (sight_ == Sight::first_record && carriage != line.npos && carriage + 1 < line.size() &&
      line[carriage + 1] != '\n' && line.find('"') == line.npos) {
    throw Error(
        ErrorCode::data, place,
        "lines end with carriage returns alone, which a stream does not look for: tr '\\r' '\\n' "
        "makes newlines of them");
  }
  if (opening.first_row.size() != 1) return;
  const std::string& cell = opening.first_row[0];
  const bool quoted = trimmed(line).starts_with('"');
  if (quoted && std::any_of(kSeparators.begin(), kSeparators.end(),
                            [&](char c) { return cell.find(c) != cell.npos; })) {
    throw Error(
        ErrorCode::data, place,
        "each line is in quotes as a whole, as it seems, so there is one column: take them away, "
        R"(sed -E 's/^"//; s/"\r?$//; s/""/"/g')");
  }
  // Blanks, as many as bring columns to their places.
  const std::vector<TextLine> lines = first_lines(text, kLinesLookedAt);
  const auto wide_gaps = std::count_if(lines.begin(), lines.end(), [](const TextLine& one) {
    const std::string_view words = trimmed(one.text);
    return words.find("  ") != words.npos || words.find(' ') != words.npos;
  });
  const bool gaps = std::any_of(lines.begin(), lines.end(), [](const TextLine& one) {
    return trimmed(one.text).find("  ") != one.text.npos;
  });
  if (gaps && lines.size() >= 2 && static_cast<std::size_t>(wide_gaps) == lines.size()) {
    throw Error(ErrorCode::data, place,
                "columns stand below one another by blanks, as it seems, and there is no separator: sed "
                "-E 's/ +/,/g' makes commas of the blanks, where no value holds one");
  }
}

void TableFormat::skip_ruler(std::string_view below) {
  const std::size_t end = below.find('\n');
  if (layout_.separator != '|' || end == std::string_view::npos || !is_ruler(below.substr(0, end)))
    return;
  bytes_before_ += end + 1;
  ++lines_before_;
}

// Two columns for two roles, such as those of truths, where one name at least is unknown: it is the
// other role's, or the column that repeats is the label. Nothing for other tables.
std::optional<std::vector<std::size_t>> TableFormat::columns_of_pair(
    const std::vector<std::string>& header, const Glimpse& below, const std::vector<Role>& roles) const {
  if (header.size() != 2 || below.columns.empty() || count_places(roles) != 2 ||
      !options_.columns.empty() || are_all_named(header, roles, options_))
    return std::nullopt;
  const std::vector<NamedColumn> first = columns_named(roles[0], header);
  const std::vector<NamedColumn> second = columns_named(roles[1], header);
  const bool turned = !first.empty()    ? first[0].column == 1
                      : !second.empty() ? second[0].column == 0
                                        : !below.columns[0].is_unique() && below.columns[1].is_unique();
  std::vector<std::size_t> columns = {turned ? 1U : 0U, turned ? 0U : 1U};
  columns.resize(roles.size(), kNoColumn);
  return columns;
}

void TableFormat::use_header(const Opening& opening, const Glimpse& below,
                             const std::vector<Role>& roles, bool rest, const Location& place) {
  has_header_ = true;
  const std::vector<std::string>& header = opening.first_row;
  header_ = header;
  if (is_table_of_labels(roles) && !below.columns.empty()) {
    const FoundColumns found = find_label_columns(header, below, roles, options_, place);
    if (found.workers.empty()) require_no_namesakes(header, roles, found.columns, options_, rest, place);
    choose(header, roles, found);
    return;
  }
  auto columns = columns_of_pair(header, below, roles);
  worked_out_ = columns.has_value();
  if (!columns) columns = match_columns(header, roles, options_, place);
  if (!columns) {
    throw Error(ErrorCode::usage, place,
                fmt::format("cannot tell the columns apart: {} ({})", columns_to_show(header),
                            how_to_name(roles, true)));
  }
  require_no_namesakes(header, roles, *columns, options_, rest, place);
  if (sight_ == Sight::first_record) prefer_named_task(header, roles, *columns);
  choose(header, roles, *columns, rest);
}

// Of a stream, whose values are not looked at: an "id" beside a file name is taken for the row's own, as
// it is where they are.
void TableFormat::prefer_named_task(const std::vector<std::string>& header,
                                    const std::vector<Role>& roles, std::vector<std::size_t>& columns) {
  static const Role id = {"task", {"id"}};
  const std::size_t task = columns[0];
  if (roles[0].name != "task" || task == kNoColumn || mapping_of("task", options_) != nullptr ||
      columns_named(id, {header[task]}).empty())
    return;
  for (std::size_t c = 0; c < header.size(); ++c) {
    if (std::find(columns.begin(), columns.end(), c) != columns.end() || !names_file(header[c]))
      continue;
    remarks_.push_back(
        fmt::format("'{}' is taken for the number of the row, as '{}' may be the task: {} "
                    "if it is not",
                    header[task], header[c], mapping_to_type(header, {{"task", task}})));
    columns[0] = c;
    return;
  }
}

// Whether values decide which column is which where there is no header: unless the user says it of all.
bool TableFormat::may_guess_positions(const std::vector<Role>& roles) const {
  return is_table_of_labels(roles) && !std::all_of(roles.begin(), roles.end(), [&](const Role& role) {
           return mapping_of(role.name, options_) != nullptr;
         });
}

void TableFormat::use_positions(std::string_view text, const Opening& opening,
                                const std::vector<Role>& roles, bool rest, const Location& place) {
  std::vector<std::string> numbers;
  for (std::size_t i = 1; i <= opening.first_row.size(); ++i)
    numbers.push_back(fmt::format("column {}", i));
  if (!may_guess_positions(roles)) {
    const auto places =
        std::count_if(roles.begin(), roles.end(), [](const Role& role) { return role.by_position; });
    if (options_.header == Header::automatic && options_.columns.empty() &&
        numbers.size() != static_cast<std::size_t>(places)) {
      throw Error(ErrorCode::usage, place,
                  fmt::format("cannot tell the columns apart: {} ({})",
                              columns_to_show(opening.first_row), how_to_name(roles, false)));
    }
    std::vector<std::size_t> columns = columns_by_position(numbers.size(), roles, options_, place);
    if (are_of_truths(roles) && numbers.size() == 2 && options_.columns.empty()) {
      const Glimpse all =
          glimpse_of_csv(text.substr(opening.begin), layout_.separator, numbers, sight_ == Sight::all);
      worked_out_ = !all.columns[0].is_unique() && all.columns[1].is_unique();
      if (worked_out_) std::swap(columns[0], columns[1]);
    }
    choose(numbers, roles, columns, rest);
    return;
  }
  const Glimpse all =
      glimpse_of_csv(text.substr(opening.begin), layout_.separator, numbers, sight_ == Sight::all);
  const bool in_order = numbers.size() == roles.size() && options_.columns.empty();
  std::vector<std::string> plain_numbers;  // as --map takes them
  for (std::size_t i = 1; i <= numbers.size(); ++i) plain_numbers.push_back(fmt::format("{}", i));
  const FoundColumns found =
      in_order ? check_positions(all, columns_by_position(numbers.size(), roles, options_, place), place)
               : find_label_columns(plain_numbers, all, roles, options_, place);
  if (!found.workers.empty()) {
    throw Error(ErrorCode::usage, place,
                "no header, and a column per worker, as it seems: write their names into a first row");
  }
  choose(numbers, roles, found);
}

void TableFormat::find_json_columns(std::string_view start, std::vector<Role> roles, bool rest,
                                    std::uint64_t lines) {
  for (Role& role : roles) role.required = role.required && !role.late;
  const bool alone = sight_ == Sight::first_record;  // then `start` is any label of the stream
  const std::string_view text = alone ? without_mark(start) : start.substr(bytes_before_);
  const std::vector<std::string> keys = JsonlParser::keys_of_first_objects(text);
  if (keys.empty()) {
    throw Error(ErrorCode::data, Location{name_, lines + 1, 1},
                trimmed(text).starts_with('{') ? why_no_object(text)
                                               : "not JSON lines: the first line is not a JSON object");
  }
  const Location place{name_, lines + 1, 0};
  require_few_columns(keys.size(), place);
  const bool by_names = std::any_of(roles.begin(), roles.end(), [&](const Role& role) {
    return !columns_named(role, keys).empty() || mapping_of(role.name, options_) != nullptr;
  });
  if (!alone && !are_all_named(keys, roles, options_)) {
    const auto below = rows_below(text, elements_);
    if (below && (below->named || !by_names || keys.size() <= 2))
      throw Error(ErrorCode::data, Location{name_, 0, 0}, below->what_to_do);
  }
  if (is_table_of_labels(roles) && !are_names_clear(keys, roles, options_)) {
    use_json_glimpse(text, roles, place);
    return;
  }
  const auto columns = match_columns(keys, roles, options_, place);
  if (!columns) {
    throw Error(
        ErrorCode::usage, place,
        fmt::format("cannot tell the keys apart: {} ({})", columns_to_show(keys),
                    are_of_truths(roles)
                        ? "if they are tasks: jq -c 'to_entries[] | {task: .key, truth: .value}' "
                          "makes rows of them"
                        : "name them: --map task=KEY,…"));
  }
  choose(keys, roles, *columns, rest);
}

void TableFormat::use_json_glimpse(std::string_view text, const std::vector<Role>& roles,
                                   const Location& place) {
  const std::vector<std::string> keys =
      JsonlParser::keys_of_first_objects(text, std::numeric_limits<std::size_t>::max());
  Glimpse glimpse = glimpse_of_json(text, keys, sight_ == Sight::all);
  const std::vector<std::string> names = own_names(keys);
  for (std::size_t c = 0; c < names.size(); ++c) glimpse.columns[c].name = names[c];
  const FoundColumns found = find_label_columns(keys, glimpse, roles, options_, place);
  const bool may_come_later = sight_ != Sight::all && options_.wide_workers.empty() &&
                              JsonlParser::keys_of_first_objects(text, 1).size() < keys.size();
  if (!found.workers.empty() && may_come_later) {
    throw Error(ErrorCode::usage, place,
                "a key per worker, but not in each object, so more workers may come later: name all of "
                "them, --wide-workers A,B,…, or write a row per label");
  }
  choose(keys, roles, found);
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
  required_.clear();
  const auto want = [&](const std::string& name, std::size_t column) {
    names_.push_back(name);
    layout_.wanted.push_back(column);
  };
  for (std::size_t i = 0; i < roles.size(); ++i) {
    if (columns[i] == kNoColumn && !roles[i].late) continue;
    role_fields_.push_back({roles[i].name, names_.size(), !roles[i].aliases.empty()});
    if (roles[i].required) required_.emplace_back(NamesOfRole(roles[i]), names_.size());
    const std::string* const mapped = mapping_of(roles[i].name, options_);
    want(columns[i] != kNoColumn ? header[columns[i]]
         : mapped != nullptr     ? *mapped
                                 : roles[i].name,
         columns[i]);
  }
  for (std::size_t c = 0; rest && c < header.size(); ++c) {
    if (std::find(columns.begin(), columns.end(), c) == columns.end()) want(header[c], c);
  }
  if (is_table_of_labels(roles)) remark_on_truths(header);
}

void TableFormat::choose(const std::vector<std::string>& header, const std::vector<Role>& roles,
                         const FoundColumns& found) {
  worked_out_ = found.worked_out;
  if (found.workers.empty()) {
    choose(header, roles, found.columns, false);
    return;
  }
  wide_ = true;
  role_fields_ = {{"task", 0, true}};
  const auto want = [&](std::size_t column) {
    layout_.wanted.push_back(column);
    names_.push_back(header[column].empty() ? fmt::format("column {}", column + 1) : header[column]);
  };
  want(found.columns[0]);
  for (const std::size_t column : found.workers) {
    want(column);
    const auto twin = std::find(names_.begin() + 1, names_.end() - 1, names_.back());
    if (twin != names_.end() - 1) {
      throw Error(ErrorCode::usage, Location{name_, lines_before_ + 1, 0},
                  fmt::format("two columns are named '{}': there is one for each worker", *twin));
    }
  }
  worker_names_.assign(names_.begin() + 1, names_.end());
  if (json_) worker_names_ = without_common_path(std::move(worker_names_));
  for (std::size_t column = 0; column < header.size(); ++column) {
    if (std::find(layout_.wanted.begin(), layout_.wanted.end(), column) == layout_.wanted.end())
      other_names_.push_back(header[column]);
  }
  remark_on_truths(header);
}

// Truths beside the labels make answers better, but only if the user says that they are truths.
void TableFormat::remark_on_truths(const std::vector<std::string>& header) {
  if (sight_ == Sight::first_record || name_ == display_name("-")) return;
  const auto found = std::find_if(header.begin(), header.end(), [&](const std::string& name) {
    return names_truth(name) && std::find(names_.begin(), names_.end(), name) == names_.end();
  });
  if (found != header.end())
    remarks_.push_back(fmt::format("'{}' may hold truths: --truth {} makes use of them", *found, name_));
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
                  : layout_.separator == ' '  ? "csv with blanks"
                                              : "csv";
  report.encoding = source.encoding();
  for (const std::string& part : {report.encoding, std::string(source.compression())}) {
    if (!part.empty()) report.format += fmt::format(", {}", part);
  }
  report.notes = remarks_;
  report.columns.clear();
  for (const RoleField& known : role_fields_) {
    if (!known.told) continue;
    report.columns +=
        fmt::format("{}{} = {}", report.columns.empty() ? "" : ", ", known.role, names_[known.field]);
  }
  if (wide_) {
    report.columns += fmt::format(", a column per worker: {}", columns_to_show(worker_names_));
    if (worked_out_ && !other_names_.empty())
      report.columns += fmt::format("; no workers: {}", columns_to_show(other_names_));
  }
  report.worked_out = worked_out_;
  if (worked_out_) {
    report.columns += fmt::format(" (worked out from the values; {} to say otherwise)",
                                  for_truths_ ? "name them 'task' and 'truth'"
                                  : wide_     ? "--wide-workers A,B,… or --map …"
                                              : "--map …");
  }
}

bool FirstRecord::is_in(std::string_view start) {
  if (!ends_) {
    if (kByteOrderMark.starts_with(start)) return false;  // the mark itself may be cut
    const Preamble preamble = preamble_of(start, options_);
    if (!preamble.complete) return false;
    first_byte_ =
        std::min(start.find_first_not_of(kBlank, std::max(first_byte_, preamble.bytes)), start.size());
    const std::size_t newline = start.find('\n', std::max(first_byte_, searched_));
    searched_ = start.size();
    if (newline == std::string_view::npos) return false;
    ends_.emplace(TableFormat(start, path_, options_).separator(), preamble.bytes);
  }
  return ends_->find(start) > first_byte_;
}

void ReadTally::settle(const BlockOutcome& outcome) {
  if (outcome.error) {
    const RowError& wrong = *outcome.error;
    const Error error = error_of(lines_ + wrong.line + 1, wrong.column, wrong.message);
    if (outcome.failed)
      throw error_of(lines_ + wrong.line + 1, wrong.column, wrong.message + wrong.hint);
    if (report_.first_skipped.empty()) report_.first_skipped = error.what();
  }
  report_.skipped_rows += outcome.skipped;
  report_.repeated_headers += outcome.repeated_headers;
  report_.total_rows += outcome.total_rows;
  report_.empty_rows += outcome.empty_rows;
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
