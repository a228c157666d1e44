#include "crowdfold/columns.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/random.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::describe;
using testing::error_of;
using testing::LabelRow;
using testing::labels_of;

using ColumnPointer = std::unique_ptr<ValueColumn>;

template <class T>
Numbers numbers_of(char type, const std::vector<T>& values) {
  Numbers numbers;
  numbers.type = type;
  numbers.data = reinterpret_cast<const char*>(values.data());
  numbers.stride = sizeof(T);
  numbers.size = values.size();
  return numbers;
}

// Texts in Arrow's two layouts, and as codes of a dictionary; empty ones are null.
class TextValues {
 public:
  explicit TextValues(std::vector<std::string> values) : values_(std::move(values)) {
    NameTable known;
    for (const std::string& value : values_) {
      bytes_ += value;
      offsets_.push_back(static_cast<std::int32_t>(bytes_.size()));
      codes_.push_back(value.empty() ? -1 : static_cast<std::int32_t>(known.intern(value)));
    }
    for (std::uint32_t id = 0; id < known.size(); ++id) {
      dictionary_bytes_ += known[id];
      dictionary_offsets_.push_back(static_cast<std::int64_t>(dictionary_bytes_.size()));
    }
    buffer_ = bytes_.data();
    views_.resize(16 * values_.size());
    for (std::size_t i = 0; i < values_.size(); ++i) write_view(views_.data() + 16 * i, i);
  }

  TextValues(const TextValues&) = delete;  // columns look at its memory
  TextValues& operator=(const TextValues&) = delete;

  ColumnPointer texts() const { return text_column(offsets_.data(), bytes_.data(), values_.size(), {}); }
  ColumnPointer views() const { return view_column(views_.data(), buffers_, values_.size(), {}); }
  ColumnPointer codes() const {
    return dictionary_column({numbers_of('i', codes_)},
                             text_column(dictionary_offsets_.data(), dictionary_bytes_.data(),
                                         dictionary_offsets_.size() - 1, {}));
  }
  // The texts in two pieces.
  ColumnPointer chunks() const {
    const std::size_t half = values_.size() / 2;
    std::vector<ColumnPointer> pieces;
    pieces.push_back(text_column(offsets_.data(), bytes_.data(), half, {}));
    pieces.push_back(text_column(offsets_.data() + half, bytes_.data(), values_.size() - half, {}));
    return chunked_column(std::move(pieces));
  }

 private:
  void write_view(char* view, std::size_t i) const {
    const auto length = static_cast<std::int32_t>(values_[i].size());
    const std::int32_t parts[] = {length, 0, 0,
                                  offsets_[i]};  // the bytes' beginning, the buffer, a place
    std::memcpy(view, parts, sizeof parts);
    if (length <= 12) values_[i].copy(view + 4, 12);
  }

  std::vector<std::string> values_;
  std::string bytes_;
  std::vector<std::int32_t> offsets_ = {0};
  std::vector<std::int32_t> codes_;
  std::string dictionary_bytes_;
  std::vector<std::int64_t> dictionary_offsets_ = {0};
  std::vector<char> views_;
  const void* buffer_ = nullptr;
  std::span<const void* const> buffers_{&buffer_, 1};
};

struct Table {
  explicit Table(const std::vector<LabelRow>& rows)
      : tasks(column(rows, &LabelRow::task)),
        workers(column(rows, &LabelRow::worker)),
        labels(column(rows, &LabelRow::label)) {}

  static TextValues column(const std::vector<LabelRow>& rows, std::string LabelRow::*field) {
    std::vector<std::string> values;
    for (const LabelRow& row : rows) values.push_back(row.*field);
    return TextValues(std::move(values));
  }

  TextValues tasks;
  TextValues workers;
  TextValues labels;
};

RunContext on_threads(int threads) {
  RunContext context;
  context.threads = threads;
  return context;
}

using MakeColumn = ColumnPointer (TextValues::*)() const;
const std::vector<MakeColumn> kLayouts = {&TextValues::texts, &TextValues::views, &TextValues::codes,
                                          &TextValues::chunks};

ColumnLabels read(const Table& table, MakeColumn make, Duplicates rule, int threads) {
  const ColumnPointer tasks = (table.tasks.*make)();
  const ColumnPointer workers = (table.workers.*make)();
  const ColumnPointer labels = (table.labels.*make)();
  return read_columns({*tasks, *workers, *labels}, rule, on_threads(threads));
}

