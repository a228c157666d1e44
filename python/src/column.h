// A column of values on its way to ids. Columns look at memory that others own; whoever makes one sees
// to it that the memory stays.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ids.h"

namespace crowdfold::python {

class Column {
 public:
  virtual ~Column() = default;

  virtual std::uint64_t size() const = 0;
  // The id of one value, which was met in `row`; kMissing for a null, and for an empty text.
  virtual std::uint32_t id_at(std::uint64_t index, std::uint64_t row, Ids& ids) = 0;
  // Ids of the rows from `begin` on.
  virtual void read(std::uint64_t begin, std::span<std::uint32_t> out, Ids& ids) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = id_at(begin + i, begin + i, ids);
  }
  // Asks for the memory that id_at() will need; for values of dictionaries, which come in their order.
  virtual void prefetch(std::uint64_t, const Ids&) const {}
  // The same values, for another reader: nothing was met yet.
  virtual std::unique_ptr<Column> another() const = 0;
  // Whether values are Python objects: then the interpreter's lock must be held.
  virtual bool is_python() const { return false; }
  // Whether reading a second time costs less than keeping what was read.
  virtual bool is_cheap() const { return false; }
};

// Which rows are null: bits of Arrow (0 is null), or bytes of a mask (1 is null), or none.
struct Nulls {
  const std::uint8_t* valid_bits = nullptr;
  std::int64_t bit_offset = 0;
  const char* mask = nullptr;
  std::ptrdiff_t mask_stride = 1;

  bool any() const { return valid_bits != nullptr || mask != nullptr; }
  bool operator()(std::uint64_t i) const {
    if (valid_bits != nullptr) {
      const std::uint64_t bit = i + static_cast<std::uint64_t>(bit_offset);
      return (valid_bits[bit >> 3] >> (bit & 7) & 1) == 0;
    }
    return mask != nullptr && mask[static_cast<std::ptrdiff_t>(i) * mask_stride] != 0;
  }
};

// Numbers in memory, `stride` bytes apart. Types are those of Arrow's format strings: c C s S i I l L
// integers of 8 to 64 bits, f g floats, b booleans of one byte each, or of one bit if stride is 0.
struct Numbers {
  char type = 'l';
  const char* data = nullptr;
  std::ptrdiff_t stride = 0;
  std::int64_t bit_offset = 0;
  std::uint64_t size = 0;
  Nulls nulls;
};

// Whether there is such a type.
bool is_number(char type);
// Bytes of a value; 0 for bits.
std::size_t width_of(char type);

std::unique_ptr<Column> number_column(const Numbers& numbers);
// Codes that stand for values, one piece below another; negative ones are null.
std::unique_ptr<Column> dictionary_column(std::vector<Numbers> codes, std::unique_ptr<Column> values);
// Texts: value i begins at offsets[i].
std::unique_ptr<Column> text_column(const std::int32_t* offsets, const char* bytes, std::uint64_t size,
                                    const Nulls& nulls);
std::unique_ptr<Column> text_column(const std::int64_t* offsets, const char* bytes, std::uint64_t size,
                                    const Nulls& nulls);
// Texts of Arrow's view layout: 16 bytes each, long ones in one of several buffers.
std::unique_ptr<Column> view_column(const char* views, std::span<const void* const> buffers,
                                    std::uint64_t size, const Nulls& nulls);
std::unique_ptr<Column> null_column(std::uint64_t size);
// Columns one below another.
std::unique_ptr<Column> chunked_column(std::vector<std::unique_ptr<Column>> chunks);

}  // namespace crowdfold::python
