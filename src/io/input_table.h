// An input with named columns, whatever its format: hands out blocks of records and parsers for them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "crowdfold/io.h"
#include "io/block_reader.h"
#include "io/room.h"
#include "io/table_format.h"
#include "io/trim.h"

namespace crowdfold {

class TableInput {
 public:
  // For roles and `rest`, see TableFormat::find_columns.
  TableInput(const std::string& path, const ReadOptions& options, const std::vector<Role>& roles,
             bool rest = false)
      : TableInput(nullptr, path, options, roles, rest) {}
  // Of a text that was opened before (open_text); null: it is opened here.
  TableInput(std::unique_ptr<ByteSource> text, const std::string& path, const ReadOptions& options,
             const std::vector<Role>& roles, bool rest = false);

  std::size_t field_of(const std::string& role) const { return format_.field_of(role); }
  const std::vector<std::string>& field_names() const { return format_.field_names(); }

  const TableFormat& format() const { return format_; }
  BlockParser make_parser() const { return format_.make_parser(); }
  bool next(TextBlock& block) { return reader_.next(block); }

  // Turns what parsing a block brought into an exception, or into the report, and counts lines. Blocks
  // come in input order.
  void settle(const BlockOutcome& outcome) { tally_.settle(outcome); }

  // held() is how many bytes the caller keeps of the rows: Error(usage) once they are more than
  // ReadOptions::max_memory. A caller that keeps any tells, or looks after its memory itself.
  void holds(std::function<std::uint64_t()> held) { held_ = std::move(held); }

  // All rows, one after another: sink(row, lasting) -> Complaint. Blanks at the ends of fields are
  // trimmed, and a header that comes again is left out.
  template <class Sink>
  void for_each_row(const Sink& sink) {
    BlockParser parser = make_parser();
    std::vector<std::string_view> cells;
    for (TextBlock block; next(block);) {
      std::uint64_t headers = 0;
      BlockOutcome outcome = parser.parse(block, [&](Row row, bool lasting) -> Complaint {
        cells.assign(row.begin(), row.end());
        for (std::string_view& cell : cells) cell = trimmed(cell);
        if (!format_.is_header_again(cells)) return sink(Row(cells), lasting);
        ++headers;
        return {};
      });
      outcome.repeated_headers = headers;
      settle(outcome);
      if (held_) require_room(report().source, "its rows", held_(), max_memory_);
    }
  }

  const ByteSource& source() const { return reader_.source(); }
  const ReadReport& report() const { return tally_.report(); }

 private:
  BlockReader reader_;
  TableFormat format_;
  ReadTally tally_;
  std::uint64_t max_memory_;
  std::function<std::uint64_t()> held_;
};

}  // namespace crowdfold
