// The fields that an event must have, by its kind.
#pragma once

#include "crowdfold/stream.h"

namespace crowdfold {

// What an event lacks, in words; null if it is complete. A label may be empty: an abstention.
inline const char* missing_field(const StreamEvent& event) {
  using Kind = StreamEvent::Kind;
  if (event.kind != Kind::summary && event.task.empty()) return "an event needs a task";
  if (event.kind == Kind::label && event.worker.empty()) return "a label needs a worker";
  if (event.kind == Kind::retract && event.worker.empty()) return "a retraction needs a worker";
  if (event.kind == Kind::truth && event.label.empty()) return "a truth needs a label";
  return nullptr;
}

}  // namespace crowdfold
