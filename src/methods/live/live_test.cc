#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <utility>

#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::labels_of;

Result live(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  return find_method("live").make(settings)->fit(labels, given, context);
}

Labels simulated(std::uint64_t seed, SimulatedCrowd* crowd = nullptr) {
  return simulate_labels({.tasks = 300,
                          .workers = 15,
                          .classes = 4,
                          .min_labels = 3,
                          .max_labels = 6,
                          .quality = QualityDistribution::parse("uniform:.4,.95")},
                         seed, crowd);
}

TEST(Live, JudgesByQualitiesAndAShareOfTasksThatAreTooHard) {
  // New workers are right by 4 : 2; a label is 4/3 as likely as by chance if it is right, 2/3 if it is
  // wrong. A tenth of tasks is too hard.
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}});
  const Result result = live(labels, {{"beta", "2"}});
  const double a = .9 * 16 / 9 * 2 / 3 + .1;
  const double b = .9 * 4 / 9 * 4 / 3 + .1;
  EXPECT_EQ(result.estimate[0], 0);
  EXPECT_NEAR(result.posterior[0], testing::softened(a / (a + b)), 1e-12);
  EXPECT_NEAR(result.posterior[1], testing::softened(b / (a + b)), 1e-12);
  EXPECT_EQ(result.learned.counts, (std::vector<WorkerCounts>{{1, 1}, {1, 1}, {0, 1}}));
}

TEST(Live, LearnsFromTheAnswerThatItIsGiven) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}});
  const auto method = find_method("live").make_online({}, 0);
  method->expect(3, 2);
  method->learn(labels.task(0), Answer::truth(1));
  const WorkerState state = method->state();
  EXPECT_EQ(state.counts, (std::vector<WorkerCounts>{{0, 1}, {0, 1}, {1, 1}}));
  const StateSection* const cells = state.find("confusion");
  ASSERT_NE(cells, nullptr);
  for (std::size_t i = 0; i < cells->rows(); ++i) EXPECT_EQ(cells->key(i)[1], 1U) << i;
  EXPECT_EQ(cells->values, (std::vector<double>{1, 1, 1}));
}

TEST(Live, LearnsFromItsOwnAnswerIfItIsGivenNone) {
  const Labels labels = simulated(1);
  const auto given = find_method("live").make_online({}, 0);
  const auto alone = find_method("live").make_online({}, 0);
  for (OnlineMethod* method : {given.get(), alone.get()})
    method->expect(labels.num_workers(), labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    given->learn(labels.task(t), given->estimate(labels.task(t)));
    alone->learn(labels.task(t));
  }
  EXPECT_EQ(given->state().counts, alone->state().counts);
  EXPECT_EQ(given->state().sections, alone->state().sections);
}

TEST(Live, GoesOnFromAStateExactly) {
  const Labels labels = simulated(2);
  const auto whole = find_method("live").make_online({}, 0);
  auto resumed = find_method("live").make_online({}, 0);
  for (OnlineMethod* method : {whole.get(), resumed.get()})
    method->expect(labels.num_workers(), labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const Estimate expected = whole->observe(labels.task(t));
    const Estimate found = resumed->observe(labels.task(t));
    EXPECT_EQ(found.label, expected.label);
    EXPECT_EQ(found.confidence, expected.confidence);
    if (t % 50 != 0) continue;
    const WorkerState saved = resumed->state();
    resumed = find_method("live").make_online({}, 0);
    resumed->restore(saved);
  }
}

TEST(Live, MergesWhatItWouldHaveLearnedFromBoth) {
  SimulatedCrowd crowd;
  const Labels labels = simulated(3, &crowd);
  const auto first = find_method("live").make_online({}, 0);
  const auto second = find_method("live").make_online({}, 0);
  const auto both = find_method("live").make_online({}, 0);
  for (OnlineMethod* method : {first.get(), second.get(), both.get()})
    method->expect(labels.num_workers(), labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const Answer truth = Answer::truth(crowd.truths[t]);
    (t % 2 == 0 ? first : second)->learn(labels.task(t), truth);
    both->learn(labels.task(t), truth);
  }
  first->merge(second->state());
  EXPECT_EQ(first->state().counts, both->state().counts);
  EXPECT_EQ(first->state().sections[0], both->state().sections[0]);
}

TEST(Live, SeveralThreadsMayJudgeAtOnce) {
  const Labels labels = simulated(5);
  const auto method = find_method("live").make_online({}, 0);
  method->expect(labels.num_workers(), labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) method->learn(labels.task(t));
  const auto judged = [&] {
    std::vector<double> confidences;
    for (TaskId t = 0; t < labels.num_tasks(); ++t)
      confidences.push_back(std::as_const(*method).estimate(labels.task(t)).confidence);
    return confidences;
  };
  const std::vector<double> expected = judged();
  std::vector<std::vector<double>> found(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<double>& result : found) threads.emplace_back([&] { result = judged(); });
  }
  for (const std::vector<double>& result : found) EXPECT_EQ(result, expected);
}

TEST(Live, RefusesAStateOfAnotherPrior) {
  const WorkerState state = find_method("live").make_online({{"alpha", "3"}}, 0)->state();
  const auto method = find_method("live").make_online({}, 0);
  EXPECT_EQ(error_of([&] { method->restore(state); }).code(), ErrorCode::usage);
  EXPECT_EQ(error_of([&] { method->merge(state); }).code(), ErrorCode::usage);
}

TEST(Live, CountsFadeWithAHalfLife) {
  std::vector<testing::LabelRow> rows = {{"first", "v", "b"}, {"first", "w", "b"}};
  for (int t = 0; t < 200; ++t) rows.push_back({std::to_string(t), "u", "a"});
  const WorkerCounts counts = live(labels_of(rows), {{"half_life", "10"}}).learned.counts_of(2);
  EXPECT_NEAR(counts.seen, 1 / (1 - std::exp2(-.1)), 1e-3);
  EXPECT_EQ(counts.correct, counts.seen);
}

TEST(Live, IsBetterThanAVoteWhereWorkersMixClassesUp) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 3'000,
                                         .workers = 40,
                                         .classes = 4,
                                         .min_labels = 5,
                                         .max_labels = 5,
                                         .quality = QualityDistribution::parse("uniform:.4,.9"),
                                         .confusion = true},
                                        4, &crowd);
  const auto accuracy = [&](const char* method) {
    return testing::accuracy(find_method(method).make({})->fit(labels, RunContext{}), crowd.truths);
  };
  EXPECT_GT(accuracy("live"), accuracy("mv") + .02);
  EXPECT_GT(accuracy("live"), accuracy("onepass"));
}

}  // namespace
}  // namespace crowdfold
