// Reading label files: the same Labels, whatever the form of the file and the number of threads.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <sstream>

#include "base/random.h"
#include "crowdfold/io.h"
#include "crowdfold/words.h"
#include "io/output.h"
#include "label_files.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::as_csv;
using testing::as_jsonl;
using testing::big_crowd;
using testing::describe;
using testing::error_of;
using testing::gzip;
using testing::LabelRow;
using testing::names_of;
using testing::shuffled;
using testing::small_blocks;
using testing::TempDir;
using testing::threads;
using testing::zstd;

// The reference: rows one by one through LabelsBuilder.
std::string reference(const std::vector<LabelRow>& rows, Duplicates duplicates = Duplicates::last) {
  return describe(testing::labels_of(rows, duplicates));
}

TEST(ReadLabels, GivesTheSameForAnyNumberOfThreadsFormatAndCompression) {
  const TempDir folder;
  for (const bool grouped : {true, false}) {
    const std::vector<LabelRow> rows = grouped ? big_crowd() : shuffled(big_crowd());
    const std::string csv = as_csv(rows);
    ASSERT_GT(csv.size(), 5 * small_blocks().block_bytes);  // several blocks
    const Labels expected = testing::labels_of(rows);
    for (const std::string& path :
         {folder.write("a.csv", csv), folder.write("crlf.csv", "\xEF\xBB\xBF" + as_csv(rows, "\r\n")),
          folder.write("a.csv.gz", gzip(csv)), folder.write("named-otherwise", zstd(csv)),
          folder.write("two-members.gz", gzip(csv.substr(0, 100'000)) + gzip(csv.substr(100'000))),
          folder.write("a.jsonl", as_jsonl(rows)), folder.write("a.jsonl.zst", zstd(as_jsonl(rows)))}) {
      for (const int count : {1, 2, 3, 4}) {
        if (count > 2 && !path.ends_with("a.csv")) continue;
        ASSERT_TRUE(testing::same_labels(read_labels(path, small_blocks(), threads(count)), expected))
            << path << ' ' << count << ' ' << grouped;
      }
    }
  }
}

TEST(ReadLabels, FollowsEveryRuleForDuplicatesInAnyOrderOfRows) {
  const TempDir folder;
  for (const bool grouped : {true, false}) {
    const std::vector<LabelRow> rows = grouped ? big_crowd() : shuffled(big_crowd());
    const std::string path = folder.write("a.csv", as_csv(rows));
    for (const Duplicates rule : {Duplicates::last, Duplicates::first, Duplicates::keep}) {
      ReadOptions options = small_blocks();
      options.duplicates = rule;
      ASSERT_TRUE(describe(read_labels(path, options, threads(2))) == reference(rows, rule));
    }
  }
}

