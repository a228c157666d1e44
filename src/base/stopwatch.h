// Seconds since it was made, or since the last lap.
#pragma once

#include <chrono>
#include <utility>

namespace crowdfold {

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(began_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace crowdfold
