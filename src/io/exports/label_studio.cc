// Label Studio: a JSON array of tasks with their annotations, or, as JSON-MIN and CSV, a row per
// annotation in which a single choice is a bare text, and everything else JSON.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <span>

#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

constexpr std::string_view kRegion = "region (or answer about one)";

// What the value of a result holds: {"choices": ["cat"]}, {"rating": 4} and the like.
class ResultValue {
 public:
  explicit ResultValue(const Json& value)
      : held_(
            pick_json(value, {"choices", "taxonomy", "rating", "number", "text", "selected", "datetime",
                              "x", "start", "points", "rle", "sequence", "ranges", "vertices"})) {}

  // Whether it lies somewhere in its task: an answer about a part is none about the task.
  bool is_region() const {
    return std::any_of(held_.begin() + kFirstPlace, held_.end(), [](const auto& key) { return key; });
  }
  bool is_free_text() const { return held_[kText].has_value(); }

  // False if it holds none.
  bool add_classes(std::vector<std::string>& classes) const {
    for (const std::optional<Json>& paths : {held_[0], held_[1]}) {
      if (!paths) continue;
      for (const Json& path : elements_of(*paths)) classes.push_back(path_text(path));
      return paths->is_array();
    }
    const auto found = std::find_if(held_.begin() + kFirstScalar, held_.begin() + kFirstPlace,
                                    [](const auto& key) { return key.has_value(); });
    return found != held_.begin() + kFirstPlace && classes_of_json(**found, classes);
  }

 private:
  // Among the keys.
  static constexpr std::ptrdiff_t kFirstScalar = 2;
  static constexpr std::ptrdiff_t kText = 4;
  static constexpr std::ptrdiff_t kFirstPlace = 7;

  // "animals / mammals" of a path in a taxonomy or in nested choices.
  static std::string path_text(const Json& path) {
    if (!path.is_array()) return text_of_json(path);
    std::vector<std::string> steps;
    for (const Json& step : elements_of(path)) steps.push_back(text_of_json(step));
    return fmt::format("{}", fmt::join(steps, " / "));
  }

  std::array<std::optional<Json>, 14> held_;
};

// Of the later of two times.
std::int64_t time_of(const std::optional<Json>& updated_at, const std::optional<Json>& created_at) {
  std::string room;
  const std::int64_t updated = moment_of(text_of_json(updated_at, room));
  return updated != 0 ? updated : moment_of(text_of_json(created_at, room));
}

// Reads tasks with their annotations, one after another.
class LabelStudioTasks {
 public:
  explicit LabelStudioTasks(ImportedRows& rows) : rows_(rows) {}

  void read(const Json& record) {
    const auto [id, annotations, completions, drafts, predictions] =
        pick_json(record, {"id", "annotations", "completions", "drafts", "predictions"});
    task_ = text_of_json(id, task_room_);
    if (const auto& list = annotations ? annotations : completions) {
      for (const Json& annotation : elements_of(*list)) read_annotation(annotation);
    }
    if (drafts) rows_.leave_out(ImportedRows::kDraft, elements_of(*drafts).size());
    if (predictions) read_predictions(*predictions);
  }

 private:
  struct Answer {
    std::string question;
    std::vector<std::string> classes;
  };
  struct Part {
    std::optional<Json> id;
    std::optional<Json> question;
    std::optional<ResultValue> value;
  };

  void read_annotation(const Json& annotation) {
    if (!annotation.is_object()) return rows_.leave_out("annotation without contents, an id only");
    const auto [by, updated_at, created_at, was_cancelled, skipped, ground_truth, result] =
        pick_json(annotation, {"completed_by", "updated_at", "created_at", "was_cancelled", "skipped",
                               "ground_truth", "result"});
    const std::string_view worker = worker_of(by);
    const std::int64_t time = time_of(updated_at, created_at);
    const bool cancelled = is_true(was_cancelled) || is_true(skipped);
    const bool truth = is_true(ground_truth);
    if (cancelled && !truth) return rows_.abstain(task_, worker, time);
    const std::span<const Answer> answers = answers_in(result);
    if (answers.empty() && !truth) return rows_.abstain(task_, worker, time);
    for (const Answer& answer : answers) {
      truth ? rows_.truth(answer.question, task_, answer.classes)
            : rows_.answer({answer.question, task_, worker, time}, answer.classes);
    }
  }

