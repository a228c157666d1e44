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

// Where the last whole record of `text` ends; 0 if none does. `separator` is that of fields, where
// quotes may hide newlines; 0 (JSON lines) where they cannot.
std::size_t records_end(std::string_view text, char separator);

class BlockReader {
 public:
  BlockReader(const std::string& path, std::size_t block_size, Waiting waiting = Waiting::yes,
              const std::atomic<bool>* cancelled = nullptr);

  // The first bytes of the input, without consuming them: enough to recognise a format by.
  std::string_view peek();

  // How records look (see records_end), and how many bytes come before the first one. To be told before
  // the first block.
  void begin_records(char separator, std::size_t before);

  // False at the end. Error(data) for a record larger than any sane one.
  bool next(TextBlock& block);

  // The same for a source that does not wait. poll() reads bytes that are there, once, and returns what
  // ByteSource::read returned; next_of_pending() gives out the whole records among the bytes that were
  // read, at the end all of them. False if there are none.
  std::size_t poll();
  std::string_view pending() const { return carry_; }
  bool next_of_pending(TextBlock& block);

  const ByteSource& source() const { return *source_; }
  const std::string& path() const { return path_; }

 private:
  bool fill(TextBlock& block, std::size_t wanted);
  void take_carry(TextBlock& block, std::size_t room);
  std::size_t records_end_of(const TextBlock& block) const;
  void finish(TextBlock& block, std::size_t end);

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::size_t block_size_;
  char separator_ = ',';
  std::string carry_;       // read, but not yet given out
  std::size_t before_ = 0;  // bytes of it that are before the first record
  bool ended_ = false;
};

}  // namespace crowdfold
