// What people see: tables that line up; colour and progress, on a terminal only. Numbers with commas are
// in crowdfold/words.h.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "crowdfold/run_context.h"

namespace crowdfold::cli {

bool stderr_is_terminal();
// Whether escape sequences are welcome on this stream: a terminal, and NO_COLOR is not set.
bool wants_color(std::FILE* stream);

// .8455, as tables of accuracies are printed
std::string decimal(double value, int digits = 4);

// Columns of text; numbers line up at the right, the rest at the left. Widths count characters, not
// bytes.
class Table {
 public:
  explicit Table(std::vector<std::string> header) : header_(std::move(header)) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
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
  Clock::time_point drawn_;
  bool visible_ = false;
};

}  // namespace crowdfold::cli
