// The batch file that MTurk gave, with what to do about each assignment.
#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/error.h"
#include "crowdfold/write_back.h"
#include "io/byte_source.h"
#include "io/csv.h"
#include "io/output.h"

namespace crowdfold {
namespace {

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

std::string whole_text(const std::string& path) {
  const auto source = open_source(path);
  std::string text;
  for (std::size_t used = 0;;) {
    text.resize(used + (1 << 20));
    const std::size_t count = source->read(text.data() + used, text.size() - used);
    used += count;
    if (count > 0) continue;
    text.resize(used);
    return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
  }
}

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
void for_each_record(const std::string& path, std::string_view text, const Body& body) {
  CsvRecord record;
  std::uint64_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = record.parse(text, at, ',');
    if (!record.ok()) throw Error(ErrorCode::data, Location{path, line, 0}, record.error());
    Fields fields;
    for (std::size_t i = 0; i < record.num_fields(); ++i) fields.emplace_back(record.field(i));
    if (!record.blank()) body(std::move(fields), line);
    line +=
        static_cast<std::uint64_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                              text.begin() + static_cast<std::ptrdiff_t>(next), '\n'));
    at = next;
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
                                const std::string& reason) {
  ReviewCounts counts;
  std::optional<BatchColumns> columns;
  std::size_t given = 0;  // fields of a record
  std::string review;
  const std::string text = whole_text(batch);
  for_each_record(batch, text, [&](Fields fields, std::uint64_t line) {
    if (!columns) {
      given = fields.size();
      columns.emplace(batch, fields);
      append_quoted(review, fields);
      return;
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
    append_quoted(review, fields);
  });
  if (!columns) throw Error(ErrorCode::data, Location{batch, 0, 0}, "the input is empty");
  OutputFile file(path);
  file.write(review);
  file.commit();
  return counts;
}

}  // namespace crowdfold
