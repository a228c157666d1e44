#include "io/text_encoding.h"

#include <gtest/gtest.h>
#include <iconv.h>

#include "base/random.h"
#include "crowdfold/io.h"
#include "label_files.h"
#include "packed.h"
#include "support.h"

namespace crowdfold {
namespace {

using namespace std::string_view_literals;
using testing::TempDir;

std::string encoded(const std::string& text, const char* encoding) {
  const iconv_t handle = ::iconv_open(encoding, "UTF-8");
  std::string result(4 * text.size() + 16, '\0');
  std::string input = text;
  char* from = input.data();
  std::size_t left = input.size();
  char* to = result.data();
  std::size_t room = result.size();
  EXPECT_NE(::iconv(handle, &from, &left, &to, &room), static_cast<std::size_t>(-1)) << encoding;
  ::iconv_close(handle);
  result.resize(result.size() - room);
  return result;
}

std::string all_of(ByteSource& source, std::size_t piece) {
  std::string text;
  std::string buffer(piece, '\0');
  for (std::size_t count = 0; (count = source.read(buffer.data(), piece)) != 0;)
    text.append(buffer, 0, count);
  return text;
}

const std::string kText = "task,worker,label\nt1,Jürgen,Käse\nt1,Zoë,Brot für 5 €\n";

TEST(TextEncoding, IsDecodedInPiecesOfAnySize) {
  const TempDir folder;
  std::string text;
  for (int i = 0; text.size() < 300'000; ++i) text += "t" + std::to_string(i) + ",Jürgen 𝄞,€\n";
  for (const auto& [encoding, mark, shown] :
       {std::tuple{"UTF-16LE", "\xFF\xFE"sv, "utf-16"}, std::tuple{"UTF-16BE", "\xFE\xFF"sv, "utf-16"},
        std::tuple{"UTF-32LE", "\xFF\xFE\0\0"sv, "utf-32"},
        std::tuple{"UTF-32BE", "\0\0\xFE\xFF"sv, "utf-32"}, std::tuple{"UTF-16LE", ""sv, "utf-16"},
        std::tuple{"UTF-16BE", ""sv, "utf-16"}}) {
    const std::string path = folder.write("text", std::string(mark) + encoded(text, encoding));
    for (const std::size_t piece : {1U, 2U, 3U, 1000U, 1U << 20}) {
      const auto source = open_source(path);
      const std::string read = all_of(*source, piece);
      ASSERT_TRUE(read == (mark.empty() ? "" : "\xEF\xBB\xBF") + text) << encoding << piece;
      EXPECT_EQ(source->encoding(), shown);
    }
  }
}

TEST(TextEncoding, OfUtf8IsLeftAlone) {
  const TempDir folder;
  for (const std::string& text :
       {kText, "\xEF\xBB\xBF" + kText, std::string("t,w,l\n"), std::string()}) {
    const auto source = open_source(folder.write("text", text));
    EXPECT_EQ(all_of(*source, 1000), text);
    EXPECT_EQ(source->encoding(), "");
  }
  // Valid in its first megabyte: nothing behind it is decoded.
  std::string late(kMostPeeked - 1, 'x');
  late += "ü\xFF";
  EXPECT_TRUE(all_of(*open_source(folder.write("late", late)), 5000) == late);
}

TEST(TextEncoding, OfLatin1IsRecognisedAndTold) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", encoded(kText, "WINDOWS-1252"));
  const auto source = open_source(path);
  EXPECT_EQ(all_of(*source, 1000), kText);
  ReadReport report;
  const Labels labels = read_labels(path, {}, {}, &report);
  EXPECT_EQ(testing::names_of(labels.workers()), (std::vector<std::string>{"Jürgen", "Zoë"}));
  EXPECT_EQ(report.format, "csv, read as Windows-1252 (Latin-1)");
  EXPECT_EQ(report.encoding, "read as Windows-1252 (Latin-1)");
  // A few damaged characters in UTF-8 do not make it another encoding.
  const std::string damaged = kText + "t2,J\xFFrgen,K\xC3\n";
  EXPECT_EQ(all_of(*open_source(folder.write("b.csv", damaged)), 1000), damaged);
}

TEST(TextEncoding, CanBeNamed) {
  const TempDir folder;
  const std::string text = "task,worker,label\n画像,花子,猫\n";
  const std::string path = folder.write("a.csv", encoded(text, "SHIFT_JIS"));
  EXPECT_EQ(all_of(*open_source(path, {.encoding = "shift_jis"}), 1000), text);
  EXPECT_EQ(
      all_of(*open_source(folder.write("b.csv", encoded(kText, "UTF-16LE")), {.encoding = "utf-16le"}),
             3),
      kText);
  EXPECT_EQ(all_of(*open_source(folder.write("c.csv", "K\xE4se\n"), {.encoding = "Latin-1"}), 3),
            "Käse\n");
  EXPECT_EQ(all_of(*open_source(folder.write("d.csv", "K\xE4se\n"), {.encoding = "utf-8"}), 3),
            "K\xE4se\n");
  const Error unknown = testing::error_of([&] { open_source(path, {.encoding = "klingon"})->peek(1); });
  EXPECT_EQ(unknown.code(), ErrorCode::usage);
  EXPECT_NE(std::string(unknown.what()).find("unknown encoding 'klingon'"), std::string::npos);
  const Error wrong = testing::error_of(
      [&] { all_of(*open_source(folder.write("e.csv", "abc\xFF"), {.encoding = "ascii"}), 100); });
  EXPECT_NE(std::string(wrong.what()).find("byte 4 is not ascii"), std::string::npos) << wrong.what();
}

TEST(TextEncoding, SaysWhereATextIsDamaged) {
  const TempDir folder;
  const std::string wide = "\xFF\xFE" + encoded(kText, "UTF-16LE");
  const auto message_of = [&](const std::string& bytes) {
    return std::string(
        testing::error_of([&] { all_of(*open_source(folder.write("text", bytes)), 100); }).what());
  };
  EXPECT_NE(
      message_of(wide.substr(0, wide.size() - 1)).find("ends in the middle of a character (utf-16)"),
      std::string::npos);
  std::string changed = wide;
  changed[11] = '\xDC';  // the second half of a pair alone
  EXPECT_NE(message_of(changed).find("byte 11 is not utf-16"), std::string::npos) << message_of(changed);
}

TEST(TextEncoding, OfOldMacsHasItsLineEndsConverted) {
  const TempDir folder;
  EXPECT_EQ(all_of(*open_source(folder.write("a", "t,w,l\r1,u,a\r")), 2), "t,w,l\n1,u,a\n");
  EXPECT_EQ(all_of(*open_source(folder.write("b", "t,w,l\r\n1,u\r,a\r\n")), 2), "t,w,l\r\n1,u\r,a\r\n");
  const std::string wide = "\xFF\xFE" + encoded("t,w,l\r1,u,a\r", "UTF-16LE");
  EXPECT_EQ(all_of(*open_source(folder.write("c", wide)), 2), "\xEF\xBB\xBFt,w,l\n1,u,a\n");
}

TEST(TextEncoding, OfAStreamIsToldByItsMarkAlone) {
  const TempDir folder;
  const SourceOptions options{.waiting = Waiting::no};
  const std::string wide = "\xFF\xFE" + encoded(kText, "UTF-16LE");
  EXPECT_EQ(all_of(*open_source(folder.write("a", wide), options), 100), "\xEF\xBB\xBF" + kText);
  EXPECT_EQ(all_of(*open_source(folder.write("b", "K\xE4se\r"), options), 100), "K\xE4se\r");
}

}  // namespace
}  // namespace crowdfold
