// Bytes of an input: a file or standard input, decompressed on the way if it is gzip or zstd.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace crowdfold {

// What read() does where bytes are not there yet.
enum class Waiting {
  yes,     // waits for them
  no,      // returns kNoneYet
  follow,  // the same, also at the end of the file, which may grow; no compression
};

// No bytes yet: not the end.
inline constexpr std::size_t kNoneYet = static_cast<std::size_t>(-1);

class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to `size` bytes; 0 at the end, and only there. kNoneYet unless the source waits.
  virtual std::size_t read(char* to, std::size_t size) = 0;
  // Waits for more bytes, for at most `milliseconds`.
  virtual void wait(int milliseconds) const = 0;

  // Progress, in bytes of the file itself. size is 0 where it is not known.
  virtual std::uint64_t file_position() const = 0;
  virtual std::uint64_t file_size() const = 0;
  // "gzip", "zstd" or "", known once something was read.
  virtual const char* compression() const = 0;
};

// Error(io) if it cannot be opened. "-" is standard input. While it waits for bytes, it looks at
// `cancelled`, and throws Error(interrupted) once that is true.
std::unique_ptr<ByteSource> open_source(const std::string& path, Waiting waiting = Waiting::yes,
                                        const std::atomic<bool>* cancelled = nullptr);

// How messages call a path.
std::string display_name(const std::string& path);

}  // namespace crowdfold
