// Contracts that every method keeps, whatever it does inside: what it takes, what it refuses, how it
// goes on. Beside it: belief_test.cc, invariance_test.cc, online_test.cc,
// recovery_test.cc.
#include <cmath>

#include "contract/every_method.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::LabelRow;
using testing::labels_of;

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

ENROL(EveryMethod, true);
ENROL(MethodInRounds, static_cast<bool>(m.make_rounds));
ENROL(MethodThatDrawsNothing, !m.traits.draws);
ENROL(MethodWithoutOrder, !m.traits.draws && !m.make_online);
ENROL(MethodOfShares, m.traits.by_shares);
ENROL(MethodThatTakesTruths, m.traits.takes_truths);
ENROL(MethodForTwoClasses, m.traits.most_classes == 2);
ENROL(MethodOnWholeDataSets, !m.make_online);
ENROL(MethodOnline, m.make_online != nullptr);
ENROL(MethodThatMerges, m.make_online&& m.traits.can_merge);
ENROL(MethodThatGoesOn, m.make_online&& m.traits.resumes_exactly);
ENROL(MethodThatClimbs, m.traits.climbs);
ENROL(MethodWithATolerance, m.has_option("tolerance"));
ENROL(MethodWithConfusion, m.traits.has_confusion);
ENROL(MethodWithFreeMatrices, m.traits.has_free_matrices);

TEST_P(MethodThatTakesTruths, FixesKnownTruthsAndLearnsFromThem) {
  // Everyone agrees on a; the truth is b. Who said so is thought less of than without the truth.
  std::vector<LabelRow> rows;
  for (int t = 0; t < 10; ++t) {
    for (const char* worker : {"u", "v", "w"}) rows.push_back({std::to_string(t), worker, "a"});
  }
  rows.push_back({"10", "x", "b"});
  const Labels labels = labels_of(rows);
  Knowledge given;
  given.truths.assign(5, 1);  // of the first five tasks
  const Result result = fit(labels, {}, given, with(1, 0, true));
  for (TaskId t = 0; t < 5; ++t) {
    EXPECT_EQ(result.estimate[t], 1);
    EXPECT_EQ(result.confidence[t], 1);
    EXPECT_EQ(result.posterior[2 * t], 0);
    EXPECT_EQ(result.posterior[2 * t + 1], 1);
  }
  EXPECT_EQ(result.learned.counts_of(0).seen, 10);
  EXPECT_LT(result.learned.quality(0).mean(), fit(labels).learned.quality(0).mean() - .1);
}

TEST_P(MethodThatTakesTruths, KnowsTheTruthOfATaskWithoutLabels) {
  Knowledge given;
  given.truths = {0};
  const Result result = fit(labels_of({{"1", "u", ""}, {"2", "u", "a"}}), {}, given);
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{0, 0}));
}

TEST_P(EveryMethod, AddsToTheCountsItIsGivenOrSaysWhoWould) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"2", "v", "b"}});
  Knowledge given;
  given.workers = {{5, 9}};  // v has no history
  if (info().traits.takes_workers) {
    const Result result = fit(labels, {}, given);
    EXPECT_EQ(result.learned.counts_of(0).seen, 10);
    EXPECT_GE(result.learned.counts_of(0).correct, 5);
    EXPECT_EQ(result.learned.counts_of(1).seen, 2);
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
  EXPECT_NE(std::string(error.what()).find(" of memory, and 1.0 KB may be used"), std::string::npos);
}

TEST_P(EveryMethod, TakesOneClassOnlyOneWorkerOnlyOneTaskOnly) {
  const Result one_class =
      fit(labels_of({{"1", "u", "a"}, {"2", "u", "a"}, {"2", "v", "a"}}), {}, {}, with(1, 0, true));
  EXPECT_EQ(one_class.estimate, (FlatArray<ClassId>{0, 0}));
  for (const double confidence : one_class.confidence) EXPECT_NEAR(confidence, 1, 1e-12);

  const Result one_worker = fit(labels_of({{"1", "u", "a"}, {"2", "u", "b"}, {"3", "u", "a"}}));
  if (!info().traits.draws) {
    EXPECT_EQ(one_worker.estimate, (FlatArray<ClassId>{0, 1, 0}));
  }
  EXPECT_EQ(one_worker.learned.counts_of(0).seen, 0);  // they tell nothing

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
    for (const WorkerCounts& counts : result.learned.counts) {
      ASSERT_TRUE(counts.correct >= 0 && counts.correct <= counts.seen + 1e-9)
          << counts.correct << " of " << counts.seen;
    }
    ASSERT_EQ(result.learned.counts.size(), labels.num_workers());
    ASSERT_EQ(result.learned.classes, labels.num_classes());
  }
}

