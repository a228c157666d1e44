#include "crowdfold/learned.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::LabelRow;
using testing::labels_of;

const SimulationOptions kCrowd = {.tasks = 300,
                                  .workers = 15,
                                  .classes = 3,
                                  .min_labels = 5,
                                  .max_labels = 5,
                                  .quality = QualityDistribution::parse("uniform:.5,.9")};

Learned fitted(const std::string& method, const Labels& labels, const RunContext& context = {}) {
  Learned learned(method, {}, 0);
  learned.adopt(labels.workers(), labels.classes(), find_method(method).make({})->fit(labels, context));
  return learned;
}

TEST(Learned, JudgesWithTheQualitiesThatAFitHasFound) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(kCrowd, 1, &crowd);
  for (const char* const method : {"twopass", "threepass", "zc"}) {
    const Result result = fitted(method, labels).judge(labels, {});
    EXPECT_GT(testing::accuracy(result, crowd.truths), .9) << method;
  }
}

TEST(Learned, JudgesByConfusionMatricesIfTheMethodHasThem) {
  const Labels labels = simulate_labels(kCrowd, 1);
  RunContext context;
  context.confusion = context.posterior = true;
  const Result fit = find_method("ds").make({})->fit(labels, context);
  Learned learned("ds", {}, 0);
  learned.adopt(labels.workers(), labels.classes(), fit);
  const Result judged = learned.judge(labels, context);
  int same = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) same += judged.estimate[t] == fit.estimate[t] ? 1 : 0;
  EXPECT_GE(same, 298);
}

TEST(Learned, KnowsWorkersAndClassesByTheirNames) {
  const Learned learned = fitted(
      "twopass",
      labels_of(std::vector<LabelRow>{{"t1", "ann", "x"}, {"t1", "bob", "y"}, {"t2", "ann", "y"}}));
  const Labels more = labels_of(std::vector<LabelRow>{{"t9", "cid", "z"}, {"t9", "bob", "y"}});
  std::vector<std::uint64_t> new_workers;
  std::vector<std::uint64_t> new_classes;
  const Labels here = learned.renumber(more, new_workers, new_classes);
  EXPECT_EQ(here.workers()[here.task(0).workers[1]], "bob");
  EXPECT_EQ(here.task(0).workers[1], 1U);
  EXPECT_EQ(here.task(0).classes[0], 2U);
  EXPECT_EQ(new_workers, std::vector<std::uint64_t>{0});
  EXPECT_EQ(new_classes, std::vector<std::uint64_t>{0});
}

TEST(Learned, MergesWhatOthersHaveLearnedOfTheSameWorkers) {
  const std::vector<LabelRow> first = {{"t1", "ann", "x"}, {"t1", "bob", "x"}, {"t0", "dan", "y"}};
  const std::vector<LabelRow> second = {{"t2", "bob", "y"}, {"t2", "cid", "y"}, {"t3", "dan", "x"}};
  Learned learned = fitted("onepass", labels_of(first));
  learned.merge(fitted("onepass", labels_of(second)));
  ASSERT_EQ(learned.workers.size(), 4U);
  EXPECT_EQ(learned.state().counts_of(*learned.workers.find("bob")).seen, 2);
  EXPECT_EQ(learned.state().counts_of(*learned.workers.find("cid")).correct, 1);
  EXPECT_EQ(learned.tasks_seen, 4U);
}

TEST(Learned, GoesOnLearningOnlyWithMethodsThatCan) {
  const Labels labels = simulate_labels(kCrowd, 1);
  Learned online("onepass", {}, 0);
  EXPECT_EQ(online.observe(labels, {}, {}).estimate,
            find_method("onepass").make({})->fit(labels, {}).estimate);
  const Error error = error_of([&] { Learned("ds", {}, 0).observe(labels, {}, {}); });
  EXPECT_EQ(error.code(), ErrorCode::usage);
  EXPECT_NE(std::string(error.what()).find("onepass"), std::string::npos);
}

