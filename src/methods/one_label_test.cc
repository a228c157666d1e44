#include "methods/one_label.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/random.h"
#include "crowdfold/metrics.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"

namespace crowdfold {
namespace {

// Labels of rows, with what is true of each task.
struct FunctionCrowd {
  Labels labels;
  std::vector<ClassId> truths;

  double accuracy(const std::string& method, const Settings& settings = {},
                  const Knowledge& given = {}) const {
    const Result result = find_method(method).make(settings)->fit(labels, given, {});
    std::vector<ClassId> open = truths;
    for (TaskId t = 0; t < open.size(); ++t) open[t] = given.truth(t) == kNoClass ? open[t] : kNoClass;
    return evaluate(result.estimate, open, labels.num_classes()).accuracy;
  }
};

// Functions that each speak up for one class: often on its tasks, and up to `vague` times as often on
// others. `people` label a tenth of the tasks, right in 8 of 10 cases.
FunctionCrowd functions(std::uint32_t classes, std::uint32_t count, std::uint64_t seed, int people = 0,
                        double vague = .3) {
  Random random(seed);
  std::vector<double> on(count);
  std::vector<double> off(count);
  for (std::uint32_t f = 0; f < count; ++f) {
    on[f] = .1 + .4 * random.uniform();
    off[f] = on[f] * vague * random.uniform();
  }
  LabelsBuilder builder;
  std::vector<ClassId> truths;
  for (int t = 0; t < 1'500; ++t) {
    const auto truth = static_cast<ClassId>(random.below(classes));
    const std::string task = "t" + std::to_string(t);
    bool any = false;
    const auto add = [&](const std::string& worker, std::uint64_t label) {
      builder.add(task, worker, "c" + std::to_string(label));
      any = true;
    };
    for (std::uint32_t f = 0; f < count; ++f) {
      if (random.uniform() < (f % classes == truth ? on[f] : off[f]))
        add("f" + std::to_string(f), f % classes);
    }
    for (int p = 0; p < people; ++p) {
      if (random.uniform() < .1)
        add("p" + std::to_string(p), random.uniform() < .8 ? truth : random.below(classes));
    }
    if (any) truths.push_back(truth);
  }
  FunctionCrowd crowd{builder.build(), {}};
  // Classes have numbers by first appearance.
  for (const ClassId truth : truths) {
    ClassId id = 0;
    while (crowd.labels.classes()[id] != "c" + std::to_string(truth)) ++id;
    crowd.truths.push_back(id);
  }
  return crowd;
}

struct Means {
  double vote = 0;
  double threepass = 0;
  double fivepass = 0;
};
Means means(std::uint32_t classes, std::uint32_t count, int people = 0) {
  constexpr int kCrowds = 6;
  Means means;
  for (std::uint64_t seed = 1; seed <= kCrowds; ++seed) {
    const FunctionCrowd crowd = functions(classes, count, seed, people);
    means.vote += crowd.accuracy("mv", {{"ties", "random"}}) / kCrowds;
    means.threepass += crowd.accuracy("threepass") / kCrowds;
    means.fivepass += crowd.accuracy("fivepass") / kCrowds;
  }
  return means;
}

TEST(OneLabelWorkers, OfLabellingFunctionsTheirMethodsMakeAtLeastAMajorityVote) {
  for (const auto& [classes, count] : {std::pair{2U, 8U}, {4U, 4U}, {4U, 16U}, {6U, 30U}}) {
    const Means found = means(classes, count);
    EXPECT_GE(found.threepass, found.vote) << classes << " classes, " << count << " functions";
    EXPECT_GE(found.fivepass, found.vote) << classes << " classes, " << count << " functions";
  }
}

TEST(OneLabelWorkers, AFewLabelsOfPeopleDoNoHarmToLabellingFunctions) {
  for (const auto& [classes, count] : {std::pair{2U, 8U}, {4U, 16U}}) {
    const Means found = means(classes, count, 2);
    EXPECT_GE(found.threepass, found.vote) << classes << " classes, " << count << " functions";
    EXPECT_GE(found.fivepass, found.vote) << classes << " classes, " << count << " functions";
  }
}

TEST(OneLabelWorkers, KnownTruthsTellHowSpecificEachFunctionIs) {
  double without = 0;
  double with = 0;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const FunctionCrowd crowd = functions(4, 16, seed, 0, .9);
    Knowledge given;
    given.truths.assign(crowd.truths.size(), kNoClass);
    for (TaskId t = 0; t < given.truths.size(); t += 10) given.truths[t] = crowd.truths[t];
    without += crowd.accuracy("threepass");
    with += crowd.accuracy("threepass", {}, given);
  }
  EXPECT_GT(with, without + 4 * .01);
}

// Each of `workers` gives `labels` labels on tasks of their own: the first `first`, then `then`.
Labels monotone(int workers, int labels, int first, const std::string& then = "b") {
  LabelsBuilder builder;
  for (int w = 0; w < workers; ++w) {
    for (int j = 0; j < labels; ++j)
      builder.add("t" + std::to_string(w * labels + j), "w" + std::to_string(w), j < first ? "a" : then);
  }
  return builder.build();
}

TEST(OneLabelWorkers, AreNotThoseWhoseLabelsAreTheSameByChance) {
  EXPECT_TRUE(OneLabelWorkers(monotone(3, 40, 40), {}).empty()) << "one class alone";
  EXPECT_TRUE(OneLabelWorkers(monotone(3, 40, 39), {}).empty()) << "two labels each";
  // Half of all labels are a: nine times the same is too few, ten are enough.
  for (const int count : {9, 10}) {
    LabelsBuilder builder;
    for (int j = 0; j < 2 * count; ++j)
      builder.add("t" + std::to_string(j), j < count ? "one" : "other", j < count ? "a" : "b");
    const OneLabelWorkers found(builder.build(), {});
    EXPECT_EQ(found.empty(), count < 10);
    EXPECT_EQ(found.prevail(), count >= 10);
  }
  // Nine of ten labels are a: sixty in a row come about by chance, seventy do not.
  for (const int count : {60, 70}) {
    LabelsBuilder builder;
    for (int j = 0; j < 10 * count; ++j)
      builder.add("t" + std::to_string(j), j < count ? "same" : "w" + std::to_string(j % 7),
                  j % 10 == 0 && j >= count ? "b" : "a");
    for (int j = 0; j < count / 10; ++j) builder.add("u" + std::to_string(j), "w1", "b");
    const OneLabelWorkers found(builder.build(), {});
    EXPECT_EQ(found.empty(), count == 60);
  }
}

TEST(OneLabelWorkers, WithAHistoryElsewhereAreOrdinaryOnes) {
  const FunctionCrowd crowd = functions(2, 8, 1);
  Knowledge given;
  given.workers.assign(crowd.labels.num_workers(), {30, 40});
  EXPECT_FALSE(OneLabelWorkers(crowd.labels, {}).empty());
  EXPECT_TRUE(OneLabelWorkers(crowd.labels, given).empty());
}

TEST(OneLabelWorkers, WhoLabelAllTasksAlikeTellNothing) {
  // One person always says a, whatever three others say.
  LabelsBuilder builder;
  for (int t = 0; t < 400; ++t) {
    builder.add("t" + std::to_string(t), "same", "a");
    for (int w = 0; w < 3; ++w)
      builder.add("t" + std::to_string(t), "w" + std::to_string(w), t % 2 == 0 ? "a" : "b");
  }
  const Labels labels = builder.build();
  const OneLabelWorkers found(labels, {});
  ASSERT_FALSE(found.empty());
  EXPECT_FALSE(found.prevail());
  const WorkerId same = labels.task(0).workers[0];
  ASSERT_TRUE(found.has(same));
  EXPECT_FALSE(found.alone_on(labels.task(0)));
  std::vector<float> row(2);
  found.write_row(same, std::vector{200., 200.}, std::vector{.5, .5}, row);
  EXPECT_NEAR(row[0] - row[1], 0, .03);
  // And by hand: the votes of nobody, b = 1.4 and .6; (150 + 5 * 1.4) / (200 * .5 + 5).
  found.write_row(same, std::vector{150., 50.}, std::vector{.5, .5}, row);
  EXPECT_NEAR(row[0], std::log(157. / 105), 1e-5);
  EXPECT_NEAR(row[1], std::log(53. / 105), 1e-5);
}

TEST(OneLabelWorkers, LeaveAnOrdinaryCrowdAsItIs) {
  EXPECT_TRUE(OneLabelWorkers(simulate_labels({.tasks = 500, .skew = 2}, 1), {}).empty());
}

// Answers do not depend on threads, and workers' qualities are the share of their labels that are right.
TEST(OneLabelWorkers, AreReportedLikeOthers) {
  const FunctionCrowd crowd = functions(4, 16, 3, 1);
  RunContext one;
  one.posterior = true;
  RunContext two = one;
  two.threads = 2;
  const auto method = find_method("threepass").make({});
  const Result result = method->fit(crowd.labels, one);
  EXPECT_EQ(result.posterior, method->fit(crowd.labels, two).posterior);
  std::vector<double> labels(crowd.labels.num_workers());
  for (TaskId t = 0; t < crowd.labels.num_tasks(); ++t) {
    for (const WorkerId w : crowd.labels.task(t).workers) ++labels[w];
  }
  for (WorkerId w = 0; w < labels.size(); ++w) {
    EXPECT_EQ(result.learned.counts[w].seen, labels[w]);
    EXPECT_GT(result.learned.counts[w].correct, .3 * labels[w]);
  }
}

}  // namespace
}  // namespace crowdfold
