#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory_resource>
#include <optional>

#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "crowdfold/words.h"
#include "io/block_reader.h"
#include "io/table_format.h"
#include "io/trim.h"
#include "stream/required_fields.h"

namespace crowdfold {
namespace {

constexpr std::size_t kReadAtOnce = 1 << 18;

// Fields of an event. Those from control_fields on make it something else than a label; JSON only.
enum EventField {
  task_field,
  worker_field,
  label_field,
  id_field,
  control_fields,
  retract_task_field = control_fields,
  retract_worker_field,
  truth_task_field,
  truth_label_field,
  close_field,
  summary_field,
  num_event_fields
};
constexpr std::array<const char*, num_event_fields> kFieldNames = {
    "task",           "worker",     "label",       "id",    "retract.task",
    "retract.worker", "truth.task", "truth.label", "close", "summary"};

constexpr std::array kLabelFields = {task_field, worker_field, label_field};

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

// Whether a JSON line is a label: an object without the keys of other events.
bool is_label(std::string_view line) {
  const std::vector<std::string> keys = JsonlParser::keys_of_first_objects(line);
  return !keys.empty() && std::none_of(keys.begin(), keys.end(), [](const std::string& key) {
    return std::find(kFieldNames.begin() + control_fields, kFieldNames.end(), key) != kFieldNames.end();
  });
}

constexpr const char* kTwoEvents =
    "two events in one: a label, \"retract\", \"truth\", \"close\" and \"summary\" have a line each";

// What an event lacks, of a name of somebody else's.
std::string no_key(const std::string& key) { return fmt::format("no '{}' in this event", key); }

// A retraction or a truth that is no object: what it has to be; empty for other events.
std::string right_form(const std::vector<std::string>& keys) {
  const auto has = [&](const char* key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  if (has("retract"))
    return R"(a retraction names a task and a worker: {"retract": {"task": …, "worker": …}})";
  if (has("truth")) return R"(a truth names a task and a label: {"truth": {"task": …, "label": …}})";
  return "";
}

// Of the keys that it has, the one that was probably meant for the role; else all of them.
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

}  // namespace

class EventReader::Impl {
 public:
  Impl(const std::string& path, const ReadOptions& options, bool follow)
      : options_(options),
        reader_(path, options.block_bytes,
                source_options(options, follow ? Waiting::follow : Waiting::no)),
        first_record_(path, options) {}

  ReadStatus read(const Body& body);
  void wait() const {
    constexpr int kMilliseconds = 100;
    reader_.source().wait(kMilliseconds);
  }
  bool is_recognised() const { return has_columns_; }
  const ReadReport& report() const { return tally_.report(); }

 private:
  // Events that were parsed, with their texts.
  class Batch {
   public:
    void clear() {
      events_.clear();
      texts_.release();
    }
    void add(StreamEvent event) { events_.push_back(event); }
    // Its texts will be gone.
    void add_copy(StreamEvent event) {
      for (std::string_view* text : {&event.task, &event.worker, &event.label, &event.id}) {
        if (text->empty()) continue;
        auto* const copy = static_cast<char*>(texts_.allocate(text->size(), 1));
        std::memcpy(copy, text->data(), text->size());
        *text = {copy, text->size()};
      }
      add(event);
    }
    std::span<const StreamEvent> events() const { return events_; }

   private:
    std::vector<StreamEvent> events_;
    std::pmr::monotonic_buffer_resource texts_{kReadAtOnce};
  };

  bool recognise(bool ended);
  void find_columns(std::string_view start);
  bool find_keys(std::string_view label);
  std::optional<EventField> key_missing_in(std::string_view label) const;
  void use_columns();
  void parse(std::string_view text);
  void parse_rows(std::string_view text);
  void parse_first(std::string_view line);
  void say_what_it_has(RowError& error, std::string_view text) const;
  Complaint add(Row row, bool lasting);

