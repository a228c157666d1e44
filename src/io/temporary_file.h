// Temporary files without a name: nobody else sees them, and they are gone when they are closed, also by
// a kill or a loss of power.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace crowdfold {

class TemporaryFile {
 public:
  // In this folder; "": the present one. Error(io) if there can be none.
  explicit TemporaryFile(const std::string& folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  // Behind what was written before. Returns where the bytes begin.
  std::uint64_t append(std::string_view bytes);
  // Writes, or reads, all bytes at a place. Threads may do so at once.
  void write_at(std::uint64_t place, std::string_view bytes) const;
  void read_at(std::uint64_t place, char* to, std::size_t size) const;
  std::uint64_t size() const { return size_; }

  // The descriptor, which the caller closes from now on.
  int release();

 private:
  [[noreturn]] void fail(const char* what) const;

  std::string folder_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

// Bytes that a folder's disk has left; 0 where that is not known.
std::uint64_t free_space(const std::string& folder);

}  // namespace crowdfold
