#include "crowdfold/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/simulate.h"
#include "report/parts.h"
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

// A worker who knows the answer with this probability, and otherwise says yes with that of `yes`.
Behaviour knowing(double knowledge, std::uint64_t seed, double yes = 0.5) {
  return [=](int task) {
    Random random(seed * 1'000'003 + static_cast<std::uint64_t>(task));
    if (random.uniform() < knowledge) return right(task);
    return std::string(random.uniform() < yes ? "yes" : "no");
  };
}

std::vector<std::pair<std::string, Behaviour>> workers_knowing(int number, double knowledge,
                                                               std::uint64_t seed = 1) {
  std::vector<std::pair<std::string, Behaviour>> workers;
  for (int w = 0; w < number; ++w)
    workers.emplace_back("w" + std::to_string(w),
                         knowing(knowledge, seed * 100 + static_cast<std::uint64_t>(w)));
  return workers;
}

bool is_named(const ReportedWorker& w) {
  return w.mark == WorkerMark::random || w.mark == WorkerMark::adversary;
}

TEST(ReportWorkers, AreMarkedByTheVoteOfTheOthers) {
  const Labels labels = crowd_of(400, {{"good", right},
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

TEST(ReportWorkers, WhoAgreeWithNobodyAreNotUseful) {
  // Free text: everybody else says the same, "loner" something else on each of 20 tasks.
  Rows rows;
  for (int t = 0; t < 20; ++t) {
    for (const char* name : {"a", "b", "c"})
      rows.push_back({"t" + std::to_string(t), name, "answer " + std::to_string(t)});
    rows.push_back({"t" + std::to_string(t), "loner", "other " + std::to_string(t)});
  }
  const Labels labels = labels_from(rows);
  const Report report = report_of(labels);
  EXPECT_EQ(worker(report, labels, "loner").agreed, 0U);
  EXPECT_NE(worker(report, labels, "loner").mark, WorkerMark::useful);
  EXPECT_EQ(worker(report, labels, "a").mark, WorkerMark::useful);
}

TEST(ReportWorkers, WhoAreRightSixTimesOfTenDoNotAnswerAtRandom) {
  // Qualities of .61 to .67 among two classes are a knowledge of .22 to .34.
  int named = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    auto crowd = workers_knowing(4, 0.6, seed);
    for (int w = 0; w < 6; ++w)
      crowd.emplace_back("weak" + std::to_string(w),
                         knowing(0.22 + 0.02 * w, seed * 50 + static_cast<std::uint64_t>(w)));
    const Labels labels = crowd_of(150, crowd);
    for (const ReportedWorker& w : report_of(labels).workers) named += is_named(w) ? 1 : 0;
  }
  EXPECT_EQ(named, 0);
}

TEST(ReportWorkers, WhoGuessByAHabitOfTheirOwnAnswerAtRandom) {
  auto crowd = workers_knowing(5, 0.7);
  crowd.emplace_back("yea", knowing(0, 77, 0.8));
  const Labels labels = crowd_of(800, crowd);
  const Report report = report_of(labels);
  EXPECT_EQ(worker(report, labels, "yea").mark, WorkerMark::random);
  EXPECT_TRUE(advises(report, labels, "Worker yea answers at random"));
  EXPECT_NE(headline_of(report).find("1 worker answers at random"), std::string::npos);
  EXPECT_FALSE(advises(report_of(crowd_of(800, workers_knowing(5, 0.7))), labels, "at random"));
}

TEST(ReportWorkers, WhoMeanOtherClassesDoNotAnswerAtRandom) {
  // "shifted" says the class behind the right one: never right, and all but random.
  const auto third = [](int t) { return std::to_string(t % 3); };
  const auto next = [](int t) { return std::to_string((t + 1) % 3); };
  const Labels labels = crowd_of(300, {{"a", third}, {"b", third}, {"c", third}, {"shifted", next}});
  EXPECT_EQ(worker(report_of(labels), labels, "shifted").mark, WorkerMark::adversary);
}

TEST(ReportWorkers, WhoOnlySpeakOnTheRightTasksDoNotAnswerAtRandom) {
  // A labelling function: it says yes alone, four times of five on tasks whose answer is that.
  Rows rows;
  for (int t = 0; t < 400; ++t) {
    for (const char* name : {"a", "b", "c"}) rows.push_back({"t" + std::to_string(t), name, right(t)});
    if (t % 10 == 0 || t % 10 == 2 || t % 10 == 4 || t % 10 == 6 || t % 10 == 7)
      rows.push_back({"t" + std::to_string(t), "function", "yes"});
  }
  const Labels labels = labels_from(rows);
  EXPECT_EQ(worker(report_of(labels), labels, "function").mark, WorkerMark::unsure);
}

TEST(ReportWorkers, AreJudgedByTruthsWhereTheyAreKnown) {
  // Three who guess outvote the one who knows.
  const Labels labels =
      crowd_of(400, {{"sage", right}, {"x", by_thirds}, {"y", by_thirds}, {"z", by_thirds}});
  const Report blind = report_of(labels);
  const Report seeing = report_of(labels, truths_of(labels));
  EXPECT_EQ(worker(blind, labels, "x").mark, WorkerMark::useful);
  EXPECT_EQ(worker(seeing, labels, "x").mark, WorkerMark::random);
  EXPECT_EQ(worker(seeing, labels, "sage").mark, WorkerMark::useful);
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
  options.tasks = 8000;
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
    good += quality >= 0.4 ? 1 : 0;
    accused += quality >= 0.4 && marked ? 1 : 0;
  }
  EXPECT_GE(caught, spammers * 8 / 10) << spammers;
  EXPECT_GT(good, 60);
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
  EXPECT_EQ(tasks.settled + tasks.open + tasks.without_labels, tasks.tasks);
  EXPECT_EQ(tasks.answers.size(), 40U);
  ASSERT_EQ(tasks.labels_per_task.size(), 5U);
  EXPECT_EQ(tasks.labels_per_task[4], 40U);
  EXPECT_EQ(tasks.first.size(), 3U);
  for (std::size_t i = 1; i < tasks.first.size(); ++i)
    EXPECT_LE(tasks.first[i - 1].confidence, tasks.first[i].confidence);
  std::uint64_t binned = 0;
  for (const TaskSummary::Bin& bin : tasks.confidence) binned += bin.tasks;
  EXPECT_EQ(binned, 40U);
}

// Three workers per task, in turns.
LabelsBuilder sparse_crowd(int tasks, int workers) {
  LabelsBuilder builder;
  for (int t = 0; t < tasks; ++t) {
    for (int j = 0; j < 3; ++j) {
      const int w = (3 * t + j) % workers;
      builder.add("t" + std::to_string(t), "w" + std::to_string(w),
                  knowing(0.5, static_cast<std::uint64_t>(w) + 1)(t));
    }
  }
  return builder;
}

TEST(ReportTasks, ThatWantOneMoreLabelAreMostlySettledByIt) {
  LabelsBuilder before = sparse_crowd(600, 20);
  const Labels labels = before.build();
  const Report report = report_of(labels);
  ASSERT_GE(report.tasks.wanted[1], 20U);
  LabelsBuilder after = sparse_crowd(600, 20);
  for (const ReportedTask& task : report.tasks.answers) {
    if (task.wanted != 1) continue;
    const int number = std::stoi(std::string(labels.tasks()[task.task].substr(1)));
    after.add("t" + std::to_string(number), "w" + std::to_string((3 * number + 3) % 20),
              labels.classes()[task.estimate]);
  }
  const Labels more = after.build();
  const Report then = report_of(more);
  std::uint64_t settled = 0;
  for (const ReportedTask& task : report.tasks.answers) {
    if (task.wanted != 1) continue;
    settled += then.tasks.answers[*more.tasks().find(labels.tasks()[task.task])].wanted == 0 ? 1 : 0;
  }
  EXPECT_GT(2 * settled, report.tasks.wanted[1]);
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
  EXPECT_TRUE(headline_of(report).starts_with("Nothing is settled: the labels agree no more often"));
  EXPECT_TRUE(advises(report, labels, "1 task has no label yet"));
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

TEST(ReportTasks, AddUpInTheHeadline) {
  Rows rows;
  for (int t = 0; t < 40; ++t) {
    for (const char* name : {"a", "b", "c", "d", "e"})
      rows.push_back({"t" + std::to_string(t), name, right(t)});
  }
  for (const char* name : {"a", "b"}) rows.push_back({"u1", name, "yes"});
  for (const char* name : {"c", "d"}) rows.push_back({"u1", name, "no"});
  rows.push_back({"u2", "a", ""});
  const Labels labels = labels_from(rows);
  const Report report = report_of(labels);
  EXPECT_EQ(headline_of(report), "40 of 42 tasks (95 %) are settled, 1 is open, 1 has no label");
  EXPECT_TRUE(advises(report, labels, "1 task is open"));
  EXPECT_FALSE(advises(report, labels, "no more labels are needed"));
}

TEST(ReportFooting, IsNoneWhereNoTwoWorkersMeet) {
  Rows rows;
  for (int t = 0; t < 200; ++t)
    rows.push_back({"t" + std::to_string(t), "w" + std::to_string(t % 7), right(t)});
  const Labels labels = labels_from(rows);
  const Report report = report_of(labels);
  EXPECT_EQ(report.footing, Footing::no_overlap);
  EXPECT_EQ(report.tasks.settled, 0U);
  EXPECT_EQ(headline_of(report),
            "Nothing is settled: no task has labels of two workers, so nothing shows how good a worker "
            "or an answer is");
  EXPECT_EQ(advice_of(report, labels).items.at(0).text.rfind("Nothing is settled", 0), 0U);
  EXPECT_FALSE(advises(report, labels, "no more labels are needed"));
  for (const ReportedWorker& w : report.workers) EXPECT_EQ(w.mark, WorkerMark::unsure);
}

TEST(ReportFooting, IsNoneWhereAllGuess) {
  int sound = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Labels labels = crowd_of(100, workers_knowing(6, 0, seed));
    const Report report = report_of(labels);
    sound += report.footing == Footing::sound ? 1 : 0;
    if (report.footing == Footing::sound) continue;
    EXPECT_EQ(report.tasks.settled, 0U);
    EXPECT_TRUE(headline_of(report).starts_with("Nothing is settled: the labels agree no more often"));
  }
  EXPECT_LE(sound, 2);  // 1 in 20 at most
  for (std::uint64_t seed = 1; seed <= 5; ++seed)
    EXPECT_EQ(report_of(crowd_of(100, workers_knowing(6, 0.4, seed))).footing, Footing::sound);
}

TEST(ReportFooting, IsSoundWhereSomeKnowAndOneContradicts) {
  auto crowd = workers_knowing(3, 0.8);
  crowd.emplace_back("liar", wrong);
  crowd.emplace_back("guesser", by_thirds);
  EXPECT_EQ(report_of(crowd_of(100, crowd)).footing, Footing::sound);
}

TEST(ReportFooting, IsNoneWhereAllLabelsAreTheSame) {
  const Labels labels = crowd_of(30, {{"a", always_yes}, {"b", always_yes}});
  const Report report = report_of(labels);
  EXPECT_EQ(report.footing, Footing::one_class);
  EXPECT_EQ(report.tasks.settled, 0U);
}

TEST(ReportOfOneClass, ShowsNoConfidencesAndNoAgreement) {
  const Labels labels = crowd_of(30, {{"a", always_yes}, {"b", always_yes}, {"c", always_yes}});
  const std::vector<ClassId> truths(30, 0);
  const Report report = report_of(labels, truths);
  EXPECT_FALSE(report.jury.has_value());
  EXPECT_FALSE(advises(report, labels, "confidences"));
  EXPECT_TRUE(advises(report, labels, "100 % of 30 tasks with a known truth are answered right (89 %"));
  const std::string page = to_json(document_of(report, labels, truths, "labels.csv"));
  for (const char* const absent :
       {"\"Confidence\"", "calibration", "og-loss", "Who agrees", "Other methods", "\"jury\""})
    EXPECT_EQ(page.find(absent), std::string::npos) << absent;
  EXPECT_NE(page.find("There is only one class"), std::string::npos);
  // Of two, they are there.
  const Labels two = crowd_of(30, {{"a", right}, {"b", right}, {"c", right}});
  const std::string other = to_json(document_of(report_of(two), two, {}, "labels.csv"));
  EXPECT_NE(other.find("\"Confidence\""), std::string::npos);
  EXPECT_EQ(other.find("There is only one class"), std::string::npos);
}

TEST(ReportWorkers, WhoLabelTasksOfTheirClassMoreOftenAreNotNamedForTheTruths) {
  // “keen” says yes on half of the tasks that are yes and on a sixth of the others, “loud” on nearly
  // all, so yes is by far the most frequent label. By the truths, a yes of keen is right three times as
  // often.
  Random random(3);
  LabelsBuilder builder;
  std::vector<std::string> truth;
  for (int t = 0; t < 1200; ++t) {
    const std::string task = "t" + std::to_string(t);
    truth.emplace_back(t % 4 == 0 ? "yes" : "no");
    builder.add(task, "loud", "yes");
    if (random.uniform() < (t % 4 == 0 ? 0.5 : 1.0 / 6)) builder.add(task, "keen", "yes");
    if (t % 3 == 0) builder.add(task, "careful", truth.back());
  }
  const Labels labels = builder.build();
  std::vector<ClassId> truths;
  for (const std::string& name : truth)
    truths.push_back(static_cast<ClassId>(*labels.classes().find(name)));
  const Report report = report_of(labels, truths);
  EXPECT_NE(worker(report, labels, "keen").mark, WorkerMark::random);
  EXPECT_EQ(worker(report, labels, "loud").mark, WorkerMark::random);
  EXPECT_TRUE(advises(report, labels, "900 of these tasks the truth is, or others say, otherwise"));
}

TEST(ReportTruths, ComeFirstAndTheHeadlineAgreesWithThem) {
  // Everybody is sure of "yes" on all tasks of a third kind, and wrong.
  const auto misled = [](int t) { return t % 5 == 0 ? wrong(t) : right(t); };
  const Labels labels =
      crowd_of(200, {{"a", misled}, {"b", misled}, {"c", misled}, {"d", misled}, {"e", misled}});
  const std::vector<ClassId> truths = truths_of(labels);
  const Report report = report_of(labels, truths);
  EXPECT_EQ(report.footing, Footing::contradicted);
  EXPECT_EQ(report.tasks.settled, 0U);
  const std::string headline = headline_of(report);
  EXPECT_TRUE(headline.starts_with(
      "80 % of 200 tasks with a known truth are answered right (74 % to 85 %), fewer than the"))
      << headline;
  const Advice::Item first = advice_of(report, labels).items.at(0);
  EXPECT_EQ(first.section, "truth");
  EXPECT_EQ(first.tone, Tone::bad);
  EXPECT_NE(first.text.find("too much"), std::string::npos);

  const Labels good = crowd_of(200, {{"a", right}, {"b", right}, {"c", right}, {"d", right}});
  const std::vector<ClassId> known = truths_of(good);
  const Report fine = report_of(good, known);
  EXPECT_EQ(fine.footing, Footing::sound);
  EXPECT_EQ(
      headline_of(fine),
      "100 % of 200 tasks with a known truth are answered right (98 % to 100 %); all 200 tasks are "
      "settled");
  EXPECT_EQ(advice_of(fine, good).items.at(0).tone, Tone::accent);
}

TEST(ReportTruths, SayWhetherTheConfidencesFitAndWhereTheyAreFew) {
  const Labels labels = crowd_of(200, {{"a", right}, {"b", right}, {"c", right}, {"d", right}});
  std::vector<ClassId> truths = truths_of(labels);
  const Report many = report_of(labels, truths);
  EXPECT_TRUE(advises(many, labels, "the confidences promise 97 %, too little"));
  EXPECT_FALSE(advises(many, labels, "few truths"));
  std::fill(truths.begin() + 20, truths.end(), kNoClass);
  const Report few = report_of(labels, truths);
  EXPECT_TRUE(advises(few, labels, "the confidences promise 97 %, which fits. These are few truths"));
  EXPECT_FALSE(advises(report_of(labels), labels, "truth"));
}

TEST(ReportWorkers, WhoStayTheSameAreNotSaidToAgreeLess) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Labels labels = crowd_of(300, workers_knowing(10, 0.5, seed));
    EXPECT_FALSE(advises(report_of(labels), labels, "as time goes on"));
  }
}

