// A page of results: sections of text, tables and charts, as data. One writer turns it into a web page
// that needs nothing else, another into Markdown.
//
// Why this is not a Document (crowdfold/document.h) with another writer: charts of a Document are data
// that the page of web/ draws in a browser, and that page is built with Node.js. docs/reproduction.md
// needs charts as SVG files beside it, and people who check a claim of the paper should need a C++
// compiler only. So the drawing in chart.h stays apart.
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace crowdfold::paper {

struct PageTable {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
};

struct PageChart {
  std::string name;  // of the file that Markdown refers to, without .svg
  std::string caption;
  std::string svg;
  bool small = false;  // one of many: side by side on the web page, left out of Markdown
};

using Block = std::variant<std::string, PageTable, PageChart>;  // a string is a paragraph

struct Section {
  std::string name;  // "offline"
  std::string title;
  std::vector<Block> blocks;
};

// Characters that mean something to HTML and SVG, escaped.
std::string escaped(const std::string& text);

std::string to_html(const std::string& title, const std::vector<Section>& sections);
// Without the title. Charts are at `charts`NAME.svg.
std::string to_markdown(const Section& section, const std::string& charts);

}  // namespace crowdfold::paper
