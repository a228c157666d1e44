// What an input with named columns turned out to be: byte-order mark, kind of text, separator, header,
// columns, and the parser that fits.
//
// A new input format goes here and nowhere else: recognise it in the constructor, find its columns in
// find_columns(), and give BlockParser a parser that has CsvParser's parse(). Files of labels, the small
// tables and the events of a live stream all read through this class.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "crowdfold/io.h"
#include "io/block_reader.h"
#include "io/columns.h"
#include "io/csv.h"
#include "io/glimpse.h"
#include "io/jsonl.h"
#include "io/label_columns.h"
#include "io/trim.h"

namespace crowdfold {

class BlockParser {
 public:
  explicit BlockParser(CsvParser parser) : parser_(std::move(parser)) {}
  explicit BlockParser(JsonlParser parser) : parser_(std::move(parser)) {}

  template <class Sink>
  BlockOutcome parse(const TextBlock& block, const Sink& sink) {
    return parse(block.text(), sink);
  }
  // Whole records, with kBlockPadding readable bytes behind them.
  template <class Sink>
  BlockOutcome parse(std::string_view text, const Sink& sink) {
    return std::visit([&](auto& parser) { return parser.parse(text, sink); }, parser_);
  }

 private:
  std::variant<CsvParser, JsonlParser> parser_;
};

// How much of an input decides what it is.
enum class Sight {
  first_record,  // of a stream: what comes later must not matter
  glimpse,       // the first megabyte, or all of it
  all,           // the same, and there is no more
};

class TableFormat {
 public:
  // Recognises the kind of text by the first bytes of an input. Error(data) if they are blank.
  TableFormat(std::string_view start, const std::string& path, const ReadOptions& options,
              Sight sight = Sight::first_record);

  static bool is_blank(std::string_view start);

  // The objects of JSON lines are elements of an array: messages say how to take them apart.
  void come_from_array() { elements_ = true; }

  // Whether the first record does not say it all, so that a glimpse is needed.
  bool needs_glimpse(std::string_view start, const std::vector<Role>& roles) const;

  // Finds the columns by the first record; in JSON lines, by the first objects; then by the values that
  // are in sight. Rows that parsers give out then hold the columns of `roles` that exist, in that order,
  // and, with `rest`, all others; those of a wide table hold the task, then a label of each worker.
  // No roles, and `rest`: all columns, as they are named. `lines` were before `start`, for messages.
  void find_columns(std::string_view start, const std::vector<Role>& roles, bool rest = false,
                    std::uint64_t lines = 0);

  // JSON lines only: keys as the user mapped them, or the roles' own names, until find_columns().
  void assume_columns(std::vector<Role> roles);

  bool is_json() const { return json_; }
  // See RecordEnds.
  char separator() const { return json_ ? '\0' : layout_.separator; }
  // Bytes before the first record, and lines: a byte-order mark, blank lines, a header.
  std::size_t bytes_before() const { return bytes_before_; }
  std::uint64_t lines_before() const { return lines_before_; }

  // Position of a role in the rows; kNoColumn if the input has no such column.
  std::size_t field_of(const std::string& role) const;
  // Names of the rows' fields, as the input has them.
  const std::vector<std::string>& field_names() const { return names_; }

  // A wide table: all fields but the first are labels of workers, who have these names.
  bool is_wide() const { return wide_; }
  const std::vector<std::string>& worker_names() const { return worker_names_; }
  // Whether the names of fields are a row of the input, which comes again where files were joined.
  bool has_header() const { return has_header_; }
  // All of that row.
  const std::vector<std::string>& header() const { return header_; }
  // In any case, or in other words: "item,user,answer" again for "task,worker,label".
  bool is_header_again(Row cells) const {
    if (has_header_ && std::equal(cells.begin(), cells.end(), names_.begin(), names_.end(),
                                  [](std::string_view cell, const std::string& name) {
                                    return equal_without_case(trimmed(cell), name);
                                  }))
      return true;
    return has_header_ && required_.size() > 1 &&
           std::all_of(required_.begin(), required_.end(),
                       [&](const auto& one) { return one.first.has(trimmed(cells[one.second])); });
  }

  BlockParser make_parser() const;
  // Fills in what was recognised.
  void describe(ReadReport& report, const ByteSource& source) const;

 private:
  // Records of a table with separators that come before its rows.
  struct Opening {
    std::vector<std::string> first_row;
    std::size_t begin = 0;  // of the first row, in the text without what comes before the table
    std::size_t end = 0;
    std::uint64_t line = 0;  // of the first row, from 1
  };

