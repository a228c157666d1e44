// Contracts that every method keeps, whatever it does inside.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "core/random.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::LabelRow;
using testing::labels_of;

// Registering a method enrols it here.
class EveryMethod : public ::testing::TestWithParam<std::string> {
 protected:
  const MethodInfo& info() const { return find_method(GetParam()); }

  Result fit(const Labels& labels, const Settings& settings = {}, const Given& given = {},
             const RunContext& context = {}) const {
    return info().make(settings)->fit(labels, given, context);
  }

  // Those of the settings that the method has.
  Settings fitting(const Settings& settings) const {
    Settings those;
    for (const auto& setting : settings) {
      if (info().has_option(setting.first)) those.push_back(setting);
    }
    return those;
  }
  // A few iterations, where more would make the test slow.
  Settings quick() const {
    return fitting({{"iterations", "3"},
                    {"imitation", "3"},
                    {"epochs", "2"},
                    {"start_epochs", "1"},
                    {"starts", "2"},
                    {"subtypes", "2"},
                    {"ties", "random"}});
  }

  static RunContext with(int threads, std::uint64_t seed, bool posterior) {
    RunContext context;
    context.threads = threads;
    context.seed = seed;
    context.posterior = posterior;
    return context;
  }

  // As many classes as are wanted, or as the method takes.
  std::uint32_t up_to(std::uint32_t classes) const { return std::min(classes, info().most_classes); }

  // These weigh votes by other than the log-odds that their probabilities are made of, or have weights
  // below zero, with which a class that nobody voted for is the most probable one but cannot win.
  bool may_differ_from_argmax() const {
    return GetParam() == "onepass" || GetParam() == "twopass" || GetParam() == "iwmv";
  }
};

// These start at random: not the same under other ids.
bool starts_at_random(const MethodInfo& info) {
  static const std::set<std::string> those = {"kos", "opt_ds", "laa", "bila"};
  return info.has_option("starts") || those.contains(info.name);
}
// Without a prior, shares of counts are all that counts.
bool goes_by_shares(const MethodInfo& info) {
  static const std::set<std::string> those = {"mv", "wawa",       "zbs", "iwmv",   "zc",
                                              "ds", "onecoin_ds", "lfc", "fast_ds"};
  return those.contains(info.name);
}
// Votes have no objective that must grow.
bool climbs(const MethodInfo& info) {
  static const std::set<std::string> those = {"zc",   "onecoin_ds", "ds",   "fast_ds", "lfc",   "ibcc",
                                              "ebcc", "bwa",        "glad", "mace",    "opt_ds"};
  return those.contains(info.name);
}

// Rows of a matrix say what a worker says of a class, whatever that is.
bool has_free_matrices(const MethodInfo& info) {
  static const std::set<std::string> those = {"ds", "lfc", "fast_ds", "opt_ds", "ibcc", "ebcc"};
  return those.contains(info.name);
}

auto methods_that(bool (*fit)(const MethodInfo&)) {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods()) {
    if (fit(info)) names.push_back(info.name);
  }
  return ::testing::ValuesIn(names);
}
std::string name_of(const ::testing::TestParamInfo<std::string>& parameter) { return parameter.param; }

// A suite for the methods m that a contract is about.
#define ENROL(Suite, condition)                                                                      \
  INSTANTIATE_TEST_SUITE_P(                                                                          \
      Registry, Suite, methods_that([]([[maybe_unused]] const MethodInfo& m) { return condition; }), \
      name_of)

class MethodThatDrawsNothing : public EveryMethod {};
class MethodWithoutOrder : public EveryMethod {};
class MethodOfShares : public EveryMethod {};
class MethodThatTakesTruths : public EveryMethod {};
class MethodForTwoClasses : public EveryMethod {};
class MethodOnWholeDataSets : public EveryMethod {};
class MethodOnline : public EveryMethod {};
class MethodThatMerges : public EveryMethod {};
class MethodThatGoesOn : public EveryMethod {};
class MethodWithAnObjective : public EveryMethod {};
class MethodWithATolerance : public EveryMethod {};
class MethodWithConfusion : public EveryMethod {};
class MethodWithFreeMatrices : public EveryMethod {};

