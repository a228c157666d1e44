// The door, and aggregation task by task: the same bytes whatever the road.
#include "crowdfold/aggregate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/random.h"
#include "crowdfold/metrics.h"
#include "crowdfold/simulate.h"
#include "label_files.h"
#include "run/aggregate_grouped.h"
#include "run/counts.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::as_csv;
using testing::big_crowd;
using testing::error_of;
using testing::gzip;
using testing::LabelRow;
using testing::read_file;
using testing::small_blocks;
using testing::TempDir;
using testing::threads;

struct Aggregation {
  std::string estimates;
  std::string workers;
};

Aggregation in_memory(const TempDir& folder, const std::string& path, const std::string& method,
                      const Settings& settings, const ReadOptions& options = small_blocks(),
                      int count = 1, const std::vector<std::string>& classes = {}) {
  const Labels labels = testing::with_more_classes(read_labels(path, options, threads(count)), classes);
  const Result result = find_method(method).make(settings)->fit(labels, threads(count));
  write_estimates(folder / "memory.csv", labels, result, threads(count));
  write_workers(folder / "memory-workers.csv", labels.workers(), result.learned, true, threads(count));
  return {read_file(folder / "memory.csv"), read_file(folder / "memory-workers.csv")};
}

// Task by task; without estimates if a task came back.
Aggregation task_by_task(const TempDir& folder, AggregateRequest request, int count = 1,
                         AggregateSummary* told = nullptr) {
  request.output = folder / "grouped.csv";
  std::filesystem::remove(request.output);
  AggregateSummary summary;
  std::vector<ReadReport> reports;
  Aggregation result;
  if (aggregate_grouped(request, threads(count), summary, reports)) {
    result.estimates = read_file(request.output);
    write_workers(folder / "grouped-workers.csv", summary.workers(), summary.result.learned, true,
                  threads(count));
    result.workers = read_file(folder / "grouped-workers.csv");
  }
  if (told != nullptr) *told = std::move(summary);
  return result;
}

// Through the door: a method may have learned from tasks while others were read.
Aggregation by_request(const TempDir& folder, AggregateRequest request, int count) {
  request.road = Road::in_memory;
  request.output = folder / "asked.csv";
  const AggregateSummary summary = aggregate(request, threads(count));
  write_workers(folder / "asked-workers.csv", summary.workers(), summary.result.learned, true,
                threads(count));
  return {read_file(request.output), read_file(folder / "asked-workers.csv")};
}

TEST(LearningAhead, GivesTheSameBytesAsLearningFromAllLabels) {
  const TempDir folder;
  std::vector<LabelRow> rows = big_crowd();
  std::vector<std::string> inputs = {as_csv(rows)};
  rows.push_back({rows.front().task, "somebody else", rows.front().label});  // comes back at the end
  inputs.push_back(as_csv(rows));
  rows.back() = rows[rows.size() - 2];  // a duplicate at the end
  inputs.push_back(as_csv(rows));
  rows.back() = {"one more", rows.front().worker, "a class that is new"};
  inputs.push_back(as_csv(rows));
  std::swap(rows.front(), rows[rows.size() / 2]);
  std::reverse(rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(rows.size() / 3));
  Random(1).shuffle(rows);
  inputs.push_back(as_csv(rows));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string path = folder.write("labels.csv", inputs[i]);
    for (const Settings& settings : {Settings{}, Settings{{"ties", "random"}},
                                     Settings{{"order", "shuffled"}}, Settings{{"vote_rounds", "2"}}}) {
      const Aggregation expected = in_memory(folder, path, "twopass", settings);
      for (const int count : {1, 3}) {
        const Aggregation result = by_request(
            folder,
            {.method = "twopass", .settings = settings, .labels = {path}, .read = small_blocks()},
            count);
        ASSERT_TRUE(result.estimates == expected.estimates) << i << " " << count;
        ASSERT_TRUE(result.workers == expected.workers) << i << " " << count;
      }
    }
  }
}

