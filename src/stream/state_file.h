// The state files that this process has open: one writer of each at a time, and no descriptor is closed
// too early.
//
// SQLite's locks are POSIX locks, which belong to the process: when it closes any descriptor of a file,
// all its locks on that file are gone, and another program may delete the log under a running stream. So
// files are known here by device and inode: a second writer is refused before anything is opened, and a
// descriptor stays open until the last store of its file is closed. (A file of its own for the lock
// would need none of this for the lock, but would miss a second name of the state; and reading ahead
// needs a descriptor of the state anyway.) Between processes, flock() keeps writers apart: the kernel
// gives that lock back however a program ends.
//
// Other code of the process must not open and close the file of a store either, as by fopen().
#pragma once

#include <sys/types.h>

#include <compare>
#include <optional>
#include <string>

namespace crowdfold {

class StateFile {
 public:
  enum class Use { read, write };
  // Before SQLite opens the file. To write: the file is made, for its owner alone, if it is not there.
  // Error(io) if another stream writes to it, or it cannot be opened. An empty path is no file.
  StateFile(const std::string& path, Use use);
  // After SQLite closed it.
  ~StateFile();
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  // Of a file that is open to write, as long as it is; -1 for others.
  int descriptor() const { return descriptor_; }
  bool is_same(const StateFile& other) const { return id_ && id_ == other.id_; }
  // Whether a stream has the file open to write at this moment, in this process or in another.
  bool is_being_written(const std::string& path) const;

  struct Id {
    dev_t device;
    ino_t inode;
    auto operator<=>(const Id&) const = default;  // NOLINT(modernize-use-nullptr): it has no pointer
  };

 private:
  std::optional<Id> id_;
  int descriptor_ = -1;
};

// Whether SQLite may write the file, and make others beside it.
bool may_be_written(const std::string& path);
// Whether a state can be read only as it lies there: nobody has it open, and SQLite could not make the
// files that it needs beside it, or must not: they would be in the way of the state's owner.
bool is_sealed(const std::string& path);

}  // namespace crowdfold
