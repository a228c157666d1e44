#include "io/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "crowdfold/error.h"
#include "crowdfold/io.h"

namespace crowdfold {
namespace {

constexpr std::size_t kCompressedChunk = 1 << 18;
constexpr std::size_t kMagicBytes = 4;
constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";

// Undoes a compression, piece by piece.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // Decodes the beginning of `input`, which is not empty, and cuts it off; returns the number of bytes
  // that came out. What is wrong goes to `problem`.
  virtual std::size_t decode(std::string_view& input, char* to, std::size_t size,
                             std::string& problem) = 0;
  // Whether the input may end here.
  virtual bool is_whole() const = 0;
  virtual const char* name() const = 0;
};

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK)
      throw Error(ErrorCode::internal, "zlib does not start");
  }
  ~GzipDecoder() override { inflateEnd(&stream_); }
  GzipDecoder(const GzipDecoder&) = delete;
  GzipDecoder& operator=(const GzipDecoder&) = delete;

  std::size_t decode(std::string_view& input, char* to, std::size_t size,
                     std::string& problem) override {
    in_member_ = true;
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1U << 30));
    const uInt room = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {  // another member may follow
      in_member_ = false;
      inflateReset(&stream_);
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      problem = stream_.msg != nullptr ? stream_.msg : "unreadable";
    }
    input.remove_prefix(input.size() - stream_.avail_in);
    return room - stream_.avail_out;
  }
  bool is_whole() const override { return !in_member_; }
  const char* name() const override { return "gzip"; }

 private:
  z_stream stream_{};
  bool in_member_ = false;
};

class ZstdDecoder final : public Decoder {
 public:
  std::size_t decode(std::string_view& input, char* to, std::size_t size,
                     std::string& problem) override {
    ZSTD_outBuffer output{to, size, 0};
    ZSTD_inBuffer chunk{input.data(), input.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_.get(), &output, &chunk);
    if (ZSTD_isError(status) != 0) problem = ZSTD_getErrorName(status);
    in_frame_ = status != 0;
    input.remove_prefix(chunk.pos);
    return output.pos;
  }
  bool is_whole() const override { return !in_frame_; }
  const char* name() const override { return "zstd"; }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_{ZSTD_createDStream(),
                                                                     ZSTD_freeDStream};
  bool in_frame_ = false;
};

