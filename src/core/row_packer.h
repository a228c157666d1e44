// Rows packed by a hash of their task: what a reader makes of input in any order. Every partition of the
// tasks has a shelf of memory that its rows are written to, a few bytes more than the task's name each.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "core/name_head.h"
#include "core/name_key.h"
#include "core/page_pool.h"
#include "core/reader_ids.h"

namespace crowdfold {

// One row. In memory:
//
//   header   1 byte: length of the name's tail (31: the whole name follows, its length in four bytes
//            before it), and of worker and class
//   row      2 bytes: its number, from the first row of its piece on
//   worker   1 to 4 bytes
//   class    1 or 2 bytes; kNoClass for an abstention
//   name     its tail behind the data set's head, or all of it
struct PackedRow {
  std::uint32_t row = 0;
  std::uint32_t worker = 0;
  ClassId label = kNoClass;
  std::string_view name;
  bool whole = false;  // the name, not only its tail

  static constexpr std::uint32_t kMostRows = 1 << 16;  // of a piece
  // Room that a row may need. Numbers are written, and read, as whole words: there is always more memory
  // behind a row than it takes.
  static constexpr std::size_t room(std::size_t name_size) { return name_size + 16; }

  // Both return where the next row goes, or is.
  char* write(char* to) const;
  const char* read(const char* from);

 private:
  static constexpr std::uint32_t kWhole = 31;
  static_assert(NameKey::kMostBytes < kWhole);
};

inline char* PackedRow::write(char* to) const {
  const unsigned worker_bytes = 1U + (worker > 0xFF) + (worker > 0xFFFF) + (worker > 0xFF'FFFF);
  const unsigned label_bytes = 1U + (label > 0xFF);
  const auto name_size = static_cast<std::uint32_t>(name.size());
  *to++ =
      static_cast<char>((whole ? kWhole : name_size) | (worker_bytes - 1) << 5 | (label_bytes - 1) << 7);
  if (whole) [[unlikely]] {
    std::memcpy(to, &name_size, 4);
    to += 4;
  }
  const auto row_number = static_cast<std::uint16_t>(row);
  std::memcpy(to, &row_number, 2);
  std::memcpy(to + 2, &worker, 4);
  std::memcpy(to + 2 + worker_bytes, &label, 2);
  return copy_name(to + 2 + worker_bytes + label_bytes, name);
}

inline const char* PackedRow::read(const char* from) {
  const auto header = static_cast<unsigned char>(*from++);
  const unsigned worker_bytes = 1U + (header >> 5 & 3U);
  const unsigned label_bytes = 1U + (header >> 7);
  std::uint32_t name_size = header & 31U;
  whole = name_size == kWhole;
  if (whole) [[unlikely]] {
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
  name = {from + 2 + worker_bytes + label_bytes, name_size};
  return name.data() + name.size();
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

  RowPacker(int reader, std::string abstain, unsigned partition_bits, NameHead head);

  void begin(BlockSummary& block);
  void add(const RowBatch& rows);

  // The pieces of a partition, in input order. No rows may be added any more.
  const std::vector<Piece>& finish(std::size_t partition);

 private:
  struct Shelf {
    char* free = nullptr;
    const char* end = nullptr;
    std::uint64_t piece_number = 0;  // of the piece that is being written
  };

  void begin_piece(std::size_t partition, std::size_t room);

  int reader_;
  unsigned bits_;
  NameHead head_;
  ReaderIds ids_;
  PagePool pool_;
  std::vector<Shelf> shelves_;              // by partition
  std::vector<std::vector<Piece>> pieces_;  // by partition

  struct Placed {
    PackedRow row;
    std::size_t partition = 0;
  };
  std::array<Placed, RowBatch::kRows> batch_;

  BlockSummary* block_ = nullptr;
  std::uint32_t row_ = 0;           // of the block
  std::uint32_t first_row_ = 0;     // of the pieces that are being written
  std::uint64_t piece_number_ = 0;  // the same for all shelves; one with an older one begins anew
};

}  // namespace crowdfold
