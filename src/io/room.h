// Limits of memory: what was read of an input must not take more than the user allows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "crowdfold/error.h"

namespace crowdfold {

// That labels do not fit into memory: packed on a disk, they can still be read.
class LabelsOutOfRoom : public Error {
 public:
  using Error::Error;
};
// Throws it if labels take more bytes than that; 0: no limit.
void require_room_for_labels(const std::string& source, std::uint64_t bytes, std::uint64_t max_memory);

// Error(usage) if `what` ("its labels") takes more bytes than that; 0: no limit. `advice` says what else
// to do about it.
void require_room(const std::string& source, std::string_view what, std::uint64_t bytes,
                  std::uint64_t max_memory, std::string_view advice = {});

}  // namespace crowdfold