TEST(TaskByTask, GivesTheSameBytesAsInMemory) {
  const TempDir folder;
  const std::string csv = as_csv(big_crowd());
  for (const std::string& path : {folder.write("a.csv", csv), folder.write("a.csv.gz", gzip(csv))}) {
    for (const char* method : {"mv", "onepass", "twopass"}) {
      for (const char* ties : {"first", "random"}) {
        const Settings settings = {{"ties", ties}};
        const Aggregation expected = in_memory(folder, path, method, settings);
        for (const int count : {1, 3}) {
          const Aggregation result = task_by_task(
              folder, {.method = method, .settings = settings, .labels = {path}, .read = small_blocks()},
              count);
          ASSERT_TRUE(result.estimates == expected.estimates) << method << ties << count;
          ASSERT_TRUE(result.workers == expected.workers) << method << ties << count;
        }
      }
    }
  }
}

TEST(TaskByTask, KeepsTheRuleForDuplicates) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd()));
  for (const Duplicates rule : {Duplicates::last, Duplicates::first, Duplicates::keep}) {
    ReadOptions options = small_blocks();
    options.duplicates = rule;
    AggregateSummary summary;
    const AggregateRequest request{.method = "onepass", .labels = {path}, .read = options};
    ASSERT_TRUE(task_by_task(folder, request, 2, &summary).estimates ==
                in_memory(folder, path, "onepass", {}, options).estimates);
    const Labels labels = read_labels(path, options, threads(1));
    EXPECT_EQ(summary.counts.rows.duplicates, labels.rows().duplicates);
    EXPECT_EQ(summary.counts.labels, labels.num_labels());
    EXPECT_EQ(summary.counts.rows.abstentions, labels.rows().abstentions);
    EXPECT_EQ(summary.counts.tasks, labels.num_tasks());
  }
}

TEST(TaskByTask, WritesNothingWhereATaskComesBackHoweverLate) {
  const TempDir folder;
  std::vector<LabelRow> rows = big_crowd();
  rows.push_back({rows[0].task, "someone", "zebra"});
  for (const auto& returning :
       {rows, std::vector<LabelRow>{{"t", "u", "a"}, {"s", "u", "a"}, {"t", "v", "a"}}}) {
    const std::string path = folder.write("a.csv", as_csv(returning));
    for (const char* method : {"onepass", "twopass"}) {
      EXPECT_EQ(task_by_task(folder, {.method = method, .labels = {path}, .read = small_blocks()}, 2)
                    .estimates,
                "");
      EXPECT_FALSE(std::filesystem::exists(folder / "grouped.csv"));
    }
  }
}

TEST(TaskByTask, KnowsAClassThatTurnsUpLateFromTheStart) {
  // Confidences depend on the number of classes; the last task brings a new one, blocks after the first.
  const TempDir folder;
  std::vector<LabelRow> rows = big_crowd();
  rows.push_back({"last", "annotator_1", "a class of its own"});
  const std::string path = folder.write("a.csv", as_csv(rows));
  for (const char* method : {"mv", "onepass", "twopass"}) {
    ASSERT_TRUE(task_by_task(folder, {.method = method, .labels = {path}, .read = small_blocks()}, 2)
                    .estimates == in_memory(folder, path, method, {}).estimates)
        << method;
  }
}

TEST(TaskByTask, GivesTheSameBytesAsInMemoryWhereClassesAreKnownBeforehand) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd()));
  const std::vector<std::string> known = {"unheard of", "horse", "unicorn, really", "unheard of"};
  for (const char* method : {"mv", "onepass", "twopass"}) {
    const AggregateRequest request{
        .method = method, .labels = {path}, .read = small_blocks(), .classes = known};
    ASSERT_TRUE(task_by_task(folder, request, 2).estimates ==
                in_memory(folder, path, method, {}, small_blocks(), 1, known).estimates)
        << method;
  }
}

