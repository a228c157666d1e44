#include "io/jsonl.h"

#include <gtest/gtest.h>

#include "io/block_reader.h"

namespace crowdfold {
namespace {

using Fields = std::vector<std::string>;

struct ParsedLines {
  std::vector<Fields> rows;
  BlockOutcome outcome;
};

ParsedLines parse(std::string text, bool skip_bad_rows = false) {
  const std::size_t size = text.size();
  text.append(kBlockPadding, '\0');
  ParsedLines parsed;
  JsonlParser parser({"task", "worker", "label"}, skip_bad_rows);
  parsed.outcome = parser.parse(std::string_view(text).substr(0, size), [&](Row row, bool) -> Complaint {
    parsed.rows.emplace_back(row.begin(), row.end());
    return {};
  });
  return parsed;
}

void expect_error(const std::string& line, const std::string& message) {
  const ParsedLines parsed = parse("{\"task\":1,\"worker\":2,\"label\":3}\n" + line + "\n");
  ASSERT_TRUE(parsed.outcome.failed) << line;
  EXPECT_EQ(parsed.outcome.error->line, 1U);
  EXPECT_NE(parsed.outcome.error->message.find(message), std::string::npos)
      << parsed.outcome.error->message;
}

TEST(JsonLines, ReadsKeysInAnyOrderAndLeavesOthersOut) {
  EXPECT_EQ(parse("{\"label\":\"c\",\"x\":[1,{\"task\":2}],\"task\":\"a\",\"worker\":\"b\"}\n").rows,
            (std::vector<Fields>{{"a", "b", "c"}}));
}

TEST(JsonLines, KeepsNumbersAndBooleansAsTheyAreWritten) {
  EXPECT_EQ(parse("{\"task\": 1.50 , "
                  "\"worker\":-7e2,\"label\":true}\n{\"task\":12345678901234567890,\"worker\":0,"
                  "\"label\":false }\n")
                .rows,
            (std::vector<Fields>{{"1.50", "-7e2", "true"}, {"12345678901234567890", "0", "false"}}));
}

TEST(JsonLines, TakesNullAndAMissingKeyForEmpty) {
  EXPECT_EQ(
      parse("{\"task\":\"a\",\"worker\":\"b\",\"label\":null}\n{\"task\":\"a\",\"worker\":\"b\"}\n")
          .rows,
      (std::vector<Fields>{{"a", "b", ""}, {"a", "b", ""}}));
}

TEST(JsonLines, DoesNotCarryAValueOverFromTheLineBefore) {
  EXPECT_EQ(
      parse("{\"task\":\"a\",\"worker\":\"b\",\"label\":\"c\"}\n{\"worker\":\"d\",\"task\":\"e\"}\n")
          .rows[1],
      (Fields{"e", "d", ""}));
}

TEST(JsonLines, UnderstandsEscapes) {
  EXPECT_EQ(parse(R"({"task":"a\"b\\\n\u00e9","worker":"\ud83d\ude00","label":"x\ty"})"
                  "\n")
                .rows,
            (std::vector<Fields>{{"a\"b\\\n\xC3\xA9", "\xF0\x9F\x98\x80", "x\ty"}}));
}

TEST(JsonLines, SkipsBlankLinesAndTakesCrlf) {
  const ParsedLines parsed =
      parse("\n{\"task\":1,\"worker\":2,\"label\":3}\r\n \t\n{\"task\":4,\"worker\":5,\"label\":6}\n");
  EXPECT_EQ(parsed.rows, (std::vector<Fields>{{"1", "2", "3"}, {"4", "5", "6"}}));
  EXPECT_EQ(parsed.outcome.lines, 4U);
}

TEST(JsonLines, RefusesWhatIsNotOneObjectOnALine) {
  expect_error("[1,2,3]", "not a JSON object");
  expect_error("plain text", "not a JSON object");
  expect_error(R"({"task":1,)", "not a JSON object");
  expect_error(R"({"task":1,"worker":2,"label":3} {})", "more than one JSON value on a line");
}

TEST(JsonLines, RefusesArraysAndObjectsForAName) {
  expect_error(R"({"task":1,"worker":2,"label":[3]})",
               "'label' must be a string, a number, a boolean or null");
}

TEST(JsonLines, SkipsBadLinesOnRequest) {
  const ParsedLines parsed = parse(
      "{\"task\":1,\"worker\":2,\"label\":3}\nbad\n{\"task\":4,\"worker\":5,\"label\":6}\n{\n", true);
  EXPECT_EQ(parsed.rows.size(), 2U);
  EXPECT_EQ(parsed.outcome.skipped, 2U);
  EXPECT_FALSE(parsed.outcome.failed);
  EXPECT_EQ(parsed.outcome.error->line, 1U);
}

TEST(JsonLines, KnowsTheKeysOfTheFirstObjects) {
  EXPECT_EQ(JsonlParser::keys_of_first_objects("\n {\"a\":1,\"b c\":{\"d\":2}}\n{\"e\":1}"),
            (Fields{"a", "b c.d", "e"}));
  EXPECT_TRUE(JsonlParser::keys_of_first_objects("a,b,c\n").empty());
  EXPECT_TRUE(JsonlParser::keys_of_first_objects("").empty());
}

}  // namespace
}  // namespace crowdfold