// Five workers who err on one task of five: on "no" alone, or on both classes alike.
Labels crowd_that_errs(bool on_no_alone, std::uint64_t seed, const char* no = "no") {
  Random random(seed);
  LabelsBuilder builder;
  for (int t = 0; t < 300; ++t) {
    for (const char* name : {"a", "b", "c", "d", "e"}) {
      const bool errs = random.uniform() < (on_no_alone ? (t % 2 == 0 ? 0 : 0.3) : 0.15);
      const bool yes = (t % 2 == 0) != errs;
      builder.add("t" + std::to_string(t), name, yes ? "yes" : no);
    }
  }
  return builder.build();
}

TEST(ReportClasses, AreCalledMixedUpOnlyBeyondSymmetricErrors) {
  const Labels one_sided = crowd_that_errs(true, 1);
  EXPECT_TRUE(advises(report_of(one_sided), one_sided, "“no” is often taken for “yes”"));
  EXPECT_FALSE(advises(report_of(one_sided), one_sided, "“yes” is often taken for “no”"));
  int told = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Labels even = crowd_that_errs(false, seed);
    for (const MixUp& mix_up : report_of(even).mix_ups) told += mix_up.asymmetric ? 1 : 0;
  }
  EXPECT_LE(told, 2);
}

TEST(ReportClasses, InTwoSpellingsAreToldAsSpellings) {
  Rows rows;
  for (int t = 0; t < 60; ++t) {
    for (const char* name : {"a", "b"}) rows.push_back({"t" + std::to_string(t), name, right(t)});
    rows.push_back({"t" + std::to_string(t), "c", t % 2 == 0 ? "Yes" : "no"});
  }
  const Labels labels = labels_from(rows);
  const Report report = report_of(labels);
  EXPECT_TRUE(advises(report, labels, "look like one class in 2 spellings: --fold-case makes them one"));
  EXPECT_FALSE(advises(report, labels, "often taken for"));
  const Labels plain = crowd_of(60, {{"a", right}, {"b", right}});
  EXPECT_FALSE(advises(report_of(plain), plain, "spellings"));
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
  // That is what one worker does, not a fault of the classes.
  EXPECT_FALSE(advises(report, labels, "often taken for"));
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

TEST(ReportWorkers, WhoContradictTheOthersAreSaidToBeWorseThanChance) {
  auto crowd = workers_knowing(4, 0.7);
  const Labels fine = crowd_of(100, crowd);
  crowd.emplace_back("contrary", wrong);
  const Labels labels = crowd_of(100, crowd);
  EXPECT_TRUE(advises(report_of(labels), labels, "Worker contrary answers worse than chance"));
  EXPECT_FALSE(advises(report_of(fine), fine, "worse than chance"));
}

TEST(ReportWorkers, WhoGiveMuchOfAllAreMentioned) {
  Rows rows;
  for (int t = 0; t < 50; ++t) {
    rows.push_back({"t" + std::to_string(t), "busy", right(t)});
    rows.push_back({"t" + std::to_string(t), "w" + std::to_string(t % 5), right(t)});
  }
  const Labels labels = labels_from(rows);
  EXPECT_TRUE(advises(report_of(labels), labels, "Worker busy gave 50 % of all labels"));
  const Labels even = crowd_of(50, workers_knowing(6, 0.8));
  EXPECT_FALSE(advises(report_of(even), even, "of all labels"));
}

// Two who label everything, of equal quality, as far as anybody can know.
TEST(Settled, IsNoTaskOnWhichJustTwoWorkersDisagree) {
  for (const char* method : {"mv", "onepass", "twopass", "threepass", "ds"}) {
    Random random(11);
    LabelsBuilder builder;
    for (int t = 0; t < 200; ++t) {
      for (const char* who : {"ann", "bob"})
        builder.add("t" + std::to_string(t), who, random.uniform() < 0.8 ? right(t) : wrong(t));
    }
    const Labels labels = builder.build();
    ReportOptions options;
    options.method = method;
    const Report report = report_of(labels, {}, options);
    std::uint64_t contested = 0;
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      const TaskLabels task = labels.task(t);
      if (task.classes[0] == task.classes[1]) continue;
      ++contested;
      EXPECT_GT(report.tasks.answers.at(t).wanted, 0U) << method;
    }
    EXPECT_GT(contested, 40U);
    EXPECT_LE(report.tasks.settled, 200 - contested) << method;
  }
}