Labels read_in_chunks(const std::vector<LabelRow>& rows, std::size_t chunk_rows, MakeColumn make,
                      Duplicates rule) {
  ColumnReader reader(rule);
  for (std::size_t at = 0; at < rows.size(); at += chunk_rows) {
    const std::size_t end = std::min(rows.size(), at + chunk_rows);
    const Table table({rows.begin() + static_cast<std::ptrdiff_t>(at),
                       rows.begin() + static_cast<std::ptrdiff_t>(end)});
    const ColumnPointer tasks = (table.tasks.*make)();
    const ColumnPointer workers = (table.workers.*make)();
    const ColumnPointer labels = (table.labels.*make)();
    reader.add({*tasks, *workers, *labels}, {});
  }
  return reader.build(2);
}

std::vector<std::uint64_t> first_rows_of(const std::vector<LabelRow>& rows,
                                         std::string LabelRow::*field) {
  std::vector<std::uint64_t> first;
  NameTable known;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if ((rows[i].*field).empty()) continue;
    const std::uint32_t before = known.size();
    if (known.intern(rows[i].*field) == before) first.push_back(i);
  }
  return first;
}

void expect_first_rows(const FirstRows& found, const std::vector<LabelRow>& rows) {
  EXPECT_EQ(found.tasks, first_rows_of(rows, &LabelRow::task));
  EXPECT_EQ(found.workers, first_rows_of(rows, &LabelRow::worker));
  EXPECT_EQ(found.classes, first_rows_of(rows, &LabelRow::label));
}

// Names of up to 16 bytes, which are remembered by two words, and longer ones.
std::vector<LabelRow> some_rows(Random& random, std::size_t count, std::uint64_t tasks, bool abstain) {
  const auto name = [](char kind, std::uint64_t i) {
    return kind + std::string(i % 5 * 5, '-') + std::to_string(i);
  };
  std::vector<LabelRow> rows;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t label = random.below(6);
    rows.push_back({name('t', random.below(tasks)), name('w', random.below(40)),
                    label == 0 && abstain ? "" : name('c', label)});
  }
  return rows;
}

void group_by_task(std::vector<LabelRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const LabelRow& a, const LabelRow& b) { return a.task < b.task; });
}

RC_GTEST_PROP(LabelColumns, GiveTheLabelsThatABuilderMakesOfTheSameRows, (std::uint64_t seed)) {
  Random random(seed);
  std::vector<LabelRow> rows =
      some_rows(random, random.below(500), 1 + random.below(80), random.below(2) == 0);
  if (random.below(2) == 0) group_by_task(rows);
  const auto rule = std::vector{Duplicates::last, Duplicates::first, Duplicates::keep}[random.below(3)];
  const std::string wanted = describe(labels_of(rows, rule));
  const Table table(rows);
  for (const MakeColumn make : kLayouts) {
    const ColumnLabels all = read(table, make, rule, 1 + static_cast<int>(random.below(3)));
    RC_ASSERT(describe(all.labels) == wanted);
    RC_ASSERT(all.first_rows.tasks == first_rows_of(rows, &LabelRow::task));
    RC_ASSERT(all.first_rows.classes == first_rows_of(rows, &LabelRow::label));
    RC_ASSERT(describe(read_in_chunks(rows, 1 + random.below(200), make, rule)) == wanted);
  }
}

