// What answers do not depend on: threads, names, the order of tasks, whether posteriors are asked for.
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "contract/every_method.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;

std::vector<LabelRow> rows_of(const Labels& labels) {
  std::vector<LabelRow> rows;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      rows.push_back({std::string(labels.tasks()[t]), std::string(labels.workers()[task.workers[j]]),
                      std::string(labels.classes()[task.classes[j]])});
    }
  }
  return rows;
}

void expect_same(const Result& a, const Result& b) {
  EXPECT_EQ(a.estimate, b.estimate);
  EXPECT_EQ(a.confidence, b.confidence);
  EXPECT_EQ(a.posterior, b.posterior);
  EXPECT_EQ(a.learned.counts, b.learned.counts);
}

TEST_P(EveryMethod, GivesPosteriorsThatSumToOneWithTheEstimateAtTheirTop) {
  for (const std::uint32_t classes : {2U, 3U, 8U, 9U, 100U, 1000U}) {
    if (classes > info().traits.most_classes) continue;
    const bool many = classes == 1000;
    const Labels labels = simulate_labels({.tasks = 60,
                                           .workers = many ? 5U : 25U,
                                           .classes = classes,
                                           .min_labels = 1,
                                           .max_labels = many ? 5U : 20U,
                                           .quality = {}},
                                          classes);
    const Result result = fit(labels, quick(), {}, with(1, 0, true));
    ASSERT_EQ(result.posterior.size(), 60U * labels.num_classes());
    for (TaskId t = 0; t < 60; ++t) {
      const std::span row(result.posterior.data() + static_cast<std::size_t>(t) * labels.num_classes(),
                          labels.num_classes());
      EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-9);
      EXPECT_DOUBLE_EQ(row[result.estimate[t]], result.confidence[t]);
      for (const double p : row) {
        EXPECT_GT(p, 0) << "a class must not be ruled out";
        if (!info().traits.estimate_is_argmax) continue;
        EXPECT_LE(p, result.confidence[t] + 1e-9) << classes;
      }
    }
  }
}

TEST_P(EveryMethod, HasNoPosteriorUnlessAskedAndTheSameEstimatesWithout) {
  const Labels labels = simulate_labels({.tasks = 100, .classes = up_to(4), .quality = {}}, 1);
  const Result with_posterior = fit(labels, {}, {}, with(1, 0, true));
  const Result without = fit(labels);
  EXPECT_TRUE(without.posterior.empty());
  EXPECT_EQ(without.estimate, with_posterior.estimate);
  EXPECT_EQ(without.confidence, with_posterior.confidence);
}

TEST_P(EveryMethod, DoesNotDependOnTheNumberOfThreads) {
  // More tasks than one thread takes at a time, and a number of threads that does not divide their
  // blocks.
  const Labels labels = simulate_labels({.tasks = 70'000,
                                         .workers = 40,
                                         .classes = up_to(3),
                                         .min_labels = 2,
                                         .max_labels = 3,
                                         .quality = {}},
                                        2);
  const Settings settings = quick();
  const Result one = fit(labels, settings, {}, with(1, 3, false));
  expect_same(one, fit(labels, settings, {}, with(3, 3, false)));
}

TEST_P(EveryMethod, RepeatsItselfForTheSameSeedOnly) {
  const Labels labels = simulate_labels({.tasks = 500,
                                         .workers = 30,
                                         .classes = up_to(4),
                                         .min_labels = 2,
                                         .max_labels = 4,
                                         .quality = {}},
                                        2);
  Settings settings = quick();
  if (info().has_option("order")) settings.emplace_back("order", "shuffled");
  expect_same(fit(labels, settings, {}, with(1, 7, true)), fit(labels, settings, {}, with(1, 7, true)));
  if (!info().has_option("ties") && !info().traits.draws) return;  // nothing is drawn
  const Result a = fit(labels, settings, {}, with(1, 7, false));
  const Result b = fit(labels, settings, {}, with(1, 8, false));
  EXPECT_TRUE(a.estimate != b.estimate || a.confidence != b.confidence);
}

// Without the tasks whose vote is tied: there, the first seen class wins, and another order means
// another one.
Labels without_ties(const Labels& labels) {
  std::vector<LabelRow> rows;
  for (const LabelRow& row : rows_of(labels)) {
    const TaskLabels task = labels.task(*labels.tasks().find(row.task));
    std::map<ClassId, int> votes;
    for (const ClassId c : task.classes) ++votes[c];
    std::vector<int> counts;
    for (const auto& [label, count] : votes) counts.push_back(count);
    std::sort(counts.rbegin(), counts.rend());
    if (counts.size() == 1 || counts[0] > counts[1]) rows.push_back(row);
  }
  return labels_of(rows);
}

