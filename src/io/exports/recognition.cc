// Which export an input is, and its way into ImportedRows.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "io/exports/export_format.h"
#include "io/exports/formats.h"
#include "io/label_notes.h"
#include "io/label_reader.h"
#include "io/packed/read_packed.h"
#include "io/table_format.h"

namespace crowdfold {
namespace {

constexpr std::size_t kFirstGlimpse = 1 << 16;
constexpr std::size_t kMostGlimpsedNames = 10'000;
constexpr std::size_t kMostFilesTried = 20;  // of a folder
constexpr std::string_view kOtherFile = "file of another kind";

// Collects the keys at the beginning of a JSON text, which may be cut anywhere.
class KeyScanner {
 public:
  KeyScanner(std::string_view text, ExportGlimpse& glimpse) : text_(text), glimpse_(glimpse) {
    element_depth_ = glimpse.kind == ExportGlimpse::Kind::json_array ? 2 : 1;
  }

  // False if the first element does not end in the text.
  bool run() {
    for (; at_ < text_.size() && glimpse_.names.size() < kMostGlimpsedNames; ++at_) {
      const char c = text_[at_];
      if (c == '{' || c == '[') {
        open(c);
      } else if (c == '}' || c == ']') {
        if (!close()) return true;
      } else if (c == ',') {
        at_key_ = !around_.empty() && around_.back() == '{';
      } else if (c == '"') {
        if (!take_string()) return false;
      } else if (in_inner() && std::isalpha(static_cast<unsigned char>(c)) != 0 && c != 'e' &&
                 c != 'E') {
        glimpse_.inner_numbers = false;  // true, false, null
      }
    }
    return false;
  }

 private:
  bool in_inner() const { return inner_ && around_.size() == element_depth_ + 1; }

  void open(char bracket) {
    if (in_inner()) glimpse_.inner_numbers = false;
    if (bracket == '[' && around_.size() == element_depth_ && !glimpse_.names.empty())
      glimpse_.lists.push_back(glimpse_.names.back());
    around_.push_back(bracket);
    at_key_ = bracket == '{';
    if (bracket == '{' && around_.size() == element_depth_ + 1 && !inner_done_) {
      inner_ = true;
      glimpse_.inner_numbers = true;
    }
  }

  // False behind the first element.
  bool close() {
    if (in_inner()) {
      inner_ = false;
      inner_done_ = true;
    }
    if (!around_.empty()) around_.pop_back();
    at_key_ = false;
    return around_.size() >= element_depth_;
  }

  // False if it is cut.
  bool take_string() {
    std::size_t end = at_ + 1;
    while (end < text_.size() && text_[end] != '"') end += text_[end] == '\\' ? 2 : 1;
    if (end >= text_.size()) return false;
    const std::string_view string = text_.substr(at_ + 1, end - at_ - 1);
    if (at_key_ && around_.size() == element_depth_) glimpse_.names.emplace_back(string);
    if (at_key_ && in_inner()) glimpse_.inner_names.emplace_back(string);
    if (!at_key_ && in_inner()) glimpse_.inner_numbers = false;
    at_key_ = false;
    at_ = end;
    return true;
  }

  std::string_view text_;
  ExportGlimpse& glimpse_;
  std::size_t at_ = 0;
  std::size_t element_depth_ = 1;
  std::string around_;  // brackets
  bool at_key_ = false;
  bool inner_ = false;
  bool inner_done_ = false;
};

std::vector<std::string> header_of(std::string_view text, char separator) {
  CsvRecord record;
  std::size_t end = 0;
  do {
    end = record.parse(text, end, separator);
  } while (record.ok() && record.blank() && end < text.size());
  std::vector<std::string> names;
  for (std::size_t i = 0; record.ok() && i < std::min(record.num_fields(), kMostColumns); ++i)
    names.emplace_back(record.field(i));
  return names;
}

std::string names_of_formats() {
  std::vector<std::string> names;
  for (const ExportFormat& format : all_export_formats()) {
    if (names.empty() || names.back() != format.info.name) names.push_back(format.info.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// Whether the caller says that it is a table.
bool is_said_to_be_table(const ReadOptions& options) {
  return options.platform.empty() &&
         (options.format != Format::automatic || options.header == Header::no ||
          !options.columns.empty() || options.wide || !options.wide_workers.empty() ||
          options.skip_lines > 0);
}

ExportGlimpse glimpse_of_text(const std::string& path, std::string start, const ReadOptions& options) {
  ExportGlimpse glimpse;
  glimpse.path = path;
  glimpse.start = std::move(start);
  std::string_view text = glimpse.start;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return glimpse;
  text.remove_prefix(first);
  if (text[0] == '[' || text[0] == '{') {
    glimpse.kind = text[0] == '[' ? ExportGlimpse::Kind::json_array : ExportGlimpse::Kind::json_object;
    glimpse.complete = KeyScanner(text, glimpse).run();
  } else if (text[0] == '<') {
    glimpse.kind = ExportGlimpse::Kind::xml;
    glimpse.complete = true;
  } else {
    glimpse.kind = ExportGlimpse::Kind::table;
    glimpse.complete = FirstRecord(path, options).is_in(text);
    glimpse.names = header_of(text, TableFormat(text, path, options).separator());
  }
  return glimpse;
}

ExportGlimpse glimpse_of(ByteSource& source, const std::string& path, const ReadOptions& options) {
  for (std::size_t wanted = kFirstGlimpse;; wanted *= 4) {
    const std::string_view start = source.peek(wanted);
    ExportGlimpse glimpse = glimpse_of_text(path, std::string(start), options);
    if (glimpse.complete || start.size() < wanted || wanted >= kMostPeeked) return glimpse;
  }
}

// Empty, and kind none, where nothing can be read. A pipe is looked at if it may be opened.
ExportGlimpse glimpse_of(const std::string& path, const ReadOptions& options, OpenedPipes* pipes) {
  try {
    if (is_rereadable(path)) return glimpse_of(*open_text(path, options), path, options);
    if (pipes != nullptr) return glimpse_of(pipes->look(path, options), path, options);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;  // else the reader says what is wrong
  }
  return {};
}

const ExportFormat* recognise_file(const std::string& path, const ReadOptions& options,
                                   OpenedPipes* pipes) {
  const ExportGlimpse glimpse = glimpse_of(path, options, pipes);
  const ExportFormat* forced = nullptr;
  for (const ExportFormat& format : all_export_formats()) {
    if (!options.platform.empty() && format.info.name != options.platform) continue;
    if (glimpse.kind != ExportGlimpse::Kind::none && format.recognises(glimpse)) return &format;
    if (!options.platform.empty() && forced == nullptr) forced = &format;
  }
  return forced;
}

bool is_export(const std::string& path, const ReadOptions& options, OpenedPipes* pipes) {
  if (is_said_to_be_table(options)) return false;
  std::vector<std::string> files = expand_inputs({path});
  files.resize(std::min(files.size(), kMostFilesTried));
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    return recognise_file(file, options, pipes) != nullptr;
  });
}

void require_platform(const ReadOptions& options) {
  const std::vector<ExportFormat>& formats = all_export_formats();
  const bool exists = std::any_of(formats.begin(), formats.end(), [&](const ExportFormat& format) {
    return format.info.name == options.platform;
  });
  if (exists || options.platform.empty()) return;
  throw Error(ErrorCode::usage,
              fmt::format("no format '{}'; there are: {}", options.platform, names_of_formats()));
}

}  // namespace

bool ExportGlimpse::has(std::string_view name) const {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool ExportGlimpse::has_all(std::initializer_list<std::string_view> wanted) const {
  return std::all_of(wanted.begin(), wanted.end(), [&](std::string_view name) { return has(name); });
}
bool ExportGlimpse::has_prefix(std::string_view prefix) const {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.starts_with(prefix); });
}
bool ExportGlimpse::has_suffix(std::string_view suffix) const {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.ends_with(suffix); });
}
bool ExportGlimpse::has_list(std::string_view name) const {
  return std::find(lists.begin(), lists.end(), name) != lists.end();
}
bool ExportGlimpse::has_inner(std::string_view name) const {
  return std::find(inner_names.begin(), inner_names.end(), name) != inner_names.end();
}

