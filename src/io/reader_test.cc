// Reading label files, whole and streamed: the same Labels and the same bytes, whatever the road.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <sstream>

#include "base/random.h"
#include "crowdfold/io.h"
#include "io/output.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::describe;
using testing::error_of;
using testing::LabelRow;
using testing::names_of;
using testing::read_file;
using testing::TempDir;

RunContext threads(int count) {
  RunContext context;
  context.threads = count;
  return context;
}

std::string as_csv(const std::vector<LabelRow>& rows, const char* newline = "\n") {
  std::string text = std::string("task,worker,label") + newline;
  for (const LabelRow& row : rows) {
    append_csv(text, row.task);
    text.push_back(',');
    append_csv(text, row.worker);
    text.push_back(',');
    append_csv(text, row.label);
    text += newline;
  }
  return text;
}

std::string as_jsonl(const std::vector<LabelRow>& rows) {
  std::string text;
  for (const LabelRow& row : rows) {
    text += "{\"task\":";
    append_json(text, row.task);
    text += ",\"worker\":";
    append_json(text, row.worker);
    text += ",\"label\":";
    append_json(text, row.label);
    text += "}\n";
  }
  return text;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string input = text;
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string zstd(const std::string& text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  return packed;
}

// A crowd that fills several blocks, with quoted names, abstentions and repeated labels.
std::vector<LabelRow> big_crowd() {
  Random random(1);
  std::vector<LabelRow> rows;
  for (int t = 0; t < 9'000; ++t) {
    const std::string task = t % 100 == 0 ? "the \"task\", number\n" + std::to_string(t)
                                          : "image_" + std::to_string(100'000 + t);
    for (int i = 0; i < 4; ++i) {
      const std::uint64_t label = random.below(40);
      rows.push_back({task, "annotator_" + std::to_string(random.below(300)),
                      label == 0   ? ""
                      : label < 25 ? "zebra"
                      : label < 38 ? "horse"
                                   : "unicorn, really"});
    }
  }
  return rows;
}

std::vector<LabelRow> shuffled(std::vector<LabelRow> rows) {
  Random(9).shuffle(rows);
  return rows;
}

// The reference: rows one by one through LabelsBuilder.
std::string reference(const std::vector<LabelRow>& rows, Duplicates duplicates = Duplicates::last) {
  return describe(testing::labels_of(rows, duplicates));
}

TEST(ReadLabels, GivesTheSameForAnyNumberOfThreadsFormatAndCompression) {
  const TempDir folder;
  for (const bool grouped : {true, false}) {
    const std::vector<LabelRow> rows = grouped ? big_crowd() : shuffled(big_crowd());
    const std::string csv = as_csv(rows);
    ASSERT_GT(csv.size(), 1'000'000U);  // several blocks
    const std::string expected = reference(rows);
    for (const std::string& path :
         {folder.write("a.csv", csv), folder.write("crlf.csv", "\xEF\xBB\xBF" + as_csv(rows, "\r\n")),
          folder.write("a.csv.gz", gzip(csv)), folder.write("named-otherwise", zstd(csv)),
          folder.write("two-members.gz", gzip(csv.substr(0, 500'000)) + gzip(csv.substr(500'000))),
          folder.write("a.jsonl", as_jsonl(rows)), folder.write("a.jsonl.zst", zstd(as_jsonl(rows)))}) {
      for (const int count : {1, 2, 3, 4}) {
        if (count > 2 && !path.ends_with("a.csv")) continue;
        ASSERT_TRUE(describe(read_labels(path, {}, threads(count))) == expected)
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
      ReadOptions options;
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

TEST(ReadLabels, TellsTheLineAndColumnOfABadRowBehindManyBlocks) {
  const TempDir folder;
  std::string text = as_csv(big_crowd());
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  text += "t,only two\nt,w,l\n";
  const std::string path = folder.write("a.csv", text);
  for (const int count : {1, 2, 4}) {
    const Error error = error_of([&] { read_labels(path, {}, threads(count)); });
    EXPECT_EQ(error.location().line, lines + 1);
    EXPECT_EQ(error.location().column, 3U);
  }
}

TEST(ReadLabels, TellsTheFirstOfSeveralBadRowsWhateverTheNumberOfThreads) {
  const TempDir folder;
  std::vector<LabelRow> rows = big_crowd();
  std::string text = as_csv({rows.begin(), rows.begin() + 20'000});
  const auto lines = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  text += "first,bad\n";
  for (int i = 0; i < 50'000; ++i) text += "more,bad\n";
  const std::string path = folder.write("a.csv", text);
  for (int i = 0; i < 5; ++i) {
    for (const int count : {1, 2, 4}) {
      EXPECT_EQ(error_of([&] { read_labels(path, {}, threads(count)); }).location().line, lines + 1);
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
  read_labels(folder.write("b.csv", "1,u,x\n"), {}, threads(1), &report);
  EXPECT_EQ(report.format, "csv");
  EXPECT_EQ(report.columns, "task = column 1, worker = column 2, label = column 3");
}

TEST(ReadLabels, TakesAFirstRowOfDataForDataWithOrWithoutBeingTold) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", "t1,u,a\nt2,u,b\n");
  EXPECT_EQ(read_labels(path, {}, threads(1)).rows().read, 2U);
  ReadOptions options;
  options.header = Header::no;
  EXPECT_EQ(read_labels(path, options, threads(1)).rows().read, 2U);
  EXPECT_EQ(
      read_labels(folder.write("b.csv", "task,worker,label\nt1,u,a\n"), options, threads(1)).rows().read,
      2U);
  options.header = Header::yes;
  EXPECT_EQ(error_of([&] { read_labels(path, options, threads(1)); }).code(), ErrorCode::data);
}

TEST(ReadLabels, CountsTheValueForAbstainingAsNoLabel) {
  const TempDir folder;
  ReadOptions options;
  options.abstain = "skip";
  const Labels labels = read_labels(folder.write("a.csv", "task,worker,label\nt,u,skip\nt,v,\nt,w,a\n"),
                                    options, threads(1));
  EXPECT_EQ(labels.rows().abstentions, 2U);
  EXPECT_EQ(names_of(labels.classes()), std::vector<std::string>{"a"});
  EXPECT_EQ(names_of(labels.workers()), (std::vector<std::string>{"u", "v", "w"}));
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

TEST(ReadLabels, NoticesDamagedCompression) {
  const TempDir folder;
  const std::string csv = as_csv(big_crowd());
  for (const std::string& packed : {gzip(csv), zstd(csv)}) {
    std::string cut = packed.substr(0, packed.size() / 2);
    std::string broken = packed;
    for (std::size_t i = 0; i < 64; ++i) broken[broken.size() / 2 + i] = static_cast<char>(i * 37);
    for (const std::string& bad : {cut, broken}) {
      const std::string path = folder.write("a", bad);
      const Error error = error_of([&] { read_labels(path, {}, threads(2)); });
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
  EXPECT_EQ(error_of([&] { read_labels(path, {}, context); }).code(), ErrorCode::interrupted);
}

// ------------------------------------------------------------------ streamed aggregation

struct Aggregation {
  std::string estimates;
  std::string workers;
};

Aggregation in_memory(const TempDir& folder, const std::string& path, const std::string& method,
                      const Settings& settings, const ReadOptions& options = {}, int count = 1,
                      const std::vector<std::string>& classes = {}) {
  const Labels labels = testing::with_more_classes(read_labels(path, options, threads(count)), classes);
  const Result result = find_method(method).make(settings)->fit(labels, threads(count));
  write_estimates(folder / "memory.csv", labels, result, threads(count));
  write_workers(folder / "memory-workers.csv", labels.workers(), result.learned, true, threads(count));
  return {read_file(folder / "memory.csv"), read_file(folder / "memory-workers.csv")};
}

Aggregation streamed(const TempDir& folder, const std::string& path, const std::string& method,
                     const Settings& settings, const ReadOptions& options = {}, int count = 1,
                     const GroupedOptions& stream = {}, GroupedSummary* told = nullptr) {
  const std::string output = folder / "streamed.csv";
  std::filesystem::remove(output);
  GroupedSummary summary =
      aggregate_grouped(path, options, stream, find_method(method), settings, output, threads(count));
  Aggregation result{read_file(output), ""};
  if (summary.grouped) {
    write_workers(folder / "streamed-workers.csv", summary.workers, summary.state, true, threads(count));
    result.workers = read_file(folder / "streamed-workers.csv");
  }
  if (told != nullptr) *told = std::move(summary);
  return result;
}

TEST(Streamed, GivesTheSameBytesAsInMemory) {
  const TempDir folder;
  const std::string csv = as_csv(big_crowd());
  for (const std::string& path : {folder.write("a.csv", csv), folder.write("a.csv.gz", gzip(csv))}) {
    for (const char* method : {"mv", "onepass", "twopass"}) {
      for (const char* ties : {"first", "random"}) {
        const Settings settings = {{"ties", ties}};
        const Aggregation expected = in_memory(folder, path, method, settings);
        for (const int count : {1, 3}) {
          GroupedSummary summary;
          const Aggregation result = streamed(folder, path, method, settings, {}, count, {}, &summary);
          ASSERT_TRUE(summary.grouped);
          ASSERT_TRUE(result.estimates == expected.estimates) << method << ties << count;
          ASSERT_TRUE(result.workers == expected.workers) << method << ties << count;
        }
      }
    }
  }
}

TEST(Streamed, KeepsTheRuleForDuplicates) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd()));
  for (const Duplicates rule : {Duplicates::last, Duplicates::first, Duplicates::keep}) {
    ReadOptions options;
    options.duplicates = rule;
    GroupedSummary summary;
    ASSERT_TRUE(streamed(folder, path, "onepass", {}, options, 2, {}, &summary).estimates ==
                in_memory(folder, path, "onepass", {}, options).estimates);
    const Labels labels = read_labels(path, options, threads(1));
    EXPECT_EQ(summary.duplicates, labels.rows().duplicates);
    EXPECT_EQ(summary.labels, labels.num_labels());
    EXPECT_EQ(summary.abstentions, labels.rows().abstentions);
    EXPECT_EQ(summary.tasks, labels.num_tasks());
  }
}

TEST(Streamed, WritesNothingWhereATaskComesBackHoweverLate) {
  const TempDir folder;
  std::vector<LabelRow> rows = big_crowd();
  rows.push_back({rows[0].task, "someone", "zebra"});
  for (const auto& returning :
       {rows, std::vector<LabelRow>{{"t", "u", "a"}, {"s", "u", "a"}, {"t", "v", "a"}}}) {
    const std::string path = folder.write("a.csv", as_csv(returning));
    for (const char* method : {"onepass", "twopass"}) {
      GroupedSummary summary;
      streamed(folder, path, method, {}, {}, 2, {}, &summary);
      EXPECT_FALSE(summary.grouped);
      EXPECT_FALSE(std::filesystem::exists(folder / "streamed.csv"));
    }
  }
}

TEST(Streamed, KnowsAClassThatTurnsUpLateFromTheStart) {
  // Confidences depend on the number of classes; the last task brings a new one, blocks after the first.
  const TempDir folder;
  std::vector<LabelRow> rows = big_crowd();
  rows.push_back({"last", "annotator_1", "a class of its own"});
  const std::string path = folder.write("a.csv", as_csv(rows));
  for (const char* method : {"mv", "onepass", "twopass"}) {
    ASSERT_TRUE(streamed(folder, path, method, {}, {}, 2).estimates ==
                in_memory(folder, path, method, {}).estimates)
        << method;
  }
}

TEST(Streamed, GivesTheSameBytesAsInMemoryWhereClassesAreKnownBeforehand) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd()));
  const GroupedOptions stream{false, {"unheard of", "horse", "unicorn, really"}};
  for (const char* method : {"mv", "onepass", "twopass"}) {
    ASSERT_TRUE(streamed(folder, path, method, {}, {}, 2, stream).estimates ==
                in_memory(folder, path, method, {}, {}, 1, stream.classes).estimates)
        << method;
  }
}

TEST(Streamed, TakesTheUsersWordForGroupedInput) {
  const TempDir folder;
  // One block, so that K is known from the start and all else is equal.
  const std::string path =
      folder.write("a.csv", "task,worker,label\n1,u,a\n1,v,b\n1,w,a\n2,u,b\n2,w,b\n");
  for (const char* method : {"onepass", "twopass"}) {
    ASSERT_EQ(streamed(folder, path, method, {}, {}, 1, {true, {}}).estimates,
              in_memory(folder, path, method, {}).estimates);
  }
}

TEST(Streamed, KeepsTasksWithoutLabels) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", "task,worker,label\n1,u,\n2,u,a\n3,v,\n");
  GroupedSummary summary;
  EXPECT_EQ(streamed(folder, path, "onepass", {}, {}, 1, {}, &summary).estimates,
            in_memory(folder, path, "onepass", {}).estimates);
  EXPECT_EQ(summary.tasks, 3U);
  EXPECT_EQ(summary.tasks_without_labels, 2U);
}

TEST(Streamed, LeavesNothingBehindWhereARowIsBad) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd()) + "bad\n");
  for (const char* method : {"onepass", "twopass"}) {
    const Error error = error_of([&] { streamed(folder, path, method, {}); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_EQ(folder.files(), std::vector<std::string>{"a.csv"});
  }
}

RC_GTEST_PROP(Streamed, AgreesWithInMemoryOnRandomSmallCrowds, (std::uint64_t seed)) {
  Random random(seed);
  std::vector<LabelRow> rows;
  for (std::uint64_t t = 0, tasks = 1 + random.below(40); t < tasks; ++t) {
    for (std::uint64_t n = 1 + random.below(5); n > 0; --n) {
      rows.push_back(
          {"t" + std::to_string(t), "w" + std::to_string(random.below(6)),
           std::string(random.below(4) == 0 ? 0 : 1, static_cast<char>('a' + random.below(3)))});
    }
  }
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(rows));
  const std::string method = std::vector<std::string>{"mv", "onepass", "twopass"}[random.below(3)];
  const Aggregation expected = in_memory(folder, path, method, {{"ties", "random"}});
  const Aggregation result = streamed(folder, path, method, {{"ties", "random"}});
  RC_ASSERT(result.estimates == expected.estimates);
  RC_ASSERT(result.workers == expected.workers);
}

}  // namespace
}  // namespace crowdfold
