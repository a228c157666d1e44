#include "io/encoder.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <new>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

// Compressors get pieces of this size, so that their output depends on the bytes alone.
constexpr std::size_t kPieceBytes = 1 << 18;

class GzipEncoder final : public Encoder {
 public:
  GzipEncoder() {
    constexpr int kGzipHeader = 16;  // with no name and no time: the same bytes every day
    constexpr int kMemoryLevel = 8;
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipHeader, kMemoryLevel,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~GzipEncoder() override { deflateEnd(&stream_); }
  GzipEncoder(const GzipEncoder&) = delete;
  GzipEncoder& operator=(const GzipEncoder&) = delete;

 private:
  void append(std::string& to, std::string_view bytes, bool last) override {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      const std::size_t before = to.size();
      to.resize(before + kPieceBytes);
      stream_.next_out = reinterpret_cast<Bytef*>(to.data() + before);
      stream_.avail_out = kPieceBytes;
      deflate(&stream_, last ? Z_FINISH : Z_NO_FLUSH);
      to.resize(to.size() - stream_.avail_out);
    } while (stream_.avail_out == 0);
  }

  z_stream stream_{};
};

class ZstdEncoder final : public Encoder {
 public:
  ZstdEncoder() {
    if (!context_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

 private:
  void append(std::string& to, std::string_view bytes, bool last) override {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    std::size_t left = 0;
    do {
      const std::size_t before = to.size();
      to.resize(before + ZSTD_CStreamOutSize());
      ZSTD_outBuffer output{to.data() + before, ZSTD_CStreamOutSize(), 0};
      left = ZSTD_compressStream2(context_.get(), &output, &input, last ? ZSTD_e_end : ZSTD_e_continue);
      to.resize(before + output.pos);
      if (ZSTD_isError(left) != 0) throw Error(ErrorCode::internal, ZSTD_getErrorName(left));
    } while (input.pos < input.size || (last && left > 0));
  }

  std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context_{ZSTD_createCCtx(), ZSTD_freeCCtx};
};

}  // namespace

std::string Encoder::encode(std::string_view bytes) {
  std::string encoded;
  while (pending_.size() + bytes.size() >= kPieceBytes) {
    const std::size_t missing = kPieceBytes - pending_.size();
    pending_ += bytes.substr(0, missing);
    bytes.remove_prefix(missing);
    append(encoded, pending_, false);
    pending_.clear();
  }
  pending_ += bytes;
  return encoded;
}

std::string Encoder::finish() {
  std::string encoded;
  append(encoded, pending_, true);
  return encoded;
}

std::string_view compression_ending(std::string_view path) {
  const auto ends_in = [&](std::string_view ending) {
    return path.size() >= ending.size() &&
           std::equal(ending.rbegin(), ending.rend(), path.rbegin(),
                      [](char a, char b) { return a == (b >= 'A' && b <= 'Z' ? b - 'A' + 'a' : b); });
  };
  for (const std::string_view ending : {".gz", ".zst"}) {
    if (ends_in(ending)) return ending;
  }
  return {};
}

std::unique_ptr<Encoder> make_encoder(std::string_view path) {
  const std::string_view ending = compression_ending(path);
  if (ending == ".gz") return std::make_unique<GzipEncoder>();
  if (ending == ".zst") return std::make_unique<ZstdEncoder>();
  return nullptr;
}

}  // namespace crowdfold
