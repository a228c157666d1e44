// JSON lines: one object a line, strictly as in RFC 8259, also where nothing of it is wanted. Wanted
// values are strings, numbers or booleans (kept as they are written); null and a missing key are the
// empty string, that of a missing key without data(). A value inside an object is named by both keys:
// "answer.choice". A wanted key must not come twice.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/rows.h"

namespace crowdfold {

// Parses blocks. One per thread.
class JsonlParser {
 public:
  JsonlParser(std::vector<std::string> wanted, bool skip_bad_rows);
  ~JsonlParser();
  JsonlParser(JsonlParser&&) noexcept;

  // See CsvParser::parse.
  template <class Sink>
  BlockOutcome parse(std::string_view text, const Sink& sink) {
    BlockOutcome outcome;
    for (std::size_t at = 0; at < text.size(); ++outcome.lines) {
      const std::size_t end = text.find('\n', at);
      const std::string_view line = text.substr(at, end - at);
      at = end + 1;
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      Complaint complaint = read_line(line);
      if (complaint.field == 0) {
        const Complaint against = sink(Row(fields_), false);
        if (against.field != 0) complaint = {1, against.message, against.fatal};
      }
      if (complaint.field == 0) continue;
      if (!outcome.error || complaint.fatal)
        outcome.error = RowError{outcome.lines, complaint.field, complaint.message};
      ++outcome.skipped;
      outcome.failed = !skip_bad_rows_ || complaint.fatal;
      if (outcome.failed) return outcome;
    }
    return outcome;
  }

  // The keys of the first objects in the text; empty if there are none. A hundred are enough to meet a
  // key that only some have.
  static std::vector<std::string> keys_of_first_objects(std::string_view text,
                                                        std::size_t most_objects = 100);

 private:
  struct Parser;
  // Fills fields_; a complaint's `field` is a column here.
  Complaint read_line(std::string_view line);

  std::vector<std::string> wanted_;
  bool skip_bad_rows_;
  bool nested_ = false;  // some wanted key is inside an object
  std::vector<std::string_view> fields_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace crowdfold
