// An export format: how it is recognised and how it is read. Formats are listed in formats.h and
// recognition.cc; each is one file that only translates, and says what it finds to ImportedRows.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/exports.h"
#include "io/byte_source.h"
#include "io/exports/imported_rows.h"

namespace crowdfold {

// The beginning of an input.
struct ExportGlimpse {
  enum class Kind { none, table, json_array, json_object, xml };

  std::string path;
  std::string start;  // at most a megabyte, decompressed
  Kind kind = Kind::none;
  // Of a table: its header. Of JSON: the keys of the first element, or of the object.
  std::vector<std::string> names;
  // Of JSON: the keys of the first object that is a value of that element, and what else it holds.
  std::vector<std::string> inner_names;
  bool inner_numbers = false;  // all values of that object are numbers
  bool complete = false;       // the start holds the header, or the first element, as a whole
  // Of JSON: those of `names` whose values are arrays.
  std::vector<std::string> lists;

  bool is_json() const { return kind == Kind::json_array || kind == Kind::json_object; }
  bool has(std::string_view name) const;
  bool has_all(std::initializer_list<std::string_view> wanted) const;
  bool has_prefix(std::string_view prefix) const;
  bool has_suffix(std::string_view suffix) const;
  bool has_inner(std::string_view name) const;
  bool has_list(std::string_view name) const;
};

struct ExportInput {
  const std::string& path;
  const ReadOptions& options;
  const RunContext& context;
  std::unique_ptr<ByteSource> source;  // the text, unpacked, for the reader to take
};

struct ExportFormat {
  ExportInfo info;
  bool (*recognises)(const ExportGlimpse& glimpse);
  void (*read)(ExportInput& input, ImportedRows& rows) = nullptr;
  const char* refusal = nullptr;  // instead: why it cannot be read, and what to do
};

const std::vector<ExportFormat>& all_export_formats();

// Whether some of these inputs are exports, pipes among them too: is_export() would open those a second
// time. Error(usage) for a platform that does not exist.
bool holds_exports(const std::vector<std::string>& paths, const ReadOptions& options,
                   OpenedPipes& pipes);
// The labels of inputs; some of these are exports.
ImportedLabels import_exports(const std::vector<std::string>& paths, const ReadOptions& options,
                              const RunContext& context, OpenedPipes pipes);

}  // namespace crowdfold
