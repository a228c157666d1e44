// A page of results: sections of text, tables and charts, as data. One writer makes a web page of it
// that needs nothing else, one makes Markdown. Not a Document (crowdfold/document.h): Markdown needs
// charts as files, and whoever checks a claim should not need Node.js.
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
