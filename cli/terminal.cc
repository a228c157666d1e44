#include "terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "crowdfold/error.h"
#include "crowdfold/io.h"
#include "crowdfold/words.h"

namespace crowdfold::cli {
namespace {

constexpr double kFirstAfter = 1.0;  // seconds
constexpr double kDrawEvery = 0.1;
constexpr int kBarWidth = 24;

// Characters on the screen: bytes that do not continue a UTF-8 sequence.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_numeric(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,+-e%x± ") == std::string::npos;
}

std::vector<std::string> all_printable(const std::vector<std::string>& texts) {
  std::vector<std::string> shown;
  for (const std::string& text : texts) shown.push_back(printable(text));
  return shown;
}

[[noreturn]] void fail_to_print() {
  const std::string reason = std::strerror(errno);
  throw Error(ErrorCode::io, Location{"standard output", 0, 0}, "cannot write to: " + reason);
}

std::string amount(const char* stage, double value) {
  const bool bytes = std::string(stage) == "reading";
  if (bytes) return fmt::format("{:.0f} MB", value / 1e6);
  return value >= 1e6 ? fmt::format("{:.1f} M", value / 1e6) : fmt::format("{:.0f}", value);
}

}  // namespace

std::atomic<bool>& interrupted() {
  static std::atomic<bool> flag = false;
  return flag;
}

std::atomic<bool>& terminated() {
  static std::atomic<bool> flag = false;
  return flag;
}

void print(std::string_view text) {
  if (!write_to_reader(STDOUT_FILENO, text, &interrupted())) fail_to_print();
}

void print_lines(std::string_view text) {
  ::isatty(STDOUT_FILENO) != 0 ? print(printable(text, "\n")) : print(text);
}

void tell(std::string_view text) {
  // Where nobody reads a pipe any more, the signal would end the program.
  sigset_t broken_pipe;
  sigset_t before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  try {
    constexpr timespec kAtOnce{};
    if (!write_to_reader(STDERR_FILENO, text, &interrupted()) && errno == EPIPE)
      ::sigtimedwait(&broken_pipe, nullptr, &kAtOnce);
  } catch (const Error&) {  // nobody reads it, and the user wants to go
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

bool stderr_is_terminal() { return ::isatty(STDERR_FILENO) != 0; }

bool wants_color(std::FILE* stream) {
  return ::isatty(::fileno(stream)) != 0 && std::getenv("NO_COLOR") == nullptr;
}

std::string decimal(double value, int digits) {
  if (!std::isfinite(value)) return "-";
  std::string text = fmt::format("{:.{}f}", value, digits);
  if (text.starts_with('-') && text.find_first_not_of("-0.") == std::string::npos) text.erase(0, 1);
  if (text.starts_with("0.")) text.erase(0, 1);
  if (text.starts_with("-0.")) text.erase(1, 1);
  return text;
}

Table::Table(const std::vector<std::string>& header) : header_(all_printable(header)) {}

void Table::add(const std::vector<std::string>& row) { rows_.push_back(all_printable(row)); }

std::string Table::text(bool color, int indent) const {
  std::vector<std::size_t> widths;
  std::vector<bool> numeric;
  for (std::size_t c = 0; c < header_.size(); ++c) {
    std::size_t width = width_of(header_[c]);
    bool all_numeric = !rows_.empty();
    for (const auto& row : rows_) {
      width = std::max(width, width_of(row[c]));
      all_numeric = all_numeric && (is_numeric(row[c]) || row[c].empty() || row[c] == "-");
    }
    widths.push_back(width);
    numeric.push_back(all_numeric);
  }
  std::string text;
  const auto add_row = [&](const std::vector<std::string>& row, bool bold) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string padding(widths[c] - width_of(row[c]), ' ');
      if (c > 0) line += "  ";
      line += numeric[c] ? padding + row[c] : row[c] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += bold ? fmt::format("\x1b[1m{}\x1b[0m\n", line) : fmt::format("{}\n", line);
  };
  add_row(header_, color);
  for (const auto& row : rows_) add_row(row, false);
  return text;
}

void ProgressBar::show(const Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (stage_ != progress.stage || progress.done < done_at_first_) {
    stage_ = progress.stage;
    began_ = now;
    done_at_first_ = progress.done;
    drawn_ = {};
  }
  const double elapsed = std::chrono::duration<double>(now - began_).count();
  if (elapsed < kFirstAfter || std::chrono::duration<double>(now - drawn_).count() < kDrawEvery) return;
  drawn_ = now;
  visible_ = true;
  const double rate =
      static_cast<double>(progress.done - std::min(progress.done, done_at_first_)) / elapsed;
  std::string line = fmt::format("\r\x1b[K{:<10} ", stage_);
  if (progress.total > 0) {
    const double share =
        std::min(1.0, static_cast<double>(progress.done) / static_cast<double>(progress.total));
    const int full = static_cast<int>(share * kBarWidth);
    for (int i = 0; i < kBarWidth; ++i) line += i < full ? "█" : "░";
    line += fmt::format(" {:3.0f} %", 100 * share);
    if (rate > 0)
      line += fmt::format("  {}{:.0f} s left", progress.at_most ? "at most " : "",
                          static_cast<double>(progress.total - progress.done) / rate);
  }
  line += fmt::format("  {}/s", amount(progress.stage, rate));
  tell(line);
}

void ProgressBar::end() {
  if (visible_) tell("\r\x1b[K");
  visible_ = false;
}

}  // namespace crowdfold::cli
