#include "io/room.h"

#include <fmt/format.h>

#include "crowdfold/error.h"
#include "crowdfold/words.h"

namespace crowdfold {

namespace {

// Whatever the command, this one can do without.
constexpr const char* kNotInMemory =
    "; 'crowdfold aggregate' reads them from a disk with a method that works in rounds, such as "
    "--method "
    "fivepass, or with --low-memory where they are grouped by task";

std::string too_much(std::string_view what, std::uint64_t max_memory, std::string_view advice) {
  return fmt::format("{} need more memory than the {} that may be used: allow more with --max-memory{}",
                     what, memory_size(max_memory), advice);
}

}  // namespace

void require_room_for_labels(const std::string& source, std::uint64_t bytes, std::uint64_t max_memory) {
  if (max_memory == 0 || bytes <= max_memory) return;
  throw LabelsOutOfRoom(ErrorCode::usage, Location{source, 0, 0},
                        too_much("its labels", max_memory, kNotInMemory));
}

void require_room(const std::string& source, std::string_view what, std::uint64_t bytes,
                  std::uint64_t max_memory, std::string_view advice) {
  if (max_memory == 0 || bytes <= max_memory) return;
  throw Error(ErrorCode::usage, Location{source, 0, 0}, too_much(what, max_memory, advice));
}

}  // namespace crowdfold
