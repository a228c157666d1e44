// What an event looks like as text: the names of its fields, and the event that a row of them is.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/stream.h"
#include "io/columns.h"
#include "io/rows.h"

namespace crowdfold {

// Those from control_fields on make an event something else than a label; JSON only.
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
  reopen_field,
  summary_field,
  num_event_fields
};
inline constexpr std::array<const char*, num_event_fields> kFieldNames = {
    "task",       "worker",      "label", "id",     "retract.task", "retract.worker",
    "truth.task", "truth.label", "close", "reopen", "summary"};

inline constexpr std::array kLabelFields = {task_field, worker_field, label_field};

inline constexpr const char* kTwoEvents =
    "two events in one: a label, \"retract\", \"truth\", \"close\", \"reopen\" and \"summary\" have a "
    "line each";

// The roles of columns or keys.
std::vector<Role> event_roles(bool json);

// How the rows of an input hold events.
struct EventRows {
  std::array<std::size_t, num_event_fields> place{};  // of fields in rows; kNoColumn: not there
  std::span<const std::string> names;                 // of the rows' fields, as the input has them
  std::span<const std::string> abstain;               // labels that mean "no label"
  bool json = false;
};
// Fills in the event of a row, whose texts are the row's, or says what is wrong with it.
Complaint read_event(const EventRows& rows, Row row, StreamEvent& event);

// What an event lacks, of a name of somebody else's.
std::string no_key(const std::string& key);
// Of the keys that it has, the one that was probably meant for the role; else all of them.
std::string what_it_has(std::string_view event, const std::string& key, Role role);
// A retraction or a truth that is no object: what it has to be; empty for other events.
std::string right_form(const std::vector<std::string>& keys);

// Events with their texts.
class EventBatch {
 public:
  void clear() {
    events_.clear();
    texts_.release();
  }
  // Its texts must live as long as the batch.
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
  static constexpr std::size_t kTextsAtOnce = 1 << 18;

  std::vector<StreamEvent> events_;
  std::pmr::monotonic_buffer_resource texts_{kTextsAtOnce};
};

}  // namespace crowdfold
