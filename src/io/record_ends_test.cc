// Records whole and in pieces: the same rows and the same errors, wherever the text is cut.
#include "io/record_ends.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "io/block_reader.h"
#include "io/csv.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::TempDir;

// What an input means: its rows and the place and text of its first error.
struct Meaning {
  std::vector<std::vector<std::string>> rows;
  std::uint64_t lines = 0;
  std::uint64_t skipped = 0;
  std::string error;

  bool operator==(const Meaning&) const = default;
};

class Reading {
 public:
  explicit Reading(bool skip_bad_rows) : parser_({',', 3, {0, 1, 2}}, skip_bad_rows) {}

  // False if an error ends it.
  bool add(std::string_view text) {
    const BlockOutcome outcome = parser_.parse(text, [&](Row row, bool) -> Complaint {
      meaning.rows.emplace_back(row.begin(), row.end());
      return {};
    });
    if (outcome.error && meaning.error.empty()) {
      meaning.error = std::to_string(meaning.lines + outcome.error->line) + ":" +
                      std::to_string(outcome.error->column) + " " + outcome.error->message;
    }
    meaning.lines += outcome.lines;
    meaning.skipped += outcome.skipped;
    return !outcome.failed;
  }

  Meaning meaning;

 private:
  CsvParser parser_;
};

Meaning whole(std::string text, bool skip_bad_rows) {
  if (!text.empty() && !text.ends_with('\n')) text.push_back('\n');
  const std::size_t size = text.size();
  text.append(kBlockPadding, '\0');
  Reading reading(skip_bad_rows);
  reading.add(std::string_view(text).substr(0, size));
  return reading.meaning;
}

Meaning in_blocks(const std::string& path, std::size_t block_size, bool skip_bad_rows) {
  BlockReader reader(path, block_size, {.as_is = true});
  Reading reading(skip_bad_rows);
  for (TextBlock block; reader.next(block) && reading.add(block.text());) {
  }
  return reading.meaning;
}

Meaning as_it_comes(const std::string& path, std::size_t piece_size, bool skip_bad_rows) {
  BlockReader reader(path, piece_size, {.waiting = Waiting::no, .as_is = true});
  Reading reading(skip_bad_rows);
  TextBlock block;
  for (std::size_t count = 1; count > 0;) {
    count = reader.poll();
    if (reader.next_of_pending(block) && !reading.add(block.text())) break;
  }
  return reading.meaning;
}

std::string random_text(Random& random, std::string_view alphabet, std::uint64_t most) {
  std::string text;
  for (std::uint64_t n = random.below(most); n > 0; --n)
    text.push_back(alphabet[random.below(alphabet.size())]);
  return text;
}

RC_GTEST_PROP(RecordEnds, CutATextSoThatItMeansTheSame, (std::uint64_t seed)) {
  Random random(seed);
  constexpr std::string_view kAlphabet("a,,\"\"\n\r;\0", 9);
  const bool with_nul = random.below(3) == 0;
  const std::string text =
      random_text(random, kAlphabet.substr(0, kAlphabet.size() - (with_nul ? 0 : 1)), 120);
  const TempDir folder;
  const std::string path = folder.write("a.csv", text);
  for (const bool skip_bad_rows : {false, true}) {
    const Meaning expected = whole(text, skip_bad_rows);
    for (const std::size_t size : {std::size_t{1}, std::size_t{2}, 3 + random.below(40)}) {
      RC_ASSERT(in_blocks(path, size, skip_bad_rows) == expected);
      RC_ASSERT(as_it_comes(path, size, skip_bad_rows) == expected);
    }
  }
}

TEST(RecordEnds, CutLinesWithOddQuotesSoThatTheyMeanTheSame) {
  const TempDir folder;
  for (const std::string text :
       {"t1,5\" disk,x\n\"a\nb\",w,x\nt3,w,x\n", "t,a\"\"b,x\nt2,w,x\n", "t,\"a\"\"\",x\nt2,w,x\n",
        "t,\"a\"b\",x\nt2,\"w,x\nt3,w,\"x\"\n", "a,\"b\nc\"x\n\"d\ne\",f,g\n",
        "\"\"\"\n\"\"\"\"\na,b,c\n", "a,b,\"c\"\r\na,b,\"c\"\rd\na,b,c\n"}) {
    const std::string path = folder.write("a.csv", text);
    for (const bool skip_bad_rows : {false, true}) {
      const Meaning expected = whole(text, skip_bad_rows);
      for (std::size_t size = 1; size <= text.size(); ++size) {
        EXPECT_TRUE(in_blocks(path, size, skip_bad_rows) == expected) << text << size;
        EXPECT_TRUE(as_it_comes(path, size, skip_bad_rows) == expected) << text << size;
      }
    }
  }
}

TEST(RecordEnds, AreThereAsSoonAsTheirBytesAre) {
  const auto ends = [](std::string_view text, char separator = ',') {
    RecordEnds records(separator);
    std::vector<std::size_t> found;
    for (std::size_t size = 1; size <= text.size(); ++size) {
      const std::size_t end = records.find(text.substr(0, size));
      if (end != (found.empty() ? 0 : found.back())) found.push_back(end);
    }
    return found;
  };
  using Ends = std::vector<std::size_t>;
  EXPECT_EQ(ends("a,b\n\nc"), (Ends{4, 5}));
  EXPECT_EQ(ends("a,5\" b\nc\n"), (Ends{7, 9}));            // a quote inside an unquoted field
  EXPECT_EQ(ends("\"a\n\"\"\n\",b\nc\n"), (Ends{10, 12}));  // newlines inside quotes
  EXPECT_EQ(ends("\"a\"b,\"\nc\n"), (Ends{7, 9}));          // a wrong line
  EXPECT_EQ(ends("\"a\nb\"c\nd\n"), (Ends{7, 9}));          // known to be wrong in its second line
  EXPECT_EQ(ends("\"a\n\"\nb\n", '\0'), (Ends{3, 5, 7}));   // JSON lines
}

// Bytes that were looked at are not looked at again, and a cut does not lose the place.
RC_GTEST_PROP(RecordEnds, AreFoundAgainBehindACut, (std::uint64_t seed)) {
  Random random(seed);
  const std::string text = random_text(random, "a,\"\n\r", 80);
  RecordEnds at_once;
  const std::size_t expected = at_once.find(text);
  RecordEnds records;
  std::size_t begin = 0;
  for (std::size_t size = 0; size <= text.size(); size += 1 + random.below(9)) {
    const std::size_t end = records.find(std::string_view(text).substr(begin, size - begin));
    if (random.below(2) == 0) continue;
    records.cut(end);
    begin += end;
  }
  begin += records.find(std::string_view(text).substr(begin));
  RC_ASSERT(begin == expected);
}

}  // namespace
}  // namespace crowdfold
