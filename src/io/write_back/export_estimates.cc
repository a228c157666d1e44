// Estimates as platforms take them, one record for each task.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "crowdfold/write_back.h"
#include "io/records.h"

namespace crowdfold {
namespace {

// A task with its estimate.
struct Suggestion {
  std::string_view task;
  std::string_view label;
  std::optional<double> confidence;
};

// Whether a name is a whole number, as platforms' ids are.
bool is_whole_number(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

void append_id(std::string& to, std::string_view task) {
  is_whole_number(task) ? void(to += task) : append_json(to, task);
}

// ,"key":number, where there is one.
void append_score(std::string& to, std::string_view key, const Suggestion& answer) {
  if (!answer.confidence) return;
  to += fmt::format(",\"{}\":", key);
  append_number(to, *answer.confidence);
}

std::string json_text(std::string_view text) {
  std::string json;
  append_json(json, text);
  return json;
}

// With a data key: a task to import, with its prediction. Without: a prediction for a task that is
// there.
void append_label_studio(std::string& to, const Suggestion& answer, const ExportOptions& options) {
  std::string prediction = fmt::format("\"model_version\":{}", json_text(options.agent));
  append_score(prediction, "score", answer);
  prediction += fmt::format(
      R"(,"result":[{{"from_name":{},"to_name":{},"type":"choices","value":{{"choices":[{}]}}}}])",
      json_text(options.question), json_text(options.object), json_text(answer.label));
  if (options.data_key.empty()) {
    to += "{\"task\":";
    append_id(to, answer.task);
    to += "," + prediction + "}";
  } else {
    to += fmt::format(R"({{"data":{{{}:{}}},"predictions":[{{{}}}]}})", json_text(options.data_key),
                      json_text(answer.task), prediction);
  }
}

void append_argilla(std::string& to, const Suggestion& answer, const ExportOptions& options) {
  to += fmt::format(R"({{"id":{},"suggestions":{{{}:{{"value":{})", json_text(answer.task),
                    json_text(options.question), json_text(answer.label));
  append_score(to, "score", answer);
  to += fmt::format(",\"agent\":{}}}}}}}", json_text(options.agent));
}

// One more session's answer, to be reviewed beside those of people.
void append_prodigy(std::string& to, const Suggestion& answer, const ExportOptions& options) {
  to += is_whole_number(answer.task) ? R"({"_input_hash":)" : R"({"text":)";
  append_id(to, answer.task);
  to += fmt::format(R"(,"accept":[{0}],"answer":"accept","_view_id":"choice")", json_text(answer.label));
  append_score(to, "score", answer);
  to += fmt::format(R"(,"_annotator_id":{0},"_session_id":{0}}})", json_text(options.agent));
}

using AppendJson = void (*)(std::string&, const Suggestion&, const ExportOptions&);

struct ExportFormat {
  std::string name;
  std::vector<TextKind> kinds;  // of its file; the first one for standard output
  std::string ending;           // that its name should have
  bool needs_question = false;
  bool needs_object = false;
  AppendJson append = nullptr;  // null: a table
};

const std::vector<ExportFormat>& formats() {
  constexpr TextKind kTables[] = {TextKind::csv, TextKind::spreadsheet, TextKind::tsv,
                                  TextKind::spreadsheet_tsv};
  static const std::vector<TextKind> tables(std::begin(kTables), std::end(kTables));
  static const std::vector<TextKind> all = [] {
    std::vector<TextKind> kinds = tables;
    kinds.insert(kinds.end(), {TextKind::jsonl, TextKind::json});
    return kinds;
  }();
  static const std::vector<ExportFormat> list = {
      {"label-studio", {TextKind::json}, ".json", true, true, append_label_studio},
      {"appen", tables, ".csv", true},
      {"argilla", {TextKind::json, TextKind::jsonl}, ".json or .jsonl", true, false, append_argilla},
      {"prodigy", {TextKind::jsonl}, ".jsonl", false, false, append_prodigy},
      {"soft-labels", all, ".csv, .tsv, .json or .jsonl"},
  };
  return list;
}

const ExportFormat& format_named(const std::string& name) {
  for (const ExportFormat& format : formats()) {
    if (is_alike(format.name, name)) return format;
  }
  throw Error(ErrorCode::usage, fmt::format("no format '{}'{}; there are: {}", name,
                                            did_you_mean(name, write_back_formats()),
                                            fmt::join(write_back_formats(), ", ")));
}

// What the path's ending asks for, or what the format is where the ending tells nothing.
TextKind kind_for(const ExportFormat& format, const std::string& path, const WriteOptions& write) {
  const TextKind kind = kind_of(path, write);
  if (std::find(format.kinds.begin(), format.kinds.end(), kind) != format.kinds.end()) return kind;
  if (!tells_its_kind(path)) return format.kinds.front();
  throw Error(
      ErrorCode::usage, Location{path, 0, 0},
      fmt::format("{} is another kind of file; its name ends in {}", format.name, format.ending));
}

// Writes record(to, t) for each task that has an estimate; returns how many have none.
template <class Record>
std::uint64_t write_answers(const std::string& path, const Records& frame, const Estimates& estimates,
                            const WriteOptions& write, const Record& record) {
  constexpr std::size_t kWriteBytes = 1 << 20;
  RecordOutput file(path, frame, OutputFile::When::at_the_end, write.cancelled);
  std::string text;
  std::uint64_t without = 0;
  for (std::uint32_t t = 0; t < estimates.tasks.size(); ++t) {
    const ClassId label = estimates.estimate[t];
    if (label == kNoClass) {
      ++without;
      continue;
    }
    std::optional<double> confidence;
    if (!estimates.confidence.empty()) confidence = estimates.confidence[t];
    record(text, t, Suggestion{estimates.tasks[t], estimates.classes[label], confidence});
    if (text.size() < kWriteBytes) continue;
    file.write(text);
    text.clear();
  }
  file.write(text);
  file.commit();
  return without;
}

std::uint64_t write_appen(const std::string& path, TextKind kind, const Estimates& estimates,
                          const ExportOptions& options) {
  std::vector<std::string> columns = {"_unit_id", options.question};
  if (!estimates.confidence.empty()) columns.push_back(options.question + ":confidence");
  const Records records(kind, columns);
  return write_answers(path, records, estimates, options.write,
                       [&](std::string& to, std::uint32_t, const Suggestion& answer) {
                         Records::Line line = records.line(to);
                         line.text(answer.task).text(answer.label);
                         if (answer.confidence) line.number(*answer.confidence);
                         line.end();
                       });
}

std::uint64_t write_soft_labels(const std::string& path, TextKind kind, const Estimates& estimates,
                                const WriteOptions& write) {
  if (estimates.posterior.empty()) {
    throw Error(ErrorCode::data,
                "the estimates have no probability per class: aggregate with --posterior");
  }
  const std::size_t width = estimates.posterior.size() / estimates.estimate.size();
  std::vector<std::string> classes;
  for (std::uint32_t c = 0; c < width; ++c) classes.emplace_back(estimates.classes[c]);
  const Records records(kind, {"task"}, "probabilities", classes);
  return write_answers(path, records, estimates, write,
                       [&](std::string& to, std::uint32_t t, const Suggestion& answer) {
                         Records::Line line = records.line(to);
                         line.text(answer.task);
                         for (std::size_t c = 0; c < width; ++c)
                           line.number(estimates.posterior[t * width + c]);
                         line.end();
                       });
}

}  // namespace

const std::vector<std::string>& write_back_formats() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const ExportFormat& format : formats()) all.push_back(format.name);
    return all;
  }();
  return names;
}

