#include "io/records.h"

#include <gtest/gtest.h>

#include "support.h"

namespace crowdfold {
namespace {

std::string written(const Records& records) {
  std::string text = records.header();
  records.line(text).text("a, \"b\"").number(.5).number(2).end();
  records.line(text).text("").null().number(1e300).end();
  return text;
}

TEST(Records, AreCsvWithAHeader) {
  EXPECT_EQ(written(Records(TextKind::csv, {"name", "x,y", "n"})),
            "name,\"x,y\",n\n\"a, \"\"b\"\"\",0.5,2\n,,1e+300\n");
}

TEST(Records, AreCsvWithoutFormulasForASpreadsheet) {
  const Records records(TextKind::spreadsheet, {"task", "=class"});
  std::string text = records.header();
  records.line(text).text("@a").number(-1).end();
  EXPECT_EQ(text, "task,'=class\n'@a,-1\n");
}

TEST(Records, AreTsvWithoutFormulasForASpreadsheet) {
  const Records records(TextKind::spreadsheet_tsv, {"task", "=class"});
  std::string text = records.header();
  records.line(text).text("@a\tb").number(-1).end();
  EXPECT_EQ(text, "task\t'=class\n\"'@a\tb\"\t-1\n");
}

TEST(Records, AreTsv) {
  EXPECT_EQ(written(Records(TextKind::tsv, {"name", "x,y", "n"})),
            "name\tx,y\tn\n\"a, \"\"b\"\"\"\t0.5\t2\n\t\t1e+300\n");
}

TEST(Records, AreJsonLines) {
  EXPECT_EQ(written(Records(TextKind::jsonl, {"name", "x\"y", "n"})),
            "{\"name\":\"a, "
            "\\\"b\\\"\",\"x\\\"y\":0.5,\"n\":2}\n{\"name\":\"\",\"x\\\"y\":null,\"n\":1e+300}\n");
}

TEST(Records, HaveAnObjectOfTheNestedColumnsInJsonOnly) {
  const std::vector<std::string> outer = {"name"};
  const std::vector<std::string> nested = {"x", "n"};
  EXPECT_EQ(written(Records(TextKind::csv, outer, "all", nested)),
            written(Records(TextKind::csv, {"name", "x", "n"})));
  EXPECT_EQ(written(Records(TextKind::jsonl, outer, "all", nested)),
            "{\"name\":\"a, \\\"b\\\"\",\"all\":{\"x\":0.5,\"n\":2}}\n"
            "{\"name\":\"\",\"all\":{\"x\":null,\"n\":1e+300}}\n");
}

// The common record is written in one piece, others value by value: a text must not tell which.
TEST(EstimateFormat, WritesAnyTaskAsRecordsDo) {
  const std::vector<std::string> tasks = {"",
                                          "a",
                                          "ab",
                                          "abc",
                                          "abcd",
                                          "abcdefg",
                                          "image_00000001",
                                          "a name of more than twenty-four bytes, with a comma",
                                          "quote\"",
                                          "\"",
                                          "line\nbreak",
                                          "tab\there",
                                          " blank",
                                          "ümlaut",
                                          ",",
                                          "comma,",
                                          "seven77,",
                                          "return\r",
                                          "!exclamation",
                                          "#"};
  for (const TextKind kind : {TextKind::csv, TextKind::tsv, TextKind::spreadsheet, TextKind::jsonl}) {
    NameTable classes("classes", 10);
    for (const char* name : {"yes", "n,o", "tab\there"}) classes.intern(name);
    const EstimateFormat format(kind, classes, false);
    classes.intern("later");
    for (const std::string& task : tasks) {
      for (const ClassId label : {ClassId{0}, ClassId{1}, ClassId{2}, ClassId{3}, kNoClass}) {
        for (const double confidence : {.8125, 2. / 3, 1., 1e-9}) {
          std::string expected = "before";
          Records::Line line = format.records().line(expected);
          line.text(task);
          label == kNoClass ? line.null().null() : line.text(classes[label]).number(confidence);
          line.end();
          std::string text = "before";
          format.append(text, task, {label, confidence}, {});
          EXPECT_EQ(text, expected);
        }
      }
    }
  }
}

TEST(RecordFile, IsAnArrayOfJsonObjects) {
  const testing::TempDir folder;
  const std::string path = folder / "records.json";
  RecordFile(path, {"n"}).commit();
  EXPECT_EQ(testing::read_file(path), "[\n]\n");
  RecordFile file(path, {"n", "text"});
  file.add().number(1).text("a").end();
  file.add().number(2).text("b").end();
  file.commit();
  EXPECT_EQ(testing::read_file(path), "[\n{\"n\":1,\"text\":\"a\"},\n{\"n\":2,\"text\":\"b\"}\n]\n");
}

TEST(RecordFile, IsWrittenWholeHoweverLongItIs) {
  const testing::TempDir folder;
  std::string expected = "n,text\n";
  RecordFile file(folder / "records.csv", {"n", "text"});
  for (int i = 0; i < 200'000; ++i) {
    file.add().number(i).text("some text").end();
    expected += std::to_string(i) + ",some text\n";
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "records.csv"));
  file.commit();
  EXPECT_EQ(testing::read_file(folder / "records.csv"), expected);
}

}  // namespace
}  // namespace crowdfold
