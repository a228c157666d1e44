// Files in zip archives, by libzip: streamed, never held as a whole. A zip's list of files is at its
// end, so that of a pipe waits in a temporary file until all of it is there.
//
// Not by libarchive (see unpacking.h), which moreover reads the zip of a pipe without that list, and so
// would give out files that were deleted from it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/byte_source.h"

namespace crowdfold {

struct ZipMember {
  std::string name;
  std::uint64_t index = 0;
  std::uint64_t size = 0;  // unpacked, as the archive says
  std::uint64_t packed_size = 0;
};

class ZipArchive {
 public:
  // `descriptor` is that of a file in which one can seek, and stays the caller's; `name` is for
  // messages.
  ZipArchive(int descriptor, std::string name);
  ~ZipArchive();
  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;

  // Files, without hidden ones and those that macOS adds.
  const std::vector<ZipMember>& members() const { return members_; }
  // What the archive is, if it is the file of a program, with what to do; else "".
  std::string what_else() const;

  // Opens a member for read().
  void open(const ZipMember& member);
  std::size_t read(char* to, std::size_t size);

 private:
  struct Handles;
  [[noreturn]] void fail(const std::string& message) const;

  std::string name_;
  std::unique_ptr<Handles> handles_;
  std::vector<ZipMember> members_;
};

// The file `member` of an archive, or its only one if that is "". Error(data) with the names of all if
// there are several. `descriptor` is -1 where one cannot seek.
std::unique_ptr<ByteSource> open_zip(std::unique_ptr<ByteSource> packed, int descriptor,
                                     const std::string& name, const std::string& member);

// A few of these names, then "and N more".
std::string some_of(const std::vector<std::string>& names);

}  // namespace crowdfold