ENROL(EveryMethod, true);
ENROL(MethodThatDrawsNothing, !starts_at_random(m));
ENROL(MethodWithoutOrder, !starts_at_random(m) && !m.make_online);
ENROL(MethodOfShares, goes_by_shares(m));
ENROL(MethodThatTakesTruths, m.takes_truths);
ENROL(MethodForTwoClasses, m.most_classes == 2);
ENROL(MethodOnWholeDataSets, !m.make_online);
ENROL(MethodOnline, m.make_online != nullptr);
ENROL(MethodThatMerges, m.make_online&& m.merges);
// threepass builds tables anew that it would have gone on using for a while: see threepass_test.cc.
ENROL(MethodThatGoesOn, m.make_online&& m.name != "threepass");
ENROL(MethodWithAnObjective, climbs(m));
ENROL(MethodWithATolerance, m.has_option("tolerance"));
ENROL(MethodWithConfusion, m.has_confusion);
ENROL(MethodWithFreeMatrices, has_free_matrices(m));

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

TEST_P(EveryMethod, GivesPosteriorsThatSumToOneWithTheEstimateAtTheirTop) {
  for (const std::uint32_t classes : {2U, 3U, 8U, 9U, 100U, 1000U}) {
    if (classes > info().most_classes) continue;
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
        if (may_differ_from_argmax()) continue;
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
  // More tasks than one thread takes at a time.
  const Labels labels = simulate_labels({.tasks = 70'000,
                                         .workers = 40,
                                         .classes = up_to(3),
                                         .min_labels = 2,
                                         .max_labels = 3,
                                         .quality = {}},
                                        2);
  const Settings settings = quick();
  const Result one = fit(labels, settings, {}, with(1, 3, false));
  for (const int threads : {2, 4}) expect_same(one, fit(labels, settings, {}, with(threads, 3, false)));
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
  if (!info().has_option("ties") && !starts_at_random(info())) return;  // nothing is drawn
  const Result a = fit(labels, settings, {}, with(1, 7, false));
  const Result b = fit(labels, settings, {}, with(1, 8, false));
  EXPECT_TRUE(a.estimate != b.estimate || a.confidence != b.confidence);
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
  ASSERT_NE(testing::names_of(others.workers)[0], renamed(testing::names_of(labels.workers)[0]));
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    EXPECT_EQ(renamed(std::string(labels.classes[result.estimate[t]])),
              others.classes[other.estimate[t]])
        << t;
    EXPECT_NEAR(result.confidence[t], other.confidence[t], 1e-6) << t;
  }
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const auto found = others.workers.find(renamed(std::string(labels.workers[w])));
    ASSERT_TRUE(found);
    EXPECT_EQ(result.workers.counts(w).seen, other.workers.counts(*found).seen);
    EXPECT_NEAR(result.workers.counts(w).correct, other.workers.counts(*found).correct, 1e-4);
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
    const TaskId same = *others.tasks.find(labels.tasks[t]);
    EXPECT_EQ(labels.classes[result.estimate[t]], others.classes[other.estimate[same]]) << t;
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
    EXPECT_EQ(doubled.workers.counts(w).seen, 2 * result.workers.counts(w).seen) << w;
    EXPECT_NEAR(doubled.workers.counts(w).correct, 2 * result.workers.counts(w).correct, 1e-4) << w;
  }
}

TEST_P(MethodThatTakesTruths, FixesKnownTruthsAndLearnsFromThem) {
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
  EXPECT_EQ(result.workers.counts(0).seen, 10);
  // On eleven tasks, the votes are next to nothing in the loss of laa: it may call their classes by
  // other names.
  if (GetParam() == "laa") return;
  EXPECT_LT(result.workers.quality(0).mean(), fit(labels).workers.quality(0).mean() - .1);
}

TEST_P(MethodThatTakesTruths, KnowsTheTruthOfATaskWithoutLabels) {
  Given given;
  given.truths = {0};
  const Result result = fit(labels_of({{"1", "u", ""}, {"2", "u", "a"}}), {}, given);
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 0}));
}

