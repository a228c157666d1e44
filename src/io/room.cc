#include "io/room.h"

#include <fmt/format.h>

#include "crowdfold/error.h"
#include "crowdfold/words.h"

namespace crowdfold {

void require_room(const std::string& source, std::string_view what, std::uint64_t bytes,
                  std::uint64_t max_memory, std::string_view advice) {
  if (max_memory == 0 || bytes <= max_memory) return;
  throw OutOfRoom(ErrorCode::usage, Location{source, 0, 0},
                  fmt::format("{} need more memory than the {} that may be used: allow more with "
                              "--max-memory{}",
                              what, memory_size(max_memory), advice));
}

}  // namespace crowdfold
