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
  //
  // A sink of three fields may have take_common(field, field, field) besides, for lasting rows, which
  // the compiler can keep in registers: false leaves the row to sink(fields, lasting).
  template <class Sink>
  BlockOutcome parse(std::string_view text, const Sink& sink);

 private:
  // Where a block's parsing has come to.
  struct Place {
    std::size_t row;            // where the present row begins
    const std::uint32_t* mark;  // the first one that is not before it
    std::uint64_t lines;
  };
  template <bool kInOrder, class Sink>
  Place take_common_rows(const char* data, Place place, const std::uint32_t* last,
                         const Sink& sink) const;
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
  // Three is what a label has.
  return layout_.wanted.size() == 3 ? parse_fields<3>(text, sink)
                                    : parse_fields<std::dynamic_extent>(text, sink);
}

// Takes rows as long as they are common: with all their separators and no quotes, and such that the sink
// takes them so. kInOrder: they have three fields, wanted in their order.
template <bool kInOrder, class Sink>
CsvParser::Place CsvParser::take_common_rows(const char* const data, Place place,
                                             const std::uint32_t* const last, const Sink& sink) const {
  const std::size_t width = kInOrder ? 3 : layout_.num_fields;
  const char separator = layout_.separator;
  const std::array wanted = {layout_.wanted[0], layout_.wanted[1], layout_.wanted[2]};
  auto [row, mark, lines] = place;
  while (static_cast<std::size_t>(last - mark) >= width) {
    const std::uint32_t end = mark[width - 1];
    bool plain = data[end] == '\n';
    for (std::size_t f = 0; f + 1 < width; ++f) plain = plain && data[mark[f]] == separator;
    if (!plain) break;
    const std::uint32_t stop = end - (data[end - 1] == '\r' ? 1 : 0);
    const auto field = [&](std::size_t i) {
      const std::size_t number = kInOrder ? i : wanted[i];
      const std::uint32_t from = mark[static_cast<std::ptrdiff_t>(number) - 1] + 1;
      return std::string_view(data + from, (number + 1 == width ? stop : mark[number]) - from);
    };
    if (!sink.take_common(field(0), field(1), field(2))) break;
    row = end + 1;
    mark += width;
    ++lines;
  }
  return {row, mark, lines};
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

  const bool in_order = width == 3 && layout_.wanted == std::vector<std::size_t>{0, 1, 2};

  for (std::size_t row = 0; row < text.size();) {
    if constexpr (kWanted == 3 &&
                  requires(std::string_view field) { sink.take_common(field, field, field); }) {
      const Place place = {row, mark, outcome.lines};
      const Place now = in_order ? take_common_rows<true>(data, place, last, sink)
                                 : take_common_rows<false>(data, place, last, sink);
      row = now.row;
      mark = now.mark;
      outcome.lines = now.lines;
      if (row == text.size()) break;
    }
    // A plain row: `width` marks, all separators but for the newline at its end.
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
