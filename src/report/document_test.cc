#include "crowdfold/document.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

using Json = nlohmann::json;

Document with(Block block) {
  Document document;
  document.title = "T";
  document.headline = "H";
  document.sections = {{"s", "S", {std::move(block)}}};
  return document;
}

Json block_of(Block block) {
  return Json::parse(to_json(with(std::move(block))))["sections"][0]["blocks"][0];
}

Table table_of(std::vector<Column> columns) {
  Table table;
  table.id = "t";
  table.columns = std::move(columns);
  return table;
}

TEST(Document, SaysWhatItIs) {
  const Json document = Json::parse(to_json(with(Prose{"words"})));
  EXPECT_EQ(document["schema"], "crowdfold/document");
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["sections"][0]["blocks"][0]["text"], "words");
}

TEST(Document, WritesNumbersThatParseBack) {
  Column column{"n", "N", Column::Format::number};
  column.numbers = {0.1 + 0.2, 3, std::nan(""), INFINITY, -1e300};
  const Json values = block_of(table_of({column}))["columns"][0]["values"];
  EXPECT_EQ(values[0].get<double>(), 0.1 + 0.2);
  EXPECT_TRUE(values[1].is_number_integer());
  EXPECT_TRUE(values[2].is_null());
  EXPECT_TRUE(values[3].is_null());
  EXPECT_EQ(values[4].get<double>(), -1e300);
}

TEST(Document, WritesRepeatedTextsOnce) {
  Column repeated{"r", "R"};
  repeated.texts = {"a", "b", "a", "a"};
  Column different{"d", "D"};
  different.texts = {"a", "b", "c", "d"};
  const Json columns = block_of(table_of({repeated, different}))["columns"];
  EXPECT_EQ(columns[0]["levels"], Json({"a", "b"}));
  EXPECT_EQ(columns[0]["values"], Json({0, 1, 0, 0}));
  EXPECT_EQ(columns[1]["values"], Json({"a", "b", "c", "d"}));
  EXPECT_FALSE(columns[1].contains("levels"));
}

TEST(Document, RefusesColumnsOfDifferentLength) {
  Column a{"a", "A"};
  a.texts = {"x"};
  Column b{"b", "B"};
  EXPECT_THROW(to_json(with(table_of({a, b}))), Error);
}

TEST(Document, MakesBadBytesReadable) {
  EXPECT_EQ(block_of(Prose{"a\xff z"})["text"], "a\xEF\xBF\xBD z");
}

TEST(Document, LeavesOutWhatIsNotThere) {
  Chart chart;
  chart.id = "c";
  Column x{"x", "X", Column::Format::number};
  chart.columns = {x};
  const Json block = block_of(chart);
  for (const char* name : {"x", "y", "value", "references", "tones", "left_out"})
    EXPECT_FALSE(block.contains(name));
}

TEST(Page, HoldsTheDocumentAndNoTagOfIt) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const std::string json = to_json(with(Prose{"</script><script>alert(1)</script><!-- &"}));
  const std::string page = to_html(json);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  const std::string begin = "id=\"document\">";
  const std::size_t from = page.find(begin) + begin.size();
  EXPECT_EQ(Json::parse(page.substr(from, page.find("</script>", from) - from)), Json::parse(json));
}

TEST(Page, LoadsNothing) {
  if (!has_page()) GTEST_SKIP() << "built without the page";
  const std::string page = to_html(to_json(with(Prose{""})));
  for (const char* loading :
       {"<link rel=\"stylesheet\"", "src=\"http", "href=\"http", "<script src", "@import"})
    EXPECT_EQ(page.find(loading), std::string::npos) << loading;
}

}  // namespace
}  // namespace crowdfold
