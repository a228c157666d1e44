// An input with named columns, whatever its format: hands out blocks of records and parsers for them.
#pragma once

#include <string>
#include <vector>

#include "crowdfold/io.h"
#include "io/block_reader.h"
#include "io/table_format.h"

namespace crowdfold {

class TableInput {
 public:
  // For roles and `rest`, see TableFormat::find_columns.
  TableInput(const std::string& path, const ReadOptions& options, const std::vector<Role>& roles,
             bool rest = false);

  std::size_t field_of(const std::string& role) const { return format_.field_of(role); }
  const std::vector<std::string>& field_names() const { return format_.field_names(); }

  BlockParser make_parser() const { return format_.make_parser(); }
  bool next(TextBlock& block) { return reader_.next(block); }

  // Turns what parsing a block brought into an exception, or into the report, and counts lines. Blocks
  // come in input order.
  void settle(const BlockOutcome& outcome) { tally_.settle(outcome); }

  // All rows, one after another: sink(row, lasting) -> Complaint.
  template <class Sink>
  void for_each_row(const Sink& sink) {
    BlockParser parser = make_parser();
    for (TextBlock block; next(block);) settle(parser.parse(block, sink));
  }

  const ByteSource& source() const { return reader_.source(); }
  const ReadReport& report() const { return tally_.report(); }

 private:
  BlockReader reader_;
  TableFormat format_;
  ReadTally tally_;
};

}  // namespace crowdfold
