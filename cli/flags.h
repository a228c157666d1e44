// Options that several sub-commands share, declared once.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crowdfold/io.h"
#include "crowdfold/registry.h"
#include "crowdfold/run_context.h"
#include "crowdfold/stream.h"
#include "terminal.h"

namespace crowdfold::cli {

// How to read label files.
class InputFlags {
 public:
  void add_to(CLI::App& command);
  ReadOptions options() const;
  // For a second file (truths, workers): the same rules, but for the mapping, which is about labels.
  ReadOptions options_for_tables() const;

 private:
  std::string format_ = "auto";
  bool header_ = false;
  bool no_header_ = false;
  std::vector<std::string> map_;
  std::string abstain_;
  std::string duplicates_ = "last";
  bool skip_bad_rows_ = false;
};

// How to run: seed, threads, and how much to say.
class RunFlags {
 public:
  void add_to(CLI::App& command, bool with_seed = true);
  // For commands that run methods.
  void add_memory_to(CLI::App& command);

  // With a progress bar where there is someone to see it; cancelled by Ctrl-C.
  RunContext context() const;
  bool quiet() const { return quiet_; }
  bool verbose() const { return verbose_; }
  // A line for people, on standard error.
  void say(const std::string& line) const;
  // What the reader recognised and what it left out.
  void say(const ReadReport& report) const;
  void end_progress() const { progress_->end(); }

 private:
  std::uint64_t seed_ = 0;
  int threads_ = 0;
  std::uint64_t max_memory_ = 0;  // 0: most of the machine's
  bool quiet_ = false;
  bool verbose_ = false;
  std::shared_ptr<ProgressBar> progress_ = std::make_shared<ProgressBar>();
};

// What a stream's state is made with.
class ConfigFlags {
 public:
  void add_to(CLI::App& command);
  // Applies the flags that the user gave.
  std::function<void(StreamConfig&)> overrides() const;
  // Those of them that the method `live` has.
  Settings settings() const;

 private:
  std::optional<double> alpha_;
  std::optional<double> beta_;
  std::optional<double> half_life_;
  bool forget_closed_ = false;
  std::vector<std::string> classes_;
};

// "name=value", as --set takes them. Error(usage) without an equals sign.
Settings parse_settings(const std::vector<std::string>& texts);

// Set by the signal handler that main installs.
std::atomic<bool>& interrupted();

}  // namespace crowdfold::cli
