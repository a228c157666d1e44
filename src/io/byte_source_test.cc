#include "io/byte_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "support.h"

namespace crowdfold {
namespace {

using testing::TempDir;

std::string zstd_of(const std::string& text) {  // without a checksum
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

std::string gzip_of(const std::string& text) {
  z_stream stream{};
  constexpr int kGzipOnly = 16;
  deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipOnly, 8, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string some_text() {
  std::string text;
  for (int i = 0; text.size() < 200'000; ++i) text += "task " + std::to_string(i * i) + "\n";
  return text;
}

// All that there is, in pieces; `status` is what the last read returned.
std::string read_pieces(ByteSource& source, std::size_t piece, std::size_t& status) {
  std::string text;
  std::string buffer(piece, '\0');
  while ((status = source.read(buffer.data(), piece)) != 0 && status != kNoneYet)
    text.append(buffer, 0, status);
  return text;
}

TEST(ByteSource, DecompressesInPiecesOfAnySize) {
  const TempDir folder;
  const std::string text = some_text();
  for (const std::string& packed : {zstd_of(text), gzip_of(text), gzip_of(text) + gzip_of(text)}) {
    const std::string path = folder.write("packed", packed);
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 16, std::size_t{1} << 20}) {
      std::size_t status = 1;
      const std::string read = read_pieces(*open_source(path), piece, status);
      EXPECT_EQ(read.substr(0, text.size()), text) << piece;
      EXPECT_EQ(read.size() % text.size(), 0U);
      EXPECT_EQ(status, 0U);
    }
  }
}

TEST(ByteSource, DoesNotWaitUnlessItShall) {
  const std::string text = some_text();
  for (const std::string& packed : {text, zstd_of(text), gzip_of(text)}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const auto source = open_source("/dev/fd/" + std::to_string(ends[0]), Waiting::no);
    std::size_t status = 0;
    std::string read;
    for (std::size_t at = 0; at < packed.size(); at += 9999) {
      const std::string_view piece = std::string_view(packed).substr(at, 9999);
      ASSERT_EQ(::write(ends[1], piece.data(), piece.size()), static_cast<ssize_t>(piece.size()));
      for (int again = 0; again < 20; ++again) read += read_pieces(*source, 1 << 16, status);
      EXPECT_EQ(status, kNoneYet);
    }
    ::close(ends[1]);
    read += read_pieces(*source, 1 << 16, status);
    EXPECT_EQ(status, 0U);
    EXPECT_EQ(read, text);
    ::close(ends[0]);
  }
}

TEST(ByteSource, StopsWaitingOnceItIsCancelled) {
  const TempDir folder;
  const std::string nobody_writes = folder / "pipe";
  ASSERT_EQ(::mkfifo(nobody_writes.c_str(), 0600), 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::atomic<bool> cancelled = true;
  for (const std::string& path : {"/dev/fd/" + std::to_string(ends[0]), nobody_writes}) {
    const auto source = open_source(path, Waiting::yes, &cancelled);
    std::size_t status = 0;
    EXPECT_EQ(testing::error_of([&] { read_pieces(*source, 100, status); }).code(),
              ErrorCode::interrupted);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ByteSource, FollowsAFileUnlessItIsCompressed) {
  const TempDir folder;
  const std::string path = folder.write("grows", "one");
  const auto source = open_source(path, Waiting::follow);
  std::size_t status = 0;
  EXPECT_EQ(read_pieces(*source, 100, status), "");  // fewer bytes than tell a compression
  std::ofstream(path, std::ios::app) << " two";
  EXPECT_EQ(read_pieces(*source, 100, status), "one two");
  std::ofstream(path, std::ios::app) << " three";
  EXPECT_EQ(read_pieces(*source, 100, status), " three");
  EXPECT_EQ(status, kNoneYet);

  const auto packed = open_source(folder.write("packed", gzip_of("one")), Waiting::follow);
  EXPECT_EQ(testing::error_of([&] { read_pieces(*packed, 100, status); }).code(), ErrorCode::data);
}

}  // namespace
}  // namespace crowdfold
