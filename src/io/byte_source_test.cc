#include "io/byte_source.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "packed.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::TempDir;

std::string some_text() {
  std::string text;
  for (int i = 0; text.size() < 200'000; ++i) text += "task " + std::to_string(i * i) + "\n";
  return text;
}

// All that there is, in pieces; `status` is what the last read returned.
std::string read_pieces(ByteSource& source, std::size_t piece, std::size_t& status) {
  std::string text;
  std::string buffer(piece, '\0');
  while ((status = source.read(buffer.data(), piece)) != 0 && status != kNoneYet)
    text.append(buffer, 0, status);
  return text;
}

TEST(ByteSource, DecompressesInPiecesOfAnySize) {
  const TempDir folder;
  const std::string text = some_text();
  using namespace testing;
  for (const std::string& packed :
       {testing::zstd(text), testing::gzip(text), testing::gzip(text) + testing::gzip(text), bzip2(text),
        bzip2(text) + bzip2(text), xz(text), xz(text) + std::string(4, '\0') + xz(text),
        zip({{"a.csv", text}})}) {
    const std::string path = folder.write("packed", packed);
    for (const std::size_t piece : {std::size_t{1000}, std::size_t{1} << 16, std::size_t{1} << 20}) {
      std::size_t status = 1;
      const std::string read = read_pieces(*open_source(path), piece, status);
      EXPECT_EQ(read.substr(0, text.size()), text) << piece;
      EXPECT_EQ(read.size() % text.size(), 0U);
      EXPECT_EQ(status, 0U);
    }
  }
}

TEST(ByteSource, DoesNotWaitUnlessItShall) {
  const std::string text = some_text();
  for (const std::string& packed : {text, testing::zstd(text), testing::gzip(text), testing::bzip2(text),
                                    testing::xz(text), testing::zip({{"a.csv", text}})}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const auto source = open_source("/dev/fd/" + std::to_string(ends[0]), {.waiting = Waiting::no});
    std::size_t status = 0;
    std::string read;
    for (std::size_t at = 0; at < packed.size(); at += 9999) {
      const std::string_view piece = std::string_view(packed).substr(at, 9999);
      ASSERT_EQ(::write(ends[1], piece.data(), piece.size()), static_cast<ssize_t>(piece.size()));
      for (int again = 0; again < 20; ++again) read += read_pieces(*source, 1 << 16, status);
      EXPECT_EQ(status, kNoneYet);
    }
    ::close(ends[1]);
    read += read_pieces(*source, 1 << 16, status);
    EXPECT_EQ(status, 0U);
    EXPECT_EQ(read, text);
    ::close(ends[0]);
  }
}

TEST(ByteSource, ShowsTheFirstBytesOfFilesAndPipesAndGivesThemAgain) {
  const TempDir folder;
  const std::string text = some_text();
  for (const std::string& packed : {text, testing::gzip(text), testing::zip({{"a.csv", text}})}) {
    const auto file = open_source(folder.write("file", packed));
    EXPECT_EQ(file->peek(10), text.substr(0, 10));
    EXPECT_EQ(file->peek(100'000), text.substr(0, 100'000));
    EXPECT_FALSE(file->ended());
    EXPECT_EQ(file->peek(kMostPeeked), text);
    EXPECT_TRUE(file->ended());
    std::size_t status = 0;
    EXPECT_EQ(read_pieces(*file, 999, status), text);

    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], packed.data(), 50'000), 50'000);  // less than a pipe holds
    const auto pipe = open_source("/dev/fd/" + std::to_string(ends[0]), {.waiting = Waiting::no});
    const std::string_view start = pipe->peek(1000);
    EXPECT_EQ(start, packed.starts_with("PK") ? "" : text.substr(0, 1000));  // its list is at its end
    ::close(ends[0]);
    ::close(ends[1]);
  }
}

