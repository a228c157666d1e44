// Label Studio: a JSON array of tasks with their annotations, or, as JSON-MIN and CSV, a row per
// annotation in which a single choice is a bare text, and everything else JSON.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

using AnswersByQuestion = std::map<std::string, std::vector<std::string>, std::less<>>;

constexpr std::string_view kRegion = "region (or answer about one)";

// Whether a value lies somewhere in its task: an answer about a part is none about the task.
bool is_region(const Json& value) {
  Json ignored;
  for (const char* key : {"x", "start", "points", "rle", "sequence", "ranges", "vertices"}) {
    if (get_json(value, key, ignored)) return true;
  }
  return false;
}

// "animals / mammals" of a path in a taxonomy or in nested choices.
std::string path_text(const Json& path) {
  if (!path.is_array()) return text_of_json(path);
  std::vector<std::string> steps;
  for (const Json& step : elements_of(path)) steps.push_back(text_of_json(step));
  return fmt::format("{}", fmt::join(steps, " / "));
}

// The classes in {"choices": ["cat"]}, {"rating": 4} and the like. False if it holds none.
bool add_classes(const Json& value, std::vector<std::string>& classes) {
  Json held;
  for (const char* key : {"choices", "taxonomy"}) {
    if (!get_json(value, key, held)) continue;
    for (const Json& path : elements_of(held)) classes.push_back(path_text(path));
    return held.is_array();
  }
  for (const char* key : {"rating", "number", "text", "selected", "datetime"}) {
    if (get_json(value, key, held)) return classes_of_json(held, classes);
  }
  return false;
}

bool is_free_text(const Json& value) {
  Json ignored;
  return get_json(value, "text", ignored);
}

// A worker: an id, or an object with an id and an e-mail address, of which the address is the name.
std::string worker_of(const Json& annotation, ImportedRows& rows) {
  Json by;
  if (!get_json(annotation, "completed_by", by)) return "";
  if (!by.is_object()) return text_of_json(by);
  const std::string id = text_at(by, "id");
  const std::string email = text_at(by, "email");
  rows.same_worker(id, email);
  return id.empty() ? email : id;
}

std::int64_t time_of(const Json& annotation) {
  const std::int64_t updated = moment_of(text_at(annotation, "updated_at"));
  return updated != 0 ? updated : moment_of(text_at(annotation, "created_at"));
}

// Answers about the whole task, by question. Regions, and answers that share an id with one, are not.
AnswersByQuestion answers_in(const Json& annotation, ImportedRows& rows) {
  AnswersByQuestion answers;
  Json result;
  if (!get_json(annotation, "result", result)) return answers;
  const std::vector<Json> parts = elements_of(result);
  std::set<std::string> regions;
  for (const Json& part : parts) {
    Json value;
    if (get_json(part, "value", value) && is_region(value)) regions.insert(text_at(part, "id"));
  }
  regions.erase("");
  for (const Json& part : parts) {
    Json value;
    if (!get_json(part, "value", value) || is_region(value) || regions.contains(text_at(part, "id"))) {
      rows.leave_out(kRegion);
      continue;
    }
    const std::string question = text_at(part, "from_name");
    if (is_free_text(value)) rows.only_if_asked(question);
    std::vector<std::string> classes;
    if (add_classes(value, classes))
      std::ranges::move(classes, std::back_inserter(answers[question]));
    else
      rows.leave_out(ImportedRows::kOtherKind);
  }
  return answers;
}

void read_annotation(const Json& annotation, const std::string& task, ImportedRows& rows) {
  if (!annotation.is_object()) return rows.leave_out("annotation without contents, an id only");
  const std::string worker = worker_of(annotation, rows);
  const std::int64_t time = time_of(annotation);
  const bool cancelled = is_true(annotation, "was_cancelled") || is_true(annotation, "skipped");
  const bool truth = is_true(annotation, "ground_truth");
  if (cancelled && !truth) return rows.abstain(task, worker, time);
  const AnswersByQuestion answers = answers_in(annotation, rows);
  if (answers.empty() && !truth) return rows.abstain(task, worker, time);
  for (const auto& [question, classes] : answers) {
    truth ? rows.truth(question, task, classes) : rows.answer({question, task, worker, time}, classes);
  }
}

void read_predictions(const Json& record, const std::string& task, ImportedRows& rows) {
  Json predictions;
  if (!get_json(record, "predictions", predictions)) return;
  for (const Json& prediction : elements_of(predictions)) {
    if (!prediction.is_object()) {
      rows.leave_out("prediction without contents, an id only");
      continue;
    }
    for (const auto& [question, classes] : answers_in(prediction, rows))
      rows.prediction(question, task, text_at(prediction, "model_version"), classes);
  }
}

void read_label_studio_json(const ExportInput& input, ImportedRows& rows) {
  for_each_record(input, rows, [&](const Json& record) {
    const std::string task = text_at(record, "id");
    Json list;
    if (get_json(record, "annotations", list) || get_json(record, "completions", list)) {
      for (const Json& annotation : elements_of(list)) read_annotation(annotation, task, rows);
    }
    if (get_json(record, "drafts", list)) rows.leave_out(ImportedRows::kDraft, elements_of(list).size());
    read_predictions(record, task, rows);
  });
}