TEST(TaskByTask, RefusesMoreClassesThanFit) {
  const TempDir folder;
  AggregateRequest request{.method = "mv", .labels = {folder.write("a.csv", as_csv(big_crowd()))}};
  for (std::uint64_t i = 0; i < kMaxClasses; ++i) request.classes.push_back(std::to_string(i));
  const Error error = error_of([&] { task_by_task(folder, request); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_STREQ(error.what(), "more than 65534 different classes: they do not fit");
}

TEST(TaskByTask, TakesTheUsersWordForGroupedInput) {
  const TempDir folder;
  // One block, so that K is known from the start and all else is equal.
  const std::string path =
      folder.write("a.csv", "task,worker,label\n1,u,a\n1,v,b\n1,w,a\n2,u,b\n2,w,b\n");
  for (const char* method : {"onepass", "twopass"}) {
    const AggregateRequest request{.method = method, .labels = {path}, .road = Road::grouped};
    ASSERT_EQ(task_by_task(folder, request).estimates, in_memory(folder, path, method, {}).estimates);
  }
}

TEST(TaskByTask, KeepsTasksWithoutLabels) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", "task,worker,label\n1,u,\n2,u,a\n3,v,\n");
  AggregateSummary summary;
  EXPECT_EQ(task_by_task(folder, {.method = "onepass", .labels = {path}}, 1, &summary).estimates,
            in_memory(folder, path, "onepass", {}).estimates);
  EXPECT_EQ(summary.counts.tasks, 3U);
  EXPECT_EQ(summary.tasks_without_estimate, 2U);
}

TEST(TaskByTask, LeavesNothingBehindWhereARowIsBad) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd()) + "bad\n");
  for (const char* method : {"onepass", "twopass"}) {
    const Error error = error_of(
        [&] { task_by_task(folder, {.method = method, .labels = {path}, .read = small_blocks()}); });
    EXPECT_EQ(error.code(), ErrorCode::data);
    EXPECT_EQ(folder.files(), std::vector<std::string>{"a.csv"});
  }
}

RC_GTEST_PROP(TaskByTask, AgreesWithInMemoryOnRandomSmallCrowds, (std::uint64_t seed)) {
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
  const Aggregation result =
      task_by_task(folder, {.method = method, .settings = {{"ties", "random"}}, .labels = {path}});
  RC_ASSERT(result.estimates == expected.estimates);
  RC_ASSERT(result.workers == expected.workers);
}

// ------------------------------------------------------------------ the door

const char* const kSmallFile = "task,worker,label\n1,u,a\n1,v,b\n1,w,a\n2,u,b\n2,w,b\n";

TEST(Aggregate, ReadsTaskByTaskWhereTheAnswersAreTheSame) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", kSmallFile);
  EXPECT_FALSE(aggregate({.method = "onepass", .labels = {path}}, {}).labels);
  EXPECT_TRUE(aggregate({.method = "twopass", .labels = {path}}, {}).labels);    // quicker in memory
  EXPECT_TRUE(aggregate({.method = "threepass", .labels = {path}}, {}).labels);  // other answers
  EXPECT_TRUE(aggregate({.method = "ds", .labels = {path}}, {}).labels);         // whole data sets only
  EXPECT_FALSE(aggregate({.method = "twopass", .labels = {path}, .road = Road::low_memory}, {}).labels);
  EXPECT_TRUE(aggregate({.method = "onepass", .labels = {path}, .road = Road::in_memory}, {}).labels);
}

