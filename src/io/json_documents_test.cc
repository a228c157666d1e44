#include "io/json_documents.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>

#include "base/random.h"
#include "crowdfold/io.h"
#include "label_files.h"
#include "support.h"

namespace crowdfold {
namespace {

using Json = nlohmann::json;
using testing::TempDir;

// The text as JSON lines, read in pieces; or what is wrong with it.
std::string lines_of(const TempDir& folder, const std::string& text, std::size_t piece,
                     Waiting waiting = Waiting::yes) {
  const std::string path = folder.write("text.json", text);
  const auto source = open_source(path, {.waiting = waiting, .json_lines = true});
  std::string read;
  std::string buffer(piece, '\0');
  try {
    for (std::size_t count = 0; (count = source->read(buffer.data(), piece)) != 0;)
      read.append(buffer, 0, count);
  } catch (const Error& error) {
    return read + "! " + std::string(error.what()).substr(path.size() + 2);
  }
  return read;
}

// The same, each line as JSON again.
std::vector<Json> values_of(const std::string& lines) {
  std::vector<Json> values;
  std::istringstream stream(lines);
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of(' ') != line.npos) values.push_back(Json::parse(line));
  }
  return values;
}

// Any JSON, with strings that hold what could be taken for structure.
Json some_json(Random& random, int depth) {
  const std::string strings[] = {"", "a", "\"", "\\", "\\\"", "[{", "]}", ",", "ü\n", R"(\\")", ":"};
  const std::uint64_t kind = random.below(depth > 0 ? 6 : 4);
  if (kind == 0) return random.below(1000);
  if (kind == 1) return nullptr;
  if (kind < 4) return strings[random.below(std::size(strings))];
  Json value = kind == 4 ? Json::array() : Json::object();
  for (std::uint64_t i = random.below(5); i > 0; --i) {
    if (kind == 4)
      value.push_back(some_json(random, depth - 1));
    else
      value[strings[random.below(std::size(strings))] + std::to_string(i)] =
          some_json(random, depth - 1);
  }
  return value;
}

Json some_object(Random& random) {
  Json value = Json::object();
  value["a"] = some_json(random, 3);
  value["b"] = some_json(random, 2);
  return value;
}

RC_GTEST_PROP(JsonDocuments, OfAnyShapeAreTheSameWholeAndInPieces, (std::uint64_t seed)) {
  const TempDir folder;
  Random random(seed);
  Json array = Json::array();
  Json object = Json::object();
  std::string values;
  std::vector<Json> members;
  const int indent = random.below(2) == 0 ? -1 : 2;
  for (std::uint64_t i = 0, count = 2 + random.below(20); i < count; ++i) {
    array.push_back(some_object(random));
    const std::string key = std::to_string(10 + i) + (random.below(2) == 0 ? "\"]" : "");
    object[key] = array.back();
    values += array.back().dump(2) + "\n";
    members.push_back({{"key", key}, {"value", array.back()}});
  }
  for (const std::size_t piece : {std::size_t{1}, 1 + random.below(100), std::size_t{1} << 18}) {
    RC_ASSERT(values_of(lines_of(folder, array.dump(indent), piece)) == std::vector<Json>(array));
    RC_ASSERT(values_of(lines_of(folder, array.dump(indent), piece, Waiting::no)) ==
              std::vector<Json>(array));
    RC_ASSERT(values_of(lines_of(folder, values, piece)) == std::vector<Json>(array));
    RC_ASSERT(values_of(lines_of(folder, object.dump(indent), piece)) == members);
  }
}

TEST(JsonDocuments, OfColumnsBecomeRows) {
  const TempDir folder;
  const std::string rows = "{\"task\":1.50,\"label\":\"a, b\"}\n{\"task\":2,\"label\":null}\n";
  for (const char* text :
       {R"({"task": [1.50, 2], "label": ["a, b", null]})",
        R"({"task":{"0":1.50,"1":2},"label":{"0":"a, b","1":null}})",
        "{\"columns\":[\"task\",\"label\"],\n\"index\":[0,1],\"data\":[[1.50,\"a, b\"],[2,null]]}"}) {
    for (const std::size_t piece : {1U, 7U, 1000U})
      EXPECT_EQ(lines_of(folder, text, piece), rows) << text;
  }
  EXPECT_EQ(lines_of(folder, R"({"task": [1, 2], "label": ["a"]})", 100),
            "! element 2: the columns \"task\" and \"label\" are not of the same length");
  EXPECT_EQ(lines_of(folder, R"({"task":{"0":1},"label":{"1":1}})", 100),
            "! element 1: it is \"0\" in one column and \"1\" in another");
  EXPECT_EQ(lines_of(folder, R"({"columns":["a","b"],"data":[[1,2,3]]})", 100),
            "! element 1: it has not 2 values");
}

