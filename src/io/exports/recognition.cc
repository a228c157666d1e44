// Which export an input is, and its way into ImportedRows.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "io/exports/export_format.h"
#include "io/exports/formats.h"
#include "io/table_format.h"

namespace crowdfold {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFirstGlimpse = 1 << 16;
constexpr std::size_t kMostGlimpse = 1 << 20;
constexpr std::size_t kMostGlimpsedNames = 10'000;
constexpr std::size_t kMostFilesTried = 20;  // of a folder

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
  for (std::size_t i = 0; record.ok() && i < record.num_fields(); ++i)
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

// A folder's files, also in folders inside it, in order; a file is itself.
std::vector<std::string> files_at(const std::string& path) {
  std::error_code ignored;
  if (path == "-" || !fs::is_directory(path, ignored)) return {path};
  std::vector<std::string> files;
  for (fs::recursive_directory_iterator at(path, ignored), end; at != end; at.increment(ignored)) {
    const bool hidden = at->path().filename().string().starts_with(".");
    if (at->is_regular_file(ignored) && !hidden) files.push_back(at->path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

const ExportFormat* recognise_file(const std::string& path, const ReadOptions& options) {
  const ExportGlimpse glimpse = export_glimpse(path, options);
  const ExportFormat* forced = nullptr;
  for (const ExportFormat& format : all_export_formats()) {
    if (!options.platform.empty() && format.info.name != options.platform) continue;
    if (glimpse.kind != ExportGlimpse::Kind::none && format.recognises(glimpse)) return &format;
    if (!options.platform.empty() && forced == nullptr) forced = &format;
  }
  return forced;
}

// Whether the caller says that it is a table.
bool is_said_to_be_table(const ReadOptions& options) {
  return options.platform.empty() &&
         (options.format != Format::automatic || options.header == Header::no ||
          !options.columns.empty() || options.wide || !options.wide_workers.empty() ||
          options.skip_lines > 0);
}

}  // namespace

std::unique_ptr<ByteSource> open_export(const std::string& path, const ReadOptions& options) {
  return open_source(path, {.cancelled = options.cancelled, .encoding = options.encoding});
}

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

ExportGlimpse export_glimpse(const std::string& path, std::string start, const ReadOptions& options) {
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

ExportGlimpse export_glimpse(const std::string& path, const ReadOptions& options) {
  ExportGlimpse glimpse;
  if (!is_rereadable(path)) return glimpse;
  try {
    const auto source = open_export(path, options);
    std::string start;
    bool ended = false;
    for (std::size_t wanted = kFirstGlimpse; !ended && !glimpse.complete && wanted <= kMostGlimpse;
         wanted *= 4) {
      while (!ended && start.size() < wanted) {
        const std::size_t had = start.size();
        start.resize(wanted);
        const std::size_t count = source->read(start.data() + had, wanted - had);
        start.resize(had + count);
        ended = count == 0;
      }
      glimpse = export_glimpse(path, start, options);
    }
  } catch (const Error& error) {
    if (error.code() == ErrorCode::interrupted) throw;
    return {};  // the reader says what is wrong
  }
  return glimpse;
}

const ExportFormat* recognise_export(const std::string& path, const ReadOptions& options) {
  if (is_said_to_be_table(options)) return nullptr;
  const std::vector<ExportFormat>& formats = all_export_formats();
  if (!options.platform.empty() && std::none_of(formats.begin(), formats.end(), [&](const auto& format) {
        return format.info.name == options.platform;
      })) {
    throw Error(ErrorCode::usage,
                fmt::format("no format '{}'; there are: {}", options.platform, names_of_formats()));
  }
  std::vector<std::string> files = files_at(path);
  files.resize(std::min(files.size(), kMostFilesTried));
  for (const std::string& file : files) {
    if (const ExportFormat* const format = recognise_file(file, options)) return format;
  }
  return nullptr;
}

void require_no_export(const std::string& path, std::string_view start, const ReadOptions& options) {
  if (is_said_to_be_table(options)) return;
  const ExportGlimpse glimpse = export_glimpse(path, std::string(start), options);
  std::string_view name_before;
  for (const ExportFormat& format : all_export_formats()) {
    // Of formats that share a name, the name means the first where the input cannot be looked at.
    const bool means_it = format.info.name != std::exchange(name_before, format.info.name);
    if (glimpse.kind == ExportGlimpse::Kind::none || !format.recognises(glimpse)) continue;
    throw Error(ErrorCode::usage, Location{display_name(path), 0, 0},
                fmt::format("this looks like an export, {}: give it as a file{}", format.info.title,
                            means_it ? ", or name it with --format " + format.info.name : ""));
  }
}

std::vector<ExportInfo> export_formats() {
  std::vector<ExportInfo> infos;
  for (const ExportFormat& format : all_export_formats()) infos.push_back(format.info);
  return infos;
}

bool is_export(const std::string& path, const ReadOptions& options) {
  return recognise_export(path, options) != nullptr;
}

ImportedLabels import_labels(const std::vector<std::string>& paths, const ReadOptions& options,
                             const RunContext& context) {
  const auto is_of_platform = [&](const std::string& path) { return is_export(path, options); };
  if (std::none_of(paths.begin(), paths.end(), is_of_platform)) {
    ImportedLabels table;
    std::vector<ReadReport> reports;
    table.labels = read_labels(paths, options, context, &reports);
    table.report = std::move(reports.back());
    if (paths.size() > 1) table.report.source = count_noun(paths.size(), "file");
    return table;
  }
  ImportedRows rows(options, context);
  const ExportFormat* first = nullptr;
  for (const std::string& path : paths) {
    const std::vector<std::string> files = files_at(path);
    for (const std::string& file : files) {
      const ExportFormat* const format =
          is_said_to_be_table(options) ? nullptr : recognise_file(file, options);
      if (format == nullptr && files.size() > 1) {
        rows.leave_out("file of another kind");
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
      format->read({file, options, context}, rows);
    }
  }
  if (first == nullptr)
    throw Error(ErrorCode::data, Location{display_name(paths[0]), 0, 0}, "no export is in this folder");
  return rows.finish(first->info,
                     paths.size() == 1 ? display_name(paths[0]) : count_noun(paths.size(), "file"),
                     options.duplicates);
}

}  // namespace crowdfold