void require_exportable(const std::string& path, const std::string& format,
                        const ExportOptions& options) {
  const ExportFormat& known = format_named(format);
  kind_for(known, path, options.write);
  if (known.needs_question && options.question.empty()) {
    throw Error(ErrorCode::usage, fmt::format("{} needs --question NAME: what the platform calls the "
                                              "question that these are the answers to",
                                              known.name));
  }
  if (known.needs_object && options.object.empty()) {
    throw Error(ErrorCode::usage, fmt::format("{} needs --object NAME: the toName of the question's tag "
                                              "in the labeling configuration",
                                              known.name));
  }
}

std::uint64_t export_estimates(const std::string& path, const std::string& format,
                               const Estimates& estimates, const ExportOptions& options) {
  require_exportable(path, format, options);
  const ExportFormat& known = format_named(format);
  const TextKind kind = kind_for(known, path, options.write);
  if (known.name == "appen") return write_appen(path, kind, estimates, options);
  if (known.append == nullptr) return write_soft_labels(path, kind, estimates, options.write);
  const bool array = kind == TextKind::json;
  return write_answers(path, Records(kind, {}), estimates, options.write,
                       [&](std::string& to, std::uint32_t, const Suggestion& answer) {
                         if (array) to += ",\n";
                         known.append(to, answer, options);
                         if (!array) to += '\n';
                       });
}

}  // namespace crowdfold