TEST(JsonDocuments, ThatAreJsonLinesAlreadyAreLeftAlone) {
  const TempDir folder;
  for (const std::string text :
       {"{\"task\":1,\"worker\":2}\n{\"task\":2}\n", "{\"task\":1}", "task,worker,label\n", "",
        "{\"data\":{\"task\":1},\"meta\":{\"worker\":1}}\n{\"data\":{\"task\":2}}\n",
        "{\"data\":{\"task\":1}}\n", "[task],[worker],[label]\n",
        "[\"a\",\"b\",\"c\"]\n[\"d\",\"e\",\"f\"]\n", "{\"task\": \n{\"task\":1}\n", "{\"a\":\"\n\"}\n",
        "{", "[", "\xEF\xBB\xBF{\"task\":1}\n"}) {
    for (const std::size_t piece : {1U, 100U}) EXPECT_EQ(lines_of(folder, text, piece), text);
  }
}

TEST(JsonDocuments, ThatAreBrokenSayWhichElementIs) {
  const TempDir folder;
  const std::pair<const char*, const char*> broken[] = {
      {R"([{"a":1},{"a":2})", "  element 2: the text ends within it: see byte 17"},
      {R"([{"a":1},{"a":"2)", " element 2: the text ends within it: see byte 17"},
      {"[{\"a\":1},", "element 2: the text ends within it: see byte 10"},
      {"[{\"a\":1},]", "element 2: it is no JSON object: see byte 10"},
      {"[{\"a\":1},2,{}]", "element 2: it is no JSON object: see byte 11"},
      {"[{\"a\":1}}", "element 1: a } that has no {: see byte 9"},
      {"[{\"a\":\"1\n\"}]", "element 1: a string goes over the end of a line: see byte 9"},
      {"[{\"a\":1}] \"\n", "more text behind the end of the JSON: see byte 11"},
      {"[{\"a\":1}] {}", "more text behind the end of the JSON: see byte 11"},
      {"{\"a\":{\n},\"b\":{]}", "lines"},
  };
  for (const auto& [text, message] : broken) {
    const std::string whole = lines_of(folder, text, 1000);
    const std::string_view wanted(message);
    if (wanted != "lines") {
      EXPECT_NE(whole.find("! " + std::string(wanted.substr(wanted.find_first_not_of(' ')))), whole.npos)
          << whole;
    }
    for (const std::size_t piece : {1U, 3U, 10U}) EXPECT_EQ(lines_of(folder, text, piece), whole);
  }
  EXPECT_EQ(lines_of(folder, "[]", 10), " \n");
}

TEST(JsonDocuments, AreReadAsLabels) {
  const TempDir folder;
  const std::vector<testing::LabelRow> rows = testing::big_crowd();
  Json array = Json::array();
  Json columns = {{"task", Json::array()}, {"worker", Json::array()}, {"label", Json::array()}};
  for (const testing::LabelRow& row : rows) {
    array.push_back({{"task", row.task}, {"worker", row.worker}, {"label", row.label}});
    columns["task"].push_back(row.task);
    columns["worker"].push_back(row.worker);
    columns["label"].push_back(row.label);
  }
  const Labels expected = testing::labels_of(rows);
  for (const std::string& text : {array.dump(), array.dump(1), columns.dump(), columns.dump(1)}) {
    ReadReport report;
    ASSERT_TRUE(testing::same_labels(
        read_labels(folder.write("rows.json", text), {}, testing::threads(2), &report), expected));
    EXPECT_EQ(report.format, "json");
  }
}

TEST(JsonDocuments, AreNotUnpackedWhereCsvIsMeant) {
  const TempDir folder;
  ReadOptions options;
  options.format = Format::csv;
  const std::string path = folder.write("a.csv", "[{task,worker,label\n1,u,a\n2,u,b\n");
  EXPECT_EQ(read_labels(path, options, {}).num_tasks(), 2U);
}

TEST(JsonDocuments, SayWhichElementIsNoRow) {
  const TempDir folder;
  std::string text = "[";
  for (int i = 0; i < 9999; ++i) text += R"({"task":1,"worker":2,"label":"a"},)";
  const auto error_of = [&](const std::string& last, std::size_t block) {
    ReadOptions options;
    options.block_bytes = block;
    const std::string path = folder.write("rows.json", text + last);
    return std::string(
               testing::error_of([&] { read_labels(path, options, testing::threads(2)); }).what())
        .substr(path.size() + 2);
  };
  for (const std::size_t block : {100U, 1U << 18}) {
    EXPECT_EQ(error_of("{\"task\":\"t\",\"label\":\"a\"}]", block),
              "element 10000: no worker: the field is empty");
    // The first thing that is wrong is told, whatever the size of blocks.
    EXPECT_EQ(error_of("{\"task\":\"t\",\"label\":\"a\"},5]", block),
              "element 10000: no worker: the field is empty");
    EXPECT_TRUE(
        error_of("{\"task\":\"t\"", block).starts_with("element 10000: the text ends within it"));
  }
}

}  // namespace
}  // namespace crowdfold
