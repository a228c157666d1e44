#include "stream/event_fields.h"

#include <fmt/format.h>

#include <algorithm>

#include "crowdfold/words.h"
#include "io/jsonl.h"
#include "io/trim.h"
#include "stream/required_fields.h"

namespace crowdfold {

std::vector<Role> event_roles(bool json) {
  std::vector<Role> roles = {task_role(), worker_role(), label_role(), {"id", {"event"}}};
  for (std::size_t field = control_fields; field < num_event_fields; ++field)
    roles.push_back({kFieldNames[field], {}});
  for (std::size_t field = id_field; field < num_event_fields; ++field) {
    roles[field].required = false;
    roles[field].by_position = false;
    roles[field].late = true;
  }
  if (json) {  // where "id" is the event's, never the task's
    std::erase(roles[task_field].aliases, "id");
    roles[id_field].aliases.insert(roles[id_field].aliases.begin(), "id");
  }
  return roles;
}

std::string no_key(const std::string& key) { return fmt::format("no '{}' in this event", key); }

std::string right_form(const std::vector<std::string>& keys) {
  const auto has = [&](const char* key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (has("retract"))
    return R"(a retraction names a task and a worker: {"retract": {"task": …, "worker": …}})";
  if (has("truth")) return R"(a truth names a task and a label: {"truth": {"task": …, "label": …}})";
  return "";
}

std::string what_it_has(std::string_view event, const std::string& key, Role role) {
  constexpr std::size_t kMostKeys = 8;
  constexpr std::size_t kMostBytes = 40;  // of a key
  std::vector<std::string> keys = JsonlParser::keys_of_first_objects(event);
  if (keys.empty()) return "";
  if (const std::string form = right_form(keys); !form.empty()) return "; " + form;
  role.required = false;
  const auto recognised = match_columns(keys, {role}, {}, {});
  const std::string meant = recognised ? keys[recognised->front()] : nearest(key, keys);
  if (!meant.empty()) return fmt::format("; it has '{}'", meant.substr(0, kMostBytes));
  const char* const more = keys.size() > kMostKeys ? ", …" : "";
  keys.resize(std::min(keys.size(), kMostKeys));
  for (std::string& one : keys) one = one.substr(0, kMostBytes);
  return fmt::format("; it has: {}{}", fmt::join(keys, ", "), more);
}

Complaint read_event(const EventRows& rows, Row row, StreamEvent& event) {
  using Kind = StreamEvent::Kind;
  const auto text = [&](EventField field) {
    return rows.place[field] == kNoColumn ? std::string_view() : trimmed(row[rows.place[field]]);
  };
  const auto is_there = [&](EventField a, EventField b) { return !text(a).empty() || !text(b).empty(); };
  event = {Kind::label, text(task_field), text(worker_field), text(label_field), text(id_field)};
  const int controls = (is_there(retract_task_field, retract_worker_field) ? 1 : 0) +
                       (is_there(truth_task_field, truth_label_field) ? 1 : 0) +
                       (text(close_field).empty() ? 0 : 1) + (text(reopen_field).empty() ? 0 : 1) +
                       (text(summary_field) == "true" ? 1 : 0);
  const bool labels = is_there(worker_field, label_field);
  if (controls > 1 || (controls == 1 && labels)) return {1, kTwoEvents};
  if (std::find(rows.abstain.begin(), rows.abstain.end(), event.label) != rows.abstain.end())
    event.label = {};
  if (is_there(retract_task_field, retract_worker_field))
    event = {Kind::retract, text(retract_task_field), text(retract_worker_field), {}, text(id_field)};
  else if (is_there(truth_task_field, truth_label_field))
    event = {Kind::truth, text(truth_task_field), {}, text(truth_label_field), text(id_field)};
  else if (!text(close_field).empty())
    event = {Kind::close, text(close_field), {}, {}, text(id_field)};
  else if (!text(reopen_field).empty())
    event = {Kind::reopen, text(reopen_field), {}, {}, text(id_field)};
  else if (text(summary_field) == "true")
    event = {Kind::summary, {}, {}, {}, text(id_field)};
  for (const EventField field : kLabelFields) {  // null is a value, and abstains
    if (event.kind == Kind::label && rows.json && text(field).data() == nullptr)
      return {rows.place[field] + 1, no_key(rows.names[rows.place[field]])};
  }
  if (const char* const missing = missing_field(event)) {
    const EventField field = event.task.empty()          ? task_field
                             : event.kind == Kind::truth ? truth_label_field
                                                         : worker_field;
    return {rows.place[field] + 1, missing};
  }
  return {};
}

}  // namespace crowdfold