  bool is_table_of_labels(const std::vector<Role>& roles) const;
  Opening read_opening(std::string_view text, std::uint64_t lines) const;
  void skip_metadata(std::string_view start, const std::vector<Role>& roles);
  void skip_title(std::string_view start, const std::vector<Role>& roles);
  void skip_lines_above(std::size_t bytes, std::uint64_t lines);
  void require_no_title(std::string_view text, const Opening& opening) const;
  bool is_header(const Opening& opening, const Glimpse& below, const std::vector<Role>& roles,
                 const Location& place) const;
  void find_csv_columns(std::string_view start, std::vector<Role> roles, bool rest, std::uint64_t lines);
  void require_table(std::string_view text, const Opening& opening, const Location& place) const;
  void skip_ruler(std::string_view below);
  void use_header(const Opening& opening, const Glimpse& below, const std::vector<Role>& roles,
                  bool rest, const Location& place);
  std::optional<std::vector<std::size_t>> columns_of_pair(const std::vector<std::string>& header,
                                                          const Glimpse& below,
                                                          const std::vector<Role>& roles) const;
  void prefer_named_task(const std::vector<std::string>& header, const std::vector<Role>& roles,
                         std::vector<std::size_t>& columns);
  bool may_guess_positions(const std::vector<Role>& roles) const;
  void use_positions(std::string_view text, const Opening& opening, const std::vector<Role>& roles,
                     bool rest, const Location& place);
  void find_json_columns(std::string_view start, std::vector<Role> roles, bool rest,
                         std::uint64_t lines);
  void use_json_glimpse(std::string_view text, const std::vector<Role>& roles, const Location& place);
  void choose(const std::vector<std::string>& header, const std::vector<Role>& roles,
              const std::vector<std::size_t>& columns, bool rest);
  void choose(const std::vector<std::string>& header, const std::vector<Role>& roles,
              const FoundColumns& found);
  void remark_on_truths(const std::vector<std::string>& header);

  std::string name_;  // of the input, in messages
  ReadOptions options_;
  Sight sight_;
  bool json_ = false;
  bool elements_ = false;
  bool wide_ = false;
  bool for_truths_ = false;
  std::vector<std::string> worker_names_;  // of a wide table
  std::vector<std::string> other_names_;   // of its columns that are neither task nor worker
  bool has_header_ = false;
  std::vector<std::string> header_;
  bool worked_out_ = false;           // from the values, which people are told
  std::vector<std::string> remarks_;  // on how the input was understood
  CsvLayout layout_;
  std::vector<std::string> names_;
  struct RoleField {
    std::string role;
    std::size_t field = 0;
    bool told = true;  // to people
  };
  std::vector<RoleField> role_fields_;
  std::vector<std::pair<NamesOfRole, std::size_t>> required_;  // roles, with their fields
  std::size_t bytes_before_ = 0;
  std::uint64_t lines_before_ = 0;
};

// Waits for the first record of an input, by which everything is recognised.
class FirstRecord {
 public:
  FirstRecord(std::string path, ReadOptions options)
      : path_(std::move(path)), options_(std::move(options)) {}

  // Whether `start`, the first bytes of the input, holds the record as a whole. In the next call it has
  // more bytes; those that were looked at are not looked at again.
  bool is_in(std::string_view start);

 private:
  std::string path_;
  ReadOptions options_;
  std::size_t first_byte_ = 0;      // that is not blank, or how far there is none
  std::size_t searched_ = 0;        // for the end of its line
  std::optional<RecordEnds> ends_;  // once the line is there, and with it the separator
};

// How far an input was read: counts its lines, and turns what is wrong with them into errors or, where
// bad rows are skipped, into the report.
class ReadTally {
 public:
  ReadTally() = default;
  ReadTally(const TableFormat& format, const ByteSource& source) : lines_(format.lines_before()) {
    describe(format, source);
  }
  void describe(const TableFormat& format, const ByteSource& source) {
    format.describe(report_, source);
    has_elements_ = source.has_elements();
  }

  // What parsing a block brought. Blocks come in input order.
  void settle(const BlockOutcome& outcome);
  // Leaves one line out.
  void skip_line(const std::string& why);

  const ReadReport& report() const { return report_; }
  std::uint64_t lines() const { return lines_; }

 private:
  // An error of line number `line`, or of the element that the line is (json_documents.h).
  Error error_of(std::uint64_t line, std::uint64_t column, const std::string& message) const;

  ReadReport report_;
  std::uint64_t lines_ = 0;  // settled so far, the header included
  bool has_elements_ = false;
};

}  // namespace crowdfold
