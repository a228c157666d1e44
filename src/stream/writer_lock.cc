#include "stream/writer_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "crowdfold/error.h"

namespace crowdfold {

WriterLock::WriterLock(const std::string& path) {
  if (path.empty()) return;
  descriptor_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw Error(ErrorCode::io, Location{path, 0, 0}, std::strerror(errno));
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  throw Error(ErrorCode::io, Location{path, 0, 0},
              "another stream writes to this state; stop it first, or give each its own --state and "
              "put them together with `crowdfold state merge`");
}

WriterLock::~WriterLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace crowdfold
