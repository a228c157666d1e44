#include "methods/networks/laa.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::labels_of;
using Phase = LaaNetwork::Phase;

Labels laa_crowd() {
  return simulate_labels({.tasks = 12,
                          .workers = 5,
                          .classes = 3,
                          .min_labels = 1,
                          .max_labels = 4,
                          .quality = QualityDistribution::parse("uniform:.4,.9")},
                         4);
}

// Weights that are far from their start, where most gradients would be about the same.
void disturb(LaaNetwork& network, const Labels& labels) {
  Random random(1);
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    for (double& weight : network.weights(w)) weight += .5 * random.normal();
    network.refresh(w);
  }
  for (double& weight : network.bias()) weight += .5 * random.normal();
}

class LaaGradient : public ::testing::TestWithParam<Phase> {};
INSTANTIATE_TEST_SUITE_P(Phases, LaaGradient, ::testing::Values(Phase::imitate, Phase::reconstruct),
                         [](const auto& parameter) {
                           return parameter.param == Phase::imitate ? "Imitate" : "Reconstruct";
                         });

TEST_P(LaaGradient, IsThatOfFiniteDifferences) {
  constexpr double kStep = 1e-5;
  const Phase phase = GetParam();
  const Labels labels = laa_crowd();
  const Knowledge given;
  // Penalties that matter as much as the rest.
  LaaNetwork network({.divergence = .05, .weights = .7}, labels, given, 1);
  disturb(network, labels);

  const auto slope_in = [&](double& weight, const auto& changed) {
    const double before = weight;
    weight = before + kStep;
    changed();
    const double above = network.judge(phase);
    weight = before - kStep;
    changed();
    const double below = network.judge(phase);
    weight = before;
    changed();
    return (above - below) / (2 * kStep);
  };
  int nonzero = 0;
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    network.judge(phase);
    std::vector<double> gradient(network.weights(w).size());
    network.compute_gradient(phase, w, gradient);
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double slope = slope_in(network.weights(w)[i], [&] { network.refresh(w); });
      EXPECT_NEAR(gradient[i], slope, 1e-8) << "worker " << w << ", weight " << i;
      nonzero += std::abs(slope) > 1e-5 ? 1 : 0;
    }
  }
  EXPECT_GT(nonzero, phase == Phase::imitate ? 30 : 60);
  network.judge(phase);
  const std::vector<double> gradient(network.bias_gradient().begin(), network.bias_gradient().end());
  for (std::size_t k = 0; k < gradient.size(); ++k)
    EXPECT_NEAR(gradient[k], slope_in(network.bias()[k], [] {}), 1e-8) << k;
}

// One task, two labels that say "a", and one "b": by hand.
TEST(LaaNetwork, HasTheLossOfItsDefinition) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}});
  const Knowledge given;
  LaaNetwork network({.divergence = .25, .weights = .5}, labels, given, 1);
  for (double& weight : network.bias()) weight = 0;
  for (WorkerId w = 0; w < 3; ++w) {
    for (double& weight : network.weights(w)) weight = 0;
    network.refresh(w);
  }
  // q = (1/2, 1/2), every label has probability 1/2.
  EXPECT_NEAR(network.judge(Phase::imitate), std::log(2), 1e-12);
  const double divergence = .5 * std::log(.5 / (2. / 3)) + .5 * std::log(.5 / (1. / 3));
  const double surprise = 3 * std::log(2) / (3 * 2);
  EXPECT_NEAR(network.judge(Phase::reconstruct), surprise + .25 * divergence, 1e-12);
  // One weight of 2 that no label has: |W| is 2, divided by 3 workers and 2 x 2 weights.
  network.weights(0)[2] = 2;
  EXPECT_NEAR(network.judge(Phase::reconstruct), surprise + .25 * divergence + .5 * 2 / (3 * 2 * 2),
              1e-12);
}

// Two tasks: the votes are (2/3, 1/3) and (1, 0). By hand.
TEST(LaaNetwork, StartsFromTheVotes) {
  const Labels labels =
      labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "u", "a"}, {"2", "v", "a"}});
  const Knowledge given;
  LaaNetwork network({}, labels, given, 1);
  EXPECT_NEAR(network.bias()[0], std::log(5. / 6), 1e-12);
  EXPECT_NEAR(network.bias()[1], std::log(1. / 6), 1e-12);
  const double third = 1. / 3;
  // By label, then class: u said "a" on both tasks, w "b" on the first.
  const std::vector<double> u = {(2 + 2 * third - .5) / (2 + 2 * third), (third + .5) / (third + 1),
                                 .5 / (2 + 2 * third), .5 / (third + 1)};
  const std::vector<double> w = {.5 / (2 * third + 1), .5 / (third + 1),
                                 (2 * third + .5) / (2 * third + 1), (third + .5) / (third + 1)};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(network.weights(0)[i], 0);
    EXPECT_NEAR(network.weights(0)[4 + i], .02 * std::log(u[i]), 1e-12) << i;
    EXPECT_NEAR(network.weights(2)[4 + i], .02 * std::log(w[i]), 1e-12) << i;
  }
  EXPECT_EQ(network.weights(0)[8], 0);
  EXPECT_EQ(network.weights(0)[9], 0);
}

TEST(Laa, GoesDownInBothPhases) {
  const Labels labels = simulate_labels({.tasks = 300,
                                         .workers = 20,
                                         .classes = 3,
                                         .min_labels = 4,
                                         .max_labels = 6,
                                         .quality = QualityDistribution::parse("uniform:.5,.9")},
                                        1);
  const Result result = find_method("laa").make({})->fit(labels, RunContext{});
  ASSERT_EQ(result.trace.size(), 150U);
  EXPECT_LT(result.trace[49], result.trace[0] - .1);
  EXPECT_LT(result.trace[149], result.trace[50]);
}

