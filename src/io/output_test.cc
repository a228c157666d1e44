#include "io/output.h"

#include <gtest/gtest.h>
#include <pty.h>
#include <rapidcheck/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

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

TEST(OutputFile, CreatesWhatALinkLeadsTo) {
  const TempDir folder;
  std::filesystem::create_symlink("second.csv", folder / "first.csv");
  std::filesystem::create_symlink(folder / "target.csv", folder / "second.csv");
  OutputFile file(folder / "first.csv");
  file.write("new");
  file.commit();
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "first.csv"));
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "second.csv"));
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "target.csv")));
  EXPECT_EQ(read_file(folder / "target.csv"), "new");
}

TEST(OutputFile, RefusesLinksThatLeadRoundInACircle) {
  const TempDir folder;
  std::filesystem::create_symlink("b", folder / "a");
  std::filesystem::create_symlink("a", folder / "b");
  const Error error = error_of([&] { OutputFile(folder / "a"); });
  EXPECT_EQ(error.code(), ErrorCode::io);
  EXPECT_EQ(std::string(error.what()), folder / "a" + ": symbolic links lead round in a circle");
  EXPECT_EQ(folder.files(), (Names{"a", "b"}));
}

mode_t mode_of(const std::string& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

TEST(OutputFile, KeepsThePermissionsOfTheFileItReplaces) {
  const TempDir folder;
  const mode_t mask = ::umask(022);
  for (const mode_t mode : {0600U, 0640U, 0400U, 0666U, 0755U}) {
    folder.write("out.csv", "old");
    ::chmod((folder / "out.csv").c_str(), mode);
    OutputFile file(folder / "out.csv");
    // Nobody sees more of it while it is being written.
    for (const std::string& name : folder.files()) EXPECT_EQ(mode_of(folder / name), mode) << name;
    file.commit();
    EXPECT_EQ(mode_of(folder / "out.csv"), mode);
    std::filesystem::remove(folder / "out.csv");
  }
  ::umask(mask);
}

TEST(OutputFile, HasThePermissionsOfAnyNewFile) {
  const TempDir folder;
  const mode_t mask = ::umask(022);
  OutputFile file(folder / "out.csv");
  file.commit();
  ::umask(mask);
  EXPECT_EQ(mode_of(folder / "out.csv"), 0644U);
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

TEST(OutputFile, ShowsATerminalNothingThatSteersIt) {
  int master = -1;
  int terminal = -1;
  char name[64];
  ASSERT_EQ(::openpty(&master, &terminal, name, nullptr, nullptr), 0);
  for (const auto when : {OutputFile::When::at_the_end, OutputFile::When::as_it_comes}) {
    OutputFile file(name, when);
    file.write("t\x1b[2J,é\n");
    file.commit();
    std::string shown;  // a terminal gives what it has, which may be a part
    for (char byte = 0; byte != '\n' && ::read(master, &byte, 1) == 1;) shown += byte;
    EXPECT_EQ(shown, "t\\u001b[2J,é\r\n");
  }
  ::close(terminal);
  ::close(master);
}

TEST(Output, IsJsonLinesByExtensionOnly) {
  EXPECT_EQ(kind_of("a.jsonl"), TextKind::jsonl);
  EXPECT_EQ(kind_of("a.ndjson"), TextKind::jsonl);
  EXPECT_EQ(kind_of("a.json.csv"), TextKind::csv);
  EXPECT_EQ(kind_of("a.json"), TextKind::json);
  EXPECT_EQ(kind_of("A.JSON.GZ"), TextKind::json);
  EXPECT_EQ(kind_of("a.tsv.zst"), TextKind::tsv);
  EXPECT_EQ(kind_of("a.tab", {.spreadsheet_safe = true}), TextKind::spreadsheet_tsv);
  for (const char* path : {"a", "a.txt", "a.gz", "folder.json/a", ".json", "a.b.csv"})
    EXPECT_EQ(kind_of(path), TextKind::csv) << path;
  EXPECT_EQ(kind_of("-"), TextKind::csv);
  EXPECT_EQ(kind_of("-", {.spreadsheet_safe = true}), TextKind::spreadsheet);
  EXPECT_EQ(kind_of("a.jsonl", {.spreadsheet_safe = true}), TextKind::jsonl);
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

TEST(Output, RefusesAKindOfFileThatItCannotWrite) {
  const auto complaint = [](const std::string& path) {
    const Error error = error_of([&] { require_writable(path); });
    EXPECT_EQ(error.code(), ErrorCode::usage) << path;
    EXPECT_EQ(std::string(error.what()), error_of([&] { kind_of(path); }).what());
    return std::string(error.what());
  };
  EXPECT_EQ(complaint("a.xlsx"),
            "a.xlsx: workbooks are not written; write a.csv, which spreadsheets open");
  EXPECT_NE(complaint("b/a.Parquet").find("write b/a.csv, then: python3"), std::string::npos);
  EXPECT_NE(complaint("a.feather").find("to_feather('a.feather')"), std::string::npos);
  EXPECT_EQ(complaint("a.csv.bz2"),
            "a.csv.bz2: compressed files are written as .gz or .zst: write a.csv.gz");
  EXPECT_NE(complaint("a.pkl.gz").find(".pkl is not written"), std::string::npos);
}

TEST(Output, KeepsFormulasFromSpreadsheets) {
  const auto csv = [](std::string_view field) {
    std::string text;
    append_csv(text, without_formula(field));
    return text;
  };
  EXPECT_EQ(csv("=cmd()"), "'=cmd()");
  EXPECT_EQ(csv("@sum"), "'@sum");
  EXPECT_EQ(csv("+a"), "'+a");
  EXPECT_EQ(csv("-1+a"), "'-1+a");
  EXPECT_EQ(csv("\t=x"), "'\t=x");
  EXPECT_EQ(csv("\r=x"), "\"'\r=x\"");
  EXPECT_EQ(csv("=\"a,b\""), "\"'=\"\"a,b\"\"\"");
  for (const char* same : {"", "plain", "-1", "+2.5", "1=2", "'=x", "a-b"}) EXPECT_EQ(csv(same), same);
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