TEST_P(EveryMethod, TakesNothingAtAll) {
  const Result nothing = fit(Labels{}, {}, {}, with(2, 0, true));
  EXPECT_TRUE(nothing.estimate.empty());
  EXPECT_TRUE(nothing.learned.counts.empty());
  const Result abstained = fit(labels_of({{"1", "u", ""}}), {}, {}, with(1, 0, true));
  EXPECT_EQ(abstained.estimate, FlatArray<ClassId>{kNoClass});
}

TEST_P(EveryMethod, TakesTenThousandLabelsOnOneTask) {
  const bool two = info().traits.most_classes == 2;
  const int workers = info().traits.compares_pairs ? 1'000 : 10'000;  // a million pairs
  std::vector<LabelRow> rows;
  for (int w = 0; w < workers; ++w)
    rows.push_back({"t", "w" + std::to_string(w), w % 10 < 6 ? "a" : w % 10 < 9 || two ? "b" : "c"});
  Knowledge given;
  if (info().traits.takes_workers) given.workers.assign(static_cast<std::size_t>(workers), {90, 100});
  const Result result = fit(labels_of(rows), fitting({{"starts", "2"}}), given, with(1, 0, true));
  if (!info().traits.draws) {
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
        ->learn(labels.task(t), Answer::truth(0));  // with a truth, counts do not depend on the past
    all->learn(labels.task(t), Answer::truth(0));
  }
  a->merge(b->state());
  EXPECT_EQ(a->state().counts, all->state().counts);
}

TEST_P(MethodOnline, RefusesToMergeIfItSaysThatItCannot) {
  if (info().traits.can_merge) return;
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
    EXPECT_EQ(resumed->state().counts_of(w).seen, whole->state().counts_of(w).seen);
    EXPECT_NEAR(resumed->state().counts_of(w).correct, whole->state().counts_of(w).correct, kRounding);
  }
}

TEST_P(EveryMethod, HasATraceIfTheRegistrySaysSo) {
  const Labels labels = simulate_labels({.tasks = 50, .classes = up_to(4), .quality = {}}, 1);
  EXPECT_EQ(!fit(labels, quick()).trace.empty(), info().traits.has_trace);
}

TEST_P(EveryMethod, GivesTheExtrasThatTheRegistryNames) {
  const Labels labels = simulate_labels({.tasks = 30, .workers = 7, .classes = 2, .quality = {}}, 1);
  const Result result = fit(labels);
  ASSERT_EQ(result.extras.size(), info().traits.gives.size());
  for (std::size_t i = 0; i < result.extras.size(); ++i) {
    const Extra& extra = result.extras[i];
    const ExtraInfo& named = info().traits.gives[i];
    EXPECT_EQ(extra.name, named.name);
    EXPECT_EQ(extra.per, named.per);
    EXPECT_EQ(extra.width, std::size_t{1} << named.class_axes);  // of two classes
    const std::size_t rows = extra.per == Per::task     ? labels.num_tasks()
                             : extra.per == Per::worker ? labels.num_workers()
                                                        : labels.num_classes();
    EXPECT_EQ(extra.values.size(), rows * extra.width);
  }
}

TEST_P(EveryMethod, RefusesExtrasThatItDoesNotTakeAndThoseOfAnotherSize) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "v", "b"}});
  Knowledge given;
  given.extras = {{"nonsense", Per::worker, 1, {1, 1}}};
  EXPECT_EQ(error_of([&] { fit(labels, {}, given); }).code(), ErrorCode::usage);
  for (const ExtraInfo& taken : info().traits.takes) {
    given.extras = {{taken.name, taken.per, std::size_t{1} << taken.class_axes, {1}}};
    const Error error = error_of([&] { fit(labels, {}, given); });
    EXPECT_EQ(error.code(), ErrorCode::usage);
    EXPECT_NE(std::string(error.what()).find(taken.name), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace crowdfold
