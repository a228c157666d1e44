// The small tables: truths, workers, estimates; written and read back.
#include <gtest/gtest.h>

#include "crowdfold/io.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::labels_of;
using testing::names_of;
using testing::read_file;
using testing::TempDir;

Labels small_crowd() {
  return labels_of({{"t1", "u", "a"}, {"t1", "v", "b"}, {"t2", "u", "b"}, {"t3", "v", ""}});
}

TEST(Truths, AreReadByTaskAndMayNameNewClasses) {
  const TempDir folder;
  Labels labels = small_crowd();
  const auto truths = read_truths(folder.write("t.csv", "item,gold\nt2,b\nt1,c\n"), labels, {});
  EXPECT_EQ(truths, (std::vector<ClassId>{2, 1, kNoClass}));
  EXPECT_EQ(names_of(labels.classes()), (std::vector<std::string>{"a", "b", "c"}));
}

TEST(Truths, AreReadAsRowsWithoutLabels) {
  const TempDir folder;
  const auto rows = read_truth_rows(folder.write("t.csv", "item,gold\nt2,b\nt1,c\nt2,b\n"), {});
  using Pairs = std::vector<std::pair<std::string, std::string>>;
  EXPECT_EQ(rows, (Pairs{{"t2", "b"}, {"t1", "c"}, {"t2", "b"}}));
  const std::string path = folder.write("some.csv", "task,label\nt1,\nt2,b\n");
  EXPECT_EQ(read_truth_rows(path, {}), (Pairs{{"t2", "b"}}));
}

TEST(Truths, ThatAreEmptyAreNotKnown) {
  const TempDir folder;
  Labels labels = small_crowd();
  ReadReport report;
  const std::string beside_labels = "task,worker,label,gold\nt1,u,a,\nt1,v,b,\nt2,u,b,a\n";
  EXPECT_EQ(read_truths(folder.write("t.csv", beside_labels), labels, {}, &report),
            (std::vector<ClassId>{kNoClass, 0, kNoClass}));
  EXPECT_EQ(report.notes, (std::vector<std::string>{"2 rows name no truth"}));

  const std::string none = folder.write("none.csv", "task,truth\nt1,\nt2,\n");
  EXPECT_EQ(std::string(error_of([&] { read_truths(none, labels, {}); }).what()),
            none + ": no row names a truth: all of them are empty");
}

TEST(Truths, OfUnknownTasksAreAnErrorOrSkipped) {
  const TempDir folder;
  Labels labels = small_crowd();
  const std::string path = folder.write("t.csv", "task,label\nt1,a\nt9,a\n");
  const Error error = error_of([&] { read_truths(path, labels, {}); });
  EXPECT_EQ(error.code(), ErrorCode::data);
  EXPECT_EQ(std::string(error.what()), path +
                                           ":3:1: task 't9' is not there; tasks are such as 't1' "
                                           "(--skip-bad-rows leaves such truths out)");
  ReadOptions options;
  options.skip_bad_rows = true;
  ReadReport report;
  EXPECT_EQ(read_truths(path, labels, options, &report), (std::vector<ClassId>{0, kNoClass, kNoClass}));
  EXPECT_EQ(report.skipped_rows, 1U);
}

TEST(Truths, OfAClassThatNoLabelNamesAreTold) {
  const TempDir folder;
  Labels labels = small_crowd();
  ReadReport report;
  read_truths(folder.write("t.csv", "task,label\nt1,a\nt2,kitty\n"), labels, {}, &report);
  EXPECT_EQ(report.notes,
            (std::vector<std::string>{"truth 'kitty' (1 task) is a class that no label names"}));
}

TEST(Truths, OfTasksThatAreNamedOtherwiseSaySo) {
  const TempDir folder;
  LabelsBuilder builder;
  for (const char* task : {"img/007.JPG", "b.jpg", "9"}) builder.add(task, "ann", "x");
  Labels labels = builder.build();
  const auto told = [&](const std::string& task) {
    const std::string path = folder.write("t.csv", "task,label\n" + task + ",x\n");
    return std::string(error_of([&] { read_truths(path, labels, {}); }).what()).substr(path.size());
  };
  EXPECT_EQ(told("7"),
            ":2:1: task '7' is not there, but 'img/007.JPG' is: if they are one, write the tasks "
            "of both files the same way");
  EXPECT_NE(told("b").find("but 'b.jpg' is"), std::string::npos);
  EXPECT_NE(told("9.0").find("but '9' is"), std::string::npos);
}