TEST_P(EveryMethod, AddsToTheCountsItIsGivenOrSaysWhoWould) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"2", "v", "b"}});
  Given given;
  given.workers = {{5, 9}};  // v has no history
  if (info().takes_workers) {
    const Result result = fit(labels, {}, given);
    EXPECT_EQ(result.workers.counts(0).seen, 10);
    EXPECT_GE(result.workers.counts(0).correct, 5);
    EXPECT_EQ(result.workers.counts(1).seen, 2);
    return;
  }
  const Error error = error_of([&] { fit(labels, {}, given); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_EQ(std::string(error.what())
                .rfind(GetParam() + " cannot use earlier worker qualities; methods that fit: mv, ", 0),
            0U)
      << error.what();
}

TEST_P(MethodForTwoClasses, RefusesMoreClassesThanItTakesAndSaysWhoDoes) {
  const Error error =
      error_of([&] { fit(simulate_labels({.tasks = 50, .classes = 3, .quality = {}}, 1)); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_NE(std::string(error.what())
                .find("is for 2 classes at most, and there are 3; methods that fit: mv, "),
            std::string::npos)
      << error.what();
}

TEST_P(MethodOnWholeDataSets, RefusesToTakeMoreMemoryThanItMayAndSaysHowMuchItNeeds) {
  RunContext context;
  context.max_memory = 1000;
  const Error error = error_of(
      [&] { fit(simulate_labels({.tasks = 5'000, .classes = 2, .quality = {}}, 1), {}, {}, context); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_NE(std::string(error.what()).find(" of memory, and 0.0 MB may be used"), std::string::npos);
}

TEST_P(EveryMethod, TakesOneClassOnlyOneWorkerOnlyOneTaskOnly) {
  const Result one_class =
      fit(labels_of({{"1", "u", "a"}, {"2", "u", "a"}, {"2", "v", "a"}}), {}, {}, with(1, 0, true));
  EXPECT_EQ(one_class.estimate, (FlatArray<ClassId>{0, 0}));
  for (const double confidence : one_class.confidence) EXPECT_NEAR(confidence, 1, 1e-12);

  const Result one_worker = fit(labels_of({{"1", "u", "a"}, {"2", "u", "b"}, {"3", "u", "a"}}));
  if (!starts_at_random(info())) {
    EXPECT_EQ(one_worker.estimate, (FlatArray<ClassId>{0, 1, 0}));
  }
  EXPECT_EQ(one_worker.workers.counts(0).seen, 3);

  const Result one_task = fit(labels_of({{"1", "u", "b"}}));
  EXPECT_EQ(one_task.estimate, FlatArray<ClassId>{0});
}

TEST_P(EveryMethod, NeverGivesWhatIsNoNumber) {
  // Everyone wrong, everyone the same, everyone something else, workers with one label, long and short
  // tasks, tasks without labels.
  const std::uint32_t classes = up_to(5);
  std::vector<Labels> crowds;
  for (const char* quality : {"fixed:0", "fixed:1", "fixed:.5"}) {
    crowds.push_back(simulate_labels(
        {.tasks = 40, .workers = 8, .classes = classes, .quality = QualityDistribution::parse(quality)},
        1));
  }
  crowds.push_back(simulate_labels({.tasks = 30,
                                    .workers = 3'000,
                                    .classes = classes,
                                    .min_labels = 1,
                                    .max_labels = 100,
                                    .quality = {}},
                                   2));
  crowds.push_back(
      labels_of({{"1", "u", ""}, {"2", "v", "a"}, {"3", "u", "b"}, {"3", "w", "a"}, {"4", "w", ""}}));
  for (const Labels& labels : crowds) {
    RunContext context = with(2, 1, true);
    context.confusion = true;
    const Result result = fit(labels, fitting({{"starts", "2"}}), {}, context);
    for (const double p : result.posterior) ASSERT_TRUE(p >= 0 && p <= 1) << p;
    for (const double p : result.confidence) ASSERT_TRUE(p >= 0 && p <= 1) << p;
    for (const double p : result.confusion) ASSERT_TRUE(p >= 0 && p <= 1 + 1e-12) << p;
    for (const double value : result.trace) ASSERT_TRUE(std::isfinite(value)) << value;
    for (const WorkerCounts& counts : result.workers.workers) {
      ASSERT_TRUE(counts.correct >= 0 && counts.correct <= counts.seen + 1e-9)
          << counts.correct << " of " << counts.seen;
    }
    ASSERT_EQ(result.workers.workers.size(), labels.num_workers());
    ASSERT_EQ(result.workers.classes, labels.num_classes());
  }
}

TEST_P(EveryMethod, RecoversPerfectWorkers) {
  Crowd crowd;
  const Labels labels = simulate_labels({.tasks = 2'000,
                                         .workers = 10,
                                         .classes = up_to(4),
                                         .quality = QualityDistribution::parse("fixed:1")},
                                        3, &crowd);
  const Result result = fit(labels);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) ASSERT_EQ(result.estimate[t], crowd.truths[t]) << t;
  for (WorkerId w = 0; w < labels.num_workers(); ++w)
    EXPECT_GT(result.workers.quality(w).mean(), .9) << w;
}

TEST_P(EveryMethod, RecoversACrowdOfDifferentQualities) {
  Crowd crowd;
  const Labels labels = simulate_labels({.tasks = 2'000,
                                         .workers = 40,
                                         .classes = up_to(3),
                                         .min_labels = 8,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.5,.95")},
                                        7, &crowd);
  const Result result = fit(labels);
  EXPECT_GT(testing::accuracy(result, crowd.truths), .92);
  for (WorkerId w = 0; w < labels.num_workers(); ++w)
    EXPECT_NEAR(result.workers.quality(w).mean(), crowd.quality[w], .1) << w;  // 400 labels each
}

TEST_P(MethodWithFreeMatrices, RecoversWorkersWhoErrInTheirOwnWays) {
  Crowd crowd;
  const Labels labels = simulate_labels({.tasks = 3'000,
                                         .workers = 30,
                                         .classes = 3,
                                         .min_labels = 8,
                                         .max_labels = 8,
                                         .quality = QualityDistribution::parse("uniform:.6,.9"),
                                         .confusion = true},
                                        9, &crowd);
  RunContext context;
  context.confusion = true;
  const Result result = fit(labels, {}, {}, context);
  EXPECT_GT(testing::accuracy(result, crowd.truths), .95);

  // What workers really said, by truth: about 270 labels a row.
  std::vector<double> said(result.confusion.size());
  std::vector<double> rows(said.size() / 3);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      const std::size_t row = 3UL * task.workers[j] + crowd.truths[t];
      ++said[3 * row + task.classes[j]];
      ++rows[row];
    }
  }
  for (std::size_t i = 0; i < said.size(); ++i)
    EXPECT_NEAR(result.confusion[i], said[i] / rows[i / 3], .06) << i;
}

TEST_P(MethodWithAnObjective, ClimbsToItsObjective) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Labels labels = simulate_labels({.tasks = 300,
                                           .workers = 25,
                                           .classes = up_to(4),
                                           .min_labels = 3,
                                           .max_labels = 6,
                                           .quality = {}},
                                          seed);
    const Result result = fit(labels, fitting({{"iterations", "40"}}), {}, with(1, seed, false));
    ASSERT_FALSE(result.trace.empty());
    for (std::size_t i = 1; i < result.trace.size(); ++i)
      EXPECT_GE(result.trace[i], result.trace[i - 1] - 1e-7 * std::abs(result.trace[i - 1])) << i;
  }
}

TEST_P(MethodWithATolerance, SaysWhetherItSettled) {
  const Labels labels =
      simulate_labels({.tasks = 300, .workers = 25, .classes = up_to(4), .quality = {}}, 1);
  EXPECT_FALSE(fit(labels, {{"iterations", "1"}, {"tolerance", "1e-9"}}).converged);
  EXPECT_TRUE(fit(labels, {{"iterations", "10000"}, {"tolerance", ".01"}}).converged);
}

TEST_P(MethodWithConfusion, GivesMatricesWhoseRowsSumToOneIfAsked) {
  const Labels labels =
      simulate_labels({.tasks = 300, .workers = 25, .classes = up_to(4), .quality = {}}, 1);
  EXPECT_TRUE(fit(labels, quick()).confusion.empty());
  RunContext context;
  context.confusion = true;
  const Result result = fit(labels, quick(), {}, context);
  const std::size_t classes = labels.num_classes();
  ASSERT_EQ(result.confusion.size(), labels.num_workers() * classes * classes);
  for (std::size_t row = 0; row < result.confusion.size(); row += classes) {
    EXPECT_NEAR(
        std::accumulate(result.confusion.begin() + static_cast<std::ptrdiff_t>(row),
                        result.confusion.begin() + static_cast<std::ptrdiff_t>(row + classes), 0.0),
        1, 1e-9);
  }
}

TEST_P(EveryMethod, TakesNothingAtAll) {
  const Result nothing = fit(Labels{}, {}, {}, with(2, 0, true));
  EXPECT_TRUE(nothing.estimate.empty());
  EXPECT_TRUE(nothing.workers.workers.empty());
  const Result abstained = fit(labels_of({{"1", "u", ""}}), {}, {}, with(1, 0, true));
  EXPECT_EQ(abstained.estimate, FlatArray<ClassId>{kNoClass});
}

TEST_P(EveryMethod, TakesTenThousandLabelsOnOneTask) {
  const bool two = info().most_classes == 2;
  // Every pair of workers who share a task is looked at by mmsr: a hundred million here.
  const int workers = GetParam() == "mmsr" ? 1'000 : 10'000;
  std::vector<LabelRow> rows;
  for (int w = 0; w < workers; ++w)
    rows.push_back({"t", "w" + std::to_string(w), w % 10 < 6 ? "a" : w % 10 < 9 || two ? "b" : "c"});
  Given given;
  if (info().takes_workers) given.workers.assign(static_cast<std::size_t>(workers), {90, 100});
  const Result result = fit(labels_of(rows), {}, given, with(1, 0, true));
  if (!starts_at_random(info())) {
    EXPECT_EQ(result.estimate[0], 0);
  }
  EXPECT_GT(result.confidence[0], .5);
  for (const double p : result.posterior) EXPECT_TRUE(p > 0 && p <= 1) << p;
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
  fit(simulate_labels({.tasks = 100, .classes = up_to(4), .quality = {}}, 1), {}, {}, context);
  EXPECT_GT(calls, 0);
}

// Online: what one machine learns from all tasks, two machines learn from a part each, as far as counts
// go.
TEST_P(MethodThatMerges, MergesStatesByAddingCounts) {
  const Labels labels =
      simulate_labels({.tasks = 100, .workers = 10, .classes = up_to(4), .quality = {}}, 6);
  const auto a = find_method(GetParam()).make_online({}, 0);
  const auto b = find_method(GetParam()).make_online({}, 0);
  const auto all = find_method(GetParam()).make_online({}, 0);
  for (OnlineMethod* method : {a.get(), b.get(), all.get()}) method->expect(10, up_to(4));
  for (TaskId t = 0; t < 100; ++t) {
    (t < 50 ? a : b)
        ->learn(labels.task(t), {0, 1});  // with a given truth, counts do not depend on the past
    all->learn(labels.task(t), {0, 1});
  }
  a->merge(b->state());
  EXPECT_EQ(a->state().workers, all->state().workers);
}

TEST_P(MethodOnline, RefusesToMergeIfItSaysThatItCannot) {
  if (info().merges) return;
  const Labels labels =
      simulate_labels({.tasks = 10, .workers = 10, .classes = up_to(4), .quality = {}}, 6);
  const auto method = info().make_online(quick(), 0);
  method->expect(10, up_to(4));
  method->learn(labels.task(0));
  EXPECT_EQ(error_of([&] { method->merge(method->state()); }).code(), ErrorCode::usage);
}

// Chunk by chunk, with nothing but the state in between.
TEST_P(MethodThatGoesOn, GoesOnFromASavedState) {
  const Labels labels = simulate_labels({.tasks = 120,
                                         .workers = 12,
                                         .classes = up_to(4),
                                         .min_labels = 3,
                                         .max_labels = 6,
                                         .quality = {}},
                                        6);
  constexpr double kRounding = 1e-9;
  const auto whole = info().make_online(quick(), 3);
  auto resumed = info().make_online(quick(), 3);
  for (OnlineMethod* method : {whole.get(), resumed.get()}) method->expect(12, up_to(4));
  for (TaskId first = 0; first < 120; first += 40) {
    std::vector<TaskLabels> chunk;
    for (TaskId t = first; t < first + 40; ++t) chunk.push_back(labels.task(t));
    const std::vector<Estimate> expected = whole->observe_chunk(chunk);
    const WorkerState saved = resumed->state();
    resumed = info().make_online(quick(), 3);
    resumed->restore(saved);
    resumed->expect(12, up_to(4));
    const std::vector<Estimate> found = resumed->observe_chunk(chunk);
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      EXPECT_EQ(found[i].label, expected[i].label) << first + i;
      EXPECT_NEAR(found[i].confidence, expected[i].confidence, kRounding) << first + i;
    }
  }
  for (WorkerId w = 0; w < 12; ++w) {
    EXPECT_EQ(resumed->state().counts(w).seen, whole->state().counts(w).seen);
    EXPECT_NEAR(resumed->state().counts(w).correct, whole->state().counts(w).correct, kRounding);
  }
}

}  // namespace
}  // namespace crowdfold
