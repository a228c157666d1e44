// Text as gzip, zstd, bzip2, xz and zip, for tests and fuzz harnesses.
#pragma once

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace crowdfold::testing {

// By zlib; `window` says what stands around it, see deflateInit2().
inline std::string deflated(std::string_view text, int window) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY);
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

inline std::string gzip(std::string_view text) { return deflated(text, MAX_WBITS + 16); }

inline std::string zstd(std::string_view text) {  // without a checksum
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

inline std::string bzip2(std::string_view text) {
  std::string packed(text.size() + text.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(packed.size());
  BZ2_bzBuffToBuffCompress(packed.data(), &size, const_cast<char*>(text.data()),
                           static_cast<unsigned>(text.size()), 1, 0, 0);
  packed.resize(size);
  return packed;
}

inline std::string xz(std::string_view text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr,
                          reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                          reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size());
  packed.resize(size);
  return packed;
}

struct Packed {
  std::string name;
  std::string text;
  bool encrypted = false;  // only said, not done
};

// A zip archive of deflated files.
inline std::string zip(const std::vector<Packed>& files) {
  const auto append = [](std::string& to, std::uint64_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) to += static_cast<char>(number >> (8 * i) & 0xFF);
  };
  std::string archive;
  std::string directory;
  for (const Packed& file : files) {
    const std::string data = deflated(file.text, -MAX_WBITS);
    std::string about;  // the same in both headers
    append(about, 20, 2);
    append(about, file.encrypted ? 1 : 0, 2);
    append(about, 8, 2);           // deflated
    append(about, 0x21 << 16, 4);  // on the first of January 1980
    append(
        about,
        crc32(0, reinterpret_cast<const Bytef*>(file.text.data()), static_cast<uInt>(file.text.size())),
        4);
    append(about, data.size(), 4);
    append(about, file.text.size(), 4);
    append(about, file.name.size(), 2);
    append(about, 0, 2);
    directory += "PK\x01\x02";
    append(directory, 20, 2);
    directory += about;
    append(directory, 0, 6);
    append(directory, 0, 4);
    append(directory, archive.size(), 4);
    directory += file.name;
    archive += "PK\x03\x04" + about + file.name + data;
  }
  std::string end = "PK\x05\x06";
  append(end, 0, 4);
  append(end, files.size(), 2);
  append(end, files.size(), 2);
  append(end, directory.size(), 4);
  append(end, archive.size(), 4);
  append(end, 0, 2);
  return archive + directory + end;
}

}  // namespace crowdfold::testing
