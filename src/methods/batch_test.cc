// Contracts that every method keeps, whatever it does inside.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

#include "core/random.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::LabelRow;
using testing::labels_of;

class EveryMethod : public ::testing::TestWithParam<std::string> {
 protected:
  Result fit(const Labels& labels, const Settings& settings = {}, const Given& given = {},
             const RunContext& context = {}) const {
    return find_method(GetParam()).make(settings)->fit(labels, given, context);
  }
  static RunContext with(int threads, std::uint64_t seed, bool posterior) {
    RunContext context;
    context.threads = threads;
    context.seed = seed;
    context.posterior = posterior;
    return context;
  }
};
INSTANTIATE_TEST_SUITE_P(Registry, EveryMethod, ::testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const MethodInfo& m : methods()) names.push_back(m.name);
                           return names;
                         }()),
                         [](const auto& parameter) { return parameter.param; });

std::vector<LabelRow> rows_of(const Labels& labels) {
  std::vector<LabelRow> rows;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      rows.push_back({std::string(labels.tasks[t]), std::string(labels.workers[task.workers[j]]),
                      std::string(labels.classes[task.classes[j]])});
    }
  }
  return rows;
}

void expect_same(const Result& a, const Result& b) {
  EXPECT_EQ(a.estimate, b.estimate);
  EXPECT_EQ(a.confidence, b.confidence);
  EXPECT_EQ(a.posterior, b.posterior);
  EXPECT_EQ(a.workers.workers, b.workers.workers);
}

TEST_P(EveryMethod, GivesPosteriorsThatSumToOneAndAgreeWithTheConfidence) {
  for (const std::uint32_t classes : {2U, 3U, 8U, 9U, 100U, 1000U}) {
    const Labels labels = simulate_labels({.tasks = 60,
                                           .workers = 25,
                                           .classes = classes,
                                           .min_labels = 1,
                                           .max_labels = 20,
                                           .quality = {}},
                                          classes);
    const Result result = fit(labels, {}, {}, with(1, 0, true));
    ASSERT_EQ(result.posterior.size(), 60U * classes);
    for (TaskId t = 0; t < 60; ++t) {
      const auto row = result.posterior.begin() + static_cast<std::ptrdiff_t>(t) * classes;
      EXPECT_NEAR(std::accumulate(row, row + classes, 0.0), 1, 1e-9);
      EXPECT_DOUBLE_EQ(row[result.estimate[t]], result.confidence[t]);
      for (std::uint32_t c = 0; c < classes; ++c)
        EXPECT_GT(row[c], 0) << "a class must not be ruled out";
    }
  }
}

TEST_P(EveryMethod, HasNoPosteriorUnlessAskedAndTheSameEstimatesWithout) {
  const Labels labels = simulate_labels({.tasks = 100, .quality = {}}, 1);
  const Result with_posterior = fit(labels, {}, {}, with(1, 0, true));
  const Result without = fit(labels);
  EXPECT_TRUE(without.posterior.empty());
  EXPECT_EQ(without.estimate, with_posterior.estimate);
  EXPECT_EQ(without.confidence, with_posterior.confidence);
}

