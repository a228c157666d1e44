// What people see: tables that line up; colour and progress, on a terminal only; and the two ways out,
// standard output and standard error. Numbers with commas are in crowdfold/words.h.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "crowdfold/run_context.h"

namespace crowdfold::cli {

// Set by the signal handler that main installs.
std::atomic<bool>& interrupted();
// Whether it was SIGTERM: how a service is told to stop.
std::atomic<bool>& terminated();

// To standard output. Error(interrupted) if a signal comes while nobody reads it, Error(io) if it cannot
// be written: a command that prints has failed then.
void print(std::string_view text);
// The same for lines that hold names as they are, such as JSON: a terminal gets them as printable()
// shows them.
void print_lines(std::string_view text);
// To standard error. Never fails: people who closed it, or let it run full, shall have their answers all
// the same.
void tell(std::string_view text);

bool stderr_is_terminal();
// Whether escape sequences are welcome on this stream: a terminal, and NO_COLOR is not set.
bool wants_color(std::FILE* stream);

// .8455, as tables of accuracies are printed
std::string decimal(double value, int digits = 4);

// Columns of text, made printable(); numbers line up at the right, the rest at the left. Widths count
// characters, not bytes.
class Table {
 public:
  explicit Table(const std::vector<std::string>& header);
  void add(const std::vector<std::string>& row);
  std::string text(bool color = false, int indent = 0) const;

 private:
  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

// One line on standard error, drawn again in place, for anything that takes longer than a second.
class ProgressBar {
 public:
  void show(const Progress& progress);
  void end();

 private:
  using Clock = std::chrono::steady_clock;
  std::string stage_;
  Clock::time_point began_;
  std::uint64_t done_at_first_ = 0;  // when the stage began to be told
  Clock::time_point drawn_;
  bool visible_ = false;
};

}  // namespace crowdfold::cli
