// A copy of a state as of one moment, also while a stream writes to it: by SQLite's backup, which reads
// pages inside one transaction. (`cp` would miss the log beside the file, and may read half a change.)
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "crowdfold/error.h"
#include "crowdfold/stream.h"
#include "stream/store.h"

namespace crowdfold {
namespace {

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw Error(ErrorCode::io, Location{path, 0, 0}, message);
}

// SQLite would take a log that lies beside a new state for its log.
void require_new(const std::string& path) {
  for (const char* const part : {"", "-wal", "-journal"}) {
    struct stat found {};
    if (::lstat((path + part).c_str(), &found) != 0) continue;
    throw Error(ErrorCode::usage, Location{path + part, 0, 0},
                "is there already, and is not replaced: move it away, or give another name");
  }
}

// A file beside its place, for its owner alone, until it is whole.
class UnfinishedState {
 public:
  explicit UnfinishedState(const std::string& target) : target_(target), path_(target + ".XXXXXX") {
    const int descriptor = ::mkstemp(path_.data());
    if (descriptor < 0) fail(target, fmt::format("cannot write to: {}", std::strerror(errno)));
    ::close(descriptor);  // before SQLite has locks on it
  }
  ~UnfinishedState() {
    if (path_.empty()) return;
    for (const char* const part : {"", "-wal", "-shm", "-journal"}) ::unlink((path_ + part).c_str());
  }
  UnfinishedState(const UnfinishedState&) = delete;
  UnfinishedState& operator=(const UnfinishedState&) = delete;

  const std::string& path() const { return path_; }
  // Gives it its name, unless a file of that name has come meanwhile.
  void finish() {
    sync(path_);
    require_new(target_);
    if (::rename(path_.c_str(), target_.c_str()) != 0)
      fail(target_, fmt::format("cannot write to: {}", std::strerror(errno)));
    path_.clear();
    const std::filesystem::path folder = std::filesystem::path(target_).parent_path();
    sync(folder.empty() ? "." : folder.string());
  }

 private:
  void sync(const std::string& path) const {
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const bool is_synced = descriptor >= 0 && ::fsync(descriptor) == 0;
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    if (!is_synced) fail(target_, fmt::format("cannot write to: {}", std::strerror(error)));
  }

  std::string target_;
  std::string path_;
};

}  // namespace

StreamTotals copy_state(const std::string& from, const std::string& to, const RunContext& context) {
  require_new(to);
  UnfinishedState copy(to);
  open_store_to_read(from)->copy_to(copy.path(), context);
  StreamTotals totals;
  std::vector<std::string> problems;
  {
    context.report("checking", 0, 0);
    LiveStream reader(open_store_to_read(copy.path()), {}, {});
    problems = reader.problems();
    totals = reader.totals();
  }
  if (!problems.empty())
    throw Error(ErrorCode::data, Location{from, 0, 0},
                fmt::format("the state is damaged, and was not copied: {}", problems.front()));
  copy.finish();
  return totals;
}

}  // namespace crowdfold
