// Exports that are tables: all columns of all rows, by name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/exports/export_format.h"
#include "io/input_table.h"

namespace crowdfold {

class ExportTable {
 public:
  explicit ExportTable(ExportInput& input)
      : input_(input), table_(std::move(input.source), input.path, as_table(input.options), {}, true) {}

  const std::vector<std::string>& names() const { return table_.field_names(); }
  // kNoColumn if there is none. Case does not matter.
  std::size_t find(std::string_view name) const;
  // Error(data) if there is none.
  std::size_t need(std::string_view name) const;

  // take(row) for every row that is not blank.
  template <class Take>
  void for_each(ImportedRows& rows, const Take& take) {
    table_.for_each_row([&](Row row, bool) -> Complaint {
      if (!is_blank(row)) take(row);
      return {};
    });
    if (table_.report().skipped_rows > 0) {
      rows.leave_out("row with faults, the first: " + table_.report().first_skipped,
                     table_.report().skipped_rows);
    }
  }

  // The field, without blanks around it; empty for kNoColumn.
  static std::string_view field(Row row, std::size_t column);

 private:
  static ReadOptions as_table(ReadOptions options) {
    options.header = Header::yes;
    options.columns.clear();
    return options;
  }
  static bool is_blank(Row row);

  const ExportInput& input_;
  TableInput table_;
};

// Whether texts are the same but for the case of ASCII letters.
bool equals_ignoring_case(std::string_view a, std::string_view b);
// The parts between separators, without blanks around them; empty ones are left out.
std::vector<std::string> split_text(std::string_view text, char separator);
std::string_view stripped(std::string_view text);
// The name of the file, also of one in an archive, without its folder and ending.
std::string stem_of(const std::string& path);

}  // namespace crowdfold
