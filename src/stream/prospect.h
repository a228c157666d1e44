// Foresees which events of a batch a stream would refuse, so that a batch can be refused as a whole
// before anything of it is in.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "crowdfold/stream.h"

namespace crowdfold {

class Prospect {
 public:
  static constexpr const char* kNoTask = "there is no such task";
  static constexpr const char* kNoLabel = "this worker has no label on the task";

  // What the stream knows, as far as it matters.
  struct Knowledge {
    std::function<bool(std::string_view id)> has_event;
    // Those who labelled a task, in any order; nullopt if there is none of this name.
    std::function<std::optional<std::vector<std::string_view>>(std::string_view task)> workers_of;
    std::function<bool(std::string_view name)> is_class;
    std::size_t room_for_classes = 0;
    std::function<std::string(std::string_view name)> unknown_class;  // why it cannot be one
  };
  explicit Prospect(Knowledge stream) : stream_(std::move(stream)) {}

  // Which events would be refused if the others came. Once. The texts of events must live on.
  std::vector<Refusal> refusals(std::span<const StreamEvent> events);

 private:
  // A task that may be refused something: its labels as they will be by then.
  struct Task {
    bool is_there = false;
    std::unordered_set<std::string_view> workers;
  };

  void look_up(std::span<const StreamEvent> events);
  bool is_repeated(std::string_view id) const;
  std::string why_refused(const StreamEvent& event);
  std::string why_no_class(std::string_view name);
  Task* find(std::string_view task);

  Knowledge stream_;
  std::unordered_map<std::string_view, Task> tasks_;
  std::unordered_set<std::string_view> new_classes_;
  std::unordered_set<std::string_view> ids_;  // of events before the present one
};

}  // namespace crowdfold
