#include "io/encoder.h"

#include <gtest/gtest.h>

#include "io/byte_source.h"
#include "io/output.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::TempDir;

std::string read_all(const std::string& path) {
  const auto source = open_source(path);
  std::string text;
  std::string piece(1000, '\0');
  for (std::size_t count = 0; (count = source->read(piece.data(), piece.size())) > 0;)
    text.append(piece, 0, count);
  return text;
}

std::string numbered_lines(std::size_t lines) {
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) text += "task_" + std::to_string(i * 7919 % 10'007) + ",cat\n";
  return text;
}

TEST(Encoder, IsChosenByTheEndingOfTheName) {
  EXPECT_EQ(make_encoder("a.csv"), nullptr);
  EXPECT_EQ(make_encoder("gz"), nullptr);
  EXPECT_EQ(compression_ending("a.CSV.GZ"), ".gz");
  EXPECT_EQ(compression_ending("a.zst"), ".zst");
  EXPECT_EQ(compression_ending("-"), "");
}

TEST(Encoder, FilesComeBackAsTheyWereWritten) {
  const TempDir folder;
  for (const char* name : {"a.csv.gz", "a.csv.zst"}) {
    for (const std::size_t lines : {0U, 1U, 100'000U}) {
      OutputFile file(folder / name);
      file.write(numbered_lines(lines));
      file.commit();
      EXPECT_EQ(read_all(folder / name), numbered_lines(lines)) << name << lines;
    }
  }
}

TEST(Encoder, GivesTheSameBytesHoweverTheTextIsCut) {
  const std::string text = numbered_lines(100'000);
  for (const char* name : {"a.gz", "a.zst"}) {
    const auto whole = make_encoder(name);
    std::string expected = whole->encode(text);
    expected += whole->finish();
    EXPECT_LT(expected.size(), text.size() / 2);
    const auto pieces = make_encoder(name);
    std::string actual;
    for (std::size_t at = 0; at < text.size(); at += 333) actual += pieces->encode(text.substr(at, 333));
    actual += pieces->finish();
    EXPECT_TRUE(actual == expected) << name;
  }
}

}  // namespace
}  // namespace crowdfold
