#include "methods/live/live_model.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "support.h"

namespace crowdfold {
namespace {

constexpr ClassId kCat = 0;
constexpr ClassId kDog = 1;

LiveTask task_of(std::vector<LiveLabel> labels, ClassId truth = kNoClass) {
  LiveTask task;
  task.num_labels = static_cast<std::uint32_t>(labels.size());
  task.labels = std::move(labels);
  task.truth = truth;
  return task;
}

std::vector<double> posterior_of(const LiveModel& model, const LiveTask& task) {
  Weighing weighing;
  model.weigh(task, weighing);
  std::vector<double> posterior(model.num_classes());
  weighing.write_posterior(posterior);
  return posterior;
}

// A crowd of ten in which a worker without labels is right by 2 : 1.
struct Ten {
  LiveModel crowd;
  explicit Ten(std::uint32_t classes = 2) : crowd({.alpha = 4, .beta = 2}) { crowd.expect(10, classes); }

  LiveTask judged(std::vector<LiveLabel> labels, ClassId truth = kNoClass) const {
    LiveTask task = task_of(std::move(labels), truth);
    Weighing weighing;
    crowd.judge(task, weighing);
    return task;
  }
  void learn(std::vector<LiveLabel> labels, ClassId truth = kNoClass) {
    LiveTask task = judged(std::move(labels), truth);
    crowd.enter(task);
  }
  double probability_of_cat(std::vector<LiveLabel> labels) const {
    return posterior_of(crowd, task_of(std::move(labels)))[kCat];
  }
};

TEST(LiveModel, JudgesByQualitiesAndAChanceThatTheTaskIsTooHard) {
  Ten ten;
  // Of new workers a label is 4/3 as likely as by chance if it is right, 2/3 if it is wrong; a tenth of
  // tasks is too hard.
  const double cat = .9 * std::pow(4.0 / 3, 3) + .1;
  const double dog = .9 * std::pow(2.0 / 3, 3) + .1;
  const LiveTask task = ten.judged({{0, kCat}, {1, kCat}, {2, kCat}});
  EXPECT_EQ(task.estimate.label, kCat);
  EXPECT_NEAR(task.estimate.confidence, testing::softened(cat / (cat + dog)), 1e-12);
  EXPECT_EQ(task.hard, std::lround(1024 * .2 / (cat + dog)));
}

TEST(LiveModel, ClassesThatNobodyNamedShareWhatIsLeft) {
  const Ten ten(5);
  const std::vector<double> posterior = posterior_of(ten.crowd, task_of({{0, 2}, {1, 2}, {2, 4}}));
  EXPECT_NEAR(std::accumulate(posterior.begin(), posterior.end(), 0.0), 1, 1e-12);
  EXPECT_EQ(posterior[0], posterior[1]);
  EXPECT_EQ(posterior[0], posterior[3]);
  EXPECT_GT(posterior[4], posterior[0]);
  EXPECT_GT(posterior[2], posterior[4]);
}

TEST(LiveModel, AClassThatIsNotKnownYetGetsNoCredit) {
  LiveModel crowd({.alpha = 4, .beta = 2}, 2);
  crowd.expect(1, 1);
  LiveTask task = task_of({{0, kCat}});
  Weighing weighing;
  crowd.judge(task, weighing);
  EXPECT_NEAR(task.estimate.confidence, testing::softened((.9 * 4 / 3 + .1) / 2), 1e-12);
  ASSERT_EQ(task.credits.size(), 1U);
  EXPECT_EQ(task.credits[0].truth, kCat);
}

TEST(LiveModel, ATieGoesToTheLowestClass) {
  Ten ten;
  EXPECT_EQ(ten.judged({{0, kDog}, {1, kCat}}).estimate.label, kCat);
  EXPECT_EQ(ten.judged({{0, kCat}, {1, kDog}}).estimate.label, kCat);
}

TEST(LiveModel, ATaskWithoutLabelsHasNoAnswer) {
  Ten ten;
  const LiveTask task = ten.judged({});
  EXPECT_EQ(task.estimate.label, kNoClass);
  EXPECT_TRUE(task.credits.empty());
}

TEST(LiveModel, UnderstandsAWorkerWhoMixesClassesUp) {
  Ten ten;
  for (int t = 0; t < 20; ++t) {
    const ClassId truth = t % 2 == 0 ? kCat : kDog;
    const ClassId other = t % 2 == 0 ? kDog : kCat;
    ten.learn({{0, other}, {1, truth}}, truth);
  }
  // Who is always wrong is as good as who is always right.
  EXPECT_EQ(ten.judged({{0, kDog}, {2, kCat}}).estimate.label, kCat);
  EXPECT_GT(ten.probability_of_cat({{0, kDog}}), .8);
  EXPECT_GT(ten.probability_of_cat({{1, kCat}}), .8);
}

TEST(LiveModel, KnowsThatAWorkerIsBadOnOneClassOnly) {
  Ten ten;
  for (int t = 0; t < 40; ++t) {
    const ClassId truth = t % 2 == 0 ? kCat : kDog;
    // Worker 0 says dog whatever it is, half of the time.
    const ClassId said = t % 4 == 0 ? kDog : truth;
    ten.learn({{0, said}, {1, truth}, {2, truth}, {3, truth}}, truth);
  }
  const double by_cat = ten.probability_of_cat({{0, kCat}});
  const double by_dog = 1 - ten.probability_of_cat({{0, kDog}});
  EXPECT_GT(by_cat, by_dog + .1);
}

TEST(LiveModel, DoesNotBelieveThatACrowdIsBetterOnOneOfTwoClasses) {
  Ten ten;
  for (int t = 0; t < 40; ++t) {
    const ClassId truth = t % 2 == 0 ? kCat : kDog;
    std::vector<LiveLabel> labels;
    // All alike: right on cats, right on three of four dogs.
    for (WorkerId w = 0; w < 4; ++w)
      labels.push_back({w, truth == kDog && (t / 2) % 4 == static_cast<int>(w) ? kCat : truth});
    ten.learn(labels, truth);
  }
  const double by_cat = ten.probability_of_cat({{9, kCat}});
  const double by_dog = 1 - ten.probability_of_cat({{9, kDog}});
  EXPECT_NEAR(by_cat, by_dog, 1e-12);
}

TEST(LiveModel, IsLessSureWhenSureAnswersTurnOutWrong) {
  Ten right;
  Ten wrong;
  const std::vector<LiveLabel> labels = {{0, kCat}, {1, kCat}, {2, kCat}, {3, kCat}, {4, kCat}};
  for (int t = 0; t < 20; ++t) {
    // The same number of truths by a worker apart, so that the qualities of the others are equal.
    right.learn({{5, kCat}, {6, kCat}, {7, kCat}, {8, kCat}}, kCat);
    wrong.learn({{5, kCat}, {6, kCat}, {7, kCat}, {8, kCat}}, t % 4 == 0 ? kDog : kCat);
  }
  EXPECT_GT(right.judged(labels).estimate.confidence, wrong.judged(labels).estimate.confidence + .01);
  EXPECT_GT(wrong.judged(labels).hard, right.judged(labels).hard);
}

TEST(LiveModel, ThousandsOfLabelsAreNoProblem) {
  for (const std::uint32_t classes : {2U, 1000U}) {
    Ten ten(classes);
    ten.crowd.expect(5000, classes);
    std::vector<LiveLabel> labels;
    for (WorkerId w = 0; w < 5000; ++w) labels.push_back({w, w % 3 == 0 ? kDog : kCat});
    const LiveTask task = ten.judged(labels);
    EXPECT_EQ(task.estimate.label, kCat);
    EXPECT_NEAR(task.estimate.confidence, .95 + .05 / classes, 1e-9);
    EXPECT_EQ(ten.judged(labels, kDog).estimate.label, kDog);
  }
}

TEST(LiveModel, ThousandsOfLabelsOneWayAndThenTheOtherAreATie) {
  Ten ten;
  ten.crowd.expect(10'000, 2);
  std::vector<LiveLabel> labels;
  for (WorkerId w = 0; w < 10'000; ++w) labels.push_back({w, w < 5'000 ? kCat : kDog});
  const LiveTask task = ten.judged(labels);
  EXPECT_EQ(task.estimate.label, kCat);
  EXPECT_NEAR(task.estimate.confidence, .5, 1e-9);
  EXPECT_EQ(task.hard, 1024);
}

TEST(LiveModel, NoClassIsRuledOutAndATruthThatNobodyNamedIsHard) {
  Ten ten(3);
  ten.crowd.expect(10'000, 3);
  std::vector<LiveLabel> labels;
  for (WorkerId w = 0; w < 10'000; ++w) labels.push_back({w, kCat});
  for (const double p : posterior_of(ten.crowd, task_of(labels))) EXPECT_GT(p, 0);
  EXPECT_EQ(ten.judged(labels, kCat).hard, 0);
  EXPECT_EQ(ten.judged(labels, kDog).hard, 1024);
}

TEST(LiveModel, ThousandsOfLabelsThatLeanToAClassAreNotByChance) {
  for (const ClassId most : {ClassId{0}, ClassId{2}}) {
    Ten ten(3);
    ten.crowd.expect(10'000, 3);
    std::vector<LiveLabel> labels;
    for (WorkerId w = 0; w < 10'000; ++w) {
      ten.crowd.remember(w, {{90, 100}, {}});
      const auto other = static_cast<ClassId>((most + 1 + w % 2) % 3);
      labels.push_back({w, w % 10 < 6 ? most : other});
    }
    const LiveTask task = ten.judged(labels);
    EXPECT_EQ(task.estimate.label, most);
    EXPECT_GT(certainty_of(task.estimate.confidence, LiveModel::kDoubt, 3), .99);
  }
}

LiveTask some_task() {
  LiveTask task;
  const auto workers = *rc::gen::inRange<WorkerId>(1, 6);
  for (WorkerId w = 0; w < workers; ++w) task.labels.push_back({w, *rc::gen::inRange<ClassId>(0, 3), 0});
  task.num_labels = workers;
  if (*rc::gen::inRange(0, 4) == 0) task.truth = *rc::gen::inRange<ClassId>(0, 3);
  return task;
}

// Everything that judging depends on, bit by bit.
std::vector<double> answers(const LiveModel& crowd) {
  std::vector<double> all;
  for (ClassId first = 0; first < 3; ++first)
    for (ClassId second = 0; second < 3; ++second) {
      const std::vector<double> posterior =
          posterior_of(crowd, task_of({{0, first}, {1, second}, {2, first}, {3, second}, {4, 0}}));
      all.insert(all.end(), posterior.begin(), posterior.end());
    }
  return all;
}

RC_GTEST_PROP(LiveModelProperty, ATaskThatEntersAndLeavesLeavesNoTrace, ()) {
  LiveModel crowd{LiveOptions{}};
  crowd.expect(5, 3);
  Weighing weighing;
  std::vector<LiveTask> tasks;
  for (int t = *rc::gen::inRange(0, 20); t > 0; --t) {
    tasks.push_back(some_task());
    crowd.judge(tasks.back(), weighing);
    crowd.enter(tasks.back());
  }
  const std::vector<double> before = answers(crowd);
  std::vector<LiveTask> more;
  for (int t = *rc::gen::inRange(1, 20); t > 0; --t) {
    more.push_back(some_task());
    crowd.judge(more.back(), weighing);
    crowd.enter(more.back());
  }
  for (const LiveTask& task : more) crowd.leave(task);
  RC_ASSERT(answers(crowd) == before);
}

RC_GTEST_PROP(LiveModelProperty, CountsDoNotDependOnTheOrderInWhichTasksEnter, ()) {
  LiveModel judge{LiveOptions{}};
  judge.expect(5, 3);
  Weighing weighing;
  std::vector<LiveTask> tasks;
  for (int t = *rc::gen::inRange(1, 20); t > 0; --t) {
    tasks.push_back(some_task());
    judge.judge(tasks.back(), weighing);
    judge.enter(tasks.back());
  }
  LiveModel other{LiveOptions{}};
  other.expect(5, 3);
  std::reverse(tasks.begin(), tasks.end());
  for (LiveTask& task : tasks) other.enter(task);
  RC_ASSERT(answers(judge) == answers(other));
}

}  // namespace
}  // namespace crowdfold