TEST(Workers, ThatComeTwiceAreRefused) {
  const TempDir folder;
  NameTable workers("workers");
  const std::string path =
      folder.write("w.csv", "worker,quality,labels\nann,0.9,10\nbob,0.8,10\nann,0.7,10\n");
  EXPECT_EQ(std::string(error_of([&] { read_workers(path, workers, 2, 1, {}); }).what()),
            path + ":4:1: worker 'ann' has a row already: one row for each worker");
}

TEST(Truths, ThatContradictEachOtherAreRefused) {
  const TempDir folder;
  Labels labels = small_crowd();
  EXPECT_NO_THROW(read_truths(folder.write("same.csv", "task,label\nt1,a\nt1,a\n"), labels, {}));
  const std::string path = folder.write("other.csv", "task,label\nt1,a\nt1,b\n");
  const Error error = error_of([&] { read_truths(path, labels, {}); });
  EXPECT_EQ(error.location().line, 3U);
  EXPECT_NE(std::string(error.what()).find("task 't1' has another truth already: 'a'"),
            std::string::npos);
}

TEST(WorkerNames, AreLinesOrTheFirstColumnOfATable) {
  const TempDir folder;
  using Strings = std::vector<std::string>;
  EXPECT_EQ(read_worker_names(folder.write("a.txt", "ann\n  bob, jr.  \r\n\n")),
            (Strings{"ann", "bob, jr."}));
  EXPECT_EQ(
      read_worker_names(folder.write("b.csv", "worker,quality\nann,.5\n\"bob, \"\"jr.\"\"\",.4\n")),
      (Strings{"ann", "bob, \"jr.\""}));
  EXPECT_EQ(read_worker_names(folder.write("c.csv", "quality,worker\r\n.5,ann\r\n.4,\"b\nc\"\r\n")),
            (Strings{"ann", "b\nc"}));
  EXPECT_EQ(read_worker_names(folder.write("d.tsv", "worker\tquality\nann\t.5\n")), Strings{"ann"});
  EXPECT_EQ(read_worker_names(folder.write("e.jsonl", "{\"worker\": \"ann\", \"quality\": 1}\n")),
            Strings{"ann"});
  EXPECT_EQ(error_of([&] { read_worker_names(folder / "nowhere"); }).code(), ErrorCode::io);
  const std::string bad = folder.write("f.csv", "worker,quality\nann,.5\n,.4\n");
  EXPECT_EQ(error_of([&] { read_worker_names(bad); }).location().line, 3U);
}

TEST(Workers, AreWrittenWithQualityIntervalAndCount) {
  const TempDir folder;
  WorkerState state;
  state.counts = {{0, 0}, {8, 9}};
  NameTable names;
  names.intern("new, one");
  names.intern("old");
  write_workers(folder / "w.csv", names, state, false, {});
  EXPECT_TRUE(read_file(folder / "w.csv")
                  .starts_with("worker,quality,lower,upper,labels\n\"new, one\",0.5,0.0942993240502"))
      << read_file(folder / "w.csv");
  write_workers(folder / "w.jsonl", names, state, true, {});
  const std::string json = read_file(folder / "w.jsonl");
  // Beta(10, 3); bound 9/11 -+ 2/3.
  EXPECT_NE(json.find("{\"worker\":\"old\",\"quality\":0.7692307692307693,\"lower\":0.515862251314"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"labels\":9,\"correct\":8,\"mode\":0.8181818181818182,\"alpha\":10,\"beta\":3,"
                      "\"bound_lower\":0.15151515"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"bound_upper\":1}"), std::string::npos) << json;
}