  ReadOptions options_;
  BlockReader reader_;
  TextBlock block_;
  Batch batch_;
  FirstRecord first_record_;
  // Known once that is there.
  std::optional<TableFormat> format_;
  std::optional<BlockParser> parser_;
  bool has_columns_ = false;
  std::array<std::size_t, num_event_fields> place_{};  // of fields in rows
  ReadTally tally_;
};

EventReader::ReadStatus EventReader::Impl::read(const Body& body) {
  const std::size_t count = reader_.poll();
  if (count == kNoneYet) return ReadStatus::none_yet;
  const ReadStatus status = count == 0 ? ReadStatus::end : ReadStatus::some;
  if (!format_ && !recognise(count == 0)) return status;
  if (!reader_.next_of_pending(block_)) return status;
  batch_.clear();
  std::optional<Error> wrong;
  try {
    parse(block_.text());
  } catch (const Error& error) {
    wrong = error;
  }
  body(batch_.events());
  if (wrong) throw *wrong;
  return status;
}

// False if the first record is not there yet.
bool EventReader::Impl::recognise(bool ended) {
  const std::string_view start = reader_.pending();
  if (!(ended ? !TableFormat::is_blank(start) : first_record_.is_in(start))) return false;
  format_.emplace(start, reader_.path(), options_);
  format_->is_json() ? format_->assume_columns(event_roles(true)) : find_columns(start);
  use_columns();
  reader_.begin_records(format_->separator(), format_->bytes_before());
  tally_ = ReadTally(*format_, reader_.source());
  return true;
}

void EventReader::Impl::find_columns(std::string_view start) {
  format_->find_columns(start, event_roles(format_->is_json()), false, tally_.lines());
  has_columns_ = true;
}

void EventReader::Impl::use_columns() {
  for (std::size_t field = 0; field < num_event_fields; ++field)
    place_[field] = format_->field_of(kFieldNames[field]);
  parser_.emplace(format_->make_parser());
}

void EventReader::Impl::parse(std::string_view text) {
  while (!has_columns_ && !text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n') + 1);
    if (is_label(line)) {
      if (find_keys(line)) break;
    } else {
      parse_first(line);
    }
    text.remove_prefix(line.size());
  }
  parse_rows(text);
}

// An event that comes before the first label: it may hold one under other keys than are known yet.
void EventReader::Impl::parse_first(std::string_view line) {
  if (JsonlParser::keys_of_first_objects(line).empty() || key_missing_in(line)) {
    parse_rows(line);
    return;
  }
  const Error error(ErrorCode::data, Location{tally_.report().source, tally_.lines() + 1, 1},
                    kTwoEvents);
  if (!options_.skip_bad_rows) throw error;
  tally_.skip_line(error.what());
}

// Which of its keys the first label lacks, by the mapping or by the usual names.
std::optional<EventField> EventReader::Impl::key_missing_in(std::string_view label) const {
  std::vector<Role> roles = event_roles(true);
  for (Role& role : roles) {
    role.required = false;
    role.late = true;
  }
  const auto columns =
      match_columns(JsonlParser::keys_of_first_objects(label), roles, options_, Location{});
  for (const EventField field : kLabelFields) {
    if (!columns || (*columns)[field] == kNoColumn) return field;
  }
  return std::nullopt;
}

// Which keys are task, worker and label is decided by the first label alone that has all of them,
// whatever else has come by then: how the bytes of a pipe are cut into reads must not matter. False if
// this one was left out.
bool EventReader::Impl::find_keys(std::string_view label) {
  if (const std::optional<EventField> missing = key_missing_in(label)) {
    const Role role = event_roles(true)[*missing];
    const std::string* const mapped = mapping_of(role.name, options_);
    const std::string key = mapped != nullptr ? *mapped : role.name;
    // A mapping that does not fit is the command line's fault.
    const ErrorCode code = mapped != nullptr ? ErrorCode::usage : ErrorCode::data;
    const Error error(code, Location{tally_.report().source, tally_.lines() + 1, 1},
                      no_key(key) + what_it_has(label, key, role) +
                          (right_form(JsonlParser::keys_of_first_objects(label)).empty()
                               ? fmt::format(" (name it: --map {}=KEY)", role.name)
                               : ""));
    if (!options_.skip_bad_rows) throw error;
    tally_.skip_line(error.what());
    return false;
  }
  find_columns(label);
  use_columns();
  tally_.describe(*format_, reader_.source());
  return true;
}

void EventReader::Impl::parse_rows(std::string_view text) {
  std::uint64_t headers = 0;  // of files that were joined, or of a log's next file
  BlockOutcome outcome = parser_->parse(text, [&](Row row, bool lasting) -> Complaint {
    if (!format_->is_header_again(row)) return add(row, lasting);
    ++headers;
    return {};
  });
  outcome.repeated_headers = headers;
  if (outcome.error && format_->is_json()) say_what_it_has(*outcome.error, text);
  tally_.settle(outcome);
}

// The parser tells the line; the keys of the event are looked at only where one is missing.
void EventReader::Impl::say_what_it_has(RowError& error, std::string_view text) const {
  for (const EventField field : kLabelFields) {
    const std::string& key = format_->field_names()[place_[field]];
    if (error.message != no_key(key)) continue;
    for (std::uint64_t line = 0; line < error.line; ++line) text.remove_prefix(text.find('\n') + 1);
    error.message += what_it_has(text.substr(0, text.find('\n')), key, event_roles(true)[field]);
    return;
  }
}

Complaint EventReader::Impl::add(Row row, bool lasting) {
  using Kind = StreamEvent::Kind;
  const auto text = [&](EventField field) {
    return place_[field] == kNoColumn ? std::string_view() : trimmed(row[place_[field]]);
  };
  const auto is_there = [&](EventField a, EventField b) { return !text(a).empty() || !text(b).empty(); };
  StreamEvent event{Kind::label, text(task_field), text(worker_field), text(label_field),
                    text(id_field)};
  const int controls = (is_there(retract_task_field, retract_worker_field) ? 1 : 0) +
                       (is_there(truth_task_field, truth_label_field) ? 1 : 0) +
                       (text(close_field).empty() ? 0 : 1) + (text(summary_field) == "true" ? 1 : 0);
  const bool labels = is_there(worker_field, label_field);
  if (controls > 1 || (controls == 1 && labels)) return {1, kTwoEvents};
  if (std::find(options_.abstain.begin(), options_.abstain.end(), event.label) != options_.abstain.end())
    event.label = {};
  if (is_there(retract_task_field, retract_worker_field))
    event = {Kind::retract, text(retract_task_field), text(retract_worker_field), {}, text(id_field)};
  else if (is_there(truth_task_field, truth_label_field))
    event = {Kind::truth, text(truth_task_field), {}, text(truth_label_field), text(id_field)};
  else if (!text(close_field).empty())
    event = {Kind::close, text(close_field), {}, {}, text(id_field)};
  else if (text(summary_field) == "true")
    event = {Kind::summary, {}, {}, {}, text(id_field)};
  for (const EventField field : kLabelFields) {  // null is a value, and abstains
    if (event.kind == Kind::label && format_->is_json() && text(field).data() == nullptr)
      return {place_[field] + 1, no_key(format_->field_names()[place_[field]])};
  }
  if (const char* const missing = missing_field(event)) {
    const EventField field = event.task.empty()          ? task_field
                             : event.kind == Kind::truth ? truth_label_field
                                                         : worker_field;
    return {place_[field] + 1, missing};
  }
  lasting ? batch_.add(event) : batch_.add_copy(event);
  return {};
}

EventReader::EventReader(const std::string& path, const ReadOptions& options, bool follow)
    : impl_(std::make_unique<Impl>(path, options, follow)) {}
EventReader::~EventReader() = default;
EventReader::ReadStatus EventReader::read(const Body& body) { return impl_->read(body); }
void EventReader::wait() const { impl_->wait(); }
bool EventReader::is_recognised() const { return impl_->is_recognised(); }
const ReadReport& EventReader::report() const { return impl_->report(); }

}  // namespace crowdfold
