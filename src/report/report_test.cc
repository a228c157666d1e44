#include "crowdfold/report.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "crowdfold/error.h"
#include "crowdfold/simulate.h"
#include "report/words.h"

namespace crowdfold {
namespace {

using Rows = std::vector<std::array<std::string, 3>>;

Labels labels_from(const Rows& rows) {
  LabelsBuilder builder;
  for (const auto& [task, worker, label] : rows) builder.add(task, worker, label);
  return builder.build();
}

// Worker `name`: their label on task t, whose truth is t % 2.
using Behaviour = std::function<std::string(int task)>;

Labels crowd_of(int tasks, const std::vector<std::pair<std::string, Behaviour>>& workers) {
  LabelsBuilder builder;
  for (int t = 0; t < tasks; ++t) {
    for (const auto& [name, says] : workers) builder.add("t" + std::to_string(t), name, says(t));
  }
  return builder.build();
}

std::string right(int task) { return task % 2 == 0 ? "yes" : "no"; }
std::string wrong(int task) { return task % 2 == 0 ? "no" : "yes"; }
std::string always_yes(int) { return "yes"; }
std::string by_thirds(int task) { return task % 4 < 2 ? "yes" : "no"; }  // right every other time

std::vector<ClassId> truths_of(const Labels& labels) {
  std::vector<ClassId> truths;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const int number = std::stoi(std::string(labels.tasks()[t].substr(1)));
    truths.push_back(static_cast<ClassId>(*labels.classes().find(right(number))));
  }
  return truths;
}

Report report_of(const Labels& labels, std::span<const ClassId> truths = {},
                 const ReportOptions& options = {}) {
  return make_report(labels, truths, options, {});
}

const ReportedWorker& worker(const Report& report, const Labels& labels, std::string_view name) {
  for (const ReportedWorker& w : report.workers) {
    if (labels.workers()[w.worker] == name) return w;
  }
  throw std::out_of_range(std::string(name));
}

bool advises(const Report& report, const Labels& labels, const std::string& words) {
  for (const Advice::Item& item : advice_of(report, labels).items) {
    if (item.text.find(words) != std::string::npos) return true;
  }
  return false;
}

TEST(ReportWorkers, AreMarkedByTheVoteOfTheOthers) {
  const Labels labels = crowd_of(80, {{"good", right},
                                      {"fine", right},
                                      {"kind", right},
                                      {"guesser", by_thirds},
                                      {"yea", always_yes},
                                      {"contrary", wrong}});
  const Report report = report_of(labels);
  EXPECT_EQ(worker(report, labels, "good").mark, WorkerMark::useful);
  EXPECT_EQ(worker(report, labels, "guesser").mark, WorkerMark::random);
  EXPECT_EQ(worker(report, labels, "yea").mark, WorkerMark::random);
  EXPECT_EQ(worker(report, labels, "contrary").mark, WorkerMark::adversary);
  EXPECT_EQ(labels.classes()[worker(report, labels, "yea").constant], "yes");
  EXPECT_EQ(worker(report, labels, "good").constant, kNoClass);
}

TEST(ReportWorkers, AreComparedWithoutTheirOwnLabel) {
  // On a task of two labels a worker's own label would always be on the winning side, or tied.
  const Labels labels = crowd_of(60, {{"good", right}, {"guesser", by_thirds}});
  const ReportedWorker w = worker(report_of(labels), labels, "guesser");
  EXPECT_EQ(w.compared, 60U);
  EXPECT_EQ(w.agreed, 30U);
  EXPECT_DOUBLE_EQ(w.by_chance, 30);
}

TEST(ReportWorkers, WithFewLabelsAreNotAccused) {
  Rows rows;
  for (int t = 0; t < 40; ++t) {
    for (const char* name : {"a", "b", "c"}) rows.push_back({"t" + std::to_string(t), name, right(t)});
  }
  rows.push_back({"t0", "new", "no"});
  rows.push_back({"t1", "new", "yes"});
  const Labels labels = labels_from(rows);
  EXPECT_EQ(worker(report_of(labels), labels, "new").mark, WorkerMark::unsure);
}

TEST(ReportWorkers, OfOneClassCannotBeTold) {
  const Labels labels = crowd_of(30, {{"a", always_yes}, {"b", always_yes}});
  const Report report = report_of(labels);
  EXPECT_EQ(worker(report, labels, "a").mark, WorkerMark::unsure);
  EXPECT_EQ(worker(report, labels, "a").log_odds, 0);
}

TEST(ReportWorkers, ComeByTheLowerEndOfTheirInterval) {
  const Labels labels = crowd_of(50, {{"contrary", wrong}, {"a", right}, {"b", right}, {"c", right}});
  const Report report = report_of(labels);
  for (std::size_t i = 1; i < report.workers.size(); ++i)
    EXPECT_GE(report.workers[i - 1].interval.lower, report.workers[i].interval.lower);
  EXPECT_EQ(labels.workers()[report.workers.back().worker], "contrary");
}

TEST(ReportWorkers, WhoGetWorseAreNoticed) {
  const auto tiring = [](int t) { return t < 60 ? right(t) : by_thirds(t); };
  const Labels labels = crowd_of(120, {{"a", right}, {"b", right}, {"c", right}, {"tired", tiring}});
  const Report report = report_of(labels);
  EXPECT_TRUE(worker(report, labels, "tired").got_worse);
  EXPECT_DOUBLE_EQ(worker(report, labels, "tired").early, 1);
  EXPECT_DOUBLE_EQ(worker(report, labels, "tired").late, 0.5);
  EXPECT_FALSE(worker(report, labels, "a").got_worse);
  EXPECT_TRUE(advises(report, labels, "1 worker agrees less with the others as time goes on: tired"));
}

TEST(ReportWorkers, OfASimulatedCrowdAreToldApart) {
  SimulationOptions options;
  options.tasks = 2000;
  options.workers = 100;
  options.spammers = 0.2;
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(options, 5, &crowd);
  int spammers = 0;
  int caught = 0;
  int good = 0;
  int accused = 0;
  for (const ReportedWorker& w : report_of(labels).workers) {
    const double quality = crowd.quality[w.worker];
    const bool marked = w.mark == WorkerMark::random || w.mark == WorkerMark::adversary;
    spammers += quality <= 0.25 ? 1 : 0;
    caught += quality <= 0.25 && marked ? 1 : 0;
    good += quality >= 0.6 ? 1 : 0;
    accused += quality >= 0.6 && marked ? 1 : 0;
  }
  EXPECT_GE(caught, spammers * 8 / 10) << spammers;
  EXPECT_GT(good, 20);
  EXPECT_EQ(accused, 0);
}

TEST(ReportTasks, AreCountedByWhatTheyWant) {
  const Labels labels = crowd_of(40, {{"a", right}, {"b", right}, {"c", right}, {"guesser", by_thirds}});
  ReportOptions options;
  options.most_tasks = 3;
  options.settled = 0.999;
  const Report report = report_of(labels, {}, options);
  const TaskSummary& tasks = report.tasks;
  EXPECT_EQ(tasks.tasks, 40U);
  EXPECT_EQ(tasks.wanted[0], tasks.settled);
  EXPECT_EQ(tasks.wanted[0] + tasks.wanted[1] + tasks.wanted[2] + tasks.wanted[3], 40U);
  ASSERT_EQ(tasks.labels_per_task.size(), 5U);
  EXPECT_EQ(tasks.labels_per_task[4], 40U);
  EXPECT_EQ(tasks.first.size(), 3U);
  for (std::size_t i = 1; i < tasks.first.size(); ++i)
    EXPECT_LE(tasks.first[i - 1].confidence, tasks.first[i].confidence);
  std::uint64_t binned = 0;
  for (const TaskSummary::Bin& bin : tasks.confidence) binned += bin.tasks;
  EXPECT_EQ(binned, 40U);
}

TEST(ReportTasks, ThatAllAgreeOnAreSettled) {
  const Labels labels = crowd_of(50, {{"a", right},
                                      {"b", right},
                                      {"c", right},
                                      {"d", right},
                                      {"e", right},
                                      {"f", right},
                                      {"g", right}});
  const Report report = report_of(labels);
  EXPECT_EQ(report.tasks.settled, 50U);
  EXPECT_EQ(headline_of(report), "All 50 tasks are settled");
  EXPECT_TRUE(advises(report, labels, "All tasks are settled"));
}

TEST(ReportTasks, WithoutLabelsAreCountedButNotListed) {
  const Labels labels = labels_from({{"t", "a", "yes"}, {"t", "b", "no"}, {"empty", "a", ""}});
  const Report report = report_of(labels);
  EXPECT_EQ(report.tasks.without_labels, 1U);
  ASSERT_EQ(report.tasks.first.size(), 1U);
  EXPECT_EQ(labels.tasks()[report.tasks.first[0].task], "t");
  EXPECT_EQ(headline_of(report), "None of 2 tasks is settled");
  EXPECT_TRUE(advises(report, labels, "1 task has no label yet"));
  EXPECT_TRUE(advises(report, labels, "1 task needs two labels or more"));
}

TEST(ReportTasks, ThatTheTruthContradictsAreMistakes) {
  const Labels labels = crowd_of(30, {{"a", right}, {"b", right}, {"c", right}});
  std::vector<ClassId> truths = truths_of(labels);
  truths[7] = static_cast<ClassId>(1 - truths[7]);
  truths[8] = kNoClass;
  const Report report = report_of(labels, truths);
  ASSERT_EQ(report.tasks.mistakes.size(), 1U);
  EXPECT_EQ(report.tasks.mistakes[0].task, 7U);
  EXPECT_EQ(report.evaluation.tasks, 29U);
  EXPECT_EQ(report.evaluation.correct, 28U);
  EXPECT_EQ(worker(report, labels, "a").truths, 29U);
  EXPECT_DOUBLE_EQ(worker(report, labels, "a").accuracy, 28.0 / 29);
}

TEST(ReportClasses, AreCountedAndMixUpsRanked) {
  const Labels labels = crowd_of(40, {{"a", right}, {"b", right}, {"c", right}, {"yea", always_yes}});
  const Report report = report_of(labels);
  ASSERT_EQ(report.classes.size(), 2U);
  const auto yes = static_cast<ClassId>(*labels.classes().find("yes"));
  const auto no = static_cast<ClassId>(*labels.classes().find("no"));
  ASSERT_EQ(report.mix_ups.size(), 1U);
  EXPECT_EQ(report.mix_ups[0].estimate, no);
  EXPECT_EQ(report.mix_ups[0].label, yes);
  EXPECT_EQ(report.mix_ups[0].labels, 20U);
  EXPECT_DOUBLE_EQ(report.mix_ups[0].share, 0.25);
  std::uint64_t counted = 0;
  for (const std::uint64_t n : report.confusion) counted += n;
  EXPECT_EQ(counted, labels.num_labels());
  EXPECT_TRUE(advises(report, labels, "“no” is often taken for “yes”: 25 %"));
}

TEST(ReportPairs, CountCommonTasksAndAgreement) {
  Rows rows;
  for (int t = 0; t < 30; ++t) {
    rows.push_back({"t" + std::to_string(t), "a", right(t)});
    rows.push_back({"t" + std::to_string(t), "b", by_thirds(t)});
    if (t < 10) rows.push_back({"t" + std::to_string(t), "c", right(t)});
  }
  const Labels labels = labels_from(rows);
  const Report report = report_of(labels);
  ASSERT_EQ(report.busiest.size(), 3U);
  ASSERT_EQ(report.pairs.size(), 3U);
  for (const WorkerPair& pair : report.pairs) {
    const auto name = [&](std::uint32_t place) {
      return std::string(labels.workers()[report.workers[report.busiest[place]].worker]);
    };
    const std::string names =
        std::min(name(pair.a), name(pair.b)) + std::max(name(pair.a), name(pair.b));
    if (names == "ab") {
      EXPECT_EQ(pair.common, 30U);
    }
    if (names == "ac") {
      EXPECT_EQ(pair.agreed, 10U);
    }
    if (names == "bc") {
      EXPECT_EQ(pair.common, 10U);
    }
  }
}

TEST(ReportDrift, ShowsWhereLabelsGotWorse) {
  const auto tiring = [](int t) { return t < 500 ? right(t) : by_thirds(t); };
  const Labels labels = crowd_of(1000, {{"a", right}, {"b", right}, {"c", tiring}});
  const Report report = report_of(labels);
  ASSERT_GE(report.drift.size(), 10U);
  std::uint64_t tasks = 0;
  for (const DriftChunk& chunk : report.drift) tasks += chunk.tasks;
  EXPECT_EQ(tasks, 1000U);
  EXPECT_EQ(report.drift.front().agreed, report.drift.front().labels);
  EXPECT_LT(report.drift.back().agreed, report.drift.back().labels);
  EXPECT_TRUE(
      advises(report, labels,
              "Labels agree less with the answers as the tasks go on: 100 % in the first third"));
}

TEST(ReportDrift, NeedsEnoughTasks) {
  EXPECT_TRUE(report_of(crowd_of(30, {{"a", right}, {"b", right}})).drift.empty());
}

TEST(ReportMethods, AreComparedOnTheSameTasks) {
  const Labels labels = crowd_of(60, {{"a", right}, {"b", right}, {"c", wrong}});
  ReportOptions options;
  options.compared = {"mv", "threepass"};
  const Report report = report_of(labels, truths_of(labels), options);
  ASSERT_EQ(report.methods.size(), 2U);
  EXPECT_DOUBLE_EQ(report.methods[0].same[0], 1);
  EXPECT_DOUBLE_EQ(report.methods[0].same[1], 1);
  EXPECT_DOUBLE_EQ(report.methods[0].evaluation.accuracy, 1);
  EXPECT_EQ(report.methods[1].better + report.methods[1].worse, 0U);
}

TEST(ReportMethods, ThatCannotAreLeftOutWithTheReason) {
  const auto third = [](int t) { return std::to_string(t % 3); };
  ReportOptions options;
  options.compared = {"kos"};
  const Report report = report_of(crowd_of(30, {{"a", third}, {"b", third}}), {}, options);
  EXPECT_NE(report.methods[0].left_out, "");
}

TEST(Report, IsTheSameOnAnyNumberOfThreads) {
  const Labels labels = crowd_of(300, {{"a", right}, {"b", right}, {"c", by_thirds}, {"d", wrong}});
  std::string first;
  for (const int threads : {1, 2, 5}) {
    RunContext context;
    context.threads = threads;
    const Report report = make_report(labels, {}, {}, context);
    const std::string json = to_json(document_of(report, labels, {}, "x"));
    if (first.empty()) first = json;
    EXPECT_EQ(json, first);
  }
}

TEST(Report, OfVeryLittleIsStillADocument) {
  for (const Rows& rows :
       {Rows{}, Rows{{"t", "w", "a"}}, Rows{{"t", "w", ""}}, Rows{{"t", "w", "a"}, {"u", "v", ""}}}) {
    const Labels labels = labels_from(rows);
    const Report report = report_of(labels);
    const nlohmann::json json = nlohmann::json::parse(to_json(document_of(report, labels, {}, "x")));
    EXPECT_EQ(json["version"], kDocumentVersion);
  }
}

TEST(Report, SaysWhatWasLeftOut) {
  const Labels labels = crowd_of(40, {{"a", right}, {"b", wrong}, {"c", by_thirds}});
  ReportOptions options;
  options.most_tasks = 2;
  options.most_workers = 1;
  const nlohmann::json json =
      nlohmann::json::parse(to_json(document_of(report_of(labels, {}, options), labels, {}, "x")));
  int found = 0;
  for (const auto& section : json["sections"]) {
    for (const auto& block : section["blocks"]) {
      if (block.value("id", "") == "first-tasks") {
        EXPECT_GT(block["left_out"]["rows"], 0);
        EXPECT_EQ(block["columns"][0]["values"].size(), 2U);
        EXPECT_EQ(block["details"]["offsets"].size(), 3U);
        ++found;
      }
      if (block.value("id", "") == "workers-table") {
        EXPECT_EQ(block["left_out"]["rows"], 2);
        ++found;
      }
    }
  }
  EXPECT_EQ(found, 2);
}

TEST(Words, AreAsPeopleWriteThem) {
  EXPECT_EQ(with_commas(0), "0");
  EXPECT_EQ(with_commas(999), "999");
  EXPECT_EQ(with_commas(1234567), "1,234,567");
  EXPECT_EQ(count_noun(1, "class"), "1 class");
  EXPECT_EQ(count_noun(2, "class"), "2 classes");
  EXPECT_EQ(count_noun(1, "task", "needs", "need"), "1 task needs");
  EXPECT_EQ(percent(0.973), "97 %");
  EXPECT_EQ(percent(0.998), "99.8 %");
  EXPECT_EQ(percent(0.99999), "almost 100 %");
  EXPECT_EQ(percent(0.002), "0.2 %");
  EXPECT_EQ(percent(std::uint64_t{0}, std::uint64_t{0}), "0 %");
  EXPECT_EQ(listing({"a"}), "a");
  EXPECT_EQ(listing({"a", "b"}), "a and b");
  EXPECT_EQ(listing({"a", "b", "c", "d", "e"}), "a, b, c and 2 more");
}

}  // namespace
}  // namespace crowdfold
