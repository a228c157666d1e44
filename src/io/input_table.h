// An input with named columns, whatever its format: recognises format, header and columns, and hands out
// blocks of records and parsers for them.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "io/block_reader.h"
#include "io/columns.h"
#include "io/csv.h"
#include "io/jsonl.h"

namespace crowdfold {

class BlockParser {
 public:
  explicit BlockParser(CsvParser parser) : parser_(std::move(parser)) {}
  explicit BlockParser(JsonlParser parser) : parser_(std::move(parser)) {}

  template <class Sink>
  BlockOutcome parse(const TextBlock& block, const Sink& sink) {
    return std::visit([&](auto& parser) { return parser.parse(block.text(), sink); }, parser_);
  }

 private:
  std::variant<CsvParser, JsonlParser> parser_;
};

class TableInput {
 public:
  // Rows that parsers give out hold the columns of `roles` that exist, in that order, and then, with
  // `rest`, all other columns.
  TableInput(const std::string& path, const ReadOptions& options, const std::vector<Role>& roles,
             bool rest = false, std::size_t block_size = 1 << 18);

  // Position of a role in the rows; kNoColumn if the input has no such column.
  std::size_t field_of(const std::string& role) const;
  // Names of the rows' fields, as the input has them.
  const std::vector<std::string>& field_names() const { return names_; }

  BlockParser make_parser() const;
  bool next(TextBlock& block);

  // Turns what parsing a block brought into an exception, or into the report, and counts lines. Blocks
  // come in input order.
  void settle(const BlockOutcome& outcome);

  // All rows, one after another: sink(row, lasting) -> Complaint.
  template <class Sink>
  void for_each_row(const Sink& sink) {
    BlockParser parser = make_parser();
    for (TextBlock block; next(block);) settle(parser.parse(block, sink));
  }

  const ByteSource& source() const { return reader_.source(); }
  // Mean size of the records at the beginning.
  double bytes_per_record() const { return bytes_per_record_; }
  const ReadReport& report() const { return report_; }

 private:
  void recognize_csv(std::string_view start, char separator, const std::vector<Role>& roles, bool rest);
  void recognize_jsonl(std::string_view start, const std::vector<Role>& roles, bool rest);
  void choose(const std::vector<std::string>& header, const std::vector<Role>& roles,
              const std::vector<std::size_t>& columns, bool rest);

  std::string name_;
  ReadOptions options_;
  BlockReader reader_;
  CsvLayout layout_;
  bool jsonl_ = false;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::size_t>> role_fields_;
  std::size_t header_bytes_ = 0;
  std::uint64_t lines_ = 0;  // settled so far, the header included
  double bytes_per_record_ = 1;
  bool first_ = true;
  ReadReport report_;
};

}  // namespace crowdfold