// --- a row per annotation -------------------------------------------------------------------

bool is_of_annotation(std::string_view name) {
  constexpr std::string_view kNames[] = {"id",         "annotator", "annotation_id", "created_at",
                                         "updated_at", "lead_time", "agreement"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// A value as such rows have it: a text, an object as in JSON, or an array of them.
bool add_short_form(const Json& value, std::vector<std::string>& classes) {
  if (value.is_object()) return !is_region(value) && add_classes(value, classes);
  if (!value.is_array()) return classes_of_json(value, classes);
  for (const Json& element : elements_of(value)) {
    if (element.is_array() || !add_short_form(element, classes)) return false;
  }
  return true;
}

void read_short_form(const Json& value, const ImportedAnswer& answer, ImportedRows& rows) {
  std::vector<std::string> classes;
  add_short_form(value, classes) ? rows.answer(answer, classes)
                                 : rows.leave_out(ImportedRows::kOtherKind);
}

// The tool writes the task's data, then its id, then the answers, then the annotator. Where the keys are
// in another order, data cannot be told from answers by it.
void read_label_studio_min(const ExportInput& input, ImportedRows& rows) {
  bool in_order = true;
  for_each_record(input, rows, [&](const Json& record) {
    const std::vector<JsonMember> members = members_of(record);
    const auto place_of = [&](std::string_view key) {
      return std::find_if(members.begin(), members.end(),
                          [&](const JsonMember& member) { return member.key == key; });
    };
    const auto id = place_of("id");
    const auto annotator = place_of("annotator");
    const bool ordered = id < annotator && annotator != members.end();
    in_order = in_order && ordered;
    const std::string task = text_at(record, "id");
    const std::string worker = text_at(record, "annotator");
    const std::int64_t time = time_of(record);
    bool answered = false;
    for (auto member = ordered ? id : members.begin(); member != (ordered ? annotator : members.end());
         ++member) {
      if (is_of_annotation(member->key)) continue;
      answered = true;
      read_short_form(member->value, {member->key, task, worker, time}, rows);
    }
    if (!answered) rows.abstain(task, worker, time);
  });
  if (!in_order) rows.data_among_answers();
}

void read_label_studio_csv(const ExportInput& input, ImportedRows& rows) {
  ExportTable table(input);
  const std::size_t task = table.need("id");
  const std::size_t worker = table.need("annotator");
  const std::size_t updated = table.find("updated_at");
  std::vector<std::size_t> questions;
  for (std::size_t c = 0; c < table.names().size(); ++c) {
    if (!is_of_annotation(table.names()[c])) questions.push_back(c);
  }
  JsonText json;
  table.for_each(rows, [&](Row row) {
    const std::int64_t time = moment_of(ExportTable::field(row, updated));
    for (const std::size_t q : questions) {
      const std::string_view cell = ExportTable::field(row, q);
      if (cell.empty()) continue;
      const ImportedAnswer answer = {table.names()[q], ExportTable::field(row, task),
                                     ExportTable::field(row, worker), time};
      if ((cell[0] == '{' || cell[0] == '[') && json.parse(cell)) {
        rows.surely_question(answer.question);
        read_short_form(json.value(), answer, rows);
      } else {
        const std::string text(cell);
        rows.answer(answer, {&text, 1});
      }
    }
  });
  rows.data_among_answers();
}

constexpr const char* kNoMarks =
    "cancelled annotations are not in such files, and ground truth is not marked";

}  // namespace

ExportFormat label_studio_json() {
  return {{"label-studio", "Label Studio JSON",
           "an array whose elements have `data` and `annotations` (before 1.0: `completions`)", "id",
           "completed_by",
           "`from_name` of choices, taxonomy, rating, number, pairwise; texts only with `--question`",
           "regions and answers about them, drafts, predictions; cancelled and empty ones abstain; "
           "`ground_truth` is a truth"},
          [](const ExportGlimpse& g) {
            return g.is_json() && g.has("data") &&
                   (g.has_list("annotations") || g.has_list("completions") || g.has_list("predictions"));
          },
          read_label_studio_json};
}

ExportFormat label_studio_min() {
  return {{"label-studio", "Label Studio JSON-MIN",
           "an array whose elements have `annotation_id`, `annotator`, `id` and `lead_time`", "id",
           "annotator", "a key between `id` and `annotator`", kNoMarks},
          [](const ExportGlimpse& g) {
            return g.is_json() && g.has_all({"annotation_id", "annotator", "id", "lead_time"});
          },
          read_label_studio_min};
}

ExportFormat label_studio_csv() {
  return {
      {"label-studio", "Label Studio CSV", "columns `annotation_id`, `annotator`, `id` and `lead_time`",
       "id", "annotator", "a column that does not just repeat the task's data", kNoMarks},
      [](const ExportGlimpse& g) {
        return g.kind == ExportGlimpse::Kind::table &&
               g.has_all({"annotation_id", "annotator", "id", "lead_time"});
      },
      read_label_studio_csv};
}

}  // namespace crowdfold
