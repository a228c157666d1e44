// Labels of a table whose columns lie in memory: numbers, texts and dictionaries in the layouts of Arrow
// and numpy. Columns look at memory that the caller owns and keeps until they are gone. A column and a
// reader belong to one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/names.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

class ShortTexts;

// Ids of tasks, workers or classes. Texts tell values apart, whatever their type: so a chunk of integers
// and a file speak of the same worker. Only different values are turned into text, not every row:
// columns remember the ids of the values they have met.
class ValueIds {
 public:
  static constexpr std::uint32_t kMissing = 0xFFFF'FFFF;  // the id of a null, and of an empty text

  ValueIds(const char* what, std::uint64_t limit) : ValueIds(NameTable(what, limit)) {}
  explicit ValueIds(NameTable known);
  ~ValueIds();
  ValueIds(ValueIds&&) noexcept;
  ValueIds& operator=(ValueIds&&) noexcept;

  // `row` is where the value was met.
  std::uint32_t intern(std::string_view text, std::uint64_t row) {
    return intern(text, NameTable::hash(text), row);
  }
  std::uint32_t intern(std::string_view text, std::uint64_t hash, std::uint64_t row) {
    const std::uint32_t known = names.size();
    const std::uint32_t id = names.intern(text, hash);
    if (id == known) first_rows.push_back(row);
    return id;
  }
  // The same, quicker for short texts that come again soon. The text is not empty.
  std::uint32_t intern_recent(std::string_view text, std::uint64_t row);

  // Makes room for `values` different values.
  void reserve(std::uint64_t values);

  // For the library's own columns: texts that were met lately.
  ShortTexts& recent() { return *recent_; }

  NameTable names;
  // Rows in which values appeared that the names did not hold before, in the order of their ids.
  std::vector<std::uint64_t> first_rows;

 private:
  std::unique_ptr<ShortTexts> recent_;
};

// A column of values on its way to ids, which it remembers: it serves one ValueIds only.
class ValueColumn {
 public:
  virtual ~ValueColumn() = default;

  virtual std::uint64_t size() const = 0;
  // The id of one value, which was met in `row`.
  virtual std::uint32_t id_at(std::uint64_t index, std::uint64_t row, ValueIds& ids) = 0;
  // Ids of the rows from `begin` on.
  virtual void read(std::uint64_t begin, std::span<std::uint32_t> out, ValueIds& ids) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = id_at(begin + i, begin + i, ids);
  }
  // Asks for the memory that id_at() will need; for values of dictionaries, which come in their order.
  virtual void prefetch(std::uint64_t, const ValueIds&) const {}
  // The same values for another ValueIds: the copy has met none of them.
  virtual std::unique_ptr<ValueColumn> fresh_copy() const = 0;
  // Whether only the calling thread may read the values, as with objects of an interpreter.
  virtual bool is_thread_bound() const { return false; }
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

  static bool is_type(char type);
  // Bytes of a value; 0 for booleans, which are bits in Arrow.
  static std::size_t width_of(char type);
};

std::unique_ptr<ValueColumn> number_column(const Numbers& numbers);
// Codes that stand for values, one piece below another; negative ones are null.
std::unique_ptr<ValueColumn> dictionary_column(std::vector<Numbers> codes,
                                               std::unique_ptr<ValueColumn> values);
// Texts: value i begins at offsets[i] and ends at offsets[i + 1].
std::unique_ptr<ValueColumn> text_column(const std::int32_t* offsets, const char* bytes,
                                         std::uint64_t size, const Nulls& nulls);
std::unique_ptr<ValueColumn> text_column(const std::int64_t* offsets, const char* bytes,
                                         std::uint64_t size, const Nulls& nulls);
// Texts of Arrow's view layout: 16 bytes each, long ones in one of several buffers.
std::unique_ptr<ValueColumn> view_column(const char* views, std::span<const void* const> buffers,
                                         std::uint64_t size, const Nulls& nulls);
std::unique_ptr<ValueColumn> null_column(std::uint64_t size);
// Columns one below another.
std::unique_ptr<ValueColumn> chunked_column(std::vector<std::unique_ptr<ValueColumn>> chunks);

// The columns of a table, all of one length. A missing label is an abstention; a missing task or worker
// is an Error(data) that names the row.
struct LabelColumns {
  ValueColumn& tasks;
  ValueColumn& workers;
  ValueColumn& labels;

  bool are_cheap() const { return tasks.is_cheap() && workers.is_cheap() && labels.is_cheap(); }
  bool are_thread_bound() const {
    return tasks.is_thread_bound() || workers.is_thread_bound() || labels.is_thread_bound();
  }
};

// Rows in which new tasks, workers and classes appeared, in the order of their ids.
struct FirstRows {
  std::vector<std::uint64_t> tasks;
  std::vector<std::uint64_t> workers;
  std::vector<std::uint64_t> classes;
};

struct ColumnLabels {
  Labels labels;
  FirstRows first_rows;
};

// The labels of a whole table: what LabelsBuilder makes of its rows, for any number of threads.
ColumnLabels read_columns(const LabelColumns& columns, Duplicates duplicates, const RunContext& context);

// The same for a table that comes in chunks, which need not stay.
class ColumnReader {
 public:
  explicit ColumnReader(Duplicates duplicates = Duplicates::last);
  ~ColumnReader();
  ColumnReader(ColumnReader&&) noexcept;
  ColumnReader& operator=(ColumnReader&&) noexcept;

  // Returns the chunk's rows, counted from its beginning, whose values no chunk before had. Errors count
  // rows from the beginning of the first chunk.
  FirstRows add(const LabelColumns& chunk, const RunContext& context);

  // All labels; the reader is empty afterwards.
  Labels build(int threads);

 private:
  struct Rows;
  std::unique_ptr<Rows> rows_;
};

}  // namespace crowdfold