TEST(Aggregate, KeepsEstimatesThatNobodyWantsWritten) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd()));
  for (const char* method : {"onepass", "twopass"}) {
    const AggregateSummary grouped =
        aggregate({.method = method, .labels = {path}, .read = small_blocks(), .road = Road::low_memory},
                  threads(2));
    const AggregateSummary whole =
        aggregate({.method = method, .labels = {path}, .read = small_blocks(), .road = Road::in_memory},
                  threads(2));
    ASSERT_FALSE(grouped.labels);
    ASSERT_TRUE(whole.labels);
    EXPECT_EQ(grouped.result.estimate, whole.result.estimate);
    EXPECT_EQ(grouped.result.confidence, whole.result.confidence);
    EXPECT_EQ(grouped.result.learned.counts, whole.result.learned.counts);
    EXPECT_EQ(testing::names_of(grouped.tasks()), testing::names_of(whole.tasks()));
    EXPECT_EQ(testing::names_of(grouped.workers()), testing::names_of(whole.workers()));
    EXPECT_EQ(testing::names_of(grouped.classes()), testing::names_of(whole.classes()));
  }
}

TEST(Aggregate, SaysWhyLabelsMustBeInMemory) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", kSmallFile);
  RunContext posterior;
  posterior.posterior = true;
  EXPECT_EQ(why_in_memory({.method = "onepass", .labels = {path}}, {}), "");
  EXPECT_EQ(why_in_memory({.method = "onepass", .labels = {path}}, posterior),
            "posteriors need the labels in memory");
  EXPECT_EQ(why_in_memory({.method = "onepass", .labels = {"-"}}, {}),
            "standard input cannot be read a second time");
  EXPECT_EQ(why_in_memory({.method = "onepass", .labels = {"-"}, .road = Road::grouped}, {}), "");
  EXPECT_EQ(why_in_memory({.method = "ds", .labels = {path}}, {}), "ds works on whole data sets only");
  EXPECT_EQ(error_of([&] {
              aggregate({.method = "ds", .labels = {path}, .road = Road::low_memory}, {});
            }).code(),
            ErrorCode::usage);
}

TEST(Aggregate, HoldsLabelsInMemoryIfATaskComesBack) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", std::string(kSmallFile) + "1,x,b\n");
  bool ungrouped = false;
  const AggregateSummary summary =
      aggregate({.method = "onepass", .labels = {path}}, {}, {{}, {}, [&] { ungrouped = true; }});
  EXPECT_TRUE(ungrouped);
  ASSERT_TRUE(summary.labels);
  EXPECT_EQ(summary.counts.labels, 6U);
}

TEST(Aggregate, TakesTruthsAndEarlierQualitiesFromFiles) {
  const TempDir folder;
  const AggregateRequest request{.method = "onepass",
                                 .labels = {folder.write("a.csv", kSmallFile)},
                                 .classes = {"c"},
                                 .truths = folder.write("t.csv", "task,label\n1,b\n"),
                                 .workers = folder.write("w.csv", "worker,quality,labels\nz,.9,16\n")};
  const AggregateSummary summary = aggregate(request, {});
  EXPECT_EQ(summary.classes()[summary.result.estimate[0]], "b");
  EXPECT_EQ(summary.result.confidence[0], 1);
  EXPECT_EQ(summary.classes().size(), 3U);
  EXPECT_EQ(summary.result.learned.counts_of(*summary.workers().find("z")).seen, 16);
}

TEST(Aggregate, CountsNoWorkersWhoAreLeftOut) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", "task,worker,label\nt,u,a\nt,v,a\ns,u,b\ns,w,b\n");
  for (const Road road : {Road::in_memory, Road::grouped}) {
    AggregateRequest request = {.method = "mv", .labels = {path}, .road = road};
    request.read.without_workers = {"w", "w", "nobody"};
    const LabelCounts counts = aggregate(request, threads(1)).counts;
    EXPECT_EQ(counts.in_memory, road == Road::in_memory);
    EXPECT_EQ(counts.workers, 2U);
    EXPECT_EQ(counts.labels, 3U);
    EXPECT_EQ(counts.rows.abstentions, 1U);
  }
}

