#include "io/jsonl.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
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
               "'label' is a list, and a row has one value of it");
  expect_error(R"({"task":1,"worker":2,"label":{}})",
               "'label' must be a string, a number, a boolean or null");
}

TEST(JsonLines, RefusesValuesThatAreNotJsonWantedOrNot) {
  for (const char* value :
       {"nan",   "NaN",      "trash", "1x",       "-",           "+1",       "01",      "1.",
        ".5",    "1e",       "1e+",   "0x10",     "tru",         "truee",    "False",   "nul",
        "nulll", "Infinity", "'a'",   R"("a\q")", R"("\ud800")", "\"a\tb\"", "\"\xFF\""}) {
    for (const char* form : {R"({"task":1,"worker":2,"label":%})", R"({"task":1,"x":%,"worker":2})",
                             R"({"task":1,"x":[{"y":[2,%]}],"worker":2})", R"({"x":{"y":% }})"}) {
      std::string line = form;
      line.replace(line.find('%'), 1, value);
      const ParsedLines parsed = parse(line + "\n");
      EXPECT_TRUE(parsed.outcome.failed) << line;
    }
  }
  for (const char* line :
       {R"({"a":[1,]})", R"({"a":[1 2]})", R"({"a":[1}})", R"({"a":{"b":1]})", R"({"a":1,})",
        R"({"a" 1})", R"({"a":})", R"({a:1})", R"({"a":1 "b":2})", R"({"a":{}}})", R"({"task":"b":1})",
        R"({"x":"b":1})", R"({"x":1:2})", R"({"a\q":1})", R"({"x":{"a\q":1}})"}) {
    EXPECT_TRUE(parse(std::string(line) + "\n").outcome.failed) << line;
  }
  expect_error(R"({"task":1,"worker":2,"label":trash})", "'trash' is no JSON value");
}

std::string random_json(Random& random, int depth) {
  const std::vector<std::string> scalars = {
      "0",    "-1.5e3", "12",      "true",          "false",
      "null", "\"\"",   "\"a b\"", R"("\u00e9\n")", R"("\ud83d\ude00")"};
  const std::uint64_t kind = random.below(depth == 0 ? 1 : 3);
  if (kind == 0) return scalars[random.below(scalars.size())];
  std::string text;
  for (std::uint64_t n = random.below(4); n > 0; --n) {
    if (!text.empty()) text += random.below(2) == 0 ? "," : " , ";
    if (kind == 2) text += "\"" + std::string(1, "abx"[random.below(3)]) + "\":";
    text += random_json(random, depth - 1);
  }
  return kind == 1 ? "[" + text + "]" : "{" + text + "}";
}

RC_GTEST_PROP(JsonLines, AreTakenIfAndOnlyIfTheyAreJson, (std::uint64_t seed)) {
  Random random(seed);
  std::string line = "{\"x\":" + random_json(random, 3) + ",\"task\":" + random_json(random, 0) + "}";
  for (std::uint64_t n = random.below(3); n > 0; --n) {
    constexpr std::string_view kBytes = "{}[],:\"\\ 01-+.eEtrufalsn\t";
    const char byte = kBytes[random.below(kBytes.size())];
    const std::size_t at = random.below(line.size());
    if (random.below(3) == 0)
      line.erase(at, 1);
    else if (random.below(2) == 0)
      line[at] = byte;
    else
      line.insert(at, 1, byte);
  }
  const nlohmann::json json = nlohmann::json::parse(line, nullptr, false);
  const ParsedLines parsed = parse(line + "\n");
  const bool scalar = !json.is_object() || !json.contains("task") || !json["task"].is_structured();
  RC_ASSERT(parsed.outcome.failed == !(json.is_object() && scalar));
}

TEST(JsonLines, TakesEveryNumberOfJson) {
  for (const char* number : {"0", "-0", "10", "0.50", "1e5", "1E+05", "1.5e-300",
                             "123456789012345678901234567890", "1e999"}) {
    EXPECT_EQ(parse("{\"task\":" + std::string(number) + ",\"x\":" + number + "}\n").rows,
              (std::vector<Fields>{{number, "", ""}}));
  }
}

TEST(JsonLines, RefusesDeepNestingInsteadOfExhaustingTheStack) {
  const auto nested = [](std::size_t depth) {
    return "{\"x\":" + std::string(depth, '[') + std::string(depth, ']') + "}\n";
  };
  EXPECT_FALSE(parse(nested(99)).outcome.failed);
  EXPECT_TRUE(parse(nested(1'000'000)).outcome.failed);
}

TEST(JsonLines, RefusesAWantedKeyThatComesTwice) {
  expect_error(R"({"task":1,"worker":2,"label":null,"label":3})", "the key 'label' comes twice");
  EXPECT_FALSE(parse("{\"x\":1,\"task\":1,\"x\":2}\n").outcome.failed);
}

TEST(JsonLines, RefusesANulCharacterInAName) {
  expect_error(R"({"task":"a\u0000b","worker":2,"label":3})",
               "a NUL character (\\u0000) in 'task': no name may hold one");
  EXPECT_FALSE(parse("{\"x\":\"\\u0000\",\"task\":1}\n").outcome.failed);
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
  EXPECT_EQ(JsonlParser::keys_of_first_objects("{\"x\":nan}\n{\"y\":1,\n{\"a\":1,\"a\":2}\n"),
            Fields{"a"});
  EXPECT_TRUE(JsonlParser::keys_of_first_objects("a,b,c\n").empty());
  EXPECT_TRUE(JsonlParser::keys_of_first_objects("").empty());
}

}  // namespace
}  // namespace crowdfold
