// Documents as pages: the web application of web/, built into this library, with the document inside.
#include <string_view>

#include "crowdfold/document.h"
#include "crowdfold/error.h"
#include "io/output.h"
#include "report/page_text.h"

namespace crowdfold {
namespace {

// The place in the page for its document.
constexpr std::string_view kPlace = "\"crowdfold document\"";

// Inside <script> no text may look like a tag, so these characters are written as JSON escapes.
std::string without_tags(const std::string& json) {
  std::string text;
  text.reserve(json.size() + json.size() / 16);
  for (const char c : json) {
    switch (c) {
      case '<': text += "\\u003c"; break;
      case '>': text += "\\u003e"; break;
      case '&': text += "\\u0026"; break;
      default: text += c;
    }
  }
  return text;
}

std::string_view uncompressed_path(std::string_view path) {
  return path.substr(0, path.size() - compression_ending(path).size());
}

bool is_json(std::string_view path) { return uncompressed_path(path).ends_with(".json"); }

[[noreturn]] void throw_without_page() {
  throw Error(ErrorCode::usage,
              "reports are off: this build was made without the page, for want of Node.js; install "
              "Node.js 20.19 or "
              "newer with npm and run 'make build' again, or write the data alone (-o report.json)");
}

}  // namespace

bool has_page() { return !page_text().empty(); }

std::string to_html(const std::string& json) {
  if (!has_page()) throw_without_page();
  const std::string_view page = page_text();
  const std::size_t place = page.find(kPlace);
  if (place == std::string_view::npos)
    throw Error(ErrorCode::internal, "the page has no place for a document");
  std::string html;
  html.reserve(page.size() + json.size() + json.size() / 16);
  html += page.substr(0, place);
  html += without_tags(json);
  html += page.substr(place + kPlace.size());
  return html;
}

void require_page_for(const std::string& path) {
  for (const char* const other : {".csv", ".tsv", ".jsonl", ".ndjson", ".pdf", ".docx", ".xlsx"}) {
    if (!uncompressed_path(path).ends_with(other)) continue;
    throw Error(ErrorCode::usage, Location{path, 0, 0},
                "a report is a page, .html, or its data, .json; tables come from `crowdfold aggregate`");
  }
  if (!is_json(path) && !has_page()) throw_without_page();
}

void write_document(const std::string& path, const Document& document, const WriteOptions& options) {
  const std::string json = to_json(document);
  const std::string text = is_json(path) ? json + "\n" : to_html(json);
  OutputFile file(path, OutputFile::When::at_the_end, options.cancelled);
  file.write(text);
  file.commit();
}

}  // namespace crowdfold
