#include "io/unpacking.h"

#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <new>
#include <vector>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

constexpr std::size_t kCompressedChunk = 1 << 18;
// Of dictionaries. `xz -9` needs 65 MB to unpack; nothing that was made with other intents is read.
constexpr std::uint64_t kMostXzMemory = std::uint64_t{1} << 30;
constexpr unsigned kMostOutput = 1U << 30;  // at once: these libraries count in 32 bits

// Undoes a compression, piece by piece. Libraries of C that do not start, or say so later, are out of
// memory: their other reasons are wrong arguments.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // Decodes the beginning of `input`, which is not empty, and cuts it off; returns the number of bytes
  // that came out. What is wrong goes to `problem`.
  virtual std::size_t decode(std::string_view& input, char* to, std::size_t size,
                             std::string& problem) = 0;
  // Whether the input may end here. Bytes that the decoder still holds come out first.
  virtual bool is_whole() const = 0;
};

class GzipDecoder final : public Decoder {
 public:
  GzipDecoder() {
    constexpr int kGzipOnly = 16;
    if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK) throw std::bad_alloc();
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
    stream_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, kMostOutput));
    const uInt room = stream_.avail_out;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {  // another member may follow
      in_member_ = false;
      inflateReset(&stream_);
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      problem = stream_.msg != nullptr ? stream_.msg : "unreadable";
    }
    input.remove_prefix(input.size() - stream_.avail_in);
    return room - stream_.avail_out;
  }
  bool is_whole() const override { return !in_member_; }

 private:
  z_stream stream_{};
  bool in_member_ = false;
};

class ZstdDecoder final : public Decoder {
 public:
  ZstdDecoder() {
    if (!stream_) throw std::bad_alloc();
  }

  std::size_t decode(std::string_view& input, char* to, std::size_t size,
                     std::string& problem) override {
    ZSTD_outBuffer output{to, size, 0};
    ZSTD_inBuffer chunk{input.data(), input.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_.get(), &output, &chunk);
    if (ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation) throw std::bad_alloc();
    if (ZSTD_isError(status) != 0) problem = ZSTD_getErrorName(status);
    in_frame_ = status != 0;
    input.remove_prefix(chunk.pos);
    return output.pos;
  }
  bool is_whole() const override { return !in_frame_; }

 private:
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_{ZSTD_createDStream(),
                                                                     ZSTD_freeDStream};
  bool in_frame_ = false;
};

class Bzip2Decoder final : public Decoder {
 public:
  ~Bzip2Decoder() override { end(); }
  Bzip2Decoder() = default;
  Bzip2Decoder(const Bzip2Decoder&) = delete;
  Bzip2Decoder& operator=(const Bzip2Decoder&) = delete;

  std::size_t decode(std::string_view& input, char* to, std::size_t size,
                     std::string& problem) override {
    if (!in_stream_) begin();
    stream_.next_in = const_cast<char*>(input.data());
    stream_.avail_in = static_cast<unsigned>(input.size());
    stream_.next_out = to;
    stream_.avail_out = static_cast<unsigned>(std::min<std::size_t>(size, kMostOutput));
    const unsigned room = stream_.avail_out;
    const int status = BZ2_bzDecompress(&stream_);
    const unsigned left = stream_.avail_in;
    const unsigned unused = stream_.avail_out;
    if (status == BZ_STREAM_END) {  // another one may follow, as programs that work in parallel write it
      end();
    } else if (status == BZ_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != BZ_OK) {
      problem = "its sums do not agree";
    }
    input.remove_prefix(input.size() - left);
    return room - unused;
  }
  bool is_whole() const override { return !in_stream_; }

 private:
  void begin() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    in_stream_ = true;
  }
  void end() {
    if (in_stream_) BZ2_bzDecompressEnd(&stream_);
    in_stream_ = false;
  }

  bz_stream stream_{};
  bool in_stream_ = false;
};

class XzDecoder final : public Decoder {
 public:
  ~XzDecoder() override { lzma_end(&stream_); }
  XzDecoder() = default;
  XzDecoder(const XzDecoder&) = delete;
  XzDecoder& operator=(const XzDecoder&) = delete;

