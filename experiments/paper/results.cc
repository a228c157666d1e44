#include "results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "crowdfold/error.h"
#include "io/records.h"

namespace crowdfold::paper {
namespace {

void write(Records::Line line, const Results::Row& row) {
  for (const std::string& field : row) line.text(field);
  line.end();
}

// Numbers by size, the rest as text.
bool before(const std::string& a, const std::string& b) {
  const double x = number_of(a);
  const double y = number_of(b);
  return std::isnan(x) || std::isnan(y) || x == y ? a < b : x < y;
}

}  // namespace

std::string text_of(double value) {
  std::string text;
  if (!std::isnan(value)) append_number(text, value);
  return text;
}

double number_of(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size()
             ? value
             : std::numeric_limits<double>::quiet_NaN();
}

Results::Row split_row(const std::string& line) {
  Results::Row fields;
  std::size_t begin = 0;
  for (std::size_t comma; (comma = line.find(',', begin)) != std::string::npos; begin = comma + 1)
    fields.push_back(line.substr(begin, comma - begin));
  fields.push_back(line.substr(begin));
  return fields;
}

Results::Results(std::filesystem::path file, std::vector<std::string> keys,
                 std::vector<std::string> values, std::size_t rows_per_unit)
    : file_(std::move(file)),
      keys_(keys.size()),
      rows_per_unit_(rows_per_unit),
      columns_(std::move(keys)) {
  columns_.insert(columns_.end(), values.begin(), values.end());
  std::ifstream input(file_, std::ios::binary);
  std::string line;
  if (!input || !std::getline(input, line)) return;
  if (split_row(line) != columns_) {
    throw Error(ErrorCode::data, {file_.string(), 1, 1},
                fmt::format("expected the columns {}; another version of this program wrote it, so give "
                            "another folder, or remove it",
                            fmt::join(columns_, ",")));
  }
  begun_ = true;
  bool whole = true;
  while (std::getline(input, line)) {
    Row row = split_row(line);
    whole = !input.eof() && row.size() == columns_.size();  // half a row has no line break
    if (whole) rows_.push_back(std::move(row));
  }
  std::map<Row, std::size_t> count;
  for (const Row& row : rows_) ++count[key_of(row)];
  for (const auto& [key, number] : count) {
    if (number == rows_per_unit_) units_.insert(key);
  }
  if (!whole || units_.size() < count.size()) {
    forget([&](const Row& key) { return !units_.contains(key); });
  }
}

Results::Row Results::key_of(const Row& row) const {
  return {row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keys_)};
}

void Results::forget(const std::function<bool(const Row& key)>& unwanted) {
  std::erase_if(rows_, [&](const Row& row) { return unwanted(key_of(row)); });
  std::erase_if(units_, unwanted);
  rewrite();
}

void Results::add(const Row& key, const std::vector<Row>& values) {
  const Records records(TextKind::csv, columns_);
  std::string text;
  for (const Row& value : values) {
    Row row = key;
    row.insert(row.end(), value.begin(), value.end());
    write(records.line(text), row);
    rows_.push_back(std::move(row));
  }
  units_.insert(key);
  if (!begun_) return rewrite();
  std::ofstream output(file_, std::ios::binary | std::ios::app);
  output << text << std::flush;
  if (!output) throw Error(ErrorCode::io, {file_.string(), 0, 0}, "cannot write");
}

void Results::settle() {
  std::stable_sort(rows_.begin(), rows_.end(), [&](const Row& a, const Row& b) {
    for (std::size_t i = 0; i < keys_; ++i) {
      if (a[i] != b[i]) return before(a[i], b[i]);
    }
    return false;
  });
  rewrite();
}

void Results::rewrite() {
  write_csv(file_, columns_, rows_);
  begun_ = true;
}

void write_csv(const std::filesystem::path& file, const std::vector<std::string>& columns,
               const std::vector<Results::Row>& rows) {
  RecordFile output(file.string(), columns);
  for (const Results::Row& row : rows) write(output.add(), row);
  output.commit();
}

}  // namespace crowdfold::paper