TEST(Laa, TakesTheLastOfAWorkersLabelsOnATask) {
  // The first task sees to it that classes have the same ids.
  std::vector<testing::LabelRow> once = {{"first", "u", "a"}, {"first", "v", "b"}};
  std::vector<testing::LabelRow> often = once;
  for (int t = 0; t < 20; ++t) {
    for (const char* worker : {"u", "v", "w"}) {
      const testing::LabelRow row{std::to_string(t), worker, (t + worker[0]) % 3 == 0 ? "b" : "a"};
      often.push_back({row.task, row.worker, "b"});
      often.push_back(row);
      once.push_back(row);
    }
  }
  const auto method = find_method("laa").make({});
  const Result expected = method->fit(labels_of(once), RunContext{});
  const Result found = method->fit(labels_of(often, Duplicates::keep), RunContext{});
  EXPECT_EQ(found.estimate, expected.estimate);
  EXPECT_EQ(found.confidence, expected.confidence);
}

// Truths that no worker named: the decoder follows them.
TEST(Laa, LearnsFromTruths) {
  const Labels labels = simulate_labels({.tasks = 300,
                                         .workers = 10,
                                         .classes = 3,
                                         .min_labels = 4,
                                         .max_labels = 6,
                                         .quality = QualityDistribution::parse("fixed:.9")},
                                        1);
  RunContext context;
  context.confusion = true;
  const auto method = find_method("laa").make({});
  const Result free = method->fit(labels, context);
  Knowledge given;
  for (TaskId t = 0; t < 300; ++t)
    given.truths.push_back(static_cast<ClassId>((free.estimate[t] + 1) % 3));
  const Result taught = method->fit(labels, given, context);
  for (WorkerId w = 0; w < 10; ++w) {
    EXPECT_GT(free.learned.quality(w).mean(), .7);
    EXPECT_LT(taught.learned.quality(w).mean(), .2);
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_GT(taught.confusion[9 * w + 3 * ((k + 1) % 3) + k], .4) << w << " " << k;
  }
}

// The decoder describes the workers.
TEST(Laa, LearnsWhoErrsHow) {
  std::vector<testing::LabelRow> rows;
  Random random(5);
  for (int t = 0; t < 400; ++t) {
    const bool is_a = random.uniform() < .5;
    for (int w = 0; w < 6; ++w) {
      // Worker 0 always says "a".
      const bool right = random.uniform() < .85;
      const bool says_a = w == 0 || is_a == right;
      rows.push_back({std::to_string(t), std::to_string(w), says_a ? "a" : "b"});
    }
  }
  const Labels labels = labels_of(rows);
  RunContext context;
  context.confusion = true;
  const Result result = find_method("laa").make({{"iterations", "300"}})->fit(labels, context);
  const std::size_t b = *labels.classes().find("b");
  const std::size_t a = 1 - b;
  const WorkerId same = *labels.workers().find("0");
  EXPECT_GT(result.confusion[4 * same + 2 * b + a], .8);
  for (WorkerId w = 0; w < 6; ++w) {
    if (w == same) continue;
    EXPECT_GT(result.confusion[4 * w + 2 * b + b], .6) << w;
  }
}

TEST(Adam, TakesTheStepsOfItsDefinition) {
  Adam adam(.1);
  Eigen::ArrayXd w = Eigen::ArrayXd::Constant(2, 1);
  Eigen::ArrayXd m = Eigen::ArrayXd::Zero(2);
  Eigen::ArrayXd v = Eigen::ArrayXd::Zero(2);
  Eigen::ArrayXd g(2);
  g << 3, -.5;
  adam.begin_step();
  adam.update(g, w, m, v);
  // The first step is the rate, for any gradient.
  EXPECT_NEAR(w(0), .9, 1e-6);
  EXPECT_NEAR(w(1), 1.1, 1e-6);
  g << -3, -.5;
  adam.begin_step();
  adam.update(g, w, m, v);
  const double m0 = .9 * .3 - .3;
  const double v0 = (.999 * .009 + .009);
  const double step = .1 * std::sqrt(1 - .999 * .999) / (1 - .81);
  EXPECT_NEAR(w(0), .9 - step * m0 / std::sqrt(v0), 1e-6);
  EXPECT_NEAR(w(1), 1.2, 1e-6);
}

TEST(RmsProp, TakesTheStepsOfItsDefinitionAndMakesUpForThoseLeftOut) {
  const RmsProp<double> optimizer(.1);
  Eigen::ArrayXd w = Eigen::ArrayXd::Zero(2);
  Eigen::ArrayXd v = Eigen::ArrayXd::Constant(2, RmsProp<double>::kMeanSquare);
  Eigen::ArrayXd g(2);
  g << 3, -.5;
  optimizer.update(RmsProp<double>::clip(g), w, v);
  EXPECT_NEAR(w(0), -.1, 1e-9);  // clipped to 1
  EXPECT_NEAR(w(1), .05 / std::sqrt(.9 + .1 * .25), 1e-9);

  Eigen::ArrayXd lazy = v;
  const Eigen::ArrayXd before = w;
  g.setZero();
  for (int i = 0; i < 7; ++i) optimizer.update(g, w, v);
  lazy *= RmsProp<double>::decay(7);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(w(i), before(i));
    EXPECT_NEAR(lazy(i), v(i), 1e-15);
  }
}

}  // namespace
}  // namespace crowdfold
