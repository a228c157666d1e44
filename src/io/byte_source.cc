#include "io/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
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

[[noreturn]] void fail(ErrorCode code, const std::string& path, const std::string& message) {
  throw Error(code, Location{display_name(path), 0, 0}, message);
}

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path) : path_(path) {
    descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(ErrorCode::io, path, fmt::format("cannot open: {}", std::strerror(errno)));
    struct stat status {};
    if (::fstat(descriptor_, &status) == 0) {
      if (S_ISDIR(status.st_mode)) {
        close();
        fail(ErrorCode::io, path, "is a directory, not a file of labels");
      }
      if (S_ISREG(status.st_mode)) size_ = static_cast<std::uint64_t>(status.st_size);
    }
    fill_magic();
  }
  ~FileSource() override { close(); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    if (magic_used_ < magic_.size()) {
      const std::size_t count = std::min(size, magic_.size() - magic_used_);
      std::memcpy(to, magic_.data() + magic_used_, count);
      magic_used_ += count;
      return count;
    }
    return read_file(to, size);
  }
  std::uint64_t file_position() const override { return position_; }
  std::uint64_t file_size() const override { return size_; }

  // The first bytes, which tell how the file is compressed.
  std::string_view magic() const { return magic_; }

 private:
  std::size_t read_file(char* to, std::size_t size) {
    for (;;) {
      const ssize_t count = ::read(descriptor_, to, size);
      if (count >= 0) {
        position_ += static_cast<std::uint64_t>(count);
        return static_cast<std::size_t>(count);
      }
      if (errno != EINTR)
        fail(ErrorCode::io, path_, fmt::format("cannot read: {}", std::strerror(errno)));
    }
  }

  void fill_magic() {
    char bytes[4];
    while (magic_.size() < sizeof bytes) {
      const std::size_t count = read_file(bytes, sizeof bytes - magic_.size());
      if (count == 0) break;
      magic_.append(bytes, count);
    }
  }

  void close() {
    if (descriptor_ > STDIN_FILENO) ::close(descriptor_);
    descriptor_ = -1;
  }

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  std::string magic_;
  std::size_t magic_used_ = 0;
};

// A source that decompresses another: what gzip and zstd have in common.
class DecompressedSource : public ByteSource {
 public:
  DecompressedSource(std::unique_ptr<ByteSource> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)), input_(kCompressedChunk) {}
  std::uint64_t file_position() const override { return file_->file_position(); }
  std::uint64_t file_size() const override { return file_->file_size(); }

 protected:
  // False at the end of the file.
  bool refill(std::size_t& available) {
    available = file_->read(input_.data(), input_.size());
    return available > 0;
  }
  [[noreturn]] void damaged(const std::string& why) const {
    fail(ErrorCode::data, path_, fmt::format("the {} data is damaged: {}", compression(), why));
  }

  std::unique_ptr<ByteSource> file_;
  std::string path_;
  std::vector<char> input_;
};

class GzipSource final : public DecompressedSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> file, const std::string& path)
      : DecompressedSource(std::move(file), path) {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK)
      throw Error(ErrorCode::internal, "zlib does not start");
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  std::size_t read(char* to, std::size_t size) override {
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, 1U << 30));
    const uInt wanted = stream_.avail_out;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        std::size_t available = 0;
        if (!refill(available)) {
          if (in_member_) damaged("it ends too early");
          return 0;
        }
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        stream_.avail_in = static_cast<uInt>(available);
      }
      in_member_ = true;
      const int status = inflate(&stream_, Z_NO_FLUSH);
      if (status == Z_STREAM_END) {  // another member may follow
        in_member_ = false;
        inflateReset(&stream_);
      } else if (status != Z_OK && status != Z_BUF_ERROR) {
        damaged(stream_.msg != nullptr ? stream_.msg : "unreadable");
      }
    }
    return wanted - stream_.avail_out;
  }
  const char* compression() const override { return "gzip"; }

 private:
  z_stream stream_{};
  bool in_member_ = false;
};

class ZstdSource final : public DecompressedSource {
 public:
  ZstdSource(std::unique_ptr<ByteSource> file, const std::string& path)
      : DecompressedSource(std::move(file), path), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {}

  std::size_t read(char* to, std::size_t size) override {
    ZSTD_outBuffer output{to, size, 0};
    while (output.pos == 0) {
      if (chunk_.pos == chunk_.size) {
        std::size_t available = 0;
        if (!refill(available)) {
          if (in_frame_) damaged("it ends too early");
          return 0;
        }
        chunk_ = {input_.data(), available, 0};
      }
      const std::size_t status = ZSTD_decompressStream(stream_.get(), &output, &chunk_);
      if (ZSTD_isError(status) != 0) damaged(ZSTD_getErrorName(status));
      in_frame_ = status != 0;
    }
    return output.pos;
  }
  const char* compression() const override { return "zstd"; }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  ZSTD_inBuffer chunk_{nullptr, 0, 0};
  bool in_frame_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::string& path) {
  auto file = std::make_unique<FileSource>(path);
  if (file->magic().starts_with("\x1F\x8B")) return std::make_unique<GzipSource>(std::move(file), path);
  if (file->magic() == "\x28\xB5\x2F\xFD") return std::make_unique<ZstdSource>(std::move(file), path);
  return file;
}

std::string display_name(const std::string& path) { return path == "-" ? "standard input" : path; }

bool is_rereadable(const std::string& path) {
  struct stat status {};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace crowdfold
