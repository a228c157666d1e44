// Cuts an input into blocks of whole records, so that blocks can be parsed side by side.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "crowdfold/error.h"
#include "io/byte_source.h"
#include "io/record_ends.h"

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
  BlockReader(const std::string& path, std::size_t block_size, const SourceOptions& options = {});
  // Of a source that was opened, and perhaps peeked at, before. The path is for messages.
  BlockReader(std::unique_ptr<ByteSource> source, const std::string& path, std::size_t block_size);

  // Reads the first bytes, without giving them out: 64 KB, then twice as many as before. False if the
  // input ends with them. Error(data) if no record can be as long as they are.
  bool read_on();

  // How records look (see RecordEnds), and how many bytes come before the first one. To be told before
  // the first block.
  void begin_records(char separator, std::size_t before);

  // False at the end. Error(data) for a record larger than any sane one. Where the source fails, the
  // records before come first, so that what is wrong with them is told whatever the size of blocks.
  bool next(TextBlock& block);

  // The same for a source that does not wait. poll() reads bytes that are there, once, and returns what
  // ByteSource::read returned; next_of_pending() gives out the whole records among the bytes that were
  // read, at the end all of them. False if there are none.
  std::size_t poll();
  bool next_of_pending(TextBlock& block);

  // Read, but not yet given out.
  std::string_view pending() const { return carry_; }

  const ByteSource& source() const { return *source_; }
  const std::string& path() const { return path_; }

 private:
  bool fill(TextBlock& block, std::size_t wanted);
  std::size_t read(char* to, std::size_t size);
  void finish(TextBlock& block);

  std::string path_;
  std::unique_ptr<ByteSource> source_;
  std::size_t block_size_;
  RecordEnds ends_;         // of the records in the carry, and in the block that is being filled
  std::string carry_;       // read, but not yet given out
  std::size_t before_ = 0;  // bytes of it that are before the first record
  bool ended_ = false;
  std::optional<Error> failure_;  // of the source, to be told
};

}  // namespace crowdfold
