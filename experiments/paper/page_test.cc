#include "page.h"

#include <gtest/gtest.h>

#include "chart.h"

namespace crowdfold::paper {
namespace {

int count_of(const std::string& text, const std::string& part) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size()) ++count;
  return count;
}

TEST(Page, KeepsTextThatLooksLikeMarkupAsText) {
  const Section section{"one", "<script>", {std::string("a < b & c"), PageTable{"t", {"h"}, {{"<i>"}}}}};
  const std::string html = to_html("x", {section});
  EXPECT_EQ(html.find("<script>"), std::string::npos);
  EXPECT_NE(html.find("a &lt; b &amp; c"), std::string::npos);
  EXPECT_NE(html.find("<td>&lt;i&gt;</td>"), std::string::npos);
}

TEST(Page, IsMarkdownToo) {
  const Section section{
      "one",
      "One",
      {PageTable{"Caption.", {"a", "b"}, {{"x", "1"}}}, PageChart{"c", "A chart.", "<svg/>"},
       PageChart{"d", "Small.", "<svg/>", true}}};
  EXPECT_EQ(to_markdown(section, "img/r_"),
            "Caption.\n\n| a | b |\n|---|--:|\n| x | 1 |\n\n![A chart.](img/r_c.svg)\n");
}

TEST(Chart, HasAMarkForEveryLineAndDot) {
  Chart chart("Title", {"x", 0, 10}, {"y", 0, 1});
  chart.line({{0, 0}, {10, 1}}, {"#123456", 1, 1, "rising"});
  chart.line({{0, 1}, {10, 0}}, {});
  chart.dot({5, .5}, "#123456", true, "middle");
  const std::string svg = chart.svg();
  EXPECT_EQ(count_of(svg, "<path"), 2);
  EXPECT_EQ(count_of(svg, "<circle"), 1);
  EXPECT_NE(svg.find(">rising<"), std::string::npos);
  EXPECT_NE(svg.find(">middle<"), std::string::npos);
  EXPECT_NE(svg.find("<title>Title</title>"), std::string::npos);
  // The first line begins at the lower left corner of the plot: y grows upwards.
  EXPECT_NE(svg.find("M58.0 358.0L744.0 46.0"), std::string::npos) << svg;
}

TEST(HeatMap, HasACellForEveryValue) {
  const std::string svg =
      heat_map("m", "alpha", {"1", "2"}, "beta", {"1", "2", "3"}, {{.1, .2, .3}, {.4, .5, 1}});
  EXPECT_EQ(count_of(svg, "<rect"), 6);
  EXPECT_NE(svg.find(">.1000<"), std::string::npos);
  EXPECT_NE(svg.find(">1.0000<"), std::string::npos);
}

}  // namespace
}  // namespace crowdfold::paper
