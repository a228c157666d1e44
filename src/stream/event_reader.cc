#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "crowdfold/error.h"
#include "crowdfold/events.h"
#include "io/block_reader.h"
#include "io/table_format.h"
#include "stream/event_fields.h"

namespace crowdfold {
namespace {

// Whether a JSON line is a label: an object without the keys of other events.
bool is_label(std::string_view line) {
  const std::vector<std::string> keys = JsonlParser::keys_of_first_objects(line);
  return !keys.empty() && std::none_of(keys.begin(), keys.end(), [](const std::string& key) {
    return std::find(kFieldNames.begin() + control_fields, kFieldNames.end(), key) != kFieldNames.end();
  });
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
  EventBatch batch_;  // that were parsed last
  FirstRecord first_record_;
  // Known once that is there.
  std::optional<TableFormat> format_;
  std::optional<BlockParser> parser_;
  bool has_columns_ = false;
  EventRows rows_;
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
    rows_.place[field] = format_->field_of(kFieldNames[field]);
  rows_.names = format_->field_names();
  rows_.abstain = options_.abstain;
  rows_.json = format_->is_json();
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
    const std::string& key = rows_.names[rows_.place[field]];
    if (error.message != no_key(key)) continue;
    for (std::uint64_t line = 0; line < error.line; ++line) text.remove_prefix(text.find('\n') + 1);
    error.message += what_it_has(text.substr(0, text.find('\n')), key, event_roles(true)[field]);
    return;
  }
}

Complaint EventReader::Impl::add(Row row, bool lasting) {
  StreamEvent event;
  if (Complaint complaint = read_event(rows_, row, event); complaint.field != 0) return complaint;
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
