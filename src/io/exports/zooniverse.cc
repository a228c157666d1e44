// Zooniverse: the classification export, a row per classification with JSON in three columns; and what
// Caesar, its aggregator, exports.
#include <fmt/format.h>

#include <map>

#include "crowdfold/error.h"
#include "crowdfold/words.h"
#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

// "10/16/T0" asks for a task of a workflow in a major version; "16/T0" and "T0" leave parts open.
struct ZooniverseChoice {
  explicit ZooniverseChoice(std::string_view asked) {
    const std::vector<std::string> parts = split_text(asked, '/');
    if (parts.size() > 1) version = parts[parts.size() - 2];
    if (parts.size() > 2) workflow = parts[parts.size() - 3];
    if (!parts.empty()) task = parts.back();
  }
  bool fits(std::string_view its_workflow, std::string_view its_version) const {
    return (workflow.empty() || workflow == its_workflow) && (version.empty() || version == its_version);
  }
  std::string workflow;
  std::string version;
  std::string task;
};

class ZooniverseExport {
 public:
  ZooniverseExport(ExportInput& input, ImportedRows& rows)
      : path_(input.path), table_(input), rows_(rows), choice_(rows.asked()) {
    rows.ask(choice_.task);
  }

  void run() {
    const std::size_t workflow = table_.need("workflow_id");
    const std::size_t version = table_.find("workflow_version");
    const std::size_t metadata = table_.find("metadata");
    const std::size_t annotations = table_.need("annotations");
    const std::size_t gold = table_.find("gold_standard");
    table_.for_each(rows_, [&](Row row) {
      const std::string_view flow = ExportTable::field(row, workflow);
      const std::string_view full = ExportTable::field(row, version);
      const std::string_view major = full.substr(0, full.find('.'));
      if (!choice_.fits(flow, major)) return rows_.leave_out("classification of other versions");
      Json live;
      bool is_live = true;
      if (json_.parse(ExportTable::field(row, metadata)) &&
          get_json(json_.value(), "live_project", live))
        is_live = live.get(is_live) != simdjson::SUCCESS || is_live;
      if (!is_live) return rows_.leave_out("classification from before the project was live");
      if (!json_.parse(ExportTable::field(row, annotations)))
        return rows_.leave_out("classification whose annotations are not JSON");
      ++versions_[fmt::format("{}/{}", flow, major)];
      is_gold_ = equals_ignoring_case(ExportTable::field(row, gold), "true");
      read_row(row);
    });
    require_one_version();
  }

 private:
  void read_row(Row row) {
    task_ = ExportTable::field(row, table_.need("subject_ids"));
    worker_ = ExportTable::field(row, table_.find("user_name"));
    if (worker_.empty()) worker_ = ExportTable::field(row, table_.find("user_id"));
    time_ = moment_of(ExportTable::field(row, table_.find("created_at")));
    if (worker_.starts_with("not-logged-in"))
      rows_.note("volunteers who are not logged in are told apart by their address only");
    for (const Json& annotation : elements_of(json_.value())) read_annotation(annotation);
  }

  // {"task": "T0", "value": …}; the value of a combination holds more of them.
  void read_annotation(const Json& annotation, int depth = 0) {
    constexpr int kMostDepth = 10;
    const std::string question = text_at(annotation, "task");
    Json value;
    std::vector<std::string> classes;
    if (!get_json(annotation, "value", value)) return say(question, classes);
    Json inner;
    const std::vector<Json> elements = elements_of(value);
    if (!elements.empty() && get_json(elements[0], "task", inner) && depth < kMostDepth) {
      for (const Json& part : elements) read_annotation(part, depth + 1);
      return;
    }
    if (classes_of_json(value, classes)) return say(question, classes);
    classes.clear();
    for (const Json& element : elements) {  // of a survey: [{"choice": "LION", "answers": …}]
      if (get_json(element, "choice", inner)) classes.push_back(text_of_json(inner));
    }
    if (classes.size() != elements.size() || classes.empty())
      return rows_.leave_out(ImportedRows::kOtherKind);
    say(question, classes);
  }

