#include "crowdfold/metrics.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "base/random.h"
#include "crowdfold/error.h"
#include "support.h"

namespace crowdfold {
namespace {

// For lists in braces.
Evaluation evaluate(const std::vector<ClassId>& estimates, const std::vector<ClassId>& truths,
                    std::uint32_t num_classes, const std::vector<double>& confidence = {},
                    const std::vector<double>& posterior = {}) {
  return crowdfold::evaluate(std::span(estimates), std::span(truths), num_classes, confidence,
                             posterior);
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
using testing::kExact;

struct Row {
  std::string task;
  std::string worker;
  std::string label;
};

Labels labels_from(const std::vector<Row>& rows) {
  LabelsBuilder builder(Duplicates::keep);
  for (const Row& row : rows) builder.add(row.task, row.worker, row.label);
  return builder.build();
}

// One string per worker, one character per task; '.' where the worker said nothing.
std::vector<Row> rows_of(const std::vector<std::string>& by_worker) {
  std::vector<Row> rows;
  for (std::size_t w = 0; w < by_worker.size(); ++w) {
    for (std::size_t t = 0; t < by_worker[w].size(); ++t) {
      if (by_worker[w][t] == '.') continue;
      rows.push_back({fmt::format("t{}", t), fmt::format("w{}", w), std::string(1, by_worker[w][t])});
    }
  }
  return rows;
}

Labels labels_by_worker(const std::vector<std::string>& by_worker) {
  return labels_from(rows_of(by_worker));
}

// `workers` different workers on one task, all of one opinion.
Labels unanimous_task(int workers) {
  LabelsBuilder builder;
  for (int w = 0; w < workers; ++w) builder.add("t", fmt::format("w{}", w), "a");
  return builder.build();
}

ErrorCode code_of_error(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  ADD_FAILURE() << "nothing was thrown";
  return ErrorCode::internal;
}

TEST(Evaluate, CountsHitsPerClassAndOverall) {
  const Evaluation e = evaluate({0, 0, 1, 1, 1, 2}, {0, 0, 0, 1, 1, 1}, 4);
  EXPECT_EQ(e.tasks, 6U);
  EXPECT_EQ(e.correct, 4U);
  EXPECT_DOUBLE_EQ(e.accuracy, 4.0 / 6);
  EXPECT_EQ(e.confusion, (std::vector<std::uint64_t>{2, 1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(e.classes[0].truths, 3U);
  EXPECT_EQ(e.classes[0].estimates, 2U);
  EXPECT_DOUBLE_EQ(e.classes[0].precision, 1);
  EXPECT_DOUBLE_EQ(e.classes[0].recall, 2.0 / 3);
  EXPECT_DOUBLE_EQ(e.classes[0].f1, 0.8);
  EXPECT_DOUBLE_EQ(e.classes[1].f1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(e.classes[2].recall, 0);
  EXPECT_DOUBLE_EQ(e.classes[3].precision, 0);
}

TEST(Evaluate, AveragesF1OverTheClassesThatOccur) {
  // Class 2 is estimated but never true (f1 0), class 3 does not occur at all.
  const Evaluation e = evaluate({0, 0, 1, 1, 1, 2}, {0, 0, 0, 1, 1, 1}, 4);
  EXPECT_NEAR(e.macro_f1, (0.8 + 2.0 / 3 + 0) / 3, kExact);
}

TEST(Evaluate, LeavesOutATaskWithoutATruth) {
  const Evaluation e = evaluate({0, 1, 1}, {0, kNoClass, 1}, 2, {.5, .9, .5});
  EXPECT_EQ(e.tasks, 2U);
  EXPECT_DOUBLE_EQ(e.accuracy, 1);
  EXPECT_EQ(e.classes[1].estimates, 1U);
  EXPECT_NEAR(e.log_loss, std::log(2), kExact);
  EXPECT_EQ(e.bins[9].tasks, 0U);
}

TEST(Evaluate, CountsAMissingEstimateAsWrong) {
  const Evaluation e = evaluate({0, kNoClass}, {0, 1}, 2);
  EXPECT_EQ(e.tasks, 2U);
  EXPECT_DOUBLE_EQ(e.accuracy, 0.5);
  EXPECT_EQ(e.confusion, (std::vector<std::uint64_t>{1, 0, 0, 0}));
  EXPECT_EQ(e.classes[1].truths, 1U);
}

TEST(Evaluate, TakesAMissingEstimateForAnEvenGuess) {
  const Evaluation e = evaluate({kNoClass}, {1}, 4, {0});
  EXPECT_NEAR(e.log_loss, std::log(4), kExact);
  EXPECT_NEAR(e.calibration_error, 0, kExact);
}

TEST(Evaluate, GivesZerosWhereNoTruthIsKnown) {
  const Evaluation e = evaluate({0, 1}, {kNoClass, kNoClass}, 2, {.5, .5});
  EXPECT_EQ(e.tasks, 0U);
  EXPECT_EQ(e.accuracy, 0);
  EXPECT_EQ(e.macro_f1, 0);
  EXPECT_EQ(e.log_loss, 0);
  EXPECT_EQ(e.calibration_error, 0);
}

TEST(Evaluate, HasNoLogLossWithoutConfidence) {
  const Evaluation e = evaluate({0}, {0}, 2);
  EXPECT_FALSE(e.has_confidence);
  EXPECT_TRUE(e.bins.empty());
}

TEST(Evaluate, SpreadsWhatTheConfidenceLeavesOverTheOtherClasses) {
  const Evaluation e = evaluate({0, 0}, {0, 2}, 3, {.7, .7});
  EXPECT_TRUE(e.has_confidence);
  EXPECT_NEAR(e.log_loss, -(std::log(.7) + std::log(.15)) / 2, kExact);
}

TEST(Evaluate, PrefersThePosteriorForTheLogLoss) {
  const Evaluation e = evaluate({0, 0}, {0, 2}, 3, {.7, .7}, {.7, .2, .1, .7, .05, .25});
  EXPECT_NEAR(e.log_loss, -(std::log(.7) + std::log(.25)) / 2, kExact);
}

TEST(Evaluate, TakesTheConfidenceFromThePosteriorWhereOnlyThatIsGiven) {
  const Evaluation e = evaluate({0, 0}, {0, 1}, 2, {}, {.75, .25, .75, .25});
  EXPECT_TRUE(e.has_confidence);
  EXPECT_EQ(e.bins[7].tasks, 2U);
  EXPECT_NEAR(e.calibration_error, .25, kExact);
}

TEST(Evaluate, KeepsTheLogLossOfACertainMistakeFinite) {
  EXPECT_NEAR(evaluate({0}, {1}, 2, {1}).log_loss, -std::log(1e-15), kExact);
}

TEST(Evaluate, BinsConfidenceIntoTenthsAndPutsOneIntoTheLast) {
  const Evaluation e = evaluate({0, 0, 0, 0}, {0, 1, 0, 0}, 2, {.5, .59, .95, 1});
  ASSERT_EQ(e.bins.size(), 10U);
  EXPECT_DOUBLE_EQ(e.bins[5].lower, .5);
  EXPECT_DOUBLE_EQ(e.bins[5].upper, .6);
  EXPECT_EQ(e.bins[5].tasks, 2U);
  EXPECT_NEAR(e.bins[5].confidence, .545, kExact);
  EXPECT_NEAR(e.bins[5].accuracy, .5, kExact);
  EXPECT_EQ(e.bins[9].tasks, 2U);
  EXPECT_NEAR(e.bins[9].confidence, .975, kExact);
  EXPECT_NEAR(e.bins[9].accuracy, 1, kExact);
  EXPECT_NEAR(e.calibration_error, (2 * .045 + 2 * .025) / 4, kExact);
}

TEST(Evaluate, RefusesInputsOfDifferentLengths) {
  EXPECT_EQ(code_of_error([] { evaluate({0, 1}, {0}, 2); }), ErrorCode::usage);
  EXPECT_EQ(code_of_error([] { evaluate({0, 1}, {0, 1}, 2, {.5}); }), ErrorCode::usage);
  EXPECT_EQ(code_of_error([] { evaluate({0, 1}, {0, 1}, 2, {}, {.5, .5}); }), ErrorCode::usage);
}

TEST(Evaluate, RefusesAClassBeyondTheNumberOfClasses) {
  EXPECT_EQ(code_of_error([] { evaluate({2}, {0}, 2); }), ErrorCode::usage);
  EXPECT_EQ(code_of_error([] { evaluate({0}, {2}, 2); }), ErrorCode::usage);
}

TEST(Evaluate, RefusesAConfidenceThatIsNoProbability) {
  for (const double confidence : {-.1, 1.1, kNaN}) {
    EXPECT_EQ(code_of_error([&] { evaluate({0}, {0}, 2, {confidence}); }), ErrorCode::data)
        << confidence;
  }
}

TEST(Evaluate, ForgivesAConfidenceThatRoundingLeftAboveOne) {
  EXPECT_EQ(evaluate({0}, {0}, 2, {1 + 1e-12}).log_loss, 0);
}

// Fleiss (1971), table 1: how many of six psychiatrists put each of 30 patients into five classes.
constexpr int kFleiss1971[30][5] = {
    {0, 0, 0, 6, 0}, {0, 3, 0, 0, 3}, {0, 1, 4, 0, 1}, {0, 0, 0, 0, 6}, {0, 3, 0, 3, 0},
    {2, 0, 4, 0, 0}, {0, 0, 4, 0, 2}, {2, 0, 3, 1, 0}, {2, 0, 0, 4, 0}, {0, 0, 0, 0, 6},
    {1, 0, 0, 5, 0}, {1, 1, 0, 4, 0}, {0, 3, 3, 0, 0}, {1, 0, 0, 5, 0}, {0, 2, 0, 3, 1},
    {0, 0, 5, 0, 1}, {3, 0, 0, 1, 2}, {5, 1, 0, 0, 0}, {0, 2, 0, 4, 0}, {1, 0, 2, 0, 3},
    {0, 0, 0, 0, 6}, {0, 1, 0, 5, 0}, {0, 2, 0, 1, 3}, {2, 0, 0, 4, 0}, {1, 0, 0, 4, 1},
    {0, 5, 0, 1, 0}, {4, 0, 0, 0, 2}, {0, 2, 0, 4, 0}, {1, 0, 5, 0, 0}, {0, 0, 0, 0, 6}};

TEST(Agreement, GivesFleissKappaOfTheOriginalExample) {
  std::vector<Row> rows;
  for (int t = 0; t < 30; ++t) {
    int worker = 0;
    for (int k = 0; k < 5; ++k) {
      for (int i = 0; i < kFleiss1971[t][k]; ++i) {
        rows.push_back({std::to_string(t), std::to_string(worker++), std::to_string(k)});
      }
    }
  }
  const Agreement a = agreement(labels_from(rows));
  EXPECT_EQ(a.tasks, 30U);
  EXPECT_EQ(a.labels, 180U);
  EXPECT_NEAR(a.percent, .5556, .00005);
  EXPECT_NEAR(a.fleiss_kappa, .430, .0005);
}

TEST(Agreement, GivesFleissKappaWhereTasksHaveDifferentNumbersOfLabels) {
  // P: 1, 1/3, 0. Of 7 labels 4 are a, 3 are b: expected (16 + 9) / 49. The last task is alone.
  const Agreement a = agreement(labels_by_worker({"aaba", "aba.", ".b.."}));
  EXPECT_EQ(a.tasks, 3U);
  EXPECT_EQ(a.labels, 7U);
  EXPECT_NEAR(a.percent, 4.0 / 9, kExact);
  EXPECT_NEAR(a.fleiss_kappa, (4.0 / 9 - 25.0 / 49) / (24.0 / 49), kExact);
}

TEST(Agreement, GivesKrippendorffAlphaOfTheFourObserversExample) {
  const Agreement a =
      agreement(labels_by_worker({"123321412...", "1233224125.3", ".3332342251.", "12332441251."}));
  EXPECT_EQ(a.tasks, 11U);
  EXPECT_EQ(a.labels, 40U);
  EXPECT_NEAR(a.krippendorff_alpha, .743, .0005);
}

// Counts of (first worker, second worker): yes-yes 20, yes-no 5, no-yes 10, no-no 15.
std::vector<std::string> two_by_two() {
  return {std::string(25, 'y') + std::string(25, 'n'),
          std::string(20, 'y') + std::string(5, 'n') + std::string(10, 'y') + std::string(15, 'n')};
}

TEST(Agreement, GivesCohenKappaOfATwoByTwoTable) {
  const Agreement a = agreement(labels_by_worker(two_by_two()));
  EXPECT_EQ(a.worker_pairs, 1U);
  EXPECT_NEAR(a.percent, .7, kExact);
  EXPECT_NEAR(a.cohen_kappa, .4, kExact);  // (.7 - .5) / (1 - .5)
}

TEST(Agreement, WeightsCohenKappaByCommonTasks) {
  // The two workers of the table, and on other tasks a pair that always disagrees.
  std::vector<std::string> by_worker = two_by_two();
  by_worker.push_back(std::string(50, '.') + "yn");
  by_worker.push_back(std::string(50, '.') + "ny");
  const Agreement a = agreement(labels_by_worker(by_worker));
  EXPECT_EQ(a.worker_pairs, 2U);
  EXPECT_NEAR(a.cohen_kappa, (50 * .4 + 2 * -1) / 52, kExact);
}

TEST(Agreement, TakesCohenMarginalsOverCommonTasksOnly) {
  // 4 tasks with the second worker: (.75 - .5) / .5; 2 with the third: 1. The first worker's
  // marginals over all six tasks would give another value.
  const Agreement a = agreement(labels_by_worker({"yyynyn", "yynn..", "....yn"}));
  EXPECT_NEAR(a.cohen_kappa, (4 * .5 + 2 * 1) / 6, kExact);
}

TEST(Agreement, LeavesPairsOfOneClassOutOfCohenKappa) {
  const Agreement a = agreement(labels_by_worker({"aaaa", "aa..", "..bb"}));
  // Pairs: nothing but a, undefined; always a against always b: observed 0, expected 0, kappa 0.
  EXPECT_EQ(a.worker_pairs, 2U);
  EXPECT_NEAR(a.cohen_kappa, 0, kExact);
}

TEST(Agreement, OfOneClassIsUndefinedBeyondItsShare) {
  const Agreement a = agreement(labels_by_worker({"aaa", "aaa"}));
  EXPECT_EQ(a.percent, 1);
  EXPECT_TRUE(std::isnan(a.cohen_kappa));
  EXPECT_TRUE(std::isnan(a.fleiss_kappa));
  EXPECT_TRUE(std::isnan(a.krippendorff_alpha));
}

TEST(Agreement, TakesAWorkersLastLabelForCohenKappaAndEveryLabelElsewhere) {
  const std::vector<Row> once = {{"1", "u", "a"}, {"1", "v", "a"}, {"2", "u", "b"},
                                 {"2", "v", "b"}, {"3", "u", "a"}, {"3", "v", "b"}};
  std::vector<Row> repeated = once;
  repeated.insert(repeated.begin(), {"1", "v", "b"});
  const Agreement expected = agreement(labels_from(once));
  const Agreement a = agreement(labels_from(repeated));
  EXPECT_EQ(a.labels, 7U);
  EXPECT_NEAR(a.percent, (1.0 / 3 + 1 + 0) / 3, kExact);
  EXPECT_EQ(a.worker_pairs, 1U);
  EXPECT_NEAR(a.cohen_kappa, expected.cohen_kappa, kExact);
}

TEST(Agreement, IsOneWhereAllAgree) {
  const Agreement a = agreement(labels_by_worker({"abcab", "abcab", "ab.ab"}));
  EXPECT_EQ(a.percent, 1);
  EXPECT_DOUBLE_EQ(a.cohen_kappa, 1);
  EXPECT_DOUBLE_EQ(a.fleiss_kappa, 1);
  EXPECT_DOUBLE_EQ(a.krippendorff_alpha, 1);
}

TEST(Agreement, IsUndefinedWhereNoTaskHasTwoLabels) {
  for (const Labels& labels : {Labels{}, labels_by_worker({"a.", ".b"})}) {
    const Agreement a = agreement(labels);
    EXPECT_EQ(a.tasks, 0U);
    EXPECT_EQ(a.labels, 0U);
    EXPECT_TRUE(std::isnan(a.percent));
    EXPECT_TRUE(std::isnan(a.cohen_kappa));
    EXPECT_TRUE(std::isnan(a.fleiss_kappa));
    EXPECT_TRUE(std::isnan(a.krippendorff_alpha));
  }
}

TEST(Agreement, HasNoCohenKappaWhereAWorkerOnlyMeetsThemselves) {
  const Agreement a = agreement(labels_from({{"1", "u", "a"}, {"1", "u", "b"}}));
  EXPECT_EQ(a.tasks, 1U);
  EXPECT_EQ(a.worker_pairs, 0U);
  EXPECT_TRUE(std::isnan(a.cohen_kappa));
}

TEST(Agreement, DoesNotDependOnTheNamesOrOrderOfClassesWorkersAndTasks) {
  Random random(7);
  std::vector<Row> rows;
  for (int t = 0; t < 60; ++t) {
    for (int w = 0; w < 8; ++w) {
      if (random.below(3) == 0) continue;
      rows.push_back({std::to_string(t), std::to_string(w), std::string(1, "abcd"[random.below(4)])});
    }
  }
  const Agreement expected = agreement(labels_from(rows));

  for (Row& row : rows) row.label = std::string(1, "dacb"[row.label[0] - 'a']);
  random.shuffle(rows);
  const Agreement a = agreement(labels_from(rows));
  EXPECT_EQ(a.worker_pairs, expected.worker_pairs);
  EXPECT_NEAR(a.percent, expected.percent, kExact);
  EXPECT_NEAR(a.cohen_kappa, expected.cohen_kappa, kExact);
  EXPECT_NEAR(a.fleiss_kappa, expected.fleiss_kappa, kExact);
  EXPECT_NEAR(a.krippendorff_alpha, expected.krippendorff_alpha, kExact);
}

TEST(Agreement, GivesUpCohenKappaBeyondFiveMillionPairsOfWorkers) {
  const Agreement within = agreement(unanimous_task(3162));
  EXPECT_EQ(within.worker_pairs, 4'997'541U);
  EXPECT_TRUE(std::isnan(within.cohen_kappa));  // there is one class

  const Agreement beyond = agreement(unanimous_task(3163));
  EXPECT_EQ(beyond.worker_pairs, 0U);
  EXPECT_TRUE(std::isnan(beyond.cohen_kappa));
}

TEST(Agreement, GivesUpCohenKappaBeyondTwoHundredMillionSquaredLabels) {
  // Two workers only, so that the number of pairs is not the reason.
  LabelsBuilder builder(Duplicates::keep);
  for (int i = 0; i < 14'143; ++i) builder.add("t", i % 2 == 0 ? "u" : "v", "a");
  const Agreement a = agreement(builder.build());
  EXPECT_EQ(a.worker_pairs, 0U);
  EXPECT_TRUE(std::isnan(a.cohen_kappa));
}

TEST(CountHits, CountsLabelsThatAreTheTruthByWorker) {
  const Labels labels = testing::labels_of(
      {{"1", "u", "a"}, {"1", "v", "b"}, {"2", "u", "b"}, {"3", "u", "a"}, {"3", "w", "b"}});
  const WorkerHits hits = count_hits(labels, std::vector<ClassId>{0, kNoClass, 1});
  EXPECT_EQ(hits.right, (std::vector<std::uint64_t>{1, 0, 1}));
  EXPECT_EQ(hits.labels, (std::vector<std::uint64_t>{2, 1, 1}));
  EXPECT_EQ(testing::error_of([&] { count_hits(labels, std::vector<ClassId>{0}); }).code(),
            ErrorCode::usage);
}

TEST(CountTasksOfOnly, LeavesOutTasksOfOthersAndTasksWithoutLabels) {
  const Labels labels = testing::labels_of(
      {{"1", "u", "a"}, {"1", "v", "a"}, {"2", "u", "a"}, {"3", "u", ""}, {"4", "w", "a"}});
  const auto count = [&](std::array<bool, 3> marked) { return count_tasks_of_only(labels, marked); };
  EXPECT_EQ(count({true, false, false}), 1U);
  EXPECT_EQ(count({true, true, false}), 2U);
  EXPECT_EQ(count({true, true, true}), 3U);
  EXPECT_EQ(count({false, false, false}), 0U);
}

}  // namespace
}  // namespace crowdfold