TEST(WithinMachine, HasAsManyThreadsAsAskedForWithinReason) {
  RunContext wanted;
  wanted.threads = kMaxThreads;
  EXPECT_EQ(within_machine(wanted).threads, kMaxThreads);
  ++wanted.threads;
  EXPECT_EQ(error_of([&] { within_machine(wanted); }).code(), ErrorCode::usage);
}

TEST(Score, AveragesRunsThatDifferByTheirSeed) {
  const Labels labels = testing::labels_of({{"1", "u", "a"}, {"1", "v", "b"}});
  const std::vector<ClassId> truths = {0};
  const Score score = score_method(find_method("mv"), {}, labels, truths, 200, {});
  EXPECT_NEAR(score.accuracy, .5, .15);  // a tie is drawn anew in every run
  EXPECT_GT(score.deviation, .3);
  const Score first = score_method(find_method("mv"), {{"ties", "first"}}, labels, truths, 16, {});
  EXPECT_EQ(first.accuracy, 1);
  EXPECT_EQ(first.deviation, 0);
}

TEST(Score, TakesTheLogLossOfTheProbabilitiesOfAllClasses) {
  const SimulationOptions crowd = {
      .tasks = 60, .workers = 8, .classes = 4, .min_labels = 3, .max_labels = 3, .quality = {}};
  SimulatedCrowd simulated;
  const Labels labels = simulate_labels(crowd, 1, &simulated);
  RunContext context;
  context.posterior = true;
  const Result fit = find_method("fivepass").make({})->fit(labels, context);
  const Score score = score_method(find_method("fivepass"), {}, labels, simulated.truths, 1, {});
  EXPECT_EQ(score.log_loss,
            evaluate(fit.estimate, simulated.truths, labels.num_classes(), fit.confidence, fit.posterior)
                .log_loss);
  EXPECT_NE(score.log_loss,
            evaluate(fit.estimate, simulated.truths, labels.num_classes(), fit.confidence).log_loss);
}

TEST(TaskByTask, TellsWhereMostWorkersGiveOneLabelOnly) {
  const TempDir folder;
  std::string functions = "task,worker,label\n";
  std::string people = functions;
  for (int t = 0; t < 60; ++t) {
    for (const char* const worker : {"u", "v", "w"}) {
      people += fmt::format("{},{},{}\n", t, worker, t % 2 == 0 ? "a" : "b");
      functions += fmt::format("{},{}{},{}\n", t, worker, t % 2, t % 2 == 0 ? "a" : "b");
    }
  }
  const auto notes_on = [&](const std::string& path, const char* method) {
    AggregateSummary summary;
    std::vector<ReadReport> reports;
    aggregate_grouped(
        {.method = method, .labels = {path}, .road = Road::grouped, .output = folder / "out"},
        threads(1), summary, reports);
    return reports.back().notes;
  };
  const std::string path = folder.write("functions.csv", functions);
  ASSERT_EQ(notes_on(path, "threepass").size(), 1U);
  EXPECT_TRUE(
      notes_on(path, "threepass")[0].starts_with("most labels are by workers who give one label"));
  EXPECT_TRUE(notes_on(path, "mv").empty());
  EXPECT_TRUE(notes_on(folder.write("people.csv", people), "threepass").empty());
}

// What a run leaves behind: estimates, workers, confusion matrices, what it climbed.
std::string everything(const TempDir& folder, AggregateRequest request,
                       RunContext context = threads(2)) {
  request.output = folder / "out.csv";
  context.confusion = find_method(request.method).traits.has_confusion;
  const AggregateSummary summary = aggregate(request, context);
  write_workers(folder / "w.csv", summary.workers(), summary.result.learned, true, context);
  std::string all = read_file(folder / "out.csv") + read_file(folder / "w.csv");
  if (context.confusion) {
    write_confusion(folder / "c.csv", summary.workers(), summary.classes(), summary.result, context);
    all += read_file(folder / "c.csv");
  }
  write_trace(folder / "t.csv", summary.result, context);
  return all + read_file(folder / "t.csv") +
         fmt::format("{} {} {} {}", summary.counts.workers, summary.counts.labels,
                     summary.counts.classes, summary.tasks_without_estimate);
}