// Another name for every class, and with it another order of ids where no vote is tied: the same
// answers.
TEST_P(MethodThatDrawsNothing, GivesTheSameAnswersUnderOtherNamesOfClassesWorkersAndTasks) {
  const Labels labels =
      without_ties(simulate_labels({.tasks = 200,
                                    .workers = 15,
                                    .classes = up_to(4),
                                    .min_labels = 7,
                                    .max_labels = 9,
                                    .quality = QualityDistribution::parse("uniform:.6,.9")},
                                   5));
  const Result result = fit(labels, {}, {}, with(1, 0, true));
  const auto renamed = [](const std::string& name) {
    return "other " + std::string(name.rbegin(), name.rend());
  };
  std::vector<LabelRow> rows = rows_of(labels);
  for (LabelRow& row : rows) row = {renamed(row.task), renamed(row.worker), renamed(row.label)};
  // The rows of each task backwards: workers and classes get other ids, tasks keep their order.
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    while (end < rows.size() && rows[end].task == rows[begin].task) ++end;
    std::reverse(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                 rows.begin() + static_cast<std::ptrdiff_t>(end));
    begin = end;
  }
  const Labels others = labels_of(rows);
  const Result other = fit(others, {}, {}, with(1, 0, true));
  ASSERT_NE(testing::names_of(others.workers())[0], renamed(testing::names_of(labels.workers())[0]));
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    EXPECT_EQ(renamed(std::string(labels.classes()[result.estimate[t]])),
              others.classes()[other.estimate[t]])
        << t;
    EXPECT_NEAR(result.confidence[t], other.confidence[t], 1e-6) << t;
  }
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const auto found = others.workers().find(renamed(std::string(labels.workers()[w])));
    ASSERT_TRUE(found);
    EXPECT_EQ(result.learned.counts_of(w).seen, other.learned.counts_of(*found).seen);
    EXPECT_NEAR(result.learned.counts_of(w).correct, other.learned.counts_of(*found).correct, 1e-4);
  }
}

TEST_P(MethodWithoutOrder, GivesTheSameAnswersToTasksInAnotherOrder) {
  const Labels labels = without_ties(simulate_labels({.tasks = 200,
                                                      .workers = 15,
                                                      .classes = up_to(4),
                                                      .min_labels = 5,
                                                      .max_labels = 7,
                                                      .quality = {}},
                                                     8));
  std::vector<LabelRow> rows = rows_of(labels);
  std::reverse(rows.begin(), rows.end());
  const Labels others = labels_of(rows);
  const Result result = fit(labels);
  const Result other = fit(others);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskId same = *others.tasks().find(labels.tasks()[t]);
    EXPECT_EQ(labels.classes()[result.estimate[t]], others.classes()[other.estimate[same]]) << t;
    EXPECT_NEAR(result.confidence[t], other.confidence[same], 1e-6) << t;
  }
}

TEST_P(MethodOfShares, LearnsNothingNewFromTheSameTasksAgain) {
  const Labels labels = simulate_labels({.tasks = 200,
                                         .workers = 15,
                                         .classes = up_to(4),
                                         .min_labels = 3,
                                         .max_labels = 6,
                                         .quality = {}},
                                        5);
  std::vector<LabelRow> rows = rows_of(labels);
  const std::size_t once = rows.size();
  for (std::size_t i = 0; i < once; ++i)
    rows.push_back({rows[i].task + " again", rows[i].worker, rows[i].label});
  const Settings settings = fitting({{"posterior", "shares"}});  // of mv
  const Result result = fit(labels, settings);
  const Result doubled = fit(labels_of(rows), settings);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const TaskId copy : {t, t + labels.num_tasks()}) {
      EXPECT_EQ(doubled.estimate[copy], result.estimate[t]) << copy;
      EXPECT_NEAR(doubled.confidence[copy], result.confidence[t], 1e-6) << copy;
    }
  }
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    EXPECT_EQ(doubled.learned.counts_of(w).seen, 2 * result.learned.counts_of(w).seen) << w;
    EXPECT_NEAR(doubled.learned.counts_of(w).correct, 2 * result.learned.counts_of(w).correct, 1e-4)
        << w;
  }
}

}  // namespace
}  // namespace crowdfold
