// Compressed input: the bytes as they are, or the text compressed in two parts, whole and in pieces.
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <vector>

#include "fuzz.h"
#include "io/byte_source.h"

namespace crowdfold::fuzz {
namespace {

constexpr std::size_t kMostDecoded = 1 << 20;  // a few bytes may stand for many

std::string as_gzip(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string as_zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

// What was decoded, and how it ended.
struct Decoded {
  std::string bytes;
  std::string end;
};

// Takes what is there, `size` bytes at a time.
void take(ByteSource& source, std::size_t size, std::string& to) {
  std::vector<char> buffer(size);
  while (to.size() < kMostDecoded) {
    const std::size_t count = source.read(buffer.data(), buffer.size());
    if (count == 0 || count == kNoneYet) return;
    to.append(buffer.data(), count);
  }
}

Decoded decode(std::string_view input, std::size_t size) {
  const MemoryFile file(input);
  Decoded result;
  result.end = outcome(file.path(), [&] {
    const auto source = open_source(file.path());
    take(*source, size, result.bytes);
    return std::string(source->compression());
  });
  return result;
}

Decoded decode_pieces(std::string_view input, std::size_t size, std::size_t piece) {
  Pipe pipe;
  Decoded result;
  result.end = outcome(pipe.path(), [&] {
    const auto source = open_source(pipe.path(), Waiting::no);
    in_pieces(input, piece, [&](std::string_view some) {
      if (result.bytes.size() >= kMostDecoded) return;
      pipe.write(some);
      take(*source, size, result.bytes);
    });
    pipe.end();
    take(*source, size, result.bytes);
    return std::string(source->compression());
  });
  return result;
}

// What came out before an error depends on the pieces, and so does which of several errors is met first.
void expect_same_bytes(const char* what, const Decoded& one, const Decoded& other) {
  if (one.bytes.size() >= kMostDecoded || other.bytes.size() >= kMostDecoded) return;
  if (!is_error(one.end) || !is_error(other.end)) {
    expect_same(what, one.end, other.end);
    expect_same(what, one.bytes, other.bytes);
  }
  const std::size_t size = std::min(one.bytes.size(), other.bytes.size());
  expect_same(what, one.bytes.substr(0, size), other.bytes.substr(0, size));
}

}  // namespace

void compressed(std::string_view input) {
  Choices choices(input);
  const std::size_t kind = choices.below(3);
  const std::size_t size = choices.of<std::size_t>({1, 2, 5, 100, 5000});
  const std::size_t piece = choices.of<std::size_t>({1, 2, 5, 100, 5000});
  const std::size_t half = input.size() / 2;
  const auto pack = kind == 1 ? as_gzip : as_zstd;
  const std::string packed =
      kind == 0 ? std::string(input) : pack(input.substr(0, half)) + pack(input.substr(half));
  const Decoded whole = decode(packed, std::size_t{1} << 18);
  if (kind != 0) expect_same("compressed and decoded", std::string(input), whole.bytes);
  expect_same_bytes("decoded, many bytes and few", whole, decode(packed, size));
  expect_same_bytes("decoded, from a file and from a pipe", whole, decode_pieces(packed, size, piece));
}

}  // namespace crowdfold::fuzz
