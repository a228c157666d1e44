// One writer of a state at a time. The lock is the kernel's: it is gone when the program is, however the
// program ends.
#pragma once

#include <string>

namespace crowdfold {

class WriterLock {
 public:
  // Error(io) if another stream has it. An empty path has no lock.
  explicit WriterLock(const std::string& path);
  ~WriterLock();
  WriterLock(const WriterLock&) = delete;
  WriterLock& operator=(const WriterLock&) = delete;

  // Of the file, as long as it is locked; -1 if it is not.
  int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

}  // namespace crowdfold