TEST(Spilled, LeavesTheSameBehindAsInMemory) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", as_csv(big_crowd(3'000)));
  const std::string truths = folder.write("truths.csv", "task,label\nt3,zebra\n");
  const std::string nothing = folder.write("nothing.csv", "task,worker,label\n1,u,\n1,v,\n2,u,\n");
  const std::string workers =
      folder.write("workers.csv", "worker,quality,labels\nw1,.9,20\nstranger,.6,10\n");
  for (const char* method : {"mv", "crh", "zc", "ds", "fivepass"}) {
    for (const std::string& labels : {path, nothing}) {
      AggregateRequest request = {.method = method, .labels = {labels}};
      if (find_method(method).traits.takes_workers) request.workers = workers;
      const std::string whole = everything(folder, request);
      request.road = Road::spilled;
      request.spill = folder / "";
      EXPECT_EQ(everything(folder, request), whole) << method;
    }
  }
}

TEST(Spilled, TellsWhatItReadBeforeTheMethodBegins) {
  const TempDir folder;
  const AggregateRequest request = {.method = "mv",
                                    .labels = {folder.write("a.csv", as_csv(big_crowd(300)))},
                                    .road = Road::spilled,
                                    .spill = folder / ""};
  std::vector<std::string> told;
  RunContext context = threads(1);
  context.progress = [&](const Progress& progress) {
    if (told.empty() || told.back() != progress.stage) told.emplace_back(progress.stage);
  };
  aggregate(request, context,
            {.on_read = [&](const ReadReport&) { told.emplace_back("read"); },
             .on_labels = [&](const LabelCounts&) { told.emplace_back("labels"); }});
  EXPECT_EQ(told, (std::vector<std::string>{"reading", "read", "labels", "mv", "answers"}));
}