class FileSource final : public ByteSource {
 public:
  FileSource(const std::string& path, Waiting waiting, const std::atomic<bool>* cancelled)
      : path_(path), waiting_(waiting) {
    context_.cancelled = cancelled;
    // A pipe is not waited for here, where nothing could end it, but in await_bytes().
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor_ < 0) fail(ErrorCode::io, fmt::format("cannot open: {}", std::strerror(errno)));
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) {
      if (S_ISDIR(status.st_mode)) {
        close();
        fail(ErrorCode::io, "is a directory, not a file of labels");
      }
      is_regular_ = S_ISREG(status.st_mode);
      if (is_regular_) size_ = static_cast<std::uint64_t>(status.st_size);
    }
    if (path != "-") ::fcntl(descriptor_, F_SETFL, 0);
  }
  ~FileSource() override { close(); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    if (!recognised_ && !recognise()) return kNoneYet;
    return decoder_ ? read_decoded(to, size) : read_plain(to, size);
  }

  void wait(int milliseconds) const override {
    // Where a file that may grow ends, there is always something to read: nothing.
    pollfd ready{descriptor_, POLLIN, 0};
    at_end_ ? ::poll(nullptr, 0, milliseconds) : ::poll(&ready, 1, milliseconds);
  }
  std::uint64_t file_position() const override { return position_; }
  std::uint64_t file_size() const override { return size_; }
  const char* compression() const override { return decoder_ ? decoder_->name() : ""; }

 private:
  // A signal may reach any thread and comes at any moment, so a read() that waits may not notice it: the
  // flag is looked at now and then instead.
  void await_bytes() const {
    constexpr int kMilliseconds = 100;
    pollfd ready{descriptor_, POLLIN, 0};
    while (::poll(&ready, 1, kMilliseconds) <= 0) context_.throw_if_cancelled();
  }

  // Bytes of the file as they are.
  std::size_t read_file(char* to, std::size_t size) {
    pollfd ready{descriptor_, POLLIN, 0};
    if (waiting_ != Waiting::yes && ::poll(&ready, 1, 0) <= 0) return kNoneYet;
    for (;;) {
      if (waiting_ == Waiting::yes && !is_regular_) await_bytes();
      const ssize_t count = ::read(descriptor_, to, size);
      if (count >= 0) {
        at_end_ = count == 0;
        position_ += static_cast<std::uint64_t>(count);
        return at_end_ && waiting_ == Waiting::follow ? kNoneYet : static_cast<std::size_t>(count);
      }
      const bool again = errno == EINTR || errno == EAGAIN;
      if (waiting_ != Waiting::yes && again) return kNoneYet;
      if (!again) fail(ErrorCode::io, fmt::format("cannot read: {}", std::strerror(errno)));
    }
  }

  // By the first bytes; false if they are not there yet.
  bool recognise() {
    while (magic_.size() < kMagicBytes) {
      char bytes[kMagicBytes];
      const std::size_t count = read_file(bytes, kMagicBytes - magic_.size());
      if (count == kNoneYet) return false;
      if (count == 0) break;
      magic_.append(bytes, count);
    }
    if (magic_.starts_with(kGzipMagic)) decoder_ = std::make_unique<GzipDecoder>();
    if (magic_ == kZstdMagic) decoder_ = std::make_unique<ZstdDecoder>();
    if (decoder_ && waiting_ == Waiting::follow)
      fail(ErrorCode::data, "a compressed file cannot be followed: give it uncompressed");
    if (decoder_) chunk_.resize(kCompressedChunk);
    pending_ = magic_;
    recognised_ = true;
    return true;
  }

  std::size_t read_plain(char* to, std::size_t size) {
    if (pending_.empty()) return read_file(to, size);
    std::size_t count = pending_.copy(to, size);
    pending_.remove_prefix(count);
    if (waiting_ != Waiting::yes && count < size) {  // with all that is there now
      const std::size_t more = read_file(to + count, size - count);
      if (more != kNoneYet) count += more;
    }
    return count;
  }

  std::size_t read_decoded(char* to, std::size_t size) {
    for (;;) {
      if (pending_.empty()) {
        const std::size_t count = read_file(chunk_.data(), chunk_.size());
        if (count == kNoneYet) return kNoneYet;
        if (count == 0 && !decoder_->is_whole()) damaged("it ends too early");
        if (count == 0) return 0;
        pending_ = {chunk_.data(), count};
      }
      std::string problem;
      const std::size_t decoded = decoder_->decode(pending_, to, size, problem);
      if (!problem.empty()) damaged(problem);
      if (decoded > 0) return decoded;
    }
  }

  [[noreturn]] void damaged(const std::string& why) const {
    fail(ErrorCode::data, fmt::format("the {} data is damaged: {}", compression(), why));
  }
  [[noreturn]] void fail(ErrorCode code, const std::string& message) const {
    throw Error(code, Location{display_name(path_), 0, 0}, message);
  }
  void close() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::string path_;
  Waiting waiting_;
  RunContext context_;  // whether it is cancelled
  int descriptor_ = -1;
  bool is_regular_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  bool at_end_ = false;  // for now, or for ever
  bool recognised_ = false;
  std::string magic_;  // the first bytes, which tell how the file is compressed
  std::unique_ptr<Decoder> decoder_;
  std::vector<char> chunk_;   // compressed bytes
  std::string_view pending_;  // read, but neither given out nor decoded
};

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path, Waiting waiting,
                                        const std::atomic<bool>* cancelled) {
  return std::make_unique<FileSource>(path, waiting, cancelled);
}

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

bool is_rereadable(const std::string& path) {
  struct stat status {};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace crowdfold
