#include "io/csv.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "io/block_reader.h"
#include "io/output.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::TempDir;
using Fields = std::vector<std::string>;

struct Parsed {
  std::vector<Fields> rows;
  BlockOutcome outcome;
};

CsvLayout all_of(std::size_t fields, char separator = ',') {
  CsvLayout layout{separator, fields, {}};
  for (std::size_t i = 0; i < fields; ++i) layout.wanted.push_back(i);
  return layout;
}

// Parses text as a block holds it: closed by a newline, with room behind.
Parsed parse(std::string text, const CsvLayout& layout, bool skip_bad_rows = false) {
  if (!text.ends_with('\n')) text.push_back('\n');
  const std::size_t size = text.size();
  text.append(kBlockPadding, '\0');
  Parsed parsed;
  CsvParser parser(layout, skip_bad_rows);
  parsed.outcome = parser.parse(std::string_view(text).substr(0, size), [&](Row row, bool) -> Complaint {
    parsed.rows.emplace_back(row.begin(), row.end());
    return {};
  });
  return parsed;
}

Parsed parse3(const std::string& text, bool skip_bad_rows = false) {
  return parse(text, all_of(3), skip_bad_rows);
}

void expect_error(const std::string& text, std::uint64_t line, std::uint64_t column,
                  const std::string& message) {
  const Parsed parsed = parse3(text);
  ASSERT_TRUE(parsed.outcome.failed) << text;
  EXPECT_EQ(parsed.outcome.error->line, line - 1) << text;
  EXPECT_EQ(parsed.outcome.error->column, column) << text;
  EXPECT_EQ(parsed.outcome.error->message, message) << text;
}

TEST(Csv, ReadsPlainRows) {
  EXPECT_EQ(parse3("a,b,c\nd,e,f\n").rows, (std::vector<Fields>{{"a", "b", "c"}, {"d", "e", "f"}}));
}

TEST(Csv, ReadsALastLineWithoutANewline) {
  EXPECT_EQ(parse3("a,b,c\nd,e,f").rows, (std::vector<Fields>{{"a", "b", "c"}, {"d", "e", "f"}}));
}

TEST(Csv, ReadsEmptyFields) {
  EXPECT_EQ(parse3(",,\na,,\n").rows, (std::vector<Fields>{{"", "", ""}, {"a", "", ""}}));
}

TEST(Csv, TakesCrlfForTheEndOfALine) {
  EXPECT_EQ(parse3("a,b,c\r\n\"d\",e,\"f\"\r\ng,h,\r\n").rows,
            (std::vector<Fields>{{"a", "b", "c"}, {"d", "e", "f"}, {"g", "h", ""}}));
}

TEST(Csv, KeepsACarriageReturnInsideALine) {
  EXPECT_EQ(parse3("a\rb,c\r,d\n").rows, (std::vector<Fields>{{"a\rb", "c\r", "d"}}));
}

TEST(Csv, UnderstandsQuotedSeparatorsQuotesAndNewlines) {
  EXPECT_EQ(parse3("\"a,1\",\"say \"\"hi\"\"\",\"two\nlines\"\n\"\",\"\"\"\",x\n").rows,
            (std::vector<Fields>{{"a,1", "say \"hi\"", "two\nlines"}, {"", "\"", "x"}}));
}

TEST(Csv, KeepsCrlfInsideQuotes) {
  EXPECT_EQ(parse3("\"a\r\nb\",c,d\n").rows, (std::vector<Fields>{{"a\r\nb", "c", "d"}}));
}

TEST(Csv, TakesAQuoteInTheMiddleOfAFieldForACharacter) {
  EXPECT_EQ(parse3("5\" disk,b\"c\",d\"\n").rows, (std::vector<Fields>{{"5\" disk", "b\"c\"", "d\""}}));
}

TEST(Csv, SkipsBlankLinesButCountsThem) {
  const Parsed parsed = parse3("\n\r\na,b,c\n\n\nd,e\n");
  EXPECT_EQ(parsed.rows, (std::vector<Fields>{{"a", "b", "c"}}));
  EXPECT_EQ(parsed.outcome.error->line, 5U);
}

TEST(Csv, KeepsBytesThatAreNotUtf8) {
  EXPECT_EQ(parse3("\xFF\xFE,\xC3,caf\xC3\xA9\n").rows,
            (std::vector<Fields>{{"\xFF\xFE", "\xC3", "caf\xC3\xA9"}}));
}

TEST(Csv, TakesOtherSeparators) {
  EXPECT_EQ(parse("a\tb,c\t\"d\te\"\n", all_of(3, '\t')).rows,
            (std::vector<Fields>{{"a", "b,c", "d\te"}}));
  EXPECT_EQ(parse("a;b;c\n", all_of(3, ';')).rows, (std::vector<Fields>{{"a", "b", "c"}}));
}

TEST(Csv, GivesTheWantedFieldsInTheWantedOrder) {
  const CsvLayout layout{',', 5, {4, 0, 2}};
  EXPECT_EQ(parse("a,b,c,d,e\n\"a\",b,c,d,e\r\n", layout).rows,
            (std::vector<Fields>{{"e", "a", "c"}, {"e", "a", "c"}}));
}

TEST(Csv, ReadsASingleColumn) {
  EXPECT_EQ(parse("a\n\nb\n", all_of(1)).rows, (std::vector<Fields>{{"a"}, {"b"}}));
}

TEST(Csv, RefusesAWrongNumberOfFieldsWithLineAndColumn) {
  expect_error("a,b,c\nd,e\n", 2, 3, "2 fields where 3 are expected");
  expect_error("a,b,c\nd\n", 2, 1, "1 field where 3 are expected");
  expect_error("a,b,c\nd,e,f,g\n", 2, 7, "4 fields where 3 are expected");
  expect_error("\"a\nb\",c,d\ne,f\n", 3, 3, "2 fields where 3 are expected");
}

