// The batch file that MTurk gave, with what to do about each assignment.
#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/error.h"
#include "crowdfold/write_back.h"
#include "io/block_reader.h"
#include "io/csv.h"
#include "io/output.h"

namespace crowdfold {
namespace {

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);
constexpr std::size_t kWriteBytes = 1 << 20;

constexpr std::string_view kMark = "\xEF\xBB\xBF";

using Fields = std::vector<std::string>;

std::size_t column_named(const Fields& header, const std::string& name) {
  const auto found = std::find(header.begin(), header.end(), name);
  return found == header.end() ? kAbsent : static_cast<std::size_t>(found - header.begin());
}

// Every field in quotes, as MTurk writes them.
void append_quoted(std::string& to, const Fields& fields) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    to += i == 0 ? "\"" : ",\"";
    for (const char c : fields[i]) to.append(c == '"' ? 2 : 1, c);
    to += '"';
  }
  to += '\n';
}

// The records of a CSV file: body(fields, line).
template <class Body>
void for_each_record(const std::string& path, const WriteOptions& options, const Body& body) {
  constexpr std::size_t kBlockBytes = 1 << 18;
  BlockReader reader(path, kBlockBytes, {.cancelled = options.cancelled});
  reader.read_on();
  reader.begin_records(',', reader.pending().starts_with(kMark) ? kMark.size() : 0);
  CsvRecord record;
  std::uint64_t line = 1;
  for (TextBlock block; reader.next(block);) {
    const std::string_view text = block.text();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t next = record.parse(text, at, ',');
      if (!record.ok()) throw Error(ErrorCode::data, Location{path, line, 0}, record.error());
      Fields fields;
      for (std::size_t i = 0; i < record.num_fields(); ++i) fields.emplace_back(record.field(i));
      if (!record.blank()) body(std::move(fields), line);
      const std::string_view lines = text.substr(at, next - at);
      line += static_cast<std::uint64_t>(std::count(lines.begin(), lines.end(), '\n'));
      at = next;
    }
  }
}

// Where the columns that matter are.
struct BatchColumns {
  BatchColumns(const std::string& path, Fields& header)
      : worker(column_named(header, "WorkerId")), status(column_named(header, "AssignmentStatus")) {
    if (worker == kAbsent) {
      throw Error(ErrorCode::usage, Location{path, 1, 0},
                  "no column WorkerId: --mturk takes the results of a batch as MTurk gives them");
    }
    approve = place_of(header, "Approve");
    reject = place_of(header, "Reject");
    width = header.size();
  }
  std::size_t worker;
  std::size_t status;
  std::size_t approve = 0;
  std::size_t reject = 0;
  std::size_t width = 0;

 private:
  // A column that is not there is added.
  static std::size_t place_of(Fields& header, const std::string& name) {
    if (column_named(header, name) == kAbsent) header.push_back(name);
    return column_named(header, name);
  }
};

}  // namespace

ReviewCounts write_mturk_review(const std::string& path, const std::string& batch,
                                const std::function<std::optional<bool>(std::string_view)>& is_bad,
                                const std::string& reason, const WriteOptions& options) {
  ReviewCounts counts;
  std::optional<BatchColumns> columns;
  std::size_t given = 0;  // fields of a record
  OutputFile file(path, OutputFile::When::at_the_end, options.cancelled);
  std::string review;
  const auto add = [&](const Fields& fields) {
    append_quoted(review, fields);
    if (review.size() < kWriteBytes) return;
    file.write(review);
    review.clear();
  };
  for_each_record(batch, options, [&](Fields fields, std::uint64_t line) {
    if (!columns) {
      given = fields.size();
      columns.emplace(batch, fields);
      return add(fields);
    }
    if (fields.size() != given) {
      throw Error(ErrorCode::data, Location{batch, line, 0},
                  fmt::format("{} fields where {} are expected", fields.size(), given));
    }
    fields.resize(columns->width);
    const bool decided = !fields[columns->approve].empty() || !fields[columns->reject].empty() ||
                         (columns->status != kAbsent && fields[columns->status] != "Submitted");
    const std::optional<bool> bad = is_bad(fields[columns->worker]);
    if (decided) {
      ++counts.decided_before;
    } else if (!bad) {
      ++counts.unknown;
    } else {
      ++(*bad ? counts.rejected : counts.approved);
      fields[*bad ? columns->reject : columns->approve] = *bad ? reason : "x";
    }
    add(fields);
  });
  if (!columns) throw Error(ErrorCode::data, Location{batch, 0, 0}, "the input is empty");
  file.write(review);
  file.commit();
  return counts;
}

}  // namespace crowdfold
