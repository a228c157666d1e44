#include <gtest/gtest.h>

#include <cmath>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;

Result glad(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {}) {
  return find_method("glad").make(settings)->fit(labels, given, {});
}

TEST(Glad, FindsTruthsAndQualitiesOfASimulatedCrowd) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 2'000,
                                         .workers = 20,
                                         .classes = 4,
                                         .min_labels = 6,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.3,.9")},
                                        1, &crowd);
  const Result result = glad(labels);
  EXPECT_GT(testing::accuracy(result, crowd.truths), .95);
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const WorkerCounts counts = result.learned.counts_of(w);
    EXPECT_NEAR(counts.correct / counts.seen, crowd.quality[w], .06) << w;
  }
}

TEST(Glad, NeverLowersItsObjective) {
  for (const std::uint32_t classes : {2U, 5U}) {
    const Labels labels = simulate_labels({.tasks = 300,
                                           .workers = 15,
                                           .classes = classes,
                                           .min_labels = 1,
                                           .max_labels = 9,
                                           .quality = {},
                                           .adversaries = .2},
                                          classes);
    const Result result = glad(labels, {{"tolerance", "0"}});
    ASSERT_EQ(result.trace.size(), 100U);
    for (std::size_t i = 1; i < result.trace.size(); ++i)
      EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-9 * std::abs(result.trace[i])) << i;
  }
}

// A right label on a task whose truth is known: log sigma(s) - (alpha - 1)^2 / 2 - (b - 1)^2 / 2 with
// s = alpha e^b is highest where alpha - 1 = (1 - sigma(s)) e^b and b - 1 = alpha (alpha - 1), that is
// at alpha = 1.1026, b = 1.1131.
TEST(Glad, GoesToTheTopOfItsObjective) {
  constexpr double kQuality = 0.966300136610355;  // sigma(s)
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "v", "b"}});
  Knowledge given;
  given.truths = {0, 1};
  const Result result = glad(labels, {{"slope", "1e-9"}, {"rounds", "1000"}}, given);
  EXPECT_NEAR(result.learned.counts_of(0).correct, kQuality, 1e-8);
  EXPECT_NEAR(result.learned.counts_of(1).correct, kQuality, 1e-8);
  // Both tasks: a class prior of 1/2 and the label.
  const double alpha = 1.1025745524173318;
  const double b = 1.1130960912209436;
  const double one =
      std::log(.5) + std::log(kQuality) - (alpha - 1) * (alpha - 1) / 2 - (b - 1) * (b - 1) / 2;
  EXPECT_NEAR(result.trace.back(), 2 * one, 1e-8);
}

// Twelve easy tasks, on which all nine workers agree, and some on which one to four of them do not.
TEST(Glad, IsLessSureTheHarderATaskAndLessThanAModelWithoutDifficulty) {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 12; ++t) {
    for (int w = 0; w < 9; ++w)
      rows.push_back({"easy" + std::to_string(t), "w" + std::to_string(w), t % 2 == 0 ? "a" : "b"});
  }
  for (int against = 1; against <= 4; ++against) {
    for (int shift = 0; shift < 9; ++shift) {  // every worker is against as often as the others
      for (int w = 0; w < 9; ++w) {
        rows.push_back({"hard" + std::to_string(against) + "." + std::to_string(shift),
                        "w" + std::to_string((w + shift) % 9), w < against ? "b" : "a"});
      }
    }
  }
  const Labels labels = labels_of(rows);
  const Result result = glad(labels);
  const Result without = find_method("onecoin_ds").make({})->fit(labels, {});
  const auto hard = [&](int against) {
    return *labels.tasks().find("hard" + std::to_string(against) + ".0");
  };
  EXPECT_GT(result.confidence[*labels.tasks().find("easy0")], result.confidence[hard(1)]);
  for (int against = 1; against < 4; ++against)
    EXPECT_GT(result.confidence[hard(against)], result.confidence[hard(against + 1)]) << against;
  for (const int against : {2, 3}) {
    EXPECT_EQ(result.estimate[hard(against)], 0);
    EXPECT_LT(result.confidence[hard(against)], without.confidence[hard(against)]) << against;
  }
}

// One who is always wrong has a negative ability: with two classes, that speaks for the other one.
TEST(Glad, TurnsTheLabelsOfAnEnemyRound) {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 40; ++t) {
    const bool a = t % 2 == 0;
    const std::string task = std::to_string(t);
    for (const char* worker : {"u", "v", "w"}) rows.push_back({task, worker, a ? "a" : "b"});
    rows.push_back({task, "enemy", a ? "b" : "a"});
  }
  rows.push_back({"alone", "enemy", "b"});
  const Labels labels = labels_of(rows);
  const Result result = glad(labels);
  EXPECT_EQ(result.estimate[40], 0);
  const WorkerCounts enemy = result.learned.counts_of(*labels.workers().find("enemy"));
  EXPECT_LT(enemy.correct / enemy.seen, .1);
}

TEST(Glad, GivesAbilitiesAndEaseThatOrderWorkersAndTasks) {
  // On the last task workers contradict each other; w is wrong half of the time.
  std::vector<LabelRow> rows;
  for (int t = 0; t < 20; ++t) {
    for (const char* worker : {"u", "v", "x"})
      rows.push_back({std::to_string(t), worker, t % 2 ? "a" : "b"});
    rows.push_back({std::to_string(t), "w", t % 4 < 2 ? "a" : "b"});
  }
  for (const char* worker : {"u", "v"}) rows.push_back({"hard", worker, "a"});
  for (const char* worker : {"x", "w"}) rows.push_back({"hard", worker, "b"});
  const Labels labels = labels_of(rows);
  const Result result = glad(labels);
  const Extra* const ability = find_extra(result.extras, "ability");
  const Extra* const ease = find_extra(result.extras, "ease");
  ASSERT_TRUE(ability != nullptr && ease != nullptr);
  EXPECT_GT(ability->values[0], ability->values[*labels.workers().find("w")] + .5);
  EXPECT_GT(ease->values[0], ease->values[20] + .1);
}

TEST(Glad, TakesPriorsOfClassesWorkersAndTasks) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "b"}, {"2", "u", "b"}});
  Knowledge given;
  given.extras = {{"prior", Per::label_class, 1, {.2, .8}}};
  EXPECT_EQ(glad(labels, {}, given).estimate[0], 1);
  given.extras = {{"ability", Per::worker, 1, {4, std::nan("")}}};  // v has that of the option
  const Result able = glad(labels, {}, given);
  EXPECT_EQ(able.estimate[0], 0);
  EXPECT_GT(able.extras[0].values[0], 3);
  EXPECT_LT(able.extras[0].values[1], 2);
  given.extras = {{"ease", Per::task, 1, {-3, 1}}};
  EXPECT_LT(glad(labels, {}, given).extras[1].values[0], -2);
}

}  // namespace
}  // namespace crowdfold