  void read_predictions(const Json& predictions) {
    for (const Json& prediction : elements_of(predictions)) {
      if (!prediction.is_object()) {
        rows_.leave_out("prediction without contents, an id only");
        continue;
      }
      const auto [result, version] = pick_json(prediction, {"result", "model_version"});
      std::string room;
      for (const Answer& answer : answers_in(result))
        rows_.prediction(answer.question, task_, text_of_json(version, room), answer.classes);
    }
  }

  // A worker: an id, or an object with an id and an e-mail address: then the address is the name.
  std::string_view worker_of(const std::optional<Json>& by) {
    if (!by || !by->is_object()) return text_of_json(by, worker_room_);
    const auto [id_json, email_json] = pick_json(*by, {"id", "email"});
    std::string email_room;
    const std::string_view id = text_of_json(id_json, worker_room_);
    const std::string_view email = text_of_json(email_json, email_room);
    rows_.same_worker(id, email);
    if (!id.empty()) return id;
    worker_room_ = email;
    return worker_room_;
  }

  // Answers about the whole task, by question. Regions, and answers that share an id with one, are not.
  std::span<const Answer> answers_in(const std::optional<Json>& result) {
    num_answers_ = 0;
    if (!result) return {};
    std::set<std::string> regions;
    parts_.clear();
    for (const Json& json : elements_of(*result)) {
      const auto [id, question, value] = pick_json(json, {"id", "from_name", "value"});
      Part& part = parts_.emplace_back(Part{id, question, std::nullopt});
      if (value) part.value.emplace(*value);
      if (id && value && part.value->is_region()) regions.insert(text_of_json(*id));
    }
    regions.erase("");
    for (const Part& part : parts_) {
      const bool whole = part.value && !part.value->is_region() &&
                         (regions.empty() || !part.id || !regions.contains(text_of_json(*part.id)));
      whole ? add_answer(part) : rows_.leave_out(kRegion);
    }
    std::sort(answers_.begin(), answers_.begin() + static_cast<std::ptrdiff_t>(num_answers_),
              [](const Answer& a, const Answer& b) { return a.question < b.question; });
    return std::span(answers_).first(num_answers_);
  }

  void add_answer(const Part& part) {
    std::string room;
    const std::string_view question = text_of_json(part.question, room);
    if (part.value->is_free_text()) rows_.only_if_asked(question);
    std::size_t at = 0;
    while (at < num_answers_ && answers_[at].question != question) ++at;
    if (at == answers_.size()) answers_.emplace_back();
    Answer& answer = answers_[at];
    if (at == num_answers_) answer.classes.clear();
    const std::size_t had = answer.classes.size();
    if (!part.value->add_classes(answer.classes)) {
      answer.classes.resize(had);
      return rows_.leave_out(ImportedRows::kOtherKind);
    }
    answer.question = question;
    num_answers_ = std::max(num_answers_, at + 1);
  }

  ImportedRows& rows_;
  std::string_view task_;
  std::string task_room_;
  std::string worker_room_;
  std::vector<Part> parts_;      // of the present result
  std::vector<Answer> answers_;  // the first num_answers_ are of the present result
  std::size_t num_answers_ = 0;
};

void read_label_studio_json(ExportInput& input, ImportedRows& rows) {
  LabelStudioTasks tasks(rows);
  for_each_record(input, rows, [&](const Json& record) { tasks.read(record); });
}

// --- a row per annotation -------------------------------------------------------------------

bool is_of_annotation(std::string_view name) {
  constexpr std::string_view kNames[] = {"id",         "annotator", "annotation_id", "created_at",
                                         "updated_at", "lead_time", "agreement"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

// A value as such rows have it: a text, an object as in JSON, or an array of them.
bool add_short_form(const Json& value, std::vector<std::string>& classes) {
  if (value.is_object()) {
    const ResultValue held(value);
    return !held.is_region() && held.add_classes(classes);
  }
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
void read_label_studio_min(ExportInput& input, ImportedRows& rows) {
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
    const auto [updated_at, created_at] = pick_json(record, {"updated_at", "created_at"});
    const std::int64_t time = time_of(updated_at, created_at);
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

void read_label_studio_csv(ExportInput& input, ImportedRows& rows) {
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
