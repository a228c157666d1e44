// RunContext: seed, threads, limits and callbacks of a run. The library uses no global clock,
// generator, terminal or signal: they all enter here.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace crowdfold {

struct Progress {
  const char* stage = "";   // "reading", "twopass", …
  std::uint64_t done = 0;   // in units of the stage: bytes, tasks, iterations
  std::uint64_t total = 0;  // 0: unknown
  bool at_most = false;     // it may be done before the total is reached
};

struct RunContext {
  std::uint64_t seed = 0;
  int threads = 1;
  bool posterior = false;        // also fill Result::posterior
  bool confusion = false;        // also fill Result::confusion
  std::uint64_t max_memory = 0;  // bytes; a run that needs more throws Error(usage). 0: no limit

  // Called from time to time, by one thread at a time.
  std::function<void(const Progress&)> progress;
  // Any thread or signal handler may set it to true; the run then throws Error(interrupted).
  const std::atomic<bool>* cancelled = nullptr;

  void report(const char* stage, std::uint64_t done, std::uint64_t total) const {
    if (progress) progress({stage, done, total, false});
  }
  void report_at_most(const char* stage, std::uint64_t done, std::uint64_t total) const {
    if (progress) progress({stage, done, total, true});
  }
  void throw_if_cancelled() const;
};

}  // namespace crowdfold