TEST(Learned, JudgesFurtherTasksAsAFivepassJudgedItsOwn) {
  SimulationOptions options{.tasks = 120, .workers = 12, .classes = 4, .quality = {}};
  options.confusion = true;
  const Labels labels = simulate_labels(options, 8);
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  const Result result = find_method("fivepass").make({})->fit(labels, context);
  Learned learned("fivepass", {}, 0);
  learned.adopt(labels.workers(), labels.classes(), result);
  const Result again = learned.judge(labels, context);
  EXPECT_EQ(again.estimate, result.estimate);
  EXPECT_EQ(again.posterior, result.posterior);
  // From a state that was saved; and with a worker and a class that it never met.
  Learned loaded("fivepass", {}, 0);
  loaded.restore(learned.state());
  EXPECT_EQ(loaded.judge(labels, context).posterior, result.posterior);
  const std::vector<WorkerId> workers = {0, 1, 12};
  const std::vector<ClassId> classes = {2, 2, 1};
  std::vector<double> posterior = learned.judge_one(workers, classes);
  EXPECT_NEAR(std::accumulate(posterior.begin(), posterior.end(), 0.0), 1, 1e-6);
  EXPECT_EQ(std::max_element(posterior.begin(), posterior.end()) - posterior.begin(), 2);
  EXPECT_THROW(learned.learn_one(workers, classes, kNoClass), Error);
}

TEST(Learned, JudgesFurtherTasksAsSoftlyAsAThreepassJudgedItsOwn) {
  const Labels labels = simulate_labels(kCrowd, 3);
  RunContext context;
  context.posterior = context.confusion = true;
  const Result fit = find_method("threepass").make({})->fit(labels, context);
  Learned learned("threepass", {}, 0);
  learned.adopt(labels.workers(), labels.classes(), fit);
  const Result judged = learned.judge(labels, context);
  EXPECT_EQ(judged.doubt, fit.doubt);
  for (std::size_t i = 0; i < fit.posterior.size(); ++i)
    EXPECT_NEAR(judged.posterior[i], fit.posterior[i], .02);
  // One task at a time.
  const TaskLabels task = labels.task(7);
  const std::vector<double> one = learned.judge_one(task.workers, task.classes);
  for (std::size_t k = 0; k < one.size(); ++k) EXPECT_NEAR(one[k], judged.posterior[7 * 3 + k], 1e-5);
  // From a state that was kept.
  Learned loaded("threepass", {}, 0);
  loaded.restore(learned.state());
  EXPECT_EQ(loaded.judge(labels, context).posterior, judged.posterior);
}

TEST(Learned, KeepsWhatTruthsSayAboutTheDoubtOfAThreepass) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(kCrowd, 3, &crowd);
  RunContext context;
  context.confusion = true;
  const Result fit = find_method("threepass").make({})->fit(labels, {crowd.truths, {}, {}}, context);
  EXPECT_LT(fit.doubt, .045);  // the crowd keeps the model's promises
  Learned learned("threepass", {}, 0);
  learned.adopt(labels.workers(), labels.classes(), fit);
  EXPECT_EQ(learned.judge(labels, context).doubt, fit.doubt);
}

TEST(Learned, OfFivepassTakesCountsOfOtherMethodsAsHistories) {
  Learned learned("fivepass", {}, 0);
  WorkerState state;
  state.expect(2, 2);
  state.counts = {{90, 100}, {55, 100}};
  for (const char* name : {"a", "b"}) learned.workers.intern(name);
  for (const char* name : {"no", "yes"}) learned.classes.intern(name);
  learned.restore(state);
  const std::vector<double> posterior =
      learned.judge_one(std::vector<WorkerId>{0, 1}, std::vector<ClassId>{1, 0});
  EXPECT_GT(posterior[1], .7);
}

}  // namespace
}  // namespace crowdfold
