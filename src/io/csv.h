// Delimited text as in RFC 4180: quoted fields may hold separators, doubled quotes and newlines; lines
// end with LF or CRLF. Bytes are kept as they are. More lenient than the RFC in one point: a quote in
// the middle of an unquoted field is an ordinary character.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "io/rows.h"
#include "io/scan.h"

namespace crowdfold {

// Which fields of a row are wanted, in the order in which the sink gets them.
struct CsvLayout {
  char separator = ',';
  std::size_t num_fields = 0;       // of every row
  std::vector<std::size_t> wanted;  // field numbers from 0
};

// One record, field by field, in the slow and exact way.
class CsvRecord {
 public:
  // Parses the record at text[at]; returns where the next one begins. On an error, fields are not valid,
  // and the next record begins behind the line's newline.
  std::size_t parse(std::string_view text, std::size_t at, char separator);

  bool ok() const { return error_.empty(); }
  bool blank() const { return fields_.size() == 1 && fields_[0].size == 0 && !fields_[0].quoted; }
  std::size_t num_fields() const { return fields_.size(); }
  std::string_view field(std::size_t i) const {
    return {bytes_.data() + fields_[i].begin, fields_[i].size};
  }
  // Where field i begins in the text.
  std::size_t place(std::size_t i) const { return fields_[i].place; }

  const std::string& error() const { return error_; }
  std::size_t error_place() const { return error_place_; }

 private:
  struct Field {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::size_t place = 0;
    bool quoted = false;
  };
  std::string bytes_;
  std::vector<Field> fields_;
  std::string error_;
  std::size_t error_place_ = 0;
};

// Parses blocks. One per thread: it owns its scratch.
class CsvParser {
 public:
  CsvParser(CsvLayout layout, bool skip_bad_rows)
      : layout_(std::move(layout)), skip_bad_rows_(skip_bad_rows) {
    fields_.resize(layout_.wanted.size());
  }

  // Calls sink(fields, lasting) for every row, where fields are the wanted ones in order, valid as long
  // as the text if `lasting`, otherwise during the call; it returns a Complaint. `text` is whole
  // records, readable 64 bytes beyond its end.
  template <class Sink>
  BlockOutcome parse(std::string_view text, const Sink& sink);

 private:
  template <std::size_t kWanted, class Sink>
  BlockOutcome parse_fields(std::string_view text, const Sink& sink);
  // Notes an error; true: rows may be skipped, go on.
  bool reject(std::string_view text, std::size_t row, std::size_t place, const Complaint& problem,
              BlockOutcome& outcome);
  static std::string wrong_count(std::size_t found, std::size_t expected);
  std::string hint_at_count(std::size_t found, std::size_t expected) const;

  CsvLayout layout_;
  bool skip_bad_rows_;
  std::vector<std::uint32_t> structure_;
  std::vector<std::string_view> fields_;
  std::string hint_;  // at what is wrong with the present row
  CsvRecord record_;
};

template <class Sink>
BlockOutcome CsvParser::parse(std::string_view text, const Sink& sink) {
  // Three fields, which is what a label has, stay in registers on their way to the sink: through memory
  // they take a quarter of the time of parsing.
  return layout_.wanted.size() == 3 ? parse_fields<3>(text, sink)
                                    : parse_fields<std::dynamic_extent>(text, sink);
}

template <std::size_t kWanted, class Sink>
BlockOutcome CsvParser::parse_fields(std::string_view text, const Sink& sink) {
  using Fields = std::conditional_t<kWanted == std::dynamic_extent, std::span<std::string_view>,
                                    std::array<std::string_view, kWanted>>;
  BlockOutcome outcome;
  // Marks, behind one for the newline before the text: a field begins behind the mark before it.
  if (structure_.size() < text.size() + 65) structure_.resize(text.size() + 65);
  structure_[0] = 0xFFFF'FFFF;
  const std::size_t marks = find_structure(text, layout_.separator, structure_.data() + 1);
  // Copies, as the compiler cannot know that the sink leaves the members alone.
  const std::size_t width = layout_.num_fields;
  const char separator = layout_.separator;
  const std::span<const std::size_t, kWanted> wanted(layout_.wanted);
  const char* const data = text.data();
  const std::uint32_t* mark = structure_.data() + 1;
  const std::uint32_t* const last = mark + marks;

  for (std::size_t row = 0; row < text.size();) {
    // The common row: `width` marks, all separators but for the newline at its end.
    bool plain = static_cast<std::size_t>(last - mark) >= width && data[mark[width - 1]] == '\n';
    for (std::size_t f = 0; plain && f + 1 < width; ++f) plain = data[mark[f]] == separator;
    if (plain) {
      const std::size_t end = mark[width - 1];
      Fields fields;
      if constexpr (kWanted == std::dynamic_extent) fields = fields_;
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        const std::uint32_t* const after = mark + wanted[i];
        const std::uint32_t from = after[-1] + 1;
        fields[i] = {data + from, *after - from};
      }
      if (end > row && data[end - 1] == '\r') {
        for (std::string_view& field : fields) {
          if (field.end() == data + end && !field.empty()) field.remove_suffix(1);
        }
      }
      if (width > 1 || end > row) {
        if (const Complaint complaint = sink(Row(fields), true); complaint.field != 0) {
          const auto place = static_cast<std::size_t>(fields[complaint.field - 1].data() - data);
          if (!reject(text, row, place, complaint, outcome)) return outcome;
        }
      }
      row = end + 1;
      mark += width;
      ++outcome.lines;
      continue;
    }

    const std::size_t next = record_.parse(text, row, separator);
    Complaint problem;
    hint_.clear();
    std::size_t place = row;
    if (!record_.ok()) {
      problem = {1, record_.error()};
      place = record_.error_place();
    } else if (!record_.blank() && record_.num_fields() != width) {
      problem = {1, wrong_count(record_.num_fields(), width)};
      if (!outcome.error) hint_ = hint_at_count(record_.num_fields(), width);
      place = record_.place(std::min(width, record_.num_fields() - 1));
    } else if (!record_.blank()) {
      for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i] = record_.field(wanted[i]);
      if (const Complaint complaint = sink(Row(fields_), false); complaint.field != 0) {
        problem = complaint;
        place = record_.place(wanted[complaint.field - 1]);
      }
    }
    if (problem.field != 0 && !reject(text, row, place, problem, outcome)) return outcome;
    while (mark != last && *mark < next) {
      if (data[*mark] == '\n') ++outcome.lines;
      ++mark;
    }
    row = next;
  }
  return outcome;
}

}  // namespace crowdfold
