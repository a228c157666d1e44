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
// Empty, and kind none, where nothing can be read twice.
ExportGlimpse export_glimpse(const std::string& path, const ReadOptions& options);
// The same of bytes.
ExportGlimpse export_glimpse(const std::string& path, std::string start, const ReadOptions& options);

// The text of an export, unpacked.
std::unique_ptr<ByteSource> open_export(const std::string& path, const ReadOptions& options);

struct ExportInput {
  const std::string& path;
  const ReadOptions& options;
  const RunContext& context;
};

struct ExportFormat {
  ExportInfo info;
  bool (*recognises)(const ExportGlimpse& glimpse);
  void (*read)(const ExportInput& input, ImportedRows& rows) = nullptr;
  const char* refusal = nullptr;  // instead: why it cannot be read, and what to do
};

const std::vector<ExportFormat>& all_export_formats();
// Error(usage) if an input that cannot be read twice begins as an export, and nobody said which.
void require_no_export(const std::string& path, std::string_view start, const ReadOptions& options);

// Null if it is a table, or nothing that we know. Error(usage) for a platform that does not exist.
const ExportFormat* recognise_export(const std::string& path, const ReadOptions& options);

}  // namespace crowdfold
