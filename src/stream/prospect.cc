#include "stream/prospect.h"

#include "crowdfold/error.h"
#include "stream/required_fields.h"

namespace crowdfold {

using Kind = StreamEvent::Kind;

std::vector<Refusal> Prospect::refusals(std::span<const StreamEvent> events) {
  look_up(events);
  std::vector<Refusal> refused;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const StreamEvent& event = events[i];
    if (const char* const missing = missing_field(event)) throw Error(ErrorCode::usage, missing);
    // An event that comes again is ignored. Where it could matter, the store is asked.
    if (!event.id.empty() && ids_.count(event.id) > 0) continue;
    Task* const task = find(event.task);
    if (task != nullptr && is_repeated(event.id)) continue;
    if (std::string why = why_refused(event); !why.empty()) {
      if (task != nullptr || !is_repeated(event.id)) refused.push_back({i, std::move(why)});
      continue;
    }
    if (!event.id.empty()) ids_.insert(event.id);
    if (task == nullptr) continue;
    if (event.kind == Kind::label && !event.label.empty()) task->workers.insert(event.worker);
    if (event.kind == Kind::retract) task->workers.erase(event.worker);
    task->is_there |= event.kind == Kind::truth || !event.label.empty();
  }
  return refused;
}

// Labels and truths are refused for their class alone: other tasks need not be looked at.
void Prospect::look_up(std::span<const StreamEvent> events) {
  for (const StreamEvent& event : events) {
    if (event.kind != Kind::retract && event.kind != Kind::close && event.kind != Kind::reopen) continue;
    const auto [place, is_new] = tasks_.try_emplace(event.task);
    if (!is_new) continue;
    const auto workers = stream_.workers_of(event.task);
    place->second.is_there = workers.has_value();
    if (workers) place->second.workers.insert(workers->begin(), workers->end());
  }
}

Prospect::Task* Prospect::find(std::string_view task) {
  const auto place = tasks_.find(task);
  return place == tasks_.end() ? nullptr : &place->second;
}

bool Prospect::is_repeated(std::string_view id) const { return !id.empty() && stream_.has_event(id); }

std::string Prospect::why_refused(const StreamEvent& event) {
  switch (event.kind) {
    case Kind::label: return event.label.empty() ? "" : why_no_class(event.label);
    case Kind::truth: return why_no_class(event.label);
    case Kind::retract:
    case Kind::close:
    case Kind::reopen: {
      const Task& task = *find(event.task);
      if (!task.is_there) return kNoTask;
      return event.kind == Kind::retract && task.workers.count(event.worker) == 0 ? kNoLabel : "";
    }
    case Kind::summary: return "";
  }
  return "";
}

std::string Prospect::why_no_class(std::string_view name) {
  if (stream_.is_class(name) || new_classes_.count(name) > 0) return "";
  if (new_classes_.size() == stream_.room_for_classes) return stream_.unknown_class(name);
  new_classes_.insert(name);
  return "";
}

}  // namespace crowdfold
