#include "measure/evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "base/random.h"
#include "crowdfold/simulate.h"

namespace crowdfold {
namespace {

// A worker of this knowledge who otherwise says each of K classes alike, among others who are always
// right.
std::vector<Comparison> labels_of_worker(double knowledge, int labels, int classes, Random& random) {
  std::vector<Comparison> made;
  for (int i = 0; i < labels; ++i) {
    const bool right =
        random.uniform() < knowledge || random.below(static_cast<std::uint64_t>(classes)) == 0;
    made.push_back({right ? 1.0 : 0.0, 1.0 / classes, right, 1.0 / classes});
  }
  return made;
}

template <class Evidence>
double mean_of_evidence(double knowledge, int classes, const Evidence& evidence) {
  Random random(7);
  constexpr int kWorkers = 20'000;
  double sum = 0;
  for (int i = 0; i < kWorkers; ++i)
    sum += std::exp(evidence(labels_of_worker(knowledge, 12, classes, random)));
  return sum / kWorkers;
}

TEST(Evidence, OfOneLabelIsTheMeanOverStakes) {
  const Comparison right{1, 0.25, true, 0.25};
  // Stakes have the mean .4: 1 + .4 (1 / .25 - 1) = 2.2, and 1 - .4 against the worker.
  EXPECT_NEAR(std::exp(log_evidence_of_knowledge(std::span(&right, 1))), 2.2, 1e-12);
  EXPECT_NEAR(std::exp(log_evidence_of_contradiction(std::span(&right, 1))), 0.6, 1e-12);
  EXPECT_NEAR(std::exp(log_evidence_of_guessing(std::span(&right, 1), 0.2)), 1 / 1.6, 1e-12);
}

TEST(Evidence, HasAMeanOfAtMostOneWhereItsHypothesisHolds) {
  const auto knows = [](const auto& labels) { return log_evidence_of_knowledge(labels); };
  const auto guesses = [](const auto& labels) { return log_evidence_of_guessing(labels, 0.2); };
  const auto contradicts = [](const auto& labels) { return log_evidence_of_contradiction(labels); };
  for (const int classes : {2, 5}) {
    EXPECT_NEAR(mean_of_evidence(0, classes, knows), 1, 0.35);
    EXPECT_NEAR(mean_of_evidence(0.2, classes, guesses), 1, 0.05);
    EXPECT_LT(mean_of_evidence(0.5, classes, guesses), 1);
    EXPECT_NEAR(mean_of_evidence(0, classes, contradicts), 1, 0.1);
    EXPECT_LT(mean_of_evidence(0.5, classes, contradicts), 1);
  }
}

TEST(Evidence, GrowsWithLabelsWhereItsHypothesisIsWrong) {
  Random random(3);
  EXPECT_GT(log_evidence_of_knowledge(labels_of_worker(0.5, 100, 2, random)), 5);
  EXPECT_GT(log_evidence_of_guessing(labels_of_worker(0, 800, 2, random), 0.2), 5);
  std::vector<Comparison> liar(40, Comparison{0, 0.5, false, 0.5});
  EXPECT_GT(log_evidence_of_contradiction(liar), 10);
}

TEST(Evidence, OfOneClassAloneIsNone) {
  const std::vector<Comparison> always(50, Comparison{0.7, 1, true, 1});
  EXPECT_LT(log_evidence_of_knowledge(always), 0);
  EXPECT_EQ(log_evidence_of_contradiction(always), 0);
}

TEST(Evidence, OfDependenceSeesClassesThatAreSwapped) {
  std::vector<ClassId> others;
  std::vector<ClassId> shifted;
  std::vector<ClassId> unrelated;
  for (int i = 0; i < 120; ++i) {
    others.push_back(static_cast<ClassId>(i % 3));
    shifted.push_back(static_cast<ClassId>((i + 1) % 3));
    unrelated.push_back(static_cast<ClassId>(i / 3 % 3));
  }
  EXPECT_GT(log_evidence_of_dependence(shifted, others), 50);
  EXPECT_LT(log_evidence_of_dependence(unrelated, others), 0);
}

TEST(Tests, GiveKnownNumbers) {
  // A lady tastes tea: all four right is 1 of 70, three or more 17 of 70.
  EXPECT_NEAR(hypergeometric_tail(4, 4, 4, 8), 1.0 / 70, 1e-9);
  EXPECT_NEAR(hypergeometric_tail(3, 4, 4, 8), 17.0 / 70, 1e-9);
  EXPECT_NEAR(hypergeometric_tail(0, 30, 40, 60), 1, 1e-6);
  EXPECT_NEAR(share_interval(8, 10).lower, 0.4902, 1e-4);
  EXPECT_NEAR(share_interval(8, 10).upper, 0.9433, 1e-4);
  EXPECT_EQ(share_interval(0, 0).upper, 1);
  EXPECT_NEAR(normal_quantile_above(0.025), 1.959964, 1e-6);
  EXPECT_NEAR(normal_quantile_above(1e-6), 4.753424, 1e-6);
}

TEST(Habits, AreSharesOfAWorkersLabels) {
  LabelsBuilder builder;
  for (const auto& [task, worker, label] : std::initializer_list<std::array<const char*, 3>>{
           {"t", "a", "x"}, {"t", "b", "y"}, {"u", "a", "x"}, {"v", "a", "y"}})
    builder.add(task, worker, label);
  const std::vector<float> habits = habits_of(builder.build());
  ASSERT_EQ(habits.size(), 4U);
  EXPECT_FLOAT_EQ(habits[0], 2.0F / 3);
  EXPECT_FLOAT_EQ(habits[1], 1);
  EXPECT_FLOAT_EQ(habits[2], 2.0F / 3);
  EXPECT_FLOAT_EQ(habits[3], 1.0F / 3);
}

CommonKnowledge of_crowd(double quality, std::uint64_t seed, int tasks = 300) {
  SimulationOptions options;
  options.tasks = static_cast<std::uint64_t>(tasks);
  options.workers = 20;
  options.classes = 2;
  options.min_labels = options.max_labels = 3;
  options.quality = {QualityDistribution::Kind::fixed, quality, 0};
  const Labels labels = simulate_labels(options, seed);
  return common_knowledge(labels, habits_of(labels), class_shares(labels));
}

TEST(CommonKnowledge, IsThatOfTheCrowd) {
  EXPECT_NEAR(of_crowd(0.8, 1, 3000).knowledge, 0.6, 0.04);
  EXPECT_NEAR(of_crowd(0.65, 1, 3000).knowledge, 0.3, 0.05);
  EXPECT_GT(of_crowd(0.8, 1).log_evidence, 20);
}

TEST(CommonKnowledge, OfGuessersIsRarelySeen) {
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    seen += of_crowd(0.5, seed, 60).log_evidence >= std::log(20) ? 1 : 0;
  EXPECT_LE(seen, 10);
}

TEST(CommonKnowledge, ShowsInAgreementBeyondHabits) {
  EXPECT_GT(of_crowd(0.65, 1).errors, 3);
  int seen = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed)
    seen += of_crowd(0.5, seed, 60).errors >= 2.33 ? 1 : 0;
  EXPECT_LE(seen, 6);
}

TEST(CommonKnowledge, IsNotWhatHabitsHaveInCommon) {
  // Ten tasks for those who always say yes, ten for those who always say no.
  LabelsBuilder builder;
  for (int t = 0; t < 20; ++t) {
    for (const char* name : {"a", "b", "c"}) {
      builder.add("t" + std::to_string(t), (t < 10 ? "yea-" : "nay-") + std::string(name),
                  t < 10 ? "yes" : "no");
    }
  }
  EXPECT_NEAR(agreement_beyond_habits(builder.build()), 0, 1e-6);
}

TEST(CommonKnowledge, NeedsTwoWorkersOnATask) {
  LabelsBuilder builder;
  for (int t = 0; t < 50; ++t) builder.add(std::to_string(t), std::to_string(t % 5), "x");
  const Labels labels = builder.build();
  const CommonKnowledge common = common_knowledge(labels, habits_of(labels), class_shares(labels));
  EXPECT_EQ(common.tasks, 0U);
  EXPECT_EQ(common.log_evidence, 0);
}

}  // namespace
}  // namespace crowdfold
