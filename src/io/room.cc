#include "io/room.h"

#include <fmt/format.h>

#include "crowdfold/error.h"
#include "crowdfold/words.h"

namespace crowdfold {

namespace {

std::string too_much(std::string_view what, std::uint64_t max_memory, std::string_view advice) {
  return fmt::format("{} need more memory than the {} that may be used: allow more with --max-memory{}",
                     what, memory_size(max_memory), advice);
}

}  // namespace

void require_room_for_labels(const std::string& source, std::uint64_t bytes, std::uint64_t max_memory,
                             std::string_view advice) {
  if (max_memory == 0 || bytes <= max_memory) return;
  throw LabelsOutOfRoom(ErrorCode::usage, Location{source, 0, 0},
                        too_much("its labels", max_memory, advice));
}

void require_room(const std::string& source, std::string_view what, std::uint64_t bytes,
                  std::uint64_t max_memory, std::string_view advice) {
  if (max_memory == 0 || bytes <= max_memory) return;
  throw Error(ErrorCode::usage, Location{source, 0, 0}, too_much(what, max_memory, advice));
}

}  // namespace crowdfold
