#include "fuzz.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "crowdfold/error.h"

namespace crowdfold::fuzz {
namespace {

constexpr std::string_view kError = "error ";

// All of it, to a file in memory or a pipe that has room.
void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count <= 0) throw std::runtime_error("cannot write an input");
    text.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string path_of(int descriptor) { return fmt::format("/proc/self/fd/{}", descriptor); }

}  // namespace

Choices::Choices(std::string_view& input) : left_(input.substr(0, input.find('\n'))) {
  input.remove_prefix(std::min(left_.size() + 1, input.size()));
}

std::size_t Choices::below(std::size_t count) {
  if (left_.empty()) return 0;
  const auto choice = static_cast<unsigned char>(left_.front() - '0');
  left_.remove_prefix(1);
  return choice % count;
}

ReadOptions read_options(Choices& choices) {
  ReadOptions options;
  options.format = choices.of({Format::automatic, Format::csv, Format::tsv, Format::jsonl});
  options.header = choices.of({Header::automatic, Header::yes, Header::no});
  options.skip_bad_rows = choices.below(2) == 1;
  options.duplicates =
      choices.of({Duplicates::last, Duplicates::first, Duplicates::error, Duplicates::keep});
  if (choices.below(2) == 1) options.abstain = {"a"};
  // What is refused depends on counts, which differ between the roads where a worker labels a task
  // twice.
  options.multi_select = MultiSelect::keep;
  // One block for almost every input; the usual size costs time, as every reader clears that much.
  options.block_bytes = 1 << 14;
  return options;
}

ReadOptions in_small_blocks(ReadOptions options, Choices& choices) {
  options.block_bytes = choices.of<std::size_t>({1, 2, 3, 5, 8, 13, 40, 1000});
  return options;
}

MemoryFile::MemoryFile(std::string_view text) : descriptor_(::memfd_create("input", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::runtime_error("no file in memory");
  append(text);
}
MemoryFile::~MemoryFile() { ::close(descriptor_); }
void MemoryFile::append(std::string_view text) const { write_all(descriptor_, text); }
std::string MemoryFile::path() const { return path_of(descriptor_); }

Pipe::Pipe() {
  if (::pipe2(ends_, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
}
Pipe::~Pipe() {
  ::close(ends_[0]);
  end();
}
void Pipe::write(std::string_view text) const { write_all(ends_[1], text); }
void Pipe::end() {
  if (ends_[1] >= 0) ::close(ends_[1]);
  ends_[1] = -1;
}
std::string Pipe::path() const { return path_of(ends_[0]); }

void in_pieces(std::string_view text, std::size_t size,
               const std::function<void(std::string_view)>& body) {
  for (; !text.empty(); text.remove_prefix(std::min(size, text.size()))) body(text.substr(0, size));
}

std::string outcome(const std::string& path, const std::function<std::string()>& work) {
  std::string text;
  try {
    text = work();
  } catch (const Error& error) {
    text = fmt::format("{}{}: {}", kError, static_cast<int>(error.code()), error.what());
  }
  for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path, at))
    text.replace(at, path.size(), "INPUT");
  return text;
}

bool is_error(const std::string& outcome) { return outcome.starts_with(kError); }

void expect_same(const char* what, const std::string& one, const std::string& other) {
  if (one == other) return;
  const auto differs = std::mismatch(one.begin(), one.end(), other.begin(), other.end());
  fmt::print(stderr, "crowdfold: {}: outcomes differ from byte {} on\n--- one\n{}\n--- other\n{}\n",
             what, differs.first - one.begin(), one, other);
  std::abort();
}

std::string text_of(const ReadReport& report) {
  return fmt::format("{} | {} | {} | {} skipped: {}\n", report.source, report.format, report.columns,
                     report.skipped_rows, report.first_skipped);
}

std::string text_of(const NameTable& names) {
  std::string text;
  for (std::uint32_t i = 0; i < names.size(); ++i) text += fmt::format("{}:'{}' ", i, names[i]);
  return text + "\n";
}

}  // namespace crowdfold::fuzz
