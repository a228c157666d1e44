// Prodigy: JSON lines, an answer each. A choice holds ids of options; a yes-or-no question is answered
// by accept and reject.
#include <charconv>

#include "io/exports/export_json.h"
#include "io/exports/export_table.h"
#include "io/exports/formats.h"

namespace crowdfold {
namespace {

// "shop-j%C3%B6rg" -> "shop-jörg".
std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const char* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      decoded.push_back(static_cast<char>(byte));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

// Whether a session ends in a time, 2024-02-06_10-17-19: nobody gave a name.
bool is_nameless(std::string_view session) {
  constexpr std::string_view kPattern = "0000-00-00_00-00-00";
  if (session.size() < kPattern.size()) return false;
  session.remove_prefix(session.size() - kPattern.size());
  for (std::size_t i = 0; i < kPattern.size(); ++i) {
    const bool digit = session[i] >= '0' && session[i] <= '9';
    if (kPattern[i] == '0' ? !digit : session[i] != kPattern[i]) return false;
  }
  return true;
}

std::string prodigy_worker(const std::optional<Json>& annotator, const std::optional<Json>& session,
                           ImportedRows& rows) {
  std::string room;
  std::string_view worker = text_of_json(annotator, room);
  if (worker.empty()) worker = text_of_json(session, room);
  if (is_nameless(worker))
    rows.note("sessions without a name count as workers of their own: one person may have several");
  return percent_decoded(worker);
}

void read_prodigy(ExportInput& input, ImportedRows& rows) {
  for_each_record(input, rows, [&](const Json& record) {
    const auto [answer_json, accepted, options, label, input_hash, task_hash, versions, annotator,
                session, timestamp] =
        pick_json(record, {"answer", "accept", "options", "label", "_input_hash", "_task_hash",
                           "versions", "_annotator_id", "_session_id", "_timestamp"});
    std::string answer_room;
    std::string task_room;
    std::string time_room;
    const std::string_view answer = text_of_json(answer_json, answer_room);
    std::vector<std::string> classes;
    const bool choice = accepted || options;
    const bool binary = !choice && label && label->is_string();
    if (!choice && !binary) return rows.leave_out(ImportedRows::kOtherKind);
    if (accepted && answer == "accept") classes_of_json(*accepted, classes);
    if (binary && answer != "ignore") classes.emplace_back(answer);
    const char* const question = choice ? "accept" : "answer";
    // A question of yes or no is about a text and a label: another hash.
    const std::string_view task = text_of_json(choice ? input_hash : task_hash, task_room);
    if (versions) return rows.truth(question, task, classes);  // adjudicated
    rows.answer({question, task, prodigy_worker(annotator, session, rows),
                 moment_of(text_of_json(timestamp, time_room))},
                classes);
  });
}

}  // namespace

ExportFormat prodigy_lines() {
  return {{"prodigy", "Prodigy",
           "JSON lines with `answer` and one of `_input_hash`, `_task_hash` and `_view_id`",
           "_input_hash (yes-or-no questions: _task_hash)", "_annotator_id (else _session_id)",
           "`accept`; for yes-or-no questions accept or reject",
           "spans and other views; `ignore`, and `reject` of a choice, abstain; reviewed rows "
           "(`versions`) are truths"},
          [](const ExportGlimpse& g) {
            return g.is_json() && g.has("answer") &&
                   (g.has("_input_hash") || g.has("_task_hash") || g.has("_view_id"));
          },
          read_prodigy};
}

}  // namespace crowdfold