TEST_P(EveryMethod, DoesNotDependOnTheNumberOfThreads) {
  // More tasks than one thread takes at a time.
  const Labels labels = simulate_labels(
      {.tasks = 150'000, .workers = 40, .classes = 3, .min_labels = 2, .max_labels = 3, .quality = {}},
      2);
  const Settings settings = {{"ties", "random"}};
  const Result one = fit(labels, settings, {}, with(1, 3, false));
  for (const int threads : {2, 4}) expect_same(one, fit(labels, settings, {}, with(threads, 3, false)));
}

TEST_P(EveryMethod, RepeatsItselfForTheSameSeedOnly) {
  const Labels labels =
      simulate_labels({.tasks = 500, .workers = 30, .min_labels = 2, .max_labels = 4, .quality = {}}, 2);
  Settings settings = {{"ties", "random"}};
  if (find_method(GetParam()).has_option("order")) settings.emplace_back("order", "shuffled");
  expect_same(fit(labels, settings, {}, with(1, 7, true)), fit(labels, settings, {}, with(1, 7, true)));
  EXPECT_NE(fit(labels, settings, {}, with(1, 7, false)).estimate,
            fit(labels, settings, {}, with(1, 8, false)).estimate);
}

// Without the tasks whose vote is tied: there, the first seen class wins, and another order means
// another one.
Labels without_ties(const Labels& labels) {
  std::vector<LabelRow> rows;
  for (const LabelRow& row : rows_of(labels)) {
    const TaskLabels task = labels.task(*labels.tasks.find(row.task));
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
TEST_P(EveryMethod, GivesTheSameAnswersUnderOtherNamesOfClassesWorkersAndTasks) {
  const Labels labels =
      without_ties(simulate_labels({.tasks = 200,
                                    .workers = 15,
                                    .classes = 4,
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
  ASSERT_NE(testing::names_of(others.workers)[0], renamed(testing::names_of(labels.workers)[0]));
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    EXPECT_EQ(renamed(std::string(labels.classes[result.estimate[t]])),
              others.classes[other.estimate[t]])
        << t;
    EXPECT_NEAR(result.confidence[t], other.confidence[t], 1e-9) << t;
  }
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const auto found = others.workers.find(renamed(std::string(labels.workers[w])));
    ASSERT_TRUE(found);
    EXPECT_EQ(result.workers.counts(w), other.workers.counts(*found));
  }
}

TEST_P(EveryMethod, FixesKnownTruthsAndLearnsFromThem) {
  // Everyone agrees on a; the truth is b. Who said so is thought less of than without the truth.
  std::vector<LabelRow> rows;
  for (int t = 0; t < 10; ++t) {
    for (const char* worker : {"u", "v", "w"}) rows.push_back({std::to_string(t), worker, "a"});
  }
  rows.push_back({"10", "x", "b"});
  const Labels labels = labels_of(rows);
  Given given;
  given.truths.assign(5, 1);  // of the first five tasks
  const Result result = fit(labels, {}, given, with(1, 0, true));
  for (TaskId t = 0; t < 5; ++t) {
    EXPECT_EQ(result.estimate[t], 1);
    EXPECT_EQ(result.confidence[t], 1);
    EXPECT_EQ(result.posterior[2 * t], 0);
    EXPECT_EQ(result.posterior[2 * t + 1], 1);
  }
  EXPECT_EQ(result.estimate[5], 0);
  EXPECT_EQ(result.workers.counts(0), (WorkerCounts{5, 10}));
  EXPECT_EQ(fit(labels).workers.counts(0), (WorkerCounts{10, 10}));
}

TEST_P(EveryMethod, KnowsTheTruthOfATaskWithoutLabels) {
  Given given;
  given.truths = {0};
  const Result result = fit(labels_of({{"1", "u", ""}, {"2", "u", "a"}}), {}, given);
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 0}));
}

TEST_P(EveryMethod, AddsToTheCountsItIsGiven) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}});
  Given given;
  given.workers = {{5, 9}};  // v has no history
  EXPECT_EQ(fit(labels, {}, given).workers.workers, (std::vector<WorkerCounts>{{6, 10}, {1, 1}}));
}

TEST_P(EveryMethod, TakesOneClassOnlyOneWorkerOnlyOneTaskOnly) {
  const Result one_class =
      fit(labels_of({{"1", "u", "a"}, {"2", "u", "a"}, {"2", "v", "a"}}), {}, {}, with(1, 0, true));
  EXPECT_EQ(one_class.estimate, (FlatArray<ClassId>{0, 0}));
  EXPECT_EQ(one_class.confidence, (FlatArray<double>{1, 1}));

  const Result one_worker = fit(labels_of({{"1", "u", "a"}, {"2", "u", "b"}, {"3", "u", "a"}}));
  EXPECT_EQ(one_worker.estimate, (FlatArray<ClassId>{0, 1, 0}));
  EXPECT_EQ(one_worker.workers.counts(0), (WorkerCounts{3, 3}));

  const Result one_task = fit(labels_of({{"1", "u", "b"}}));
  EXPECT_EQ(one_task.estimate, FlatArray<ClassId>{0});
}