TEST(Workers, ComeBackAsTheSameCounts) {
  const TempDir folder;
  Labels labels = simulate_labels({.tasks = 3'000, .workers = 200, .quality = {}}, 1);
  for (const auto& [alpha, beta] :
       {std::pair("2", "2"), {"1", "1"}, {"3.5", "2.25"}, {"1000000000", "1"}}) {
    const Result result =
        find_method("onepass").make({{"alpha", alpha}, {"beta", beta}})->fit(labels, {});
    for (const char* name : {"w.csv", "w.jsonl"}) {
      write_workers(folder / name, labels.workers(), result.learned, name[2] == 'j', {});
      const auto counts = read_workers(folder / name, labels, std::stod(alpha), std::stod(beta), {});
      EXPECT_EQ(counts, result.learned.counts) << alpha << ' ' << beta << ' ' << name;
    }
  }
}

TEST(Workers, OfAnEarlierRunMakeTheNextOneGoOn) {
  // Two halves one after another, with the workers' file in between, or everything at once.
  const TempDir folder;
  const Labels all = simulate_labels({.tasks = 400, .workers = 20, .classes = 3, .quality = {}}, 2);
  std::vector<testing::LabelRow> rows[2];
  for (TaskId t = 0; t < all.num_tasks(); ++t) {
    const TaskLabels task = all.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      rows[t < 200 ? 0 : 1].push_back({std::string(all.tasks()[t]),
                                       std::string(all.workers()[task.workers[j]]),
                                       std::string(all.classes()[task.classes[j]])});
    }
  }
  const auto method = find_method("onepass").make({});
  const Result whole = method->fit(all, {});
  const Labels first = labels_of(rows[0]);
  write_workers(folder / "w.csv", first.workers(), method->fit(first, {}).learned, false, {});
  Labels second = labels_of(rows[1]);
  Knowledge given;
  given.workers = read_workers(folder / "w.csv", second, 2, 2, {});
  const Result rest = method->fit(second, given, {});
  for (TaskId t = 0; t < 200; ++t) {
    ASSERT_EQ(second.classes()[rest.estimate[t]], all.classes()[whole.estimate[200 + t]]) << t;
    ASSERT_NEAR(rest.confidence[t], whole.confidence[200 + t], 1e-12) << t;
  }
}

TEST(Workers, WithoutLabelsKeepTheirHistoryAndNonsenseIsRefused) {
  const TempDir folder;
  Labels labels = small_crowd();
  EXPECT_EQ(read_workers(folder.write("w.csv", "worker,quality,labels\nnobody,.5,3\nv,.5,4\n"), labels,
                         2, 2, {}),
            (std::vector<WorkerCounts>{{0, 0}, {2, 4}, {1.5, 3}}));
  EXPECT_EQ(labels.workers().find("nobody"), 2U);
  const auto message = [&](const char* row) {
    const std::string path = folder.write("bad.csv", std::string("worker,quality,labels\n") + row);
    return std::string(error_of([&] { read_workers(path, labels, 2, 2, {}); }).what())
        .substr(path.size());
  };
  EXPECT_EQ(message("u,1.5,3\n"), ":2:3: '1.5' is not a quality: 0 to 1");
  EXPECT_EQ(message("u,nan,3\n"), ":2:3: 'nan' is not a quality: 0 to 1");
  EXPECT_EQ(message("u,.5,-3\n"), ":2:6: '-3' is not a number of labels");
}

TEST(Estimates, OfTwoColumnsForOneClassAreRefused) {
  const TempDir folder;
  for (const std::string& path :
       {folder.write("a.csv", "task,label,confidence,a,a,b\nt1,a,.5,.1,.2,.7\n"),
        folder.write(
            "a.jsonl",
            R"({"task": 1, "label": "a", "confidence": 1, "posterior": {"b": 0, "a": 1}, "a": 1})"
            "\n")}) {
    EXPECT_EQ(std::string(error_of([&] { read_estimates(path, {}); }).what()),
              path + ": two columns are named 'a': there is one for each class");
  }
  const std::string path = folder.write("b.csv", "task,task,label,confidence\nt1,t2,a,.5\n");
  EXPECT_EQ(error_of([&] { read_estimates(path, {}); }).code(), ErrorCode::usage);
}

TEST(Estimates, OfAClassThatIsCalledLikeAColumnAreReadBack) {
  const TempDir folder;
  const std::string path =
      folder.write("a.csv", "task,label,confidence,label,task\nt1,task,.75,.25,.75\n");
  const Estimates estimates = read_estimates(path, {});
  EXPECT_EQ(names_of(estimates.classes), (std::vector<std::string>{"label", "task"}));
  EXPECT_EQ(estimates.estimate[0], 1);
  const std::string short_of_one = folder.write("b.csv", "task,label,label\nt1,a,b\n");
  EXPECT_EQ(error_of([&] { read_estimates(short_of_one, {}); }).code(), ErrorCode::usage);
}

TEST(Estimates, ComeBackAsTheyWereWritten) {
  const TempDir folder;
  Labels labels =
      labels_of({{"t\n1", "u", "a,b"}, {"t\n1", "v", "\"c\""}, {"t2", "u", ""}, {"t3", "v", "d"}});
  RunContext context;
  context.posterior = true;
  const Result result = find_method("twopass").make({})->fit(labels, context);
  write_estimates(folder / "e.csv", labels, result, context);
  const Estimates estimates = read_estimates(folder / "e.csv", {});
  EXPECT_EQ(names_of(estimates.tasks), names_of(labels.tasks()));
  EXPECT_EQ(names_of(estimates.classes), names_of(labels.classes()));
  EXPECT_EQ(estimates.estimate, result.estimate);
  EXPECT_EQ(estimates.confidence, result.confidence);
  EXPECT_EQ(estimates.posterior, result.posterior);
}

TEST(Estimates, InJsonLinesComeBackAsTheyWereWritten) {
  const TempDir folder;
  Labels labels = small_crowd();
  for (const bool posterior : {false, true}) {
    RunContext context;
    context.posterior = posterior;
    const Result result = find_method("twopass").make({})->fit(labels, context);
    write_estimates(folder / "e.jsonl", labels, result, context);
    const Estimates estimates = read_estimates(folder / "e.jsonl", {});
    EXPECT_EQ(estimates.estimate, result.estimate);
    EXPECT_EQ(estimates.confidence, result.confidence);
  }
}

TEST(Estimates, AreWrittenTheSameByAnyNumberOfThreads) {
  const TempDir folder;
  const Labels labels =
      simulate_labels({.tasks = 50'000, .min_labels = 2, .max_labels = 2, .quality = {}}, 1);
  const Result result = find_method("twopass").make({})->fit(labels, {});
  RunContext four;
  four.threads = 4;
  write_estimates(folder / "one.csv", labels, result, {});
  write_estimates(folder / "four.csv", labels, result, four);
  EXPECT_TRUE(read_file(folder / "one.csv") == read_file(folder / "four.csv"));
}

TEST(Estimates, ThatAreBadAreRefusedOrSkippedWhole) {
  const TempDir folder;
  const std::string path = folder.write("e.csv", "task,label,confidence\n1,a,.5\n2,b,much\n3,a,.75\n");
  const Error error = error_of([&] { read_estimates(path, {}); });
  EXPECT_EQ(error.location().line, 3U);
  EXPECT_EQ(error.location().column, 5U);
  ReadOptions options;
  options.skip_bad_rows = true;
  const Estimates estimates = read_estimates(path, options);
  EXPECT_EQ(estimates.tasks.size(), 2U);
  EXPECT_EQ(estimates.estimate.size(), 2U);
  EXPECT_EQ(estimates.confidence, (FlatArray<double>{.5, .75}));
}

TEST(Estimates, OfOneTaskMustNotComeTwice) {
  const TempDir folder;
  const std::string path = folder.write("e.csv", "task,label\n1,a\n1,b\n");
  EXPECT_NE(std::string(error_of([&] { read_estimates(path, {}); }).what())
                .find("task '1' has an estimate already"),
            std::string::npos);
}

TEST(SimulationFiles, HoldTheSimulatedCrowd) {
  const TempDir folder;
  const SimulationOptions options{.tasks = 200, .workers = 12, .classes = 3, .quality = {}};
  RunContext context;
  context.seed = 4;
  for (const bool shuffle : {false, true}) {
    write_simulation(options, {}, shuffle, {folder / "l.csv", folder / "t.csv", folder / "w.jsonl"},
                     context);
    Labels labels = read_labels(folder / "l.csv", {}, {});
    EXPECT_EQ(labels.num_labels(), 1'000U);
    const auto truths = read_truths(folder / "t.csv", labels, {});
    SimulatedCrowd crowd;
    const Labels direct = simulate_labels(options, 4, &crowd);
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      const auto same = direct.tasks().find(labels.tasks()[t]);
      ASSERT_TRUE(same);
      ASSERT_EQ(labels.classes()[truths[t]], direct.classes()[crowd.truths[*same]]);
    }
  }
  EXPECT_TRUE(read_file(folder / "w.jsonl").starts_with("{\"worker\":\"worker_00\",\"quality\":0."));
}

TEST(SimulationFiles, CarryTheNamesTheyAreGiven) {
  const TempDir folder;
  const SimulationNames names{"img-", "ann-", 8, 5, {"cat", "dog", "emu"}};
  write_simulation({.tasks = 5, .workers = 6, .classes = 3, .quality = {}}, names, false,
                   {folder / "l.csv", "", ""}, {});
  const std::string text = read_file(folder / "l.csv");
  EXPECT_TRUE(text.starts_with("task,worker,label\nimg-00000000,ann-0000")) << text;
  EXPECT_EQ(error_of([&] {
              write_simulation({.tasks = 5, .workers = 6, .classes = 4, .quality = {}}, names, false,
                               {folder / "x.csv", "", ""}, {});
            }).code(),
            ErrorCode::usage);
}

}  // namespace
}  // namespace crowdfold