TEST(LabelColumns, GiveTheSameOnAnyNumberOfThreads) {
  // Enough rows for three threads. Grouped: the fifth task is cut by the first border, and the last one
  // comes back in the second table.
  std::vector<LabelRow> rows;
  constexpr std::size_t kRows = 3 << 16;
  for (std::size_t i = 0; i < kRows; ++i) {
    rows.push_back({"t" + std::to_string(i / 14'000), "w" + std::to_string(i % 14'000 + i / 100'000),
                    std::to_string(i * i % 7)});
  }
  std::vector<LabelRow> others = rows;
  others.back().task = "t0";
  for (const std::vector<LabelRow>& each : {rows, others}) {
    const Labels wanted = labels_of(each);
    const Table table(each);
    const ColumnLabels one = read(table, kLayouts[0], Duplicates::last, 1);
    const FirstRows& first = one.first_rows;
    expect_first_rows(first, each);
    EXPECT_TRUE(testing::same_labels(one.labels, wanted));
    for (const MakeColumn make : kLayouts) {
      const ColumnLabels all = read(table, make, Duplicates::last, 3);
      EXPECT_TRUE(testing::same_labels(all.labels, wanted));
      EXPECT_EQ(all.first_rows.tasks, first.tasks);
      EXPECT_EQ(all.first_rows.workers, first.workers);
      EXPECT_EQ(all.first_rows.classes, first.classes);
    }
  }
}

TEST(LabelColumns, CountMissingLabelsAsAbstentions) {
  const std::vector<LabelRow> rows = {{"1", "u", ""}, {"1", "v", "a"}, {"2", "u", ""}};
  for (const MakeColumn make : kLayouts) {
    EXPECT_EQ(describe(read(Table(rows), make, Duplicates::last, 1).labels),
              "1: v=a\n2:\nu,v,\na,\n1 labels, 3 rows, 2 abstentions, 0 duplicates, 0 skipped\n");
  }
}

TEST(LabelColumns, NameTheFirstRowWithoutATaskOrAWorker) {
  std::vector<LabelRow> rows(10'000, {"t", "u", "a"});
  rows[7'000].worker = "";
  rows[9'000].worker = "";
  for (const MakeColumn make : kLayouts) {
    const Error error = error_of([&] { read(Table(rows), make, Duplicates::keep, 2); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_STREQ(error.what(), "row 7000 (from 0): no worker: the value is missing or empty");
  }
  rows[8'191].task = "";
  rows[7'000].worker = "u";
  const Error error = error_of([&] { read_in_chunks(rows, 100, kLayouts[0], Duplicates::keep); });
  EXPECT_STREQ(error.what(), "row 8191 (from 0): no task: the value is missing or empty");
}

TEST(LabelColumns, MustBeOfOneLength) {
  const ColumnPointer two = null_column(2);
  const ColumnPointer three = null_column(3);
  const Error error = error_of([&] { read_columns({*two, *three, *two}, Duplicates::last, {}); });
  EXPECT_STREQ(error.what(), "columns differ in length: 2 tasks, 3 workers, 2 labels");
}

TEST(LabelColumns, RefuseCodesBeyondTheirDictionary) {
  const std::vector<std::int8_t> codes = {0, 1, 2};
  const TextValues values({"a", "b"});
  const ColumnPointer tasks = dictionary_column({numbers_of('c', codes)}, values.texts());
  const Error error = error_of([&] { read_columns({*tasks, *tasks, *tasks}, Duplicates::last, {}); });
  EXPECT_STREQ(error.what(), "row 2: code 2 in a dictionary of 2 values");
}

TEST(LabelColumns, RefuseASecondLabelIfTheyAreToldTo) {
  const Table table({{"1", "u", "a"}, {"1", "u", "b"}});
  const Error error = error_of([&] { read(table, kLayouts[0], Duplicates::error, 1); });
  EXPECT_EQ(error.code(), ErrorCode::data);
}

TEST(ColumnReader, IsEmptyAfterASecondLabelWasRefused) {
  ColumnReader reader(Duplicates::error);
  const auto add = [&](const std::vector<LabelRow>& rows) {
    const Table table(rows);
    const ColumnPointer tasks = table.tasks.texts();
    const ColumnPointer workers = table.workers.texts();
    const ColumnPointer labels = table.labels.texts();
    reader.add({*tasks, *workers, *labels}, {});
  };
  add({{"1", "u", "a"}, {"1", "u", "b"}});
  EXPECT_EQ(error_of([&] { reader.build(1); }).code(), ErrorCode::data);
  add({{"2", "v", "b"}});
  EXPECT_EQ(describe(reader.build(1)),
            "2: v=b\nv,\nb,\n1 labels, 1 rows, 0 abstentions, 0 duplicates, 0 skipped\n");
}

TEST(LabelColumns, StopWhenTheyAreCancelled) {
  const Table table({{"1", "u", "a"}});
  const std::atomic<bool> cancelled = true;
  RunContext context;
  context.cancelled = &cancelled;
  const ColumnPointer column = table.tasks.texts();
  EXPECT_EQ(error_of([&] {
              read_columns({*column, *column, *column}, Duplicates::last, context);
            }).code(),
            ErrorCode::interrupted);
}

// The texts of a column's values; "-" for those that are missing.
std::vector<std::string> texts_of(ValueColumn& column) {
  ValueIds ids("values", kMaxTasks);
  std::vector<std::uint32_t> read(column.size());
  column.read(0, read, ids);
  std::vector<std::string> texts;
  for (const std::uint32_t id : read) texts.emplace_back(id == ValueIds::kMissing ? "-" : ids.names[id]);
  // One by one, it is the same.
  const ColumnPointer again = column.fresh_copy();
  ValueIds other_ids("values", kMaxTasks);
  for (std::uint64_t i = 0; i < read.size(); ++i) EXPECT_EQ(again->id_at(i, i, other_ids), read[i]);
  EXPECT_EQ(other_ids.first_rows, ids.first_rows);
  return texts;
}

using Texts = std::vector<std::string>;

TEST(NumberColumn, HasTheSameTextForTheSameNumberOfAnyType) {
  const std::vector<std::int64_t> large = {-3, 1'000'000'000'000, 7, -3};
  EXPECT_EQ(texts_of(*number_column(numbers_of('l', large))), (Texts{"-3", "1000000000000", "7", "-3"}));
  const std::vector<std::uint16_t> small = {9, 2, 9};
  EXPECT_EQ(texts_of(*number_column(numbers_of('S', small))), (Texts{"9", "2", "9"}));
  const std::vector<double> floats = {2, -0.0, 0.5, 0, std::numeric_limits<double>::quiet_NaN()};
  EXPECT_EQ(texts_of(*number_column(numbers_of('g', floats))), (Texts{"2", "0", "0.5", "0", "-"}));
  const std::vector<char> booleans = {1, 0, 1};
  EXPECT_EQ(texts_of(*number_column(numbers_of('b', booleans))), (Texts{"True", "False", "True"}));
}

TEST(NumberColumn, LeavesOutNullsOfBitsAndOfMasks) {
  const std::vector<std::int32_t> values = {5, 6, 7};
  Numbers numbers = numbers_of('i', values);
  const std::uint8_t valid = 0b1010;  // of rows -1 to 2
  numbers.nulls.valid_bits = &valid;
  numbers.nulls.bit_offset = 1;
  EXPECT_EQ(texts_of(*number_column(numbers)), (Texts{"5", "-", "7"}));
  const std::vector<char> mask = {1, 0, 0};
  numbers.nulls = {};
  numbers.nulls.mask = mask.data();
  EXPECT_EQ(texts_of(*number_column(numbers)), (Texts{"-", "6", "7"}));
}

TEST(NumberColumn, ReadsEveryOtherNumberAndBits) {
  const std::vector<std::int32_t> values = {70'000, 1, 80'000, 2};
  Numbers numbers = numbers_of('i', values);
  numbers.stride = 8;
  numbers.size = 2;
  EXPECT_EQ(texts_of(*number_column(numbers)), (Texts{"70000", "80000"}));
  const char bits = 0b0110;
  Numbers booleans;
  booleans.type = 'b';
  booleans.data = &bits;
  booleans.bit_offset = 1;
  booleans.size = 3;
  EXPECT_EQ(texts_of(*number_column(booleans)), (Texts{"True", "True", "False"}));
}

TEST(DictionaryColumn, ReadsSeveralPiecesOfOneDictionary) {
  const std::vector<std::int8_t> first = {1, 1, -1};
  const std::vector<std::int8_t> second = {0, 1};
  const TextValues values({"a", "b"});
  const ColumnPointer column =
      dictionary_column({numbers_of('c', first), numbers_of('c', second)}, values.texts());
  EXPECT_EQ(texts_of(*column), (Texts{"b", "b", "-", "a", "b"}));
}

TEST(ColumnReader, TellsTheRowsOfAChunkWithNewValuesAndIsEmptyAfterBuilding) {
  ColumnReader reader(Duplicates::keep);
  const auto add = [&](const std::vector<LabelRow>& rows) {
    const Table table(rows);
    const ColumnPointer tasks = table.tasks.texts();
    const ColumnPointer workers = table.workers.texts();
    const ColumnPointer labels = table.labels.texts();
    return reader.add({*tasks, *workers, *labels}, {});
  };
  add({{"1", "u", "a"}, {"1", "v", "b"}});
  const FirstRows rows = add({{"1", "u", "b"}, {"2", "w", "b"}});
  EXPECT_EQ(rows.tasks, std::vector<std::uint64_t>{1});
  EXPECT_EQ(rows.workers, std::vector<std::uint64_t>{1});
  EXPECT_EQ(rows.classes, std::vector<std::uint64_t>{});
  EXPECT_EQ(describe(reader.build(1)),
            "1: u=a v=b u=b\n2: w=b\nu,v,w,\na,b,\n4 labels, 4 rows, 0 abstentions, 0 duplicates, 0 "
            "skipped\n");
  EXPECT_EQ(reader.build(1).num_tasks(), 0U);
  EXPECT_EQ(add({{"2", "u", "b"}}).tasks, std::vector<std::uint64_t>{0});
  EXPECT_EQ(describe(reader.build(1)),
            "2: u=b\nu,\nb,\n1 labels, 1 rows, 0 abstentions, 0 duplicates, 0 skipped\n");
}

}  // namespace
}  // namespace crowdfold