  void say(const std::string& question, const std::vector<std::string>& classes) {
    is_gold_ ? rows_.truth(question, task_, classes)
             : rows_.answer({question, task_, worker_, time_}, classes);
  }

  // Answers may have changed with the major version, and T0 of another workflow is another question.
  void require_one_version() const {
    if (versions_.size() < 2) return;
    std::string there;
    for (const auto& [version, count] : versions_)
      there += fmt::format("{}{} ({})", there.empty() ? "" : ", ", version,
                           count_noun(count, "classification"));
    throw Error(
        ErrorCode::usage, Location{display_name(path_), 0, 0},
        fmt::format("several workflows or major versions: {}; choose one with --question {}/{}", there,
                    versions_.begin()->first, choice_.task.empty() ? "T0" : choice_.task));
  }

  const std::string& path_;
  ExportTable table_;
  ImportedRows& rows_;
  ZooniverseChoice choice_;
  JsonText json_;
  std::map<std::string, std::uint64_t> versions_;  // classifications
  // Of the present row.
  bool is_gold_ = false;
  std::string_view task_;
  std::string_view worker_;
  std::int64_t time_ = 0;
};

// A column data.ANSWER per answer, with 1 where it was given.
void read_caesar(ExportInput& input, ImportedRows& rows) {
  ExportTable table(input);
  const std::size_t extractor = table.need("extractor_key");
  const std::size_t subject = table.need("subject_id");
  const std::size_t user = table.need("user_id");
  const std::size_t machine = table.find("machine_data");
  const std::size_t time = table.find("classification_at");
  std::vector<std::size_t> answers;
  for (std::size_t c = 0; c < table.names().size(); ++c) {
    if (table.names()[c].starts_with("data.")) answers.push_back(c);
  }
  table.for_each(rows, [&](Row row) {
    std::vector<std::string> classes;
    for (const std::size_t c : answers) {
      const std::string_view count = ExportTable::field(row, c);
      if (!count.empty() && count != "0") classes.push_back(table.names()[c].substr(5));
    }
    const std::string_view question = ExportTable::field(row, extractor);
    const std::string_view task = ExportTable::field(row, subject);
    const std::string_view worker = ExportTable::field(row, user);
    equals_ignoring_case(ExportTable::field(row, machine), "true")
        ? rows.prediction(question, task, worker, classes)
        : rows.answer({question, task, worker, moment_of(ExportTable::field(row, time))}, classes);
  });
}

}  // namespace

ExportFormat zooniverse_classifications() {
  return {{"zooniverse", "Zooniverse classifications",
           "columns `classification_id`, `workflow_id`, `annotations` and `subject_ids`", "subject_ids",
           "user_name",
           "`value` of a task such as T0 (`--question T0`, or `10/16/T0` for a workflow and its major "
           "version)",
           "drawings, classifications from before the project was live; `null` abstains; "
           "`gold_standard` is a truth"},
          [](const ExportGlimpse& g) {
            return g.kind == ExportGlimpse::Kind::table &&
                   g.has_all({"classification_id", "workflow_id", "annotations", "subject_ids"});
          },
          [](ExportInput& input, ImportedRows& rows) { ZooniverseExport(input, rows).run(); }};
}

ExportFormat caesar_extracts() {
  return {
      {"caesar", "Zooniverse Caesar extracts", "columns `extractor_key`, `subject_id` and `data.…`",
       "subject_id", "user_id", "the column `data.ANSWER` that holds 1; the question is the extractor",
       "extracts without a user; those of machines are predictions"},
      [](const ExportGlimpse& g) {
        return g.kind == ExportGlimpse::Kind::table &&
               g.has_all({"extractor_key", "subject_id", "user_id"}) && g.has_prefix("data.");
      },
      read_caesar};
}

}  // namespace crowdfold