TEST(Settled, MayBeATaskOfTwoWhereOthersShowWhoIsBetter) {
  Random random(5);
  LabelsBuilder builder;
  for (int t = 0; t < 300; ++t) {
    const std::string task = "t" + std::to_string(t);
    builder.add(task, "good", right(t));
    builder.add(task, "poor", random.uniform() < 0.55 ? right(t) : wrong(t));
    if (t % 2 == 0) {
      builder.add(task, "c", random.uniform() < 0.95 ? right(t) : wrong(t));
      builder.add(task, "d", random.uniform() < 0.95 ? right(t) : wrong(t));
    }
  }
  const Labels labels = builder.build();
  const std::vector<bool> undecided = undecided_tasks(labels, {});
  EXPECT_EQ(std::count(undecided.begin(), undecided.end(), true), 0);
}

TEST(ReportInput, ThatIsLeftOutIsTold) {
  LabelsBuilder builder;
  for (int t = 0; t < 30; ++t) {
    for (const char* name : {"a", "b"}) builder.add("t" + std::to_string(t), name, right(t));
  }
  builder.add("t0", "a", "no");
  builder.add("alone", "a", "no");
  const Labels labels = builder.build().with_skipped_rows(2);
  const Report report = report_of(labels);
  EXPECT_TRUE(advises(report, labels, "2 rows could not be read and left out"));
  EXPECT_TRUE(advises(report, labels, "1 label of a worker on a task that they had labelled before"));
  EXPECT_TRUE(advises(report, labels, "1 task has a single label"));
  const Labels clean = crowd_of(30, {{"a", right}, {"b", right}});
  for (const char* const words : {"could not be read", "labelled before", "a single label"})
    EXPECT_FALSE(advises(report_of(clean), clean, words));
}

TEST(ReportMethods, AreCalledBetterOnlyBeyondChance) {
  auto crowd = workers_knowing(2, 0.95);
  for (int w = 0; w < 5; ++w)
    crowd.emplace_back("g" + std::to_string(w), knowing(0, 500 + static_cast<std::uint64_t>(w)));
  const Labels labels = crowd_of(300, crowd);
  ReportOptions options;
  options.method = "mv";
  options.compared = {"mv", "threepass"};
  EXPECT_TRUE(advises(report_of(labels, truths_of(labels), options), labels,
                      "The method threepass does better on these truths"));
  const Labels even = crowd_of(300, workers_knowing(5, 0.6));
  EXPECT_FALSE(advises(report_of(even, truths_of(even), options), even, "does better on these truths"));
}

TEST(ReportDrift, IsNotSeenWhereNothingChanges) {
  int told = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Labels labels = crowd_of(600, workers_knowing(4, 0.5, seed));
    told += advises(report_of(labels), labels, "as the tasks go on") ? 1 : 0;
  }
  EXPECT_EQ(told, 0);
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
