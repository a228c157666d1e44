#include "io/output.h"

#include <fcntl.h>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/io.h"

namespace crowdfold {

OutputFile::OutputFile(std::string path, When when) : path_(std::move(path)), target_(path_) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool standard = path_ == "-";
  if (!standard && fs::is_directory(path_, ignored)) {
    throw Error(ErrorCode::io, Location{path_, 0, 0}, "is a directory, not a file to write to");
  }
  // Standard output, a device or a pipe cannot be replaced by renaming: it is written to.
  if (standard || (fs::exists(path_, ignored) && !fs::is_regular_file(path_, ignored))) {
    stream_ = standard ? ::dup(STDOUT_FILENO) : ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (stream_ < 0) fail("open");
    if (when == When::as_it_comes) return;
    target_ = fs::temp_directory_path() / "crowdfold";
  } else if (fs::is_symlink(path_, ignored)) {
    target_ = fs::weakly_canonical(path_, ignored).string();  // the link stays
  }
  temporary_ = target_ + ".XXXXXX.tmp";
  descriptor_ = ::mkostemps(temporary_.data(), 4, O_CLOEXEC);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail("write to");
  }
  if (stream_ >= 0) {  // nobody needs its name
    ::unlink(temporary_.c_str());
    temporary_.clear();
  } else {
    const mode_t mask = ::umask(0);
    ::umask(mask);
    ::fchmod(descriptor_, 0666 & ~mask);
  }
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (stream_ >= 0) ::close(stream_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void require_writable(const std::string& path) {
  std::error_code ignored;
  const bool replaced = std::filesystem::is_regular_file(path, ignored) ||
                        std::filesystem::is_directory(path, ignored) ||
                        !std::filesystem::exists(path, ignored);
  if (path != "-" && replaced) OutputFile probe(path);
}

void OutputFile::write(std::string_view bytes) {
  write_all(descriptor_ >= 0 ? descriptor_ : stream_, bytes);
}

void OutputFile::write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      fail("write to");
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void OutputFile::commit() {
  if (stream_ >= 0) {
    if (descriptor_ >= 0) copy_to_stream();
    return;
  }
  if (::fsync(descriptor_) != 0) fail("write to");
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail("write to");
  temporary_.clear();
  // The rename itself is durable once the folder is synced.
  const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
  const int directory =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory >= 0) {
    ::fsync(directory);
    ::close(directory);
  }
}

void OutputFile::copy_to_stream() {
  if (::lseek(descriptor_, 0, SEEK_SET) < 0) fail("write to");
  std::vector<char> buffer(1 << 18);
  for (;;) {
    const ssize_t count = ::read(descriptor_, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write to");
    if (count == 0) return;
    write_all(stream_, {buffer.data(), static_cast<std::size_t>(count)});
  }
}

void OutputFile::fail(const char* what) const {
  const std::string reason = std::strerror(errno);
  throw Error(ErrorCode::io, Location{path_ == "-" ? "standard output" : path_, 0, 0},
              fmt::format("cannot {}: {}", what, reason));
}

TextKind kind_of(const std::string& path) {
  return path.ends_with(".jsonl") || path.ends_with(".ndjson") ? TextKind::jsonl : TextKind::csv;
}

void append_csv(std::string& to, std::string_view field) {
  // To the end, not to the first one found: most fields hold none of these, and nothing is to be
  // predicted.
  int special = 0;
  for (const char c : field) special |= (c == ',') | (c == '"') | (c == '\r') | (c == '\n');
  if (special == 0) {
    to.append(field);
    return;
  }
  to.push_back('"');
  for (const char c : field) {
    if (c == '"') to.push_back('"');
    to.push_back(c);
  }
  to.push_back('"');
}

void append_json(std::string& to, std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(),
                                 [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
  if (plain) {
    to.append(1, '"').append(text).append(1, '"');
    return;
  }
  // Bytes that are not UTF-8 cannot stand in JSON: they become the replacement character.
  to += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void append_number(std::string& to, double value) {
  char digits[32];
  to.append(digits, fmt::format_to(digits, FMT_COMPILE("{}"), value));
}

}  // namespace crowdfold
