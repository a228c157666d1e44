// A value of any type from memory that need not be aligned for it.
#pragma once

#include <cstring>

namespace crowdfold {

template <class T>
T load_as(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace crowdfold
