// simdjson tells of memory that ran out as of any other fault of a text: it is none.
#pragma once

#include <simdjson.h>

#include <new>
#include <string_view>

namespace crowdfold {

inline void require_memory(simdjson::error_code code) {
  if (code == simdjson::MEMALLOC) throw std::bad_alloc();
}

// A copy of a text, with room for the parser behind it.
inline simdjson::padded_string padded(std::string_view text) {
  simdjson::padded_string copy(text);
  if (copy.data() == nullptr) throw std::bad_alloc();
  return copy;
}

}  // namespace crowdfold