TEST(Spilled, ConfusionMatricesStayWithinMemory) {
  const TempDir folder;
  const AggregateRequest request = {.method = "fivepass",
                                    .labels = {folder.write("a.csv", as_csv(big_crowd(300)))},
                                    .road = Road::spilled,
                                    .spill = folder / ""};
  RunContext context = threads(1);
  context.confusion = true;
  context.max_memory = 200;
  const Error error = error_of([&] { aggregate(request, context); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_TRUE(folder.files() == std::vector<std::string>{"a.csv"});
}

TEST(MethodComparison, ScoresTheSameFromADisk) {
  const TempDir folder;
  const SimulationOptions crowd = {
      .tasks = 300, .workers = 20, .classes = 3, .min_labels = 2, .max_labels = 4, .quality = {}};
  SimulationFiles files;
  files.labels = folder / "a.csv";
  files.truths = folder / "truths.csv";
  write_simulation(crowd, {}, true, files, {});
  ComparisonRequest request = {.labels = {folder / "a.csv"}, .truths = folder / "truths.csv"};
  const MethodComparison in_memory(request, threads(2));
  request.spill = folder / "";
  const MethodComparison on_disk(request, threads(2));
  EXPECT_TRUE(in_memory.in_memory());
  EXPECT_FALSE(on_disk.in_memory());
  for (const char* method : {"mv", "wawa", "ds", "fivepass"}) {
    const Score one = in_memory.score(find_method(method), {}, 3, threads(2));
    const Score other = on_disk.score(find_method(method), {}, 3, threads(2));
    EXPECT_EQ(one.accuracy, other.accuracy) << method;
    EXPECT_EQ(one.deviation, other.deviation) << method;
    EXPECT_EQ(one.log_loss, other.log_loss) << method;
  }
  const Error error = error_of([&] { on_disk.score(find_method("glad"), {}, 1, threads(1)); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_NE(std::string(error.what()).find("methods that can: "), std::string::npos);
}

TEST(RoadBesideMemory, IsTaskByTaskElseInRounds) {
  const TempDir folder;
  const std::string path = folder.write("a.csv", "task,worker,label\n1,u,a\n");
  const auto road = [&](const char* method) {
    return road_beside_memory({.method = method, .labels = {path}}, {});
  };
  EXPECT_EQ(road("mv"), Road::low_memory);
  EXPECT_EQ(road("threepass"), Road::low_memory);
  EXPECT_EQ(road("fivepass"), Road::spilled);
  EXPECT_NE(std::string(error_of([&] { road("glad"); }).what()).find("methods that can: "),
            std::string::npos);
}

TEST(ManyClasses, AreNotedBeforeARunOfMinutes) {
  LabelCounts counts;
  counts.tasks = 50'000;
  counts.classes = 65'000;
  EXPECT_NE(note_on_many_classes(find_method("threepass"), counts).find("which may take minutes"),
            std::string::npos);
  EXPECT_EQ(note_on_many_classes(find_method("mv"), counts), "");
  counts.classes = 100;
  EXPECT_EQ(note_on_many_classes(find_method("threepass"), counts), "");
}

// The context of a run during which the file grows: with each reading from this one on, by a row. Its
// label is `label`, or a new one every time if that is empty.
RunContext while_growing(const std::string& path, int from_reading, const std::string& label) {
  RunContext context = threads(1);
  context.progress = [path, from_reading, label, readings = 0](const Progress& progress) mutable {
    const bool begins = progress.done <= std::uint64_t{1} << 17;
    if (!begins || ++readings < from_reading) return;
    const std::string number = std::to_string(readings);
    std::ofstream(path, std::ios::app)
        << "new" + number + ",w," + (label.empty() ? "class" + number : label) + "\n";
  };
  return context;
}

TEST(TaskByTask, RefusesAFileThatGrowsWhileItIsRead) {
  const TempDir folder;
  const auto refuse = [&](const char* method, const std::string& csv, int from_reading,
                          const std::string& label) {
    const std::string path = folder.write("a.csv", csv);
    const AggregateRequest request = {
        .method = method, .labels = {path}, .road = Road::low_memory, .output = folder / "out.csv"};
    const Error error = error_of([&] { aggregate(request, while_growing(path, from_reading, label)); });
    EXPECT_EQ(error.code(), ErrorCode::data) << method << from_reading;
    EXPECT_EQ(std::string(error.what()),
              path +
                  ": the second reading met what the first did not: the file changes while it is read; "
                  "run again once it is complete");
    EXPECT_EQ(folder.files(), std::vector<std::string>{"a.csv"});
  };
  const std::string csv = as_csv(big_crowd(9'000));
  for (const int from_reading : {1, 2}) {
    for (const char* method : {"onepass", "threepass", "twopass"})
      refuse(method, csv + "late,w,a class that comes late\n", from_reading, "");
  }
  for (const char* method : {"mv", "twopass"}) refuse(method, csv, 2, "zebra");
}

TEST(TaskByTask, TakesNoMoreMemoryThanItMay) {
  const TempDir folder;
  std::string csv = "task,worker,label\n";  // one task
  for (int i = 0; i < 100'000; ++i) csv += "t,w" + std::to_string(i % 100) + ",a\n";
  const std::string path = folder.write("a.csv", csv);
  RunContext context = threads(1);
  context.max_memory = 300'000;
  const AggregateRequest request = {.method = "onepass", .labels = {path}};
  EXPECT_EQ(std::string(error_of([&] { aggregate(request, context); }).what()),
            path +
                ": its labels need more memory than the 0.3 MB that may be used: allow more with "
                "--max-memory");
  context.max_memory = 1'000'000;
  EXPECT_EQ(aggregate(request, context).counts.labels, 100U);
}

}  // namespace
}  // namespace crowdfold
