// Numbers that people are told of labels before a method begins.
#pragma once

#include <cstdint>

#include "crowdfold/aggregate.h"

namespace crowdfold {

// Tables of at most so many numbers are made where nobody asked for them.
inline constexpr std::uint64_t kSmallTable = 1 << 25;

// Workers, without those that are left out by name.
std::uint64_t counted_workers(const NameTable& workers, const ReadOptions& options);

// Whether the context asks for posteriors, or they are small.
bool has_small_posteriors(const RunContext& context, std::uint64_t tasks, std::uint64_t classes);

// What to do about a run that takes minutes as labels have so many classes; empty for others.
std::string note_on_many_classes(const MethodInfo& method, const LabelCounts& counts);
inline void tell_note(const MethodInfo& method, const LabelCounts& counts,
                      const AggregateListener& listener) {
  const std::string note = note_on_many_classes(method, counts);
  if (!note.empty() && listener.on_note) listener.on_note(note);
}

}  // namespace crowdfold