TEST(Csv, RefusesAQuoteThatIsNotClosed) {
  expect_error("a,b,c\nd,\"e,f\ng,h,i\n", 2, 3, "this quote is not closed");
}

TEST(Csv, RefusesTextAfterAClosingQuote) {
  expect_error("a,\"b\"x,c\n", 1, 6,
               "text after a closing quote (a quote inside quotes is written twice)");
}

TEST(Csv, TellsThePlaceInsideARecordOfSeveralLines) {
  expect_error("a,b,c\n\"x\ny\",\"b\"z,c\n", 3, 7,
               "text after a closing quote (a quote inside quotes is written twice)");
}

TEST(Csv, RefusesNulBytesQuotedOrNot) {
  expect_error(std::string("a,b\0b,c\n", 8), 1, 4, "a NUL byte: is this not a text file?");
  expect_error(std::string("a,\"b\0\",c\n", 9), 1, 5, "a NUL byte: is this not a text file?");
}

TEST(Csv, SkipsBadRowsOnRequestAndTellsTheFirst) {
  const Parsed parsed = parse3("a,b,c\nbad\nd,e,f\nx,y\n\"g\"h,i,j\nk,l,m\n", true);
  EXPECT_EQ(parsed.rows, (std::vector<Fields>{{"a", "b", "c"}, {"d", "e", "f"}, {"k", "l", "m"}}));
  EXPECT_FALSE(parsed.outcome.failed);
  EXPECT_EQ(parsed.outcome.skipped, 3U);
  EXPECT_EQ(parsed.outcome.error->line, 1U);
  EXPECT_EQ(parsed.outcome.lines, 6U);
}

TEST(Csv, SkipsOnlyTheLineOfAQuoteThatIsNotClosed) {
  EXPECT_EQ(parse3("a,b,c\nd,\"e,f\ng,h,i\n", true).rows,
            (std::vector<Fields>{{"a", "b", "c"}, {"g", "h", "i"}}));
}

TEST(Csv, PlacesAComplaintOfWhoTakesTheRows) {
  std::string text = "a,b,c\nd,e,f\n\"g\",bad,i\n";
  const std::size_t size = text.size();
  text.append(kBlockPadding, '\0');
  for (const char* wanted : {"e", "bad"}) {
    CsvParser parser(all_of(3), false);
    const BlockOutcome outcome =
        parser.parse(std::string_view(text).substr(0, size), [&](Row row, bool) -> Complaint {
          if (row[1] == wanted) return {2, "no"};
          return {};
        });
    EXPECT_TRUE(outcome.failed);
    EXPECT_EQ(outcome.error->line, *wanted == 'e' ? 1U : 2U);
    EXPECT_EQ(outcome.error->column, *wanted == 'e' ? 3U : 5U);
  }
}

// Fields of awkward characters, many rows, cut into tiny blocks: what append_csv wrote comes back.
RC_GTEST_PROP(Csv, ReadsBackWhatWasWrittenWhereverBlocksAreCut, (std::uint64_t seed)) {
  Random random(seed);
  const std::string alphabet = "ab,\"\n\r\xC3\xA9 ;\t";
  std::vector<Fields> rows(1 + random.below(60));
  std::string text = random.below(3) == 0 ? "\xEF\xBB\xBF" : "";
  const char* newline = random.below(2) == 0 ? "\n" : "\r\n";
  for (Fields& row : rows) {
    for (int f = 0; f < 3; ++f) {
      std::string field;
      for (std::uint64_t n = random.below(8); n > 0; --n)
        field.push_back(alphabet[random.below(alphabet.size())]);
      if (f > 0) text.push_back(',');
      append_csv(text, field);
      row.push_back(field);
    }
    text += newline;
  }
  if (random.below(2) == 0)
    text.resize(text.size() - std::string_view(newline).size());  // no last newline

  const TempDir folder;
  BlockReader reader(folder.write("rows.csv", text), 1 + random.below(80), {.as_is = true});
  reader.begin_records(',', text.starts_with("\xEF\xBB\xBF") ? 3 : 0);
  CsvParser parser(all_of(3), false);
  std::vector<Fields> read;
  std::uint64_t lines = 0;
  for (TextBlock block; reader.next(block);) {
    const BlockOutcome outcome = parser.parse(block.text(), [&](Row row, bool) -> Complaint {
      read.emplace_back(row.begin(), row.end());
      return {};
    });
    RC_ASSERT(!outcome.error);
    lines += outcome.lines;
  }
  RC_ASSERT(read == rows);
  const auto newlines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  RC_ASSERT(lines == newlines + (text.ends_with('\n') ? 0 : 1));
}

// Whatever the bytes, there is a row or an error for them, and never a crash.
RC_GTEST_PROP(Csv, SurvivesAnyBytes, (std::uint64_t seed)) {
  Random random(seed);
  const std::string alphabet("a,\"\n\r\0", 6);
  std::string text;
  for (std::uint64_t n = random.below(400); n > 0; --n)
    text.push_back(alphabet[random.below(alphabet.size())]);
  const TempDir folder;
  BlockReader reader(folder.write("noise.csv", text), 1 + random.below(80), {.as_is = true});
  CsvParser parser(all_of(3), true);
  for (TextBlock block; reader.next(block);) {
    parser.parse(block.text(), [&](Row row, bool) -> Complaint {
      RC_ASSERT(row.size() == 3U);
      return {};
    });
  }
}

}  // namespace
}  // namespace crowdfold
