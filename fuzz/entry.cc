// Where libFuzzer comes in: a program per harness, whose name is CROWDFOLD_HARNESS.
#include <cstdint>

#include "fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  crowdfold::fuzz::CROWDFOLD_HARNESS({reinterpret_cast<const char*>(data), size});
  return 0;
}
