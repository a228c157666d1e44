#include "page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace crowdfold::paper {
namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h2 { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: 1rem; }
nav a { margin-right: 1rem; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
tbody tr:hover { background: var(--soft); }
figure { margin: 1.5rem 0; }
figure svg { max-width: 100%; height: auto; }
.small { display: inline-block; width: 19rem; margin: .3rem; vertical-align: top; }
)css";

std::string html_table(const PageTable& table) {
  const auto cells = [](const std::vector<std::string>& row, const char* tag) {
    std::string text;
    for (const std::string& cell : row) text += fmt::format("<{0}>{1}</{0}>", tag, escaped(cell));
    return text;
  };
  // The caption is above the scrolling box, so that a phone shows all of it.
  std::string text = fmt::format(
      "<p>{0}</p>\n<div class=\"wide\"><table "
      "aria-label=\"{0}\">\n<thead><tr>{1}</tr></thead>\n<tbody>\n",
      escaped(table.caption), cells(table.header, "th"));
  for (const auto& row : table.rows) text += fmt::format("<tr>{}</tr>\n", cells(row, "td"));
  return text + "</tbody></table></div>\n";
}

struct HtmlBlock {
  std::string operator()(const std::string& paragraph) const {
    return fmt::format("<p>{}</p>\n", escaped(paragraph));
  }
  std::string operator()(const PageTable& table) const { return html_table(table); }
  std::string operator()(const PageChart& chart) const {
    return fmt::format("<figure{}>{}<figcaption>{}</figcaption></figure>\n",
                       chart.small ? " class=\"small\"" : "", chart.svg, escaped(chart.caption));
  }
};

struct MarkdownBlock {
  const std::string& charts;

  std::string operator()(const std::string& paragraph) const { return paragraph + "\n\n"; }
  std::string operator()(const PageTable& table) const {
    std::string text = table.caption + "\n\n";
    text += fmt::format("| {} |\n|", fmt::join(table.header, " | "));
    for (std::size_t i = 0; i < table.header.size(); ++i) text += i == 0 ? "---|" : "--:|";
    for (const auto& row : table.rows) text += fmt::format("\n| {} |", fmt::join(row, " | "));
    return text + "\n\n";
  }
  std::string operator()(const PageChart& chart) const {
    if (chart.small) return "";
    return fmt::format("![{}]({}{}.svg)\n\n", chart.caption, charts, chart.name);
  }
};

}  // namespace

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&': safe += "&amp;"; break;
      case '<': safe += "&lt;"; break;
      case '>': safe += "&gt;"; break;
      case '"': safe += "&quot;"; break;
      default: safe += c;
    }
  }
  return safe;
}

std::string to_html(const std::string& title, const std::vector<Section>& sections) {
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<nav>",
      escaped(title), kStyle);
  for (const Section& section : sections)
    text += fmt::format("<a href=\"#{}\">{}</a>\n", section.name, escaped(section.name));
  text += "</nav>\n";
  for (const Section& section : sections) {
    text += fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.name, escaped(section.title));
    for (const Block& block : section.blocks) text += std::visit(HtmlBlock{}, block);
    text += "</section>\n";
  }
  return text + "</body>\n</html>\n";
}

std::string to_markdown(const Section& section, const std::string& charts) {
  std::string text;
  for (const Block& block : section.blocks) text += std::visit(MarkdownBlock{charts}, block);
  text.erase(text.find_last_not_of('\n') + 1);
  return text + "\n";
}

}  // namespace crowdfold::paper
