// Bytes of an input: a file or standard input, decompressed on the way if it is gzip or zstd.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace crowdfold {

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes; 0 at the end, and only there.
  virtual std::size_t read(char* to, std::size_t size) = 0;

  // Progress, in bytes of the file itself. size is 0 where it is not known.
  virtual std::uint64_t file_position() const = 0;
  virtual std::uint64_t file_size() const = 0;
  virtual const char* compression() const { return ""; }
};

// Error(io) if it cannot be opened. "-" is standard input.
std::unique_ptr<ByteSource> open_source(const std::string& path);

// How messages call a path.
std::string display_name(const std::string& path);

}  // namespace crowdfold
