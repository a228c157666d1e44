// Rows packed by a hash of their task: what a reader makes of input in any order. Each partition of the
// tasks has a buffer for its rows; a row takes ten bytes where tasks are numbered.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "labels/grouping/byte_pool.h"
#include "labels/grouping/reader_ids.h"
#include "labels/name_head.h"
#include "labels/name_key.h"

namespace crowdfold {

// One row. In memory:
//
//   header   1 byte: length of the name, or one of the marks below, and of worker and class
//   row      2 bytes: its number, from the first row of its piece on
//   worker   1 to 4 bytes
//   class    1 or 2 bytes; kNoClass for an abstention
//   name     without the data set's head: its text, or the four bytes of its number. A whole name has
//            its length in four bytes behind the header.
struct PackedRow {
  std::uint32_t row = 0;
  std::uint32_t worker = 0;
  ClassId label = kNoClass;
  CutName name;

  static constexpr std::uint32_t kMostRows = 1 << 16;  // of a piece
  // Room that a row may need. Numbers are written, and read, as whole words: there is always more memory
  // behind a row than it takes.
  static constexpr std::size_t room(std::size_t name_size) { return name_size + 16; }

  // Both return where the next row goes, or is.
  char* write(char* to) const;
  const char* read(const char* from);
  // Whether the row there has a number for a name.
  static bool is_numbered(const char* row) {
    return (static_cast<unsigned char>(*row) & 31U) == kNumber;
  }

 private:
  static constexpr std::uint32_t kNumber = 30;
  static constexpr std::uint32_t kWhole = 31;
  static_assert(NameKey::kMostBytes < kNumber);
};

inline char* PackedRow::write(char* to) const {
  const unsigned worker_bytes = 1U + (worker > 0xFF) + (worker > 0xFFFF) + (worker > 0xFF'FFFF);
  const unsigned label_bytes = 1U + (label > 0xFF);
  const bool numbered = name.number != kNoNumber;
  const auto name_size = static_cast<std::uint32_t>(name.text.size());
  const std::uint32_t form = numbered ? kNumber : name.whole ? kWhole : name_size;
  *to++ = static_cast<char>(form | (worker_bytes - 1) << 5 | (label_bytes - 1) << 7);
  if (form == kWhole) [[unlikely]] {
    std::memcpy(to, &name_size, 4);
    to += 4;
  }
  const auto row_number = static_cast<std::uint16_t>(row);
  std::memcpy(to, &row_number, 2);
  std::memcpy(to + 2, &worker, 4);
  std::memcpy(to + 2 + worker_bytes, &label, 2);
  to += 2 + worker_bytes + label_bytes;
  if (!numbered) return copy_name(to, name.text);
  std::memcpy(to, &name.number, 4);
  return to + 4;
}

inline const char* PackedRow::read(const char* from) {
  const auto header = static_cast<unsigned char>(*from++);
  const unsigned worker_bytes = 1U + (header >> 5 & 3U);
  const unsigned label_bytes = 1U + (header >> 7);
  const std::uint32_t form = header & 31U;
  std::uint32_t name_size = form;
  if (form == kWhole) [[unlikely]] {
    std::memcpy(&name_size, from, 4);
    from += 4;
  }
  std::uint16_t row_number = 0;
  std::memcpy(&row_number, from, 2);
  std::memcpy(&worker, from + 2, 4);
  std::memcpy(&label, from + 2 + worker_bytes, 2);
  row = row_number;
  worker &= 0xFFFF'FFFFU >> (32 - 8 * worker_bytes);
  label &= static_cast<ClassId>(0xFFFFU >> (16 - 8 * label_bytes));
  from += 2 + worker_bytes + label_bytes;
  if (form == kNumber) {
    std::memcpy(&name.number, from, 4);
    return from + 4;
  }
  name = {kNoNumber, {from, name_size}, form == kWhole};
  return from + name_size;
}

// Where the rows of a task go, of 2^bits partitions. The lower bits of a number decide, so that its
// upper ones alone tell tasks of a partition apart; these shuffle the partitions, lest a pattern among
// numbers fill a few. Of other names it is the hash's upper bits: a partition's table uses the lower
// ones.
inline std::size_t partition_of(const CutName& name, unsigned bits) {
  if (name.number == kNoNumber) return name.hash() >> (64 - bits);
  return (name.number ^ hash_number(name.number >> bits)) & ((std::size_t{1} << bits) - 1);
}
// What of a task's name is left to tell, within its partition.
inline CutName within_partition(CutName name, unsigned bits) {
  if (name.number != kNoNumber) name.number >>= bits;
  return name;
}

// Packs one reader's rows.
class RowPacker {
 public:
  using Block = BlockSummary;

  // Rows of one block, in order, one after another in memory.
  struct Piece {
    std::uint32_t sequence = 0;   // of the block
    std::uint32_t first_row = 0;  // in the block
    const char* begin = nullptr;
    const char* end = nullptr;
  };

  RowPacker(int reader, std::vector<std::string> abstain, unsigned partition_bits, NameHead head);

  void begin(BlockSummary& block);
  void add(const RowBatch& rows);

  // The pieces of a partition, in input order. No rows may be added to them any more.
  const std::vector<Piece>& finish(std::size_t partition);
  std::size_t num_partitions() const { return pieces_.size(); }
  // Of memory, that rows take.
  std::uint64_t bytes() const { return pool_.bytes(); }
  // Forgets all rows, between two blocks, and gives back their memory. Ids stay.
  void forget_rows();

 private:
  struct RowBuffer {
    char* free = nullptr;
    const char* end = nullptr;
    std::uint64_t piece_number = 0;  // of the piece that is being written
  };

  void begin_piece(std::size_t partition, std::size_t room);

  int reader_;
  unsigned bits_;
  NameHead head_;
  ReaderIds ids_;
  BytePool pool_;
  std::vector<RowBuffer> buffers_;          // by partition
  std::vector<std::vector<Piece>> pieces_;  // by partition

  BlockSummary* block_ = nullptr;
  std::uint32_t row_ = 0;           // of the block
  std::uint32_t first_row_ = 0;     // of the pieces that are being written
  std::uint64_t piece_number_ = 0;  // of all buffers; one with an older number begins a new piece
};

}  // namespace crowdfold
