#include "io/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

// For file systems that make no file without a name: it loses the one it gets at once.
int open_nameless(const std::string& folder) {
  constexpr std::uint32_t kTries = 1000;
  int descriptor = -1;
  for (std::uint32_t i = 0; i < kTries && descriptor < 0; ++i) {
    std::uint32_t number = 0;
    if (::getrandom(&number, sizeof number, 0) < 0) number = i;
    const std::string path = fmt::format("{}/crowdfold.{:08x}.tmp", folder, number);
    descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor >= 0) ::unlink(path.c_str());
    if (descriptor < 0 && errno != EEXIST) break;
  }
  return descriptor;
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& folder) : folder_(folder.empty() ? "." : folder) {
#ifdef O_TMPFILE
  descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
#endif
    descriptor_ = open_nameless(folder_);
  if (descriptor_ < 0) fail("make a temporary file");
}

TemporaryFile::~TemporaryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::uint64_t TemporaryFile::append(std::string_view bytes) {
  write_at(size_, bytes);
  return std::exchange(size_, size_ + bytes.size());
}

void TemporaryFile::write_at(std::uint64_t place, std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("write a temporary file");
    bytes.remove_prefix(static_cast<std::size_t>(count));
    place += static_cast<std::uint64_t>(count);
  }
}

void TemporaryFile::read_at(std::uint64_t place, char* to, std::size_t size) const {
  while (size > 0) {
    const ssize_t count = ::pread(descriptor_, to, size, static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count == 0) errno = EIO;
    if (count <= 0) fail("read a temporary file");
    to += count;
    place += static_cast<std::uint64_t>(count);
    size -= static_cast<std::size_t>(count);
  }
}

int TemporaryFile::release() { return std::exchange(descriptor_, -1); }

void TemporaryFile::fail(const char* what) const {
  const std::string reason = std::strerror(errno);
  throw Error(ErrorCode::io, Location{folder_, 0, 0}, fmt::format("cannot {}: {}", what, reason));
}

std::uint64_t free_space(const std::string& folder) {
  struct statvfs status {};
  if (::statvfs(folder.empty() ? "." : folder.c_str(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

}  // namespace crowdfold
