// Document: sections of text, tables and charts, for people. It is written as JSON (docs/report.md,
// web/document.schema.json) or as one HTML page that needs nothing else. Plain values; functions are
// pure and safe to call from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "crowdfold/io.h"

namespace crowdfold {

inline constexpr int kDocumentVersion = 1;

// The meaning of a series or a category; pages choose colours by it.
enum class Tone { plain, accent, good, warning, bad, muted };
using Tones = std::map<std::string, Tone>;

// One column of a table. `format` decides which of `texts`, `numbers` (NaN: missing) and `intervals` is
// filled.
struct Column {
  enum class Format { text, integer, number, percent, signed_number, interval };
  struct Triple {
    double lower = 0;
    double value = 0;
    double upper = 0;
  };

  std::string name;   // for programs; in a chart: the role
  std::string title;  // for people
  Format format = Format::text;
  std::vector<std::string> texts = {};
  std::vector<double> numbers = {};
  std::vector<Triple> intervals = {};
  Tones tones = {};  // by text

  std::size_t size() const;
};

// Rows that belong to the rows of another table: row i has rows offsets[i] up to offsets[i + 1],
// exclusive.
struct Details {
  std::string title;
  std::vector<std::uint64_t> offsets;
  std::vector<Column> columns;
};

// The number of rows missing from a table, and where to find them.
struct LeftOut {
  std::uint64_t rows = 0;
  std::string where;
};

struct Table {
  std::string id;
  std::string title;
  std::string description;
  std::vector<Column> columns;
  std::string sorted_by = {};  // a column's name; empty: rows stay in their order
  bool descending = false;
  std::optional<Details> details = {};
  LeftOut left_out = {};
  std::string copied = {};  // the column that people may copy, a value per line
};

// A straight reference line: at `value` of an axis, or the diagonal.
struct Reference {
  enum class Axis { x, y, diagonal };
  Axis axis = Axis::y;
  double value = 0;
  std::string label = {};
};

// A table and how to draw it. The names of its columns are roles:
//   bars       y (text), x; series
//   dots       y (text), x; series
//   histogram  lower, upper, count; series (stacked)
//   lines      x, y; series, lower and upper (a band), facet
//   scatter    x, y; label, series, size, facet
//   heatmap    x (text), y (text), value; facet
//   intervals  x, y, lower, upper; label, series
// Roles after the semicolon are optional.
struct Chart {
  enum class Kind { bars, dots, histogram, lines, scatter, heatmap, intervals };
  struct Scale {
    bool logarithmic = false;
    std::optional<std::pair<double, double>> domain = {};
  };

  std::string id;
  std::string title;
  std::string description;  // the content of the drawing, also for screen readers
  Kind kind = Kind::bars;
  std::vector<Column> columns;
  Scale x = {};
  Scale y = {};
  Scale value = {};  // colours of a heatmap
  std::vector<Reference> references = {};
  Tones tones = {};  // by series
  LeftOut left_out = {};
};

struct Prose {
  std::string text;
};

// Numbers to remember.
struct Facts {
  struct Fact {
    std::string value;
    std::string label;
    std::string note = {};
  };
  std::vector<Fact> facts;
};

// Things to do next, the most urgent first.
struct Advice {
  struct Item {
    Tone tone = Tone::plain;
    std::string text;
    std::string section = {};  // where to look: a section's id
  };
  std::vector<Item> items;
};

using Block = std::variant<Prose, Facts, Advice, Table, Chart>;

struct Section {
  std::string id;
  std::string title;
  std::vector<Block> blocks;
};

struct Document {
  std::string title;
  std::string headline;  // the main result, in one sentence
  std::string subtitle = {};
  std::vector<Section> sections;
  std::string footnote = {};
};

// Bytes that are not UTF-8 are replaced. Error(internal) if a table's columns differ in length.
std::string to_json(const Document& document);

// The page with a document inside: one file that loads nothing else. `json` comes from to_json().
// Error(usage), which says what to do, if this library was built without the page.
std::string to_html(const std::string& json);
bool has_page();

// Writes JSON if `path` ends in .json, a page otherwise; "-" is standard output. Whole or not at all.
void write_document(const std::string& path, const Document& document, const WriteOptions& options = {});
// Throws the Error(usage) with which write_document() would end, before the work is done.
void require_page_for(const std::string& path);

}  // namespace crowdfold
