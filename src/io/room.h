// Limits of memory: what was read of an input must not take more than the user allows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "crowdfold/error.h"

namespace crowdfold {

// What require_room() throws: labels that may be packed on a disk can still be read.
class OutOfRoom : public Error {
 public:
  using Error::Error;
};

// Error(usage) if `what` ("its labels") takes more bytes than that; 0: no limit. `advice` says what else
// to do about it.
void require_room(const std::string& source, std::string_view what, std::uint64_t bytes,
                  std::uint64_t max_memory, std::string_view advice = {});

}  // namespace crowdfold
