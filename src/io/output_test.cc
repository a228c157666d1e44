#include "io/output.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::read_file;
using testing::TempDir;
using Names = std::vector<std::string>;

TEST(OutputFile, AppearsWholeWhenItIsCommitted) {
  const TempDir folder;
  {
    OutputFile file(folder / "out.csv");
    file.write("one\n");
    EXPECT_FALSE(std::filesystem::exists(folder / "out.csv"));
    file.write("two\n");
    file.commit();
    EXPECT_EQ(read_file(folder / "out.csv"), "one\ntwo\n");
  }
  EXPECT_EQ(folder.files(), Names{"out.csv"});
}

TEST(OutputFile, LeavesNothingBehindWithoutACommit) {
  const TempDir folder;
  {
    OutputFile file(folder / "out.csv");
    file.write("half");
  }
  EXPECT_EQ(folder.files(), Names{});
}

TEST(OutputFile, KeepsTheOldFileUntilTheNewOneIsWhole) {
  const TempDir folder;
  folder.write("out.csv", "old");
  {
    OutputFile file(folder / "out.csv");
    file.write("new");
  }
  EXPECT_EQ(read_file(folder / "out.csv"), "old");
  OutputFile file(folder / "out.csv");
  file.write("new");
  file.commit();
  EXPECT_EQ(read_file(folder / "out.csv"), "new");
}

TEST(OutputFile, WritesThroughASymbolicLinkAndKeepsIt) {
  const TempDir folder;
  folder.write("target.csv", "old");
  std::filesystem::create_symlink("target.csv", folder / "link.csv");
  OutputFile file(folder / "link.csv");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.csv"));
  EXPECT_EQ(read_file(folder / "target.csv"), "new");
}

TEST(OutputFile, HasThePermissionsOfAnyNewFile) {
  const TempDir folder;
  const mode_t mask = ::umask(022);
  OutputFile file(folder / "out.csv");
  file.commit();
  ::umask(mask);
  struct stat status {};
  ASSERT_EQ(::stat((folder / "out.csv").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644U);
}

TEST(OutputFile, SaysWhyItCannotBeWritten) {
  const TempDir folder;
  const Error missing = error_of([&] { OutputFile(folder / "no/such/out.csv"); });
  EXPECT_EQ(missing.code(), ErrorCode::io);
  EXPECT_EQ(std::string(missing.what()),
            folder / "no/such/out.csv" + ": cannot write to: No such file or directory");
  const Error directory = error_of([&] { OutputFile(folder / ""); });
  EXPECT_EQ(directory.code(), ErrorCode::io);
  EXPECT_EQ(folder.files(), Names{});
}

TEST(OutputFile, NoticesAFullDisk) {
  const Error error = error_of([] {
    OutputFile file("/dev/full");
    file.write("text");
    file.commit();
  });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_STREQ(error.what(), "/dev/full: cannot write to: No space left on device");
}

TEST(Output, IsJsonLinesByExtensionOnly) {
  EXPECT_EQ(kind_of("a.jsonl"), TextKind::jsonl);
  EXPECT_EQ(kind_of("a.ndjson"), TextKind::jsonl);
  EXPECT_EQ(kind_of("a.json.csv"), TextKind::csv);
  EXPECT_EQ(kind_of("-"), TextKind::csv);
}

TEST(Output, QuotesCsvFieldsOnlyWhereItMust) {
  const auto csv = [](std::string_view field) {
    std::string text;
    append_csv(text, field);
    return text;
  };
  EXPECT_EQ(csv("plain text"), "plain text");
  EXPECT_EQ(csv(""), "");
  EXPECT_EQ(csv("a,b"), "\"a,b\"");
  EXPECT_EQ(csv("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv("a\r"), "\"a\r\"");
  EXPECT_EQ(csv("\xFF"), "\xFF");
}

TEST(Output, EscapesJsonStringsAndReplacesWhatIsNotUtf8) {
  const auto json = [](std::string_view text) {
    std::string to;
    append_json(to, text);
    return to;
  };
  EXPECT_EQ(json("a\"b\\\n"), R"("a\"b\\\n")");
  EXPECT_EQ(json("caf\xC3\xA9"), "\"caf\xC3\xA9\"");
  EXPECT_EQ(json("\xFF"), "\"\xEF\xBF\xBD\"");
}

RC_GTEST_PROP(Output, WritesNumbersThatParseBackToTheSameDouble, (std::uint64_t bits)) {
  for (const double value : {std::bit_cast<double>(bits), static_cast<double>(bits >> 11) * 0x1p-53,
                             static_cast<double>(bits)}) {
    if (!std::isfinite(value)) continue;
    std::string text;
    append_number(text, value);
    double back = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), back);
    RC_ASSERT(error == std::errc{});
    RC_ASSERT(end == text.data() + text.size());
    RC_ASSERT(std::bit_cast<std::uint64_t>(back) == std::bit_cast<std::uint64_t>(value));
  }
}

TEST(Output, WritesNumbersShortly) {
  const auto number = [](double value) {
    std::string text;
    append_number(text, value);
    return text;
  };
  EXPECT_EQ(number(.1), "0.1");
  EXPECT_EQ(number(3), "3");
  EXPECT_EQ(number(1), "1");
}

}  // namespace
}  // namespace crowdfold