TEST(ReadLabels, TellsThePlaceOfASecondLabelUnderTheStrictRule) {
  const TempDir folder;
  ReadOptions options;
  options.duplicates = Duplicates::error;
  const std::string path =
      folder.write("a.csv", "task,worker,label\nt1,u,a\nt2,u,\nt2,u,b\nt1,v,a\nt2,u,b\n");
  const Error error = error_of([&] { read_labels(path, options, threads(1)); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_EQ(error.location().line, 6U);
  EXPECT_EQ(error.location().column, 6U);
  EXPECT_NE(std::string(error.what()).find("worker 'u' labels task 't2' a second time"),
            std::string::npos)
      << error.what();

  options.skip_bad_rows = true;  // a repeated label is no malformed row
  EXPECT_EQ(error_of([&] { read_labels(path, options, threads(1)); }).location().line, 6U);
}

TEST(ReadLabels, TellsTheFirstSecondLabelOfTheInputForAnyNumberOfThreads) {
  const TempDir folder;
  ReadOptions options;
  options.duplicates = Duplicates::error;
  // The first task that has a second label is t0; the first row that is one is of t5.
  std::string text = "task,worker,label\n";
  for (int t = 0; t < 40; ++t)
    text += "t" + std::to_string(t) + ",u,a\nt0,w" + std::to_string(t) + ",a\n";
  text += "t5,v,\nt5,v,a\nt5,u,a\nt0,w1,a\n";
  for (int t = 39; t >= 0; --t) text += "t" + std::to_string(t) + ",u,a\n";
  const std::string path = folder.write("a.csv", text);
  for (const int count : {1, 2, 3, 8}) {
    const Error error = error_of([&] { read_labels(path, options, threads(count)); });
    EXPECT_EQ(std::string(error.what()),
              path +
                  ":84:6: worker 'u' labels task 't5' a second time (--duplicates "
                  "last, first or keep accepts it)");
  }
}

TEST(ReadLabels, ReservesNoMoreThanItsBytesCanHold) {
  const TempDir folder;
  // The first 64 KB are blank, and the first block, of 256 KB, has one row with a long name.
  std::string text = "task,worker,label\n" + std::string(202'118, '\n');
  text += std::string(60'000, 'x') + ",w,a\n";
  for (int i = 0; i < 40'000; ++i) text += "u" + std::to_string(i) + ",w,a\n";
  RunContext context = threads(1);
  context.max_memory = 50'000'000;
  EXPECT_EQ(read_labels(folder.write("a.csv", text), {}, context).num_tasks(), 40'001U);
}

TEST(ReadLabels, TakesNoMoreMemoryThanItMay) {
  const TempDir folder;
  for (const bool grouped : {true, false}) {
    const std::vector<LabelRow> rows = grouped ? big_crowd() : shuffled(big_crowd());
    const std::string path = folder.write("a.csv.gz", gzip(as_csv(rows)));
    for (const int count : {1, 2}) {
      RunContext context = threads(count);
      context.max_memory = 100'000'000;
      EXPECT_NO_THROW(read_labels(path, small_blocks(), context));
      context.max_memory = 6 * rows.size() / 2;
      const Error error = error_of([&] { read_labels(path, small_blocks(), context); });
      EXPECT_EQ(error.code(), ErrorCode::usage);
      EXPECT_EQ(
          std::string(error.what()),
          path + ": its labels need more memory than the " + memory_size(context.max_memory) +
              " that may be used: allow more with --max-memory; 'crowdfold aggregate' reads them from a "
              "disk with a method that works in rounds, such as --method fivepass, or with --low-memory "
              "where they are grouped by task");
    }
  }
}

TEST(ReadLabels, TellsTheLineAndColumnOfABadRowBehindManyBlocks) {
  const TempDir folder;
  std::string text = as_csv(big_crowd());
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  text += "t,only two\nt,w,l\n";
  const std::string path = folder.write("a.csv", text);
  for (const int count : {1, 2, 4}) {
    const Error error = error_of([&] { read_labels(path, small_blocks(), threads(count)); });
    EXPECT_EQ(error.location().line, lines + 1);
    EXPECT_EQ(error.location().column, 3U);
  }
}

TEST(ReadLabels, TellsTheFirstOfSeveralBadRowsWhateverTheNumberOfThreads) {
  const TempDir folder;
  std::vector<LabelRow> rows = big_crowd();
  std::string text = as_csv({rows.begin(), rows.begin() + 3'000});
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  text += "first,bad\n";
  for (int i = 0; i < 8'000; ++i) text += "more,bad\n";
  const std::string path = folder.write("a.csv", text);
  for (int i = 0; i < 5; ++i) {
    for (const int count : {1, 2, 4}) {
      EXPECT_EQ(error_of([&] { read_labels(path, small_blocks(), threads(count)); }).location().line,
                lines + 1);
    }
  }
}

TEST(ReadLabels, CountsAndReportsBadRowsItWasToldToSkip) {
  const TempDir folder;
  ReadOptions options;
  options.skip_bad_rows = true;
  ReadReport report;
  const std::string path =
      folder.write("a.csv", "task,worker,label\nt1,u,a\nbad\n,u,a\nt2,,a\nt2,v,b\n");
  const Labels labels = read_labels(path, options, threads(1), &report);
  EXPECT_EQ(labels.rows().read, 2U);
  EXPECT_EQ(labels.rows().skipped, 3U);
  EXPECT_EQ(report.skipped_rows, 3U);
  EXPECT_EQ(report.first_skipped, path + ":3:1: 1 field where 3 are expected");
}

TEST(ReadLabels, RefusesARowWithoutATaskOrAWorker) {
  const TempDir folder;
  const auto message = [&](const char* row) {
    const std::string path = folder.write("a.csv", std::string("task,worker,label\nt,w,l\n") + row);
    const std::string what = error_of([&] { read_labels(path, {}, threads(1)); }).what();
    return what.substr(path.size());
  };
  EXPECT_EQ(message(",w,l\n"), ":3:1: no task: the field is empty");
  EXPECT_EQ(message("t,,l\n"), ":3:3: no worker: the field is empty");
}

TEST(ReadLabels, SaysWhatItRecognised) {
  const TempDir folder;
  ReadReport report;
  read_labels(folder.write("a.tsv.gz", gzip("label\titem_id\tAnnotator\nx\t1\tu\n")), {}, threads(1),
              &report);
  EXPECT_EQ(report.format, "tsv, gzip");
  EXPECT_EQ(report.columns, "task = item_id, worker = Annotator, label = label");
  read_labels(folder.write("b.csv", "t1,w1,x\n"), {}, threads(1), &report);
  EXPECT_EQ(report.format, "csv");
  EXPECT_EQ(report.columns, "task = column 1, worker = column 2, label = column 3");
}

TEST(ReadLabels, TakesAFirstRowOfDataForDataWithOrWithoutBeingTold) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", "t1,w1,a\nt2,w1,b\n");
  EXPECT_EQ(read_labels(path, {}, threads(1)).rows().read, 2U);
  ReadOptions options;
  options.header = Header::no;
  EXPECT_EQ(read_labels(path, options, threads(1)).rows().read, 2U);
  options.columns = {{"task", "1"}, {"worker", "2"}, {"label", "3"}};
  EXPECT_EQ(
      read_labels(folder.write("b.csv", "task,worker,label\nt1,u,a\n"), options, threads(1)).rows().read,
      2U);
  options.columns.clear();
  options.header = Header::yes;
  EXPECT_EQ(error_of([&] { read_labels(path, options, threads(1)); }).code(), ErrorCode::usage);
}

TEST(ReadLabels, CountsTheValueForAbstainingAsNoLabel) {
  const TempDir folder;
  ReadOptions options;
  options.abstain = {"skip"};
  const Labels labels = read_labels(folder.write("a.csv", "task,worker,label\nt,u,skip\nt,v,\nt,w,a\n"),
                                    options, threads(1));
  EXPECT_EQ(labels.rows().abstentions, 2U);
  EXPECT_EQ(names_of(labels.classes()), std::vector<std::string>{"a"});
  EXPECT_EQ(names_of(labels.workers()), (std::vector<std::string>{"u", "v", "w"}));
}

TEST(ReadLabels, OfWorkersWhoAreLeftOutAreAbstentions) {
  const TempDir folder;
  ReadOptions options;
  options.without_workers = {"w", "nobody"};
  ReadReport report;
  for (const char* const text :
       {"task,worker,label\nt,u,a\nt,w,b\ns,w,b\nt,v,a\n", "task,u,w,v\nt,a,b,a\ns,,b,\n"}) {
    if (std::string_view(text).starts_with("task,u")) options.wide_workers = {"u", "w", "v"};
    const Labels labels = read_labels(folder.write("a.csv", text), options, threads(1), &report);
    EXPECT_EQ(labels.num_labels(), 2U);
    EXPECT_EQ(labels.num_tasks(), 2U);  // the task of w alone stays, without a label
    EXPECT_EQ(names_of(labels.classes()), std::vector<std::string>{"a"});
    ASSERT_FALSE(report.notes.empty());
    EXPECT_EQ(report.notes[0], "--without-workers nobody: no worker is called that");
  }
}

TEST(ReadLabels, SaysWhatIsWrongWithAFileThatHoldsNothing) {
  const TempDir folder;
  const auto message = [&](const std::string& text) {
    const std::string path = folder.write("a.csv", text);
    const Error error = error_of([&] { read_labels(path, {}, threads(2)); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    return std::string(error.what()).substr(path.size());
  };
  EXPECT_EQ(message(""), ": the input is empty");
  EXPECT_EQ(message("\n\n  \n"), ": the input is empty");
  EXPECT_EQ(message("task,worker,label\n"), ": no labels: there is no row but the header");
  EXPECT_EQ(message("task,worker,label"), ": no labels: there is no row but the header");
}

TEST(ReadLabels, TakesAFirstRecordOfAnyLengthAndBlankLinesBeforeIt) {
  const TempDir folder;
  const std::string text(200'000, 'x');
  const std::string blank(100'000, '\n');
  for (const std::string& path :
       {folder.write("a.csv", "task,worker,label," + text + "\nt,w,a,1\n"),
        folder.write("b.csv", "t,v,\"" + text + "\n\"\nt,w,a\n"),
        folder.write("c.csv", blank + "task;worker;label\nt;w;a\n"),
        folder.write("d.jsonl",
                     R"({"task": "t", "worker": "w", "label": "a", "text": ")" + text + "\"}\n")}) {
    ReadOptions options;
    if (path.ends_with("b.csv")) options.columns = {{"task", "1"}, {"worker", "2"}, {"label", "3"}};
    const Labels labels = read_labels(path, options, threads(2));
    EXPECT_EQ(names_of(labels.tasks()), std::vector<std::string>{"t"}) << path;
    EXPECT_EQ(labels.classes()[labels.num_classes() - 1], "a") << path;
    EXPECT_EQ(labels.num_labels(), path.ends_with("b.csv") ? 2U : 1U);
  }
}

TEST(ReadLabels, TakesTheSeparatorOfTheFirstLineThatIsNotBlank) {
  const TempDir folder;
  const Labels labels =
      read_labels(folder.write("a.csv", "\n\r\ntask;worker;label\nt,1;w;a\n"), {}, threads(1));
  EXPECT_EQ(names_of(labels.tasks()), std::vector<std::string>{"t,1"});
}

TEST(ReadLabels, TellsThePlaceOfAWrongHeaderBehindBlankLines) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", "\n\ntask,\"worker\nx\"y,label\nt,w,a\n");
  EXPECT_EQ(std::string(error_of([&] { read_labels(path, {}, threads(1)); }).what()),
            path + ":4:3: text after a closing quote (a quote inside quotes is written twice)");
}

TEST(ReadLabels, RefusesTwoColumnsOfOneNameForARole) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", "task,worker,label,x,x,label\nt,w,a,1,2,b\n");
  EXPECT_EQ(std::string(error_of([&] { read_labels(path, {}, threads(1)); }).what()),
            path +
                ":1: columns 3 and 6 are both named 'label': rename one of them, or choose by number: "
                "--map label=6");
  ReadOptions options;
  options.columns = {{"label", "6"}};
  EXPECT_EQ(names_of(read_labels(path, options, threads(1)).classes()), std::vector<std::string>{"b"});
  options.columns = {{"label", "label"}};
  EXPECT_EQ(error_of([&] { read_labels(path, options, threads(1)); }).code(), ErrorCode::usage);
}

TEST(ReadLabels, NoticesDamagedCompression) {
  const TempDir folder;
  const std::string csv = as_csv(big_crowd());
  for (const std::string& packed : {gzip(csv), zstd(csv)}) {
    std::string cut = packed.substr(0, packed.size() / 2);
    std::string broken = packed;
    for (std::size_t i = 0; i < 64; ++i) broken[broken.size() / 2 + i] = static_cast<char>(i * 37);
    for (const std::string& bad : {cut, broken}) {
      const std::string path = folder.write("a", bad);
      const Error error = error_of([&] { read_labels(path, small_blocks(), threads(2)); });
      EXPECT_EQ(error.code(), ErrorCode::data) << error.what();
    }
  }
}

TEST(ReadLabels, RefusesMoreClassesThanIdsCanHold) {
  const TempDir folder;
  std::string text = "task,worker,label\n";
  for (int i = 0; i < 66'000; ++i) text += "t,w" + std::to_string(i) + "," + std::to_string(i) + "\n";
  const std::string path = folder.write("a.csv", text);
  for (const int count : {1, 2}) {
    const Error error = error_of([&] { read_labels(path, {}, threads(count)); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_NE(std::string(error.what()).find("more than 65534 different classes"), std::string::npos)
        << error.what();
  }
}

TEST(ReadLabels, StopsWhenItIsCancelled) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd()));
  const std::atomic<bool> cancelled = true;
  RunContext context = threads(2);
  context.cancelled = &cancelled;
  EXPECT_EQ(error_of([&] { read_labels(path, small_blocks(), context); }).code(),
            ErrorCode::interrupted);
}

}  // namespace
}  // namespace crowdfold
