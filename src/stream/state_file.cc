#include "stream/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "crowdfold/error.h"
#include "io/file_place.h"

namespace crowdfold {
namespace {

struct OpenStateFile {
  int stores = 0;
  bool is_written = false;
  std::vector<int> descriptors;  // one, unless the file was replaced while it was opened
};

struct OpenStateFiles {
  std::mutex mutex;
  std::map<StateFile::Id, OpenStateFile> files;

  // Closes what no store needs.
  void tidy(const StateFile::Id& id) {
    const auto file = files.find(id);
    if (file == files.end() || file->second.stores > 0) return;
    for (const int descriptor : file->second.descriptors) ::close(descriptor);
    files.erase(file);
  }
};

OpenStateFiles& open_state_files() {
  static OpenStateFiles all;
  return all;
}

[[noreturn]] void fail_to_open(const std::string& path) {
  const int error = errno;
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (std::error_code unknown; !folder.empty() && !std::filesystem::exists(folder, unknown)) {
    throw Error(ErrorCode::io, Location{path, 0, 0},
                fmt::format("the folder {} does not exist", folder.string()));
  }
  throw Error(
      ErrorCode::io, Location{path, 0, 0},
      error == ENOENT ? "there is no such file" + did_you_mean_file(path) : std::strerror(error));
}
[[noreturn]] void refuse_writer(const std::string& path) {
  throw Error(ErrorCode::io, Location{path, 0, 0},
              "another stream writes to this state; stop it first, or give each its own --state and "
              "put them together with `crowdfold state merge`");
}

// Of a path or a descriptor. Error(io) if it is a pipe, a device or a folder: no state is in one.
std::optional<StateFile::Id> id_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) return std::nullopt;
  if (!S_ISREG(found.st_mode))
    throw Error(ErrorCode::io, Location{path, 0, 0},
                S_ISDIR(found.st_mode) ? "is a directory, not a state: give a FILE"
                                       : "is a pipe or a device, not a state: give a FILE");
  return StateFile::Id{found.st_dev, found.st_ino};
}
std::optional<StateFile::Id> id_of(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) != 0) return std::nullopt;
  return StateFile::Id{found.st_dev, found.st_ino};
}

// Tries again for some milliseconds: a process in is_being_written() holds the lock for a moment.
bool lock_to_write(int descriptor) {
  constexpr int kTries = 5;
  for (int i = 1; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK || i == kTries) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

bool may(const std::string& path, int mode) {
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

}  // namespace

StateFile::StateFile(const std::string& path, Use use) {
  if (path.empty()) return;
  if (path.find('\0') != std::string::npos)
    throw Error(ErrorCode::usage, "the name of a state cannot have a zero byte");
  OpenStateFiles& all = open_state_files();
  const std::lock_guard lock(all.mutex);
  id_ = id_of(path);
  if (use == Use::read) {
    if (!id_ || !may(path, R_OK)) fail_to_open(path);
    ++all.files[*id_].stores;
    return;
  }
  if (const auto known = all.files.find(id_.value_or(Id{})); id_ && known != all.files.end()) {
    if (known->second.is_written) refuse_writer(path);
    if (!known->second.descriptors.empty()) descriptor_ = known->second.descriptors.front();
  }
  if (descriptor_ < 0) {
    descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (descriptor_ < 0) fail_to_open(path);
    id_ = id_of(descriptor_);
    if (!id_) fail_to_open(path);
    all.files[*id_].descriptors.push_back(descriptor_);
  }
  OpenStateFile& file = all.files[*id_];
  if (file.is_written || !lock_to_write(descriptor_)) {
    const bool is_taken = file.is_written || errno == EWOULDBLOCK;
    const std::string reason = std::strerror(errno);
    all.tidy(*id_);
    if (is_taken) refuse_writer(path);
    throw Error(ErrorCode::io, Location{path, 0, 0}, "cannot be locked: " + reason);
  }
  file.is_written = true;
  ++file.stores;
}

StateFile::~StateFile() {
  if (!id_) return;
  OpenStateFiles& all = open_state_files();
  const std::lock_guard lock(all.mutex);
  OpenStateFile& file = all.files[*id_];
  --file.stores;
  if (descriptor_ >= 0) {
    ::flock(descriptor_, LOCK_UN);
    file.is_written = false;
  }
  all.tidy(*id_);
}

bool StateFile::is_being_written(const std::string& path) const {
  if (!id_) return false;
  OpenStateFiles& all = open_state_files();
  const std::lock_guard lock(all.mutex);
  OpenStateFile& file = all.files[*id_];
  if (file.is_written) return true;
  if (file.descriptors.empty()) {
    const int opened = ::open(path.c_str(), (may(path, W_OK) ? O_RDWR : O_RDONLY) | O_CLOEXEC);
    if (opened < 0) return false;
    file.descriptors.push_back(opened);  // to close it now would drop SQLite's locks
  }
  const int descriptor = file.descriptors.front();
  if (::flock(descriptor, LOCK_SH | LOCK_NB) != 0) return errno == EWOULDBLOCK;
  ::flock(descriptor, LOCK_UN);
  return false;
}

bool may_be_written(const std::string& path) {
  std::error_code unknown;
  const std::filesystem::path file = std::filesystem::canonical(path, unknown);
  return may(file.string(), W_OK) && may(file.parent_path().string(), W_OK | X_OK);
}

bool is_sealed(const std::string& path) {
  std::error_code no_log;
  const std::filesystem::path file = std::filesystem::canonical(path, no_log);
  const std::uintmax_t log = std::filesystem::file_size(file.string() + "-wal", no_log);
  return (no_log || log == 0) && !may_be_written(path);
}

}  // namespace crowdfold
