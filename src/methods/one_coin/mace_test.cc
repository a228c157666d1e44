#include <gtest/gtest.h>

#include <cmath>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;

Result mace(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {},
            bool confusion = false) {
  RunContext context;
  context.confusion = confusion;
  return find_method("mace").make(settings)->fit(labels, given, context);
}

TEST(Mace, FindsTruthsAndSpammersOfASimulatedCrowd) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 1'000,
                                         .workers = 30,
                                         .classes = 4,
                                         .min_labels = 6,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.6,.9"),
                                         .spammers = .4},
                                        1, &crowd);
  const auto right = [&](const Result& result) {
    int count = 0;
    for (TaskId t = 0; t < labels.num_tasks(); ++t)
      count += result.estimate[t] == crowd.truths[t] ? 1 : 0;
    return count;
  };
  WorkerState said_right;
  said_right.expect(labels.num_workers(), labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) said_right.add(labels.task(t), crowd.truths[t]);

  const Result vote = find_method("mv").make({})->fit(labels, {});
  for (const char* training : {"variational", "em"}) {
    const Result result = mace(labels, {{"training", training}});
    EXPECT_GT(right(result), right(vote) + 50) << training;
    for (WorkerId w = 0; w < labels.num_workers(); ++w) {
      const double seen = said_right.counts_of(w).seen;
      EXPECT_NEAR(result.learned.counts_of(w).correct / seen, said_right.counts_of(w).correct / seen,
                  .06)
          << training << " " << w;
    }
  }
}

TEST(Mace, NeverLowersItsObjective) {
  for (const char* training : {"variational", "em"}) {
    for (const std::uint32_t classes : {2U, 5U}) {
      const Labels labels = simulate_labels({.tasks = 300,
                                             .workers = 15,
                                             .classes = classes,
                                             .min_labels = 1,
                                             .max_labels = 9,
                                             .quality = {},
                                             .spammers = .3},
                                            classes);
      const Result result = mace(labels, {{"training", training}});
      ASSERT_EQ(result.trace.size(), 50U);
      for (std::size_t i = 1; i < result.trace.size(); ++i)
        EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-9 * std::abs(result.trace[i])) << training;
    }
  }
}

// Four tasks whose truth is known to be a; u says a three times and b once. From theta = 1/2 and
// xi = (1/2, 1/2), a right label is out of knowledge with probability (1/2) / (1/2 + 1/4) = 2/3. So u
// knew twice and spammed twice, once with each class: theta and xi stay as they are.
TEST(Mace, CountsWhatWasKnownAndWhatWasSpammed) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "u", "a"}, {"3", "u", "a"}, {"4", "u", "b"}});
  Knowledge given;
  given.truths = {0, 0, 0, 0};
  const Result result =
      mace(labels, {{"training", "em"}, {"smoothing", "0"}, {"noise", "0"}}, given, true);
  EXPECT_NEAR(result.learned.counts_of(0).correct, 3, 1e-9);
  EXPECT_NEAR(result.trace.front(), 4 * std::log(.5) + 3 * std::log(.75) + std::log(.25), 1e-9);
  EXPECT_NEAR(result.trace.back(), result.trace.front(), 1e-9);
  const double expected[] = {.75, .25, .25, .75};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(result.confusion[i], expected[i], 1e-9);
}

// The same worker, variational, with all priors 1: theta ~ Beta(3, 3) and xi ~ Dirichlet(2, 2) after one
// M-step. E log is a difference of harmonic numbers: -(1/3 + 1/4 + 1/5) for theta, -(1/2 + 1/3) for xi.
// The divergences from uniform are log 30 + 2 * 2 * E log theta and log 6 + 2 * E log xi.
TEST(Mace, BoundsTheEvidenceFromBelow) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "u", "a"}, {"3", "u", "a"}, {"4", "u", "b"}});
  Knowledge given;
  given.truths = {0, 0, 0, 0};
  const Result result = mace(
      labels, {{"know", "1"}, {"spam", "1"}, {"strategy", "1"}, {"noise", "0"}, {"iterations", "1"}},
      given);
  const double log_theta = -(1.0 / 3 + 1.0 / 4 + 1.0 / 5);
  const double log_xi = -(1.0 / 2 + 1.0 / 3);
  const double spams = std::exp(log_theta + log_xi);
  const double evidence = 4 * std::log(.5) + 3 * std::log(std::exp(log_theta) + spams) + std::log(spams);
  const double divergence = std::log(30) + 4 * log_theta + std::log(6) + 2 * log_xi;
  EXPECT_NEAR(result.trace[0], evidence - divergence, 1e-9);
}

TEST(Mace, KeepsTheBestOfSeveralStarts) {
  const Labels labels = simulate_labels(
      {.tasks = 60, .workers = 12, .min_labels = 1, .max_labels = 3, .quality = {}, .spammers = .5}, 3);
  int better = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    RunContext context;
    context.seed = seed;
    const auto best_of = [&](const char* starts) {
      return find_method("mace").make({{"starts", starts}})->fit(labels, context).trace.back();
    };
    EXPECT_GE(best_of("5"), best_of("1")) << seed;
    better += best_of("5") > best_of("1") ? 1 : 0;
  }
  EXPECT_GT(better, 4);
}

// Three who always say a outvote the two who know; but they know nothing.
TEST(Mace, IsNotOutvotedByThoseWhoAlwaysSayTheSame) {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 60; ++t) {
    const std::string task = std::to_string(t);
    const char* const truth = t % 3 == 0 ? "a" : t % 3 == 1 ? "b" : "c";
    for (const char* worker : {"u", "v"}) rows.push_back({task, worker, truth});
    for (const char* worker : {"x", "y", "z"}) rows.push_back({task, worker, "a"});
  }
  const Labels labels = labels_of(rows);
  const Result result = mace(labels);
  for (TaskId t = 0; t < 60; ++t) EXPECT_EQ(result.estimate[t], t % 3) << t;
  const WorkerCounts spammer = result.learned.counts_of(*labels.workers().find("x"));
  EXPECT_NEAR(spammer.correct / spammer.seen, 1.0 / 3, .1);
}

TEST(Mace, SaysWhoSpamsAndWhatWith) {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 60; ++t) {
    const std::string truth = t % 3 == 0 ? "a" : t % 3 == 1 ? "b" : "c";
    for (const char* worker : {"u", "v", "x"}) rows.push_back({std::to_string(t), worker, truth});
    rows.push_back({std::to_string(t), "w", "b"});
  }
  const Labels labels = labels_of(rows);
  const Result result = mace(labels);
  const Extra* const spamming = find_extra(result.extras, "spamming");
  const Extra* const strategy = find_extra(result.extras, "strategy");
  ASSERT_TRUE(spamming != nullptr && strategy != nullptr);
  const WorkerId w = *labels.workers().find("w");
  EXPECT_LT(spamming->values[0], .1);
  EXPECT_GT(spamming->values[w], .5);
  const double* const said = strategy->values.data() + w * strategy->width;
  EXPECT_GT(said[1], said[0] + .2);
  EXPECT_NEAR(said[0] + said[1] + said[2], 1, 1e-12);
}

}  // namespace
}  // namespace crowdfold