TEST(ByteSource, SaysWhichArchivesItCannotRead) {
  const TempDir folder;
  const auto message_of = [&](const std::string& path) {
    std::size_t status = 0;
    const Error error = testing::error_of([&] { read_pieces(*open_source(path), 1000, status); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    return std::string(error.what()).substr(path.size() + 2);
  };
  const std::string several = testing::zip({{"a.csv", "1"}, {"b.csv", "2"}, {"c/d.csv", "3"}});
  const std::string path = folder.write("x.zip", several);
  EXPECT_EQ(message_of(path),
            "a zip archive with 3 files: a.csv, b.csv, c/d.csv; name one: " + path + ":a.csv");
  std::vector<testing::Packed> many;
  for (int i = 0; i < 9; ++i) many.push_back({std::to_string(i), "text"});
  EXPECT_NE(message_of(folder.write("many.zip", testing::zip(many))).find("0, 1, 2, 3, 4 and 4 more;"),
            std::string::npos);
  EXPECT_EQ(message_of(path + ":e.csv"),
            "no such file in the zip archive, which holds a.csv, b.csv, c/d.csv");
  EXPECT_EQ(message_of(folder.write("secret.zip", testing::zip({{"a.csv", "text", true}}))),
            "a.csv in the zip archive is encrypted: unpack it, and give the file");
  EXPECT_EQ(message_of(folder.write("none.zip", testing::zip({}))), "the zip archive holds no file");
  EXPECT_EQ(message_of(folder.write("plain", "text") + ":a.csv").substr(0, 20), "it is no zip archive");
  const std::string whole = testing::zip({{"a.csv", some_text()}});
  EXPECT_TRUE(message_of(folder.write("cut.zip", whole.substr(0, whole.size() / 2)))
                  .starts_with("the zip archive is damaged: "));
  std::string changed = whole;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  EXPECT_TRUE(
      message_of(folder.write("changed.zip", changed)).starts_with("the zip archive is damaged: "));
  EXPECT_EQ(message_of(folder.write("twice", testing::gzip(testing::bzip2("text")))),
            "it is packed twice, the second time as bzip2: unpack it once and give that");
  for (const std::string& packed : {testing::bzip2(some_text()), testing::xz(some_text())}) {
    EXPECT_TRUE(message_of(folder.write("cut", packed.substr(0, packed.size() / 2)))
                    .ends_with("data is damaged: it ends too early"));
    std::string other = packed;
    other[other.size() / 2] = static_cast<char>(other[other.size() / 2] ^ 1);
    EXPECT_TRUE(
        message_of(folder.write("changed", other)).ends_with("data is damaged: its sums do not agree"));
    EXPECT_FALSE(message_of(folder.write("garbage", packed + "garbage")).empty());
  }
}

TEST(ByteSource, GivesTheBytesBeforeDamageWhetherTheyArePeekedAtOrNot) {
  const TempDir folder;
  const std::string text = some_text();
  const std::string packed = testing::gzip(text);
  const std::string path = folder.write("cut.gz", packed.substr(0, packed.size() / 2));
  std::string before[2];
  for (const bool peeked : {false, true}) {
    const auto source = open_source(path);
    if (peeked) {
      EXPECT_TRUE(text.starts_with(source->peek(kMostPeeked)));
    }
    char byte = 0;
    const Error error = testing::error_of([&] {
      while (source->read(&byte, 1) == 1) before[peeked ? 1 : 0] += byte;
    });
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_GT(before[0].size(), 1000U);
  }
  EXPECT_TRUE(before[0] == before[1]);
}

TEST(ByteSource, ReadsTheFileOfAnArchiveThatIsNamedOrAlone) {
  const TempDir folder;
  std::size_t status = 0;
  const auto read = [&](const std::string& path) { return read_pieces(*open_source(path), 7, status); };
  const std::string path = folder.write(
      "x.zip", testing::zip({{"a.csv", "1"}, {"b:c.csv", "2"}, {".hidden", "3"}, {"folder/", ""}}));
  EXPECT_EQ(read(path + ":a.csv"), "1");
  EXPECT_EQ(read(path + ":b:c.csv"), "2");
  EXPECT_EQ(read(folder.write("one.zip", testing::zip({{"__MACOSX/a", "no"}, {"d/a.csv", "yes"}}))),
            "yes");
  EXPECT_EQ(read(folder.write("y.zip:a", "a name with a colon")), "a name with a colon");
}

TEST(ByteSource, StopsWaitingOnceItIsCancelled) {
  const TempDir folder;
  const std::string nobody_writes = folder / "pipe";
  ASSERT_EQ(::mkfifo(nobody_writes.c_str(), 0600), 0);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const std::atomic<bool> cancelled = true;
  for (const std::string& path : {"/dev/fd/" + std::to_string(ends[0]), nobody_writes}) {
    const auto source = open_source(path, {.cancelled = &cancelled});
    std::size_t status = 0;
    EXPECT_EQ(testing::error_of([&] { read_pieces(*source, 100, status); }).code(),
              ErrorCode::interrupted);
  }
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ByteSource, FollowsAFileUnlessItIsCompressed) {
  const TempDir folder;
  const std::string path = folder.write("grows", "one");
  const auto source = open_source(path, {.waiting = Waiting::follow});
  std::size_t status = 0;
  EXPECT_EQ(read_pieces(*source, 100, status), "");  // fewer bytes than tell a compression
  std::ofstream(path, std::ios::app) << " two";
  EXPECT_EQ(read_pieces(*source, 100, status), "one two");
  std::ofstream(path, std::ios::app) << " three";
  EXPECT_EQ(read_pieces(*source, 100, status), " three");
  EXPECT_EQ(status, kNoneYet);

  const auto packed =
      open_source(folder.write("packed", testing::gzip("one")), {.waiting = Waiting::follow});
  EXPECT_EQ(testing::error_of([&] { read_pieces(*packed, 100, status); }).code(), ErrorCode::data);
}

TEST(ByteSource, FollowsAFileThatIsNotThereYet) {
  const TempDir folder;
  const auto source = open_source(folder / "later", {.waiting = Waiting::follow});
  std::size_t status = 0;
  EXPECT_EQ(read_pieces(*source, 100, status), "");
  EXPECT_EQ(status, kNoneYet);
  folder.write("later", "a line\n");
  EXPECT_EQ(read_pieces(*source, 100, status), "a line\n");
}

TEST(ByteSource, FollowsTheFileThatTakesAnOthersPlaceOnceItHoldsSomething) {
  const TempDir folder;
  const std::string path = folder.write("log", "first\n");
  const auto source = open_source(path, {.waiting = Waiting::follow});
  std::size_t status = 0;
  EXPECT_EQ(read_pieces(*source, 100, status), "first\n");
  std::filesystem::rename(path, folder / "log.1");
  EXPECT_EQ(read_pieces(*source, 100, status), "");  // its writer has not moved on
  std::ofstream(folder / "log.1", std::ios::app) << "second\nhalf";
  folder.write("log", "");
  EXPECT_EQ(read_pieces(*source, 100, status), "second\nhalf");
  std::ofstream(path, std::ios::app) << "third\n";
  EXPECT_EQ(read_pieces(*source, 100, status), "\nthird\n");  // a line ends with its file
}

TEST(ByteSource, FollowsAFileThatIsCut) {
  const TempDir folder;
  const std::string path = folder.write("log", "a long first line\n");
  const auto source = open_source(path, {.waiting = Waiting::follow});
  std::size_t status = 0;
  EXPECT_EQ(read_pieces(*source, 100, status), "a long first line\n");
  folder.write("log", "anew\n");  // the same file, cut
  read_pieces(*source, 100, status);
  EXPECT_EQ(read_pieces(*source, 100, status), "anew\n");
}

}  // namespace
}  // namespace crowdfold
