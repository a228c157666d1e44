#include "crowdfold/simulate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "crowdfold/error.h"

namespace crowdfold {
namespace {

struct DrawnRow {
  TaskId task;
  WorkerId worker;
  ClassId label;

  bool operator==(const DrawnRow&) const = default;
};

struct Simulation {
  std::vector<DrawnRow> rows;
  SimulatedCrowd crowd;
};

Simulation run(const SimulationOptions& options, std::uint64_t seed = 1) {
  Simulation result;
  result.crowd = simulate(options, seed, [&](TaskId t, WorkerId w, ClassId label) {
    result.rows.push_back({t, w, label});
  });
  return result;
}

QualityDistribution fixed(double quality) {
  return {QualityDistribution::Kind::fixed, quality, quality};
}

// By worker: the share of right labels.
std::vector<double> accuracies(const Simulation& simulation) {
  std::vector<double> right(simulation.crowd.quality.size());
  std::vector<double> seen(right.size());
  for (const DrawnRow& row : simulation.rows) {
    right[row.worker] += row.label == simulation.crowd.truths[row.task] ? 1 : 0;
    seen[row.worker] += 1;
  }
  for (std::size_t w = 0; w < right.size(); ++w) right[w] /= seen[w];
  return right;
}

// How often `worker` gave each label where the truth is class 0.
std::vector<double> labels_on_class_0(const Simulation& simulation, WorkerId worker,
                                      std::uint32_t classes) {
  std::vector<double> counts(classes);
  double sum = 0;
  for (const DrawnRow& row : simulation.rows) {
    if (row.worker != worker || simulation.crowd.truths[row.task] != 0) continue;
    counts[row.label] += 1;
    sum += 1;
  }
  for (double& count : counts) count /= sum;
  return counts;
}

std::size_t count_near(const std::vector<double>& values, double value) {
  return static_cast<std::size_t>(
      std::ranges::count_if(values, [&](double x) { return std::abs(x - value) < 1e-12; }));
}

template <class T>
double share_of(const std::vector<T>& values, int value) {
  return static_cast<double>(std::ranges::count(values, value)) / static_cast<double>(values.size());
}

bool is_usage_error(auto&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code() == ErrorCode::usage;
  }
  return false;
}

TEST(QualityDistribution, ParsesItsThreeKinds) {
  const auto fixed_quality = QualityDistribution::parse("fixed:.8");
  EXPECT_EQ(fixed_quality.kind, QualityDistribution::Kind::fixed);
  EXPECT_EQ(fixed_quality.a, .8);
  const auto uniform = QualityDistribution::parse("uniform:.4,.7");
  EXPECT_EQ(uniform.kind, QualityDistribution::Kind::uniform);
  EXPECT_EQ(uniform.a, .4);
  EXPECT_EQ(uniform.b, .7);
  const auto beta = QualityDistribution::parse("beta:4,2");
  EXPECT_EQ(beta.kind, QualityDistribution::Kind::beta);
  EXPECT_EQ(beta.a, 4);
  EXPECT_EQ(beta.b, 2);
}

TEST(QualityDistribution, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "beta", "fixed:", "fixed:x", "fixed:.8,", "fixed:.8,.9", "uniform:.4",
                           "uniform:.4,.7,.8", "beta:4 ,2", "normal:0,1", ":1,2", "Fixed:.8"}) {
    EXPECT_TRUE(is_usage_error([&] { QualityDistribution::parse(text); })) << text;
  }
}

TEST(QualityDistribution, RefusesParametersOutOfRange) {
  for (const char* text : {"fixed:1.1", "fixed:-.1", "fixed:nan", "uniform:.7,.4", "uniform:-1,.5",
                           "uniform:.5,2", "beta:0,2", "beta:4,-1", "beta:inf,1"}) {
    EXPECT_TRUE(is_usage_error([&] { QualityDistribution::parse(text); })) << text;
  }
}

TEST(Simulate, RepeatsItselfForTheSameSeedOnly) {
  const SimulationOptions options{
      .quality = {}, .confusion = true, .spammers = .1, .adversaries = .1, .skew = 1};
  const Simulation first = run(options, 5);
  const Simulation again = run(options, 5);
  const Simulation other = run(options, 6);
  EXPECT_EQ(first.rows, again.rows);
  EXPECT_EQ(first.crowd.truths, again.crowd.truths);
  EXPECT_EQ(first.crowd.quality, again.crowd.quality);
  EXPECT_NE(first.rows, other.rows);
  EXPECT_NE(first.crowd.quality, other.crowd.quality);
}

TEST(Simulate, KeepsTheWorkersAndEarlierTasksWhereTasksAreAdded) {
  const Simulation few = run({.tasks = 10, .quality = {}});
  const Simulation many = run({.tasks = 20, .quality = {}});
  EXPECT_EQ(few.crowd.quality, many.crowd.quality);
  EXPECT_TRUE(std::equal(few.rows.begin(), few.rows.end(), many.rows.begin()));
}

