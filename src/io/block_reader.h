// Cuts an input into blocks of whole records, so that blocks can be parsed side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "io/byte_source.h"

namespace crowdfold {

// Whole records: ends with a newline, with kBlockPadding readable bytes behind it.
inline constexpr std::size_t kBlockPadding = 64;

struct TextBlock {
  std::unique_ptr<char[]> bytes;
  std::size_t capacity = 0;
  std::size_t size = 0;
  std::size_t begin = 0;  // where the records start: behind a byte-order mark and a header

  std::string_view text() const { return {bytes.get() + begin, size - begin}; }
  // Room for `wanted` bytes and the padding; keeps the bytes that are there.
  void reserve(std::size_t wanted);
};

class BlockReader {
 public:
  BlockReader(const std::string& path, std::size_t block_size);

  // The first bytes of the input, without consuming them: enough to recognise a format by.
  std::string_view peek();

  // What separates fields where quotes may hide newlines; 0 (JSON lines) where they cannot.
  void set_separator(char separator) { separator_ = separator; }

  // False at the end. Error(data) for a record larger than any sane one.
  bool next(TextBlock& block);

  const ByteSource& source() const { return *source_; }
  const std::string& path() const { return path_; }

 private:
  bool fill(TextBlock& block, std::size_t wanted);
  std::size_t records_end(const TextBlock& block) const;

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::size_t block_size_;
  char separator_ = ',';
  std::string carry_;  // read, but not yet given out
  bool at_start_ = true;
};

}  // namespace crowdfold