  std::size_t decode(std::string_view& input, char* to, std::size_t size,
                     std::string& problem) override {
    if (!in_stream_) begin(input);
    if (input.empty()) return 0;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(to);
    stream_.avail_out = size;
    const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
    if (status == LZMA_STREAM_END) {
      in_stream_ = false;
      before_ = false;
    } else if (status == LZMA_MEMLIMIT_ERROR) {
      problem = fmt::format("to unpack it takes more than {} MB", kMostXzMemory >> 20);
    } else if (status == LZMA_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != LZMA_OK && status != LZMA_BUF_ERROR) {
      problem = "its sums do not agree";
    }
    input.remove_prefix(input.size() - stream_.avail_in);
    return size - stream_.avail_out;
  }
  bool is_whole() const override { return !in_stream_; }

 private:
  // Behind a stream there may be others, and zero bytes between them.
  void begin(std::string_view& input) {
    if (!before_) input.remove_prefix(std::min(input.find_first_not_of('\0'), input.size()));
    if (input.empty()) return;
    if (lzma_stream_decoder(&stream_, kMostXzMemory, 0) != LZMA_OK) throw std::bad_alloc();
    in_stream_ = true;
  }

  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool in_stream_ = false;
  bool before_ = true;  // the first stream
};

class Unpacked final : public ByteFilter {
 public:
  Unpacked(std::unique_ptr<ByteSource> packed, Packing packing, std::string name)
      : ByteFilter(std::move(packed)), packing_(packing), name_(std::move(name)) {
    switch (packing) {
      case Packing::gzip: decoder_ = std::make_unique<GzipDecoder>(); break;
      case Packing::zstd: decoder_ = std::make_unique<ZstdDecoder>(); break;
      case Packing::bzip2: decoder_ = std::make_unique<Bzip2Decoder>(); break;
      default: decoder_ = std::make_unique<XzDecoder>();
    }
    chunk_.resize(kCompressedChunk);
  }
  const char* compression() const override { return name_of(packing_); }

 protected:
  std::size_t read_next(char* to, std::size_t size) override {
    for (;;) {
      if (pending_.empty()) {
        const std::size_t count = inner_->read(chunk_.data(), chunk_.size());
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

 private:
  [[noreturn]] void damaged(const std::string& why) const {
    throw Error(ErrorCode::data, Location{name_, 0, 0},
                fmt::format("the {} data is damaged: {}", compression(), why));
  }

  Packing packing_;
  std::string name_;
  std::unique_ptr<Decoder> decoder_;
  std::vector<char> chunk_;   // compressed bytes
  std::string_view pending_;  // read, but not decoded
};

}  // namespace

Packing packing_of(std::string_view start) {
  using namespace std::string_view_literals;
  const auto is_bzip2 = [](std::string_view text) {  // "BZh9" alone could be text
    return text.size() >= 10 && text.starts_with("BZh") && text[3] >= '1' && text[3] <= '9' &&
           (text.substr(4, 6) == "1AY&SY" || text.substr(4, 6) == "\x17\x72\x45\x38\x50\x90");
  };
  if (start.starts_with("\x1F\x8B")) return Packing::gzip;
  if (start.starts_with("\x28\xB5\x2F\xFD")) return Packing::zstd;
  if (start.starts_with("\xFD"
                        "7zXZ\0"sv))
    return Packing::xz;
  if (start.starts_with("PK\3\4") || start.starts_with("PK\5\6")) return Packing::zip;
  return is_bzip2(start) ? Packing::bzip2 : Packing::none;
}

const char* name_of(Packing packing) {
  switch (packing) {
    case Packing::gzip: return "gzip";
    case Packing::zstd: return "zstd";
    case Packing::bzip2: return "bzip2";
    case Packing::xz: return "xz";
    case Packing::zip: return "zip";
    default: return "";
  }
}

std::unique_ptr<ByteSource> unpacked(std::unique_ptr<ByteSource> packed, Packing packing,
                                     const std::string& name) {
  return std::make_unique<Unpacked>(std::move(packed), packing, name);
}

}  // namespace crowdfold
