// Argilla: records as nested JSON, or flattened, as JSON lines. Only the flattened ones say whether a
// response was submitted.
#include <fmt/format.h>

#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

// `classes` is room.
void add_response(const Json& value, const ImportedAnswer& answer, std::vector<std::string>& classes,
                  ImportedRows& rows) {
  classes.clear();
  classes_of_json(value, classes) ? rows.answer(answer, classes)
                                  : rows.leave_out(ImportedRows::kOtherKind);
}

void add_suggestion(const Json& value, std::string_view question, std::string_view task,
                    std::string_view agent, ImportedRows& rows) {
  std::vector<std::string> classes;
  if (classes_of_json(value, classes)) rows.prediction(question, task, agent, classes);
}

void read_argilla(ExportInput& input, ImportedRows& rows) {
  rows.note(
      "such records do not say which responses are drafts or discarded, so all count: "
      "to_dict(flatten=True) or to_datasets() in Argilla writes records that do");
  std::string task_room;
  std::string worker_room;
  std::vector<std::string> classes;
  for_each_record(input, rows, [&](const Json& record) {
    const auto [id, responses, suggestions] = pick_json(record, {"id", "responses", "suggestions"});
    const std::string_view task = text_of_json(id, task_room);
    if (responses) {
      for (const JsonMember& question : members_of(*responses)) {
        for (const Json& response : elements_of(question.value)) {
          const auto [user, value] = pick_json(response, {"user_id", "value"});
          const std::string_view worker = text_of_json(user, worker_room);
          value ? add_response(*value, {question.key, task, worker, 0}, classes, rows)
                : rows.answer({question.key, task, worker, 0}, {});
        }
      }
    }
    if (!suggestions) return;
    for (const JsonMember& question : members_of(*suggestions)) {
      Json value;
      if (get_json(question.value, "value", value))
        add_suggestion(value, question.key, task, text_at(question.value, "agent"), rows);
    }
  });
}

// NAME.responses, .responses.users and .responses.status are lists in the same order.
class FlattenedArgilla {
 public:
  explicit FlattenedArgilla(ImportedRows& rows) : rows_(rows) {}

  void read(const Json& record) {
    constexpr std::string_view kResponses = ".responses";
    constexpr std::string_view kSuggestion = ".suggestion";
    const auto [id] = pick_json(record, {"id"});
    task_ = text_of_json(id, task_room_);
    for (const JsonMember& member : members_of(record)) {
      const std::string_view key = member.key;
      if (key.ends_with(kSuggestion) && !member.value.is_null()) {
        add_suggestion(member.value, key.substr(0, key.size() - kSuggestion.size()), task_,
                       text_at(record, std::string(key) + ".agent"), rows_);
      }
      if (!key.ends_with(kResponses)) continue;
      users_key_.assign(key).append(".users");
      states_key_.assign(key).append(".status");
      const auto [users, states] = pick_json(record, {users_key_, states_key_});
      read_responses(key.substr(0, key.size() - kResponses.size()), elements_of(member.value),
                     elements_of(users), elements_of(states));
    }
  }

 private:
  void read_responses(std::string_view question, const JsonElements& values, const JsonElements& users,
                      const JsonElements& states) {
    auto user = users.begin();
    auto state = states.begin();
    std::string state_room;
    for (const Json& value : values) {
      std::string_view worker;
      std::string_view said = "submitted";
      if (user != users.end()) worker = text_of_json(*user++, worker_room_);
      if (state != states.end()) said = text_of_json(*state++, state_room);
      if (said == "draft" || said == "pending")
        rows_.leave_out(ImportedRows::kDraft);
      else if (said == "discarded")
        rows_.answer({question, task_, worker, 0}, {});
      else
        add_response(value, {question, task_, worker, 0}, classes_, rows_);
    }
  }

  ImportedRows& rows_;
  std::string_view task_;
  // Room.
  std::string task_room_;
  std::string worker_room_;
  std::string users_key_;
  std::string states_key_;
  std::vector<std::string> classes_;
};

void read_flattened_argilla(ExportInput& input, ImportedRows& rows) {
  FlattenedArgilla records(rows);
  for_each_record(input, rows, [&](const Json& record) { records.read(record); });
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
