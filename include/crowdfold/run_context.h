// RunContext: what a run is given besides its data and options. Nothing in the library
// reaches for a global clock, generator, terminal or signal: it is all in here.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace crowdfold {

struct Progress {
  const char* stage = "";   // "reading", "twopass", …
  std::uint64_t done = 0;   // in units of the stage: bytes, tasks, iterations
  std::uint64_t total = 0;  // 0: not known
};

struct RunContext {
  std::uint64_t seed = 0;
  int threads = 1;
  bool posterior = false;        // also fill Result::posterior
  bool confusion = false;        // also fill Result::confusion
  std::uint64_t max_memory = 0;  // bytes; what needs more is Error(usage). 0: no limit

  // Called now and then, from one thread at a time.
  std::function<void(const Progress&)> progress;
  // Set to true from anywhere, also from a signal handler, to stop with Error(interrupted).
  const std::atomic<bool>* cancelled = nullptr;

  void report(const char* stage, std::uint64_t done, std::uint64_t total) const {
    if (progress) progress({stage, done, total});
  }
  void throw_if_cancelled() const;
};

}  // namespace crowdfold