TEST_P(EveryMethod, TakesNothingAtAll) {
  const Result nothing = fit(Labels{}, {}, {}, with(2, 0, true));
  EXPECT_TRUE(nothing.estimate.empty());
  EXPECT_TRUE(nothing.workers.workers.empty());
  const Result abstained = fit(labels_of({{"1", "u", ""}}), {}, {}, with(1, 0, true));
  EXPECT_EQ(abstained.estimate, FlatArray<ClassId>{kNoClass});
}

TEST_P(EveryMethod, TakesTenThousandLabelsOnOneTask) {
  std::vector<LabelRow> rows;
  for (int w = 0; w < 10'000; ++w)
    rows.push_back({"t", "w" + std::to_string(w), w % 10 < 6 ? "a" : w % 10 < 9 ? "b" : "c"});
  Given given;
  given.workers.assign(10'000, {90, 100});
  const Result result = fit(labels_of(rows), {}, given, with(1, 0, true));
  EXPECT_EQ(result.estimate[0], 0);
  EXPECT_NEAR(result.confidence[0], 1, 1e-12);
  for (const double p : result.posterior) EXPECT_TRUE(std::isfinite(p) && p >= 0 && p <= 1) << p;
}

TEST_P(EveryMethod, IsSurerTheMoreOfEquallyGoodWorkersAgree) {
  std::vector<LabelRow> rows;
  for (int n = 1; n <= 20; ++n) {
    for (int w = 0; w < n; ++w) rows.push_back({"t" + std::to_string(n), "w" + std::to_string(w), "a"});
  }
  rows.push_back({"other", "x", "b"});
  Given given;
  given.workers.assign(20, {80, 100});
  const Result result = fit(labels_of(rows), {}, given);
  for (std::size_t n = 1; n < 20; ++n) EXPECT_GT(result.confidence[n], result.confidence[n - 1]) << n;
}

TEST_P(EveryMethod, StopsWhenItIsCancelled) {
  const std::atomic<bool> cancelled = true;
  RunContext context;
  context.cancelled = &cancelled;
  EXPECT_EQ(error_of([&] {
              fit(labels_of({{"1", "u", "a"}}), {}, {}, context);
            }).code(),
            ErrorCode::interrupted);
}

TEST_P(EveryMethod, TellsItsProgress) {
  int calls = 0;
  RunContext context;
  context.progress = [&](const Progress& progress) {
    ++calls;
    EXPECT_LE(progress.done, progress.total);
  };
  fit(simulate_labels({.tasks = 100, .quality = {}}, 1), {}, {}, context);
  EXPECT_GT(calls, 0);
}

// Online: what one machine learns from all tasks, two machines learn from a part each, as far as counts
// go.
TEST_P(EveryMethod, MergesStatesByAddingCounts) {
  const Labels labels = simulate_labels({.tasks = 100, .workers = 10, .quality = {}}, 6);
  const auto a = find_method(GetParam()).make_online({}, 0);
  const auto b = find_method(GetParam()).make_online({}, 0);
  const auto all = find_method(GetParam()).make_online({}, 0);
  for (OnlineMethod* method : {a.get(), b.get(), all.get()}) method->expect(10, 4);
  for (TaskId t = 0; t < 100; ++t) {
    (t < 50 ? a : b)->learn(labels.task(t), 0);  // with a given truth, counts do not depend on the past
    all->learn(labels.task(t), 0);
  }
  a->merge(b->state());
  EXPECT_EQ(a->state().workers, all->state().workers);
}

}  // namespace
}  // namespace crowdfold
