// How online methods learn: from truths and from estimates, by hand and through whoever drives them.
#include <thread>

#include "contract/every_method.h"
#include "crowdfold/budget.h"
#include "crowdfold/learned.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

constexpr std::uint32_t kWorkers = 12;
constexpr double kRounding = 1e-9;

Labels some_labels(std::uint32_t classes, std::uint32_t tasks = 60) {
  return simulate_labels({.tasks = tasks,
                          .workers = kWorkers,
                          .classes = classes,
                          .min_labels = 3,
                          .max_labels = 6,
                          .quality = QualityDistribution::parse("uniform:.6,.95")},
                         4);
}

// An instance that expects the crowd of some_labels().
std::unique_ptr<OnlineMethod> ready(const MethodInfo& info, const Settings& settings,
                                    std::uint32_t classes) {
  auto method = info.make_online(settings, 3);
  method->expect(kWorkers, classes);
  return method;
}

void expect_near(const WorkerState& a, const WorkerState& b) {
  ASSERT_EQ(a.counts.size(), b.counts.size());
  for (WorkerId w = 0; w < a.counts.size(); ++w) {
    EXPECT_EQ(a.counts[w].seen, b.counts[w].seen) << w;
    EXPECT_NEAR(a.counts[w].correct, b.counts[w].correct, kRounding) << w;
  }
  ASSERT_EQ(a.sections.size(), b.sections.size());
  for (std::size_t s = 0; s < a.sections.size(); ++s) {
    EXPECT_EQ(a.sections[s].keys, b.sections[s].keys) << a.sections[s].name;
    ASSERT_EQ(a.sections[s].values.size(), b.sections[s].values.size()) << a.sections[s].name;
    for (std::size_t i = 0; i < a.sections[s].values.size(); ++i)
      ASSERT_NEAR(a.sections[s].values[i], b.sections[s].values[i], kRounding) << a.sections[s].name;
  }
}

TEST_P(MethodOnline, CountsWhoWasRightByTheTruthIfItIsTold) {
  const std::uint32_t classes = up_to(4);
  const Labels labels = some_labels(classes);
  const auto method = ready(info(), quick(), classes);
  std::vector<WorkerCounts> expected(kWorkers);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const auto truth = static_cast<ClassId>(t % classes);  // whatever the crowd says
    const TaskLabels task = labels.task(t);
    method->learn(task, Answer::truth(truth));
    for (std::size_t j = 0; j < task.size(); ++j)
      expected[task.workers[j]] += {task.classes[j] == truth ? 1.0 : 0.0, 1};
  }
  const WorkerState state = method->state();
  for (WorkerId w = 0; w < kWorkers; ++w) {
    EXPECT_EQ(state.counts_of(w).seen, expected[w].seen) << w;
    EXPECT_NEAR(state.counts_of(w).correct, expected[w].correct, 1e-5) << w;  // in single precision
  }
}

TEST_P(MethodOnline, TakesNoEstimateForATruthHoweverSureItIs) {
  const std::uint32_t classes = up_to(4);
  const Labels labels = some_labels(classes);
  const auto sure = ready(info(), quick(), classes);
  const auto nearly_sure = ready(info(), quick(), classes);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const auto label = static_cast<ClassId>(t % classes);
    sure->learn(labels.task(t), Estimate{label, 1});
    nearly_sure->learn(labels.task(t), Estimate{label, 1 - 1e-13});
  }
  expect_near(sure->state(), nearly_sure->state());
}

// Passes on all but how sure the method is.
class Unsure final : public OnlineMethod {
 public:
  explicit Unsure(std::unique_ptr<OnlineMethod> method) : method_(std::move(method)) {}

  void expect(std::uint32_t workers, std::uint32_t classes) override {
    method_->expect(workers, classes);
  }
  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    return method_->estimate(labels, posterior);
  }
  void learn(const TaskLabels& labels, const Answer& answer) override {
    method_->learn(labels, Estimate{answer.label, std::min(answer.confidence, 1 - 1e-13)});
  }
  bool judges_after_learning() const override { return method_->judges_after_learning(); }
  WorkerState state() const override { return method_->state(); }
  void restore(WorkerState state) override { method_->restore(std::move(state)); }
  void merge(const WorkerState& other) override { method_->merge(other); }

 private:
  std::unique_ptr<OnlineMethod> method_;
};

// Workers who are always right, and many of them: probabilities round to 1.
TEST_P(MethodOnline, LearnsNoGuessForATruthWhereLabelsAreBought) {
  const Labels labels = simulate_labels({.tasks = 40,
                                         .workers = kWorkers,
                                         .classes = up_to(3),
                                         .min_labels = 12,
                                         .max_labels = 12,
                                         .quality = QualityDistribution::parse("fixed:1")},
                                        2);
  const std::vector<ClassId> truths(labels.num_tasks(), kNoClass);
  const auto method = info().make_online(quick(), 3);
  Unsure same(info().make_online(quick(), 3));
  replay(labels, truths, *method, {}, 1, {});
  replay(labels, truths, same, {}, 1, {});
  expect_near(method->state(), same.state());
}

TEST_P(MethodOnline, GivesSeveralThreadsTheAnswersThatItGivesOne) {
  const std::uint32_t classes = up_to(4);
  const Labels labels = some_labels(classes, 200);
  const auto method = ready(info(), quick(), classes);
  std::vector<TaskLabels> tasks;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) tasks.push_back(labels.task(t));
  method->learn_chunk(tasks);

  const OnlineMethod& judge = *method;
  const auto judge_all = [&] {
    std::vector<double> answers;
    std::vector<double> posterior(classes);
    for (const TaskLabels& task : tasks) {
      const Estimate estimate = judge.estimate(task, posterior);
      answers.push_back(estimate.label);
      answers.push_back(estimate.confidence);
      answers.insert(answers.end(), posterior.begin(), posterior.end());
    }
    return answers;
  };
  const std::vector<double> expected = judge_all();
  std::vector<std::vector<double>> found(4);
  std::vector<std::thread> threads;
  for (std::vector<double>& answers : found) threads.emplace_back([&] { answers = judge_all(); });
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<double>& answers : found) EXPECT_EQ(answers, expected);
}

// Whoever drives it: the batch method, one that goes on learning, or chunk by chunk.
TEST_P(MethodOnline, SaysTheSameWhoeverDrivesIt) {
  const std::uint32_t classes = up_to(4);
  const Labels labels = some_labels(classes);
  std::vector<TaskLabels> tasks;
  std::vector<ClassId> truths(labels.num_tasks(), kNoClass);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    tasks.push_back(labels.task(t));
    if (t % 5 == 0) truths[t] = static_cast<ClassId>(t % labels.num_classes());
  }
  const auto method = ready(info(), quick(), labels.num_classes());
  const std::vector<Estimate> expected = method->observe_chunk(tasks, truths);
  const auto expect_same = [&](const Result& result) {
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      EXPECT_EQ(result.estimate[t], expected[t].label) << t;
      EXPECT_NEAR(result.confidence[t], expected[t].confidence, kRounding) << t;
    }
    expect_near(result.learned, method->state());
  };
  Learned learned(GetParam(), quick(), 3);
  expect_same(learned.observe(labels, truths, {}));
  if (!info().traits.online_equals_batch) return;
  Knowledge given;
  given.truths = truths;
  expect_same(fit(labels, quick(), given, with(2, 3, false)));
}

}  // namespace
}  // namespace crowdfold
