// Argilla: records as nested JSON, or flattened, as JSON lines. Only the flattened ones say whether a
// response was submitted.
#include <fmt/format.h>

#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

void add_response(const Json& value, const ImportedAnswer& answer, ImportedRows& rows) {
  std::vector<std::string> classes;
  classes_of_json(value, classes) ? rows.answer(answer, classes)
                                  : rows.leave_out(ImportedRows::kOtherKind);
}

void add_suggestion(const Json& value, std::string_view question, std::string_view task,
                    std::string_view agent, ImportedRows& rows) {
  std::vector<std::string> classes;
  if (classes_of_json(value, classes)) rows.prediction(question, task, agent, classes);
}

void read_argilla(const ExportInput& input, ImportedRows& rows) {
  rows.note(
      "such records do not say which responses are drafts or discarded, so all count: "
      "to_dict(flatten=True) or to_datasets() in Argilla writes records that do");
  for_each_record(input, rows, [&](const Json& record) {
    const std::string task = text_at(record, "id");
    Json questions;
    if (get_json(record, "responses", questions)) {
      for (const JsonMember& question : members_of(questions)) {
        for (const Json& response : elements_of(question.value)) {
          Json value;
          const std::string worker = text_at(response, "user_id");
          get_json(response, "value", value) ? add_response(value, {question.key, task, worker, 0}, rows)
                                             : rows.answer({question.key, task, worker, 0}, {});
        }
      }
    }
    if (!get_json(record, "suggestions", questions)) return;
    for (const JsonMember& question : members_of(questions)) {
      Json value;
      if (get_json(question.value, "value", value))
        add_suggestion(value, question.key, task, text_at(question.value, "agent"), rows);
    }
  });
}

void read_flattened_argilla(const ExportInput& input, ImportedRows& rows) {
  constexpr std::string_view kResponses = ".responses";
  constexpr std::string_view kSuggestion = ".suggestion";
  for_each_record(input, rows, [&](const Json& record) {
    const std::string task = text_at(record, "id");
    for (const JsonMember& member : members_of(record)) {
      const std::string key(member.key);
      if (member.key.ends_with(kSuggestion) && !member.value.is_null()) {
        const std::string question = key.substr(0, key.size() - kSuggestion.size());
        add_suggestion(member.value, question, task, text_at(record, key + ".agent"), rows);
      }
      if (!member.key.ends_with(kResponses)) continue;
      const std::string question = key.substr(0, key.size() - kResponses.size());
      const std::vector<Json> values = elements_of(member.value);
      Json list;
      const auto list_at = [&](const char* ending) {
        return get_json(record, key + ending, list) ? elements_of(list) : std::vector<Json>();
      };
      const std::vector<Json> users = list_at(".users");
      const std::vector<Json> states = list_at(".status");
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::string worker = i < users.size() ? text_of_json(users[i]) : "";
        const std::string state = i < states.size() ? text_of_json(states[i]) : "submitted";
        if (state == "draft" || state == "pending")
          rows.leave_out(ImportedRows::kDraft);
        else if (state == "discarded")
          rows.answer({question, task, worker, 0}, {});
        else
          add_response(values[i], {question, task, worker, 0}, rows);
      }
    }
  });
}

}  // namespace

ExportFormat argilla_records() {
  return {{"argilla", "Argilla records", "JSON records with `fields` and `responses`", "id", "user_id",
           "`value` of a response",
           "suggestions are predictions; drafts and discarded responses cannot be told apart (a warning "
           "says so)"},
          [](const ExportGlimpse& g) {
            return g.is_json() && g.has_all({"id", "fields", "responses"});
          },
          read_argilla};
}

ExportFormat argilla_flattened() {
  return {{"argilla", "Argilla records, flattened",
           "JSON records with `NAME.responses` and `NAME.responses.users`", "id", "NAME.responses.users",
           "`NAME.responses`", "drafts; discarded responses abstain; suggestions are predictions"},
          [](const ExportGlimpse& g) {
            return g.is_json() && g.has_suffix(".responses") && g.has_suffix(".responses.users");
          },
          read_flattened_argilla};
}

}  // namespace crowdfold