std::vector<ExportInfo> export_formats() {
  std::vector<ExportInfo> infos;
  for (const ExportFormat& format : all_export_formats()) infos.push_back(format.info);
  return infos;
}

bool is_export(const std::string& path, const ReadOptions& options) {
  require_platform(options);
  return is_export(path, options, nullptr);
}

bool holds_exports(const std::vector<std::string>& paths, const ReadOptions& options,
                   OpenedPipes& pipes) {
  require_platform(options);
  return std::any_of(paths.begin(), paths.end(),
                     [&](const std::string& path) { return is_export(path, options, &pipes); });
}

ImportedLabels import_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                             const RunContext& context) {
  const ReadOptions bounded = within(context, options);
  if (any_packed(paths)) {
    ImportedLabels packed;
    std::vector<ReadReport> reports;
    packed.labels = read_packed(paths, bounded, context, &reports);
    packed.report = std::move(reports.back());
    return packed;
  }
  OpenedPipes pipes;
  if (holds_exports(paths, bounded, pipes))
    return import_exports(paths, bounded, context, std::move(pipes));
  ImportedLabels table;
  std::vector<ReadReport> reports;
  table.labels = read_tables(paths, options, context, std::move(pipes), &reports);
  table.report = std::move(reports.back());
  if (paths.size() > 1) table.report.source = count_noun(paths.size(), "file");
  return table;
}

ImportedLabels import_exports(const std::vector<std::string>& paths, const ReadOptions& options,
                              const RunContext& context, OpenedPipes pipes) {
  ImportedRows rows(options, context);
  const ExportFormat* first = nullptr;
  for (const std::string& path : paths) {
    std::vector<std::string> others;
    const std::vector<std::string> files = expand_inputs({path}, &others);
    rows.leave_out(kOtherFile, others.size());
    for (const std::string& file : files) {
      const ExportFormat* const format = recognise_file(file, options, &pipes);
      if (format == nullptr && files.size() > 1) {
        rows.leave_out(kOtherFile);
        continue;
      }
      if (format == nullptr || (first != nullptr && format->info.name != first->info.name)) {
        throw Error(ErrorCode::usage, Location{display_name(file), 0, 0},
                    first == nullptr
                        ? "a table cannot be read together with other files"
                        : fmt::format("not an export of {}, as the files before it", first->info.title));
      }
      if (first == nullptr) first = format;
      if (format->refusal != nullptr)
        throw Error(ErrorCode::data, Location{display_name(file), 0, 0}, format->refusal);
      ExportInput input{file, options, context, pipes.take(file)};
      if (input.source == nullptr) input.source = open_text(file, options);
      format->read(input, rows);
    }
  }
  if (first == nullptr)
    throw Error(ErrorCode::data, Location{display_name(paths[0]), 0, 0}, "no export is in this folder");
  ImportedLabels imported = rows.finish(
      first->info, paths.size() == 1 ? display_name(paths[0]) : count_noun(paths.size(), "file"),
      options.duplicates);
  LabelTotals totals = totals_of(imported.report.source, imported.labels);
  totals.has_columns = false;
  append_notes(
      imported.report.notes, totals, [&] { return class_counts(imported.labels); },
      rows.unmet_abstentions(), options);
  return imported;
}

}  // namespace crowdfold