TEST(Simulate, GivesEveryTaskDifferentWorkersInGroupedRows) {
  // Half of the tasks or so are labelled by all workers.
  const Simulation simulation =
      run({.tasks = 500, .workers = 4, .min_labels = 3, .max_labels = 4, .quality = {}});
  std::set<std::pair<TaskId, WorkerId>> seen;
  TaskId last = 0;
  for (const DrawnRow& row : simulation.rows) {
    EXPECT_TRUE(seen.insert({row.task, row.worker}).second);
    EXPECT_LT(row.worker, 4U);
    EXPECT_GE(row.task, last);
    last = row.task;
  }
}

TEST(Simulate, DrawsTheNumberOfLabelsEvenlyBetweenItsBounds) {
  const Simulation simulation = run({.tasks = 30'000, .min_labels = 2, .max_labels = 4, .quality = {}});
  std::vector<int> labels(30'000);
  for (const DrawnRow& row : simulation.rows) ++labels[row.task];
  for (const int n : {2, 3, 4}) EXPECT_NEAR(share_of(labels, n), 1.0 / 3, .015) << n;
}

TEST(Simulate, DrawsWorkersEvenlyAtEveryPosition) {
  const Simulation simulation =
      run({.tasks = 30'000, .workers = 3, .min_labels = 2, .max_labels = 2, .quality = {}});
  std::vector<int> first(3);
  std::vector<int> second(3);
  for (std::size_t i = 0; i < simulation.rows.size(); i += 2) {
    ++first[simulation.rows[i].worker];
    ++second[simulation.rows[i + 1].worker];
  }
  for (std::size_t w = 0; w < 3; ++w) {
    EXPECT_NEAR(first[w], 10'000, 400);
    EXPECT_NEAR(second[w], 10'000, 400);
  }
}

TEST(Simulate, MeetsTheQualityOfEveryWorker) {
  for (const bool confusion : {false, true}) {
    const Simulation simulation = run({.tasks = 20'000,
                                       .workers = 10,
                                       .quality = {},
                                       .confusion = confusion,
                                       .spammers = .2,
                                       .adversaries = .2});
    const std::vector<double> measured = accuracies(simulation);
    for (std::size_t w = 0; w < measured.size(); ++w) {
      EXPECT_NEAR(measured[w], simulation.crowd.quality[w], .02) << w;  // 4 standard errors
    }
  }
}

TEST(Simulate, DrawsQualitiesFromTheirDistribution) {
  const auto mean = [](const std::string& text) {
    const SimulationOptions options{
        .tasks = 0, .workers = 20'000, .quality = QualityDistribution::parse(text)};
    double sum = 0;
    for (const double quality : run(options).crowd.quality) sum += quality;
    return sum / options.workers;
  };
  EXPECT_NEAR(mean("fixed:.8"), .8, 1e-9);
  EXPECT_NEAR(mean("uniform:.4,.7"), .55, .003);
  EXPECT_NEAR(mean("beta:4,2"), 2.0 / 3, .006);
  EXPECT_NEAR(mean("beta:.1,.1"), .5, .015);
}

TEST(Simulate, MakesSpammersGuess) {
  for (const bool confusion : {false, true}) {
    const SimulationOptions options{.tasks = 40'000,
                                    .workers = 5,
                                    .classes = 4,
                                    .quality = fixed(.9),
                                    .confusion = confusion,
                                    .spammers = 1};
    const Simulation simulation = run(options);
    for (const double accuracy : accuracies(simulation)) EXPECT_NEAR(accuracy, .25, .01);
    for (const double share : labels_on_class_0(simulation, 0, 4)) EXPECT_NEAR(share, .25, .02);
  }
}

TEST(Simulate, GivesSpammersAndAdversariesTheirShares) {
  const Simulation simulation = run({.tasks = 0,
                                     .workers = 100,
                                     .classes = 5,
                                     .quality = fixed(.9),
                                     .spammers = .3,
                                     .adversaries = .2});
  EXPECT_EQ(count_near(simulation.crowd.quality, 1.0 / 5), 30U);
  EXPECT_EQ(count_near(simulation.crowd.quality, .1), 20U);
  EXPECT_EQ(count_near(simulation.crowd.quality, .9), 50U);
}

TEST(Simulate, LeavesAnAdversaryBelowOneHalfAsTheyAre) {
  const Simulation simulation = run({.tasks = 0, .quality = fixed(.3), .adversaries = 1});
  EXPECT_EQ(count_near(simulation.crowd.quality, .3), 50U);
}

TEST(Simulate, FillsTheCrowdWhereBothSharesRoundUp) {
  const Simulation simulation = run(
      {.tasks = 0, .workers = 5, .classes = 4, .quality = fixed(.9), .spammers = .5, .adversaries = .5});
  EXPECT_EQ(count_near(simulation.crowd.quality, .25), 3U);
  EXPECT_EQ(count_near(simulation.crowd.quality, .1), 2U);
}

TEST(Simulate, SpreadsMistakesEvenlyUnlessWorkersHaveTheirOwnConfusion) {
  SimulationOptions options{.tasks = 40'000, .workers = 5, .classes = 4, .quality = fixed(.4)};
  const std::vector<double> even = labels_on_class_0(run(options), 0, 4);
  for (std::size_t k = 1; k < 4; ++k) EXPECT_NEAR(even[k], .2, .02) << k;

  options.confusion = true;
  const Simulation confused = run(options);
  const std::vector<double> first = labels_on_class_0(confused, 0, 4);
  const std::vector<double> second = labels_on_class_0(confused, 1, 4);
  double difference = 0;
  for (std::size_t k = 0; k < 4; ++k) difference += std::abs(first[k] - second[k]);
  EXPECT_NEAR(first[0], .4, .02);
  EXPECT_GT(difference, .1);
}

TEST(Simulate, SkewsTheClassPrior) {
  const Simulation simulation =
      run({.tasks = 60'000, .classes = 3, .quality = {}, .skew = 1});  // 6 : 3 : 2
  const std::vector<ClassId>& truths = simulation.crowd.truths;
  EXPECT_NEAR(share_of(truths, 0), 6.0 / 11, .01);
  EXPECT_NEAR(share_of(truths, 1), 3.0 / 11, .01);
  EXPECT_NEAR(share_of(truths, 2), 2.0 / 11, .01);
}

TEST(Simulate, RefusesOptionsThatCannotBeMet) {
  constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
  const std::vector<SimulationOptions> impossible = {
      {.tasks = kMaxTasks + 1, .quality = {}},
      {.workers = 4, .quality = {}},
      {.classes = 1, .quality = {}},
      {.classes = 70'000, .quality = {}},
      {.min_labels = 0, .quality = {}},
      {.min_labels = 6, .max_labels = 5, .quality = {}},
      {.quality = fixed(2)},
      {.quality = {}, .spammers = 1.5},
      {.quality = {}, .spammers = -.1},
      {.quality = {}, .spammers = kNotANumber},
      {.quality = {}, .spammers = .6, .adversaries = .6},
      {.quality = {}, .skew = -1},
      {.quality = {}, .skew = kNotANumber},
  };
  for (std::size_t i = 0; i < impossible.size(); ++i) {
    EXPECT_TRUE(is_usage_error([&] { run(impossible[i]); })) << i;
  }
}

TEST(SimulateLabels, PadsNamesToTheWidthOfTheLargestIndex) {
  const Labels labels = simulate_labels({.tasks = 101, .workers = 100, .classes = 10, .quality = {}}, 1);
  EXPECT_EQ(labels.tasks()[0], "task_000");
  EXPECT_EQ(labels.tasks()[100], "task_100");
  EXPECT_TRUE(labels.workers().find("worker_07"));
  EXPECT_TRUE(labels.classes().find("class_9"));
}

TEST(SimulateLabels, HoldsTheSimulatedRowsInOrder) {
  const SimulationOptions options{
      .tasks = 50, .workers = 10, .min_labels = 1, .max_labels = 7, .quality = {}};
  const Simulation simulation = run(options, 3);
  const Labels labels = simulate_labels(options, 3);
  ASSERT_EQ(labels.num_labels(), simulation.rows.size());
  std::size_t i = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j, ++i) {
      EXPECT_EQ(t, simulation.rows[i].task);
      EXPECT_EQ(labels.workers()[task.workers[j]],
                "worker_" + std::to_string(simulation.rows[i].worker));
      EXPECT_EQ(labels.classes()[task.classes[j]], "class_" + std::to_string(simulation.rows[i].label));
    }
  }
}

TEST(SimulateLabels, TellsTheCrowdInTheIdsOfTheLabels) {
  const SimulationOptions options{
      .tasks = 40, .workers = 30, .classes = 9, .quality = fixed(1), .spammers = .5};
  const SimulatedCrowd drawn = run(options, 2).crowd;
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(options, 2, &crowd);
  ASSERT_EQ(crowd.truths.size(), labels.num_tasks());
  ASSERT_EQ(crowd.quality.size(), labels.num_workers());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    EXPECT_EQ(labels.classes()[crowd.truths[t]], "class_" + std::to_string(drawn.truths[t]));
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      if (crowd.quality[task.workers[j]] < 1) continue;
      EXPECT_EQ(task.classes[j], crowd.truths[t]);
    }
  }
}

TEST(SimulateLabels, NamesWorkersAndClassesThatNoLabelNames) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(
      {.tasks = 1, .workers = 20, .classes = 30, .min_labels = 1, .max_labels = 1, .quality = {}}, 1,
      &crowd);
  EXPECT_EQ(labels.num_labels(), 1U);
  EXPECT_EQ(labels.num_workers(), 20U);
  EXPECT_EQ(labels.num_classes(), 30U);
  EXPECT_EQ(crowd.quality.size(), 20U);
}

}  // namespace
}  // namespace crowdfold
