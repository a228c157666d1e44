// Contracts about what may be believed: no answer promises more than labels can tell, and no method
// contradicts a clear majority of equals.
#include <bit>
#include <cmath>
#include <map>

#include "base/random.h"
#include "contract/every_method.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::LabelRow;
using testing::labels_of;

// Mean confidence above the share of right answers.
double overpromised(const Result& result, const std::vector<ClassId>& truths) {
  double claimed = 0;
  double right = 0;
  for (std::size_t t = 0; t < truths.size(); ++t) {
    claimed += result.confidence[t];
    right += result.estimate[t] == truths[t] ? 1 : 0;
  }
  return (claimed - right) / static_cast<double>(truths.size());
}

// Tasks that `worker_of(t)` alone labels, right with probability .7.
template <class WorkerOf>
Labels alone(int tasks, std::uint32_t classes, const WorkerOf& worker_of, std::vector<ClassId>& truths) {
  const SimulationOptions options = {.tasks = static_cast<std::uint32_t>(tasks),
                                     .workers = 1,
                                     .classes = classes,
                                     .min_labels = 1,
                                     .max_labels = 1,
                                     .quality = QualityDistribution::parse("fixed:.7")};
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(options, 7, &crowd);
  LabelsBuilder builder;
  for (TaskId t = 0; t < labels.num_tasks(); ++t)
    builder.add(labels.tasks()[t], worker_of(static_cast<int>(t)),
                labels.classes()[labels.task(t).classes[0]]);
  Labels renamed = builder.build();
  truths.clear();
  for (const ClassId truth : crowd.truths)
    truths.push_back(static_cast<ClassId>(*renamed.classes().find(labels.classes()[truth])));
  return renamed;
}

void expect_that_the_prior_rules(const Result& result, const Labels& labels,
                                 const std::vector<ClassId>& truths) {
  EXPECT_LT(overpromised(result, truths), .1);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    EXPECT_EQ(result.estimate[t], labels.task(t).classes[0]);
    EXPECT_LT(result.certainty(t), .8);
  }
  const Interval prior = BetaQuality{result.learned.alpha, result.learned.beta}.credible_interval();
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const Interval interval = result.learned.quality(w).credible_interval();
    EXPECT_NEAR(interval.lower, prior.lower, 1e-9);
    EXPECT_NEAR(interval.upper, prior.upper, 1e-9);
  }
}

TEST_P(EveryMethod, IsNoSurerThanAnUnknownWorker) {
  std::vector<ClassId> truths;
  for (const std::uint32_t classes : {2U, up_to(3)}) {
    // A worker for every task; ten workers; one; two who never meet.
    const auto by = [](int workers) {
      return [workers](int t) { return "w" + std::to_string(t % workers); };
    };
    for (const int workers : {120, 10, 1, 2}) {
      const Labels labels = alone(120, classes, by(workers), truths);
      expect_that_the_prior_rules(fit(labels, quick(), {}, with(1, 1, true)), labels, truths);
    }
  }
}

// 30 workers with five labels on each of 300 tasks, and others who share no task with anybody: `lone` of
// them have 200 tasks, by turns. All are right with probability .7.
TEST_P(EveryMethod, TakesWorkersWhoMeetNobodyForOneOfTheCrowd) {
  // Answers that were given before all labels were seen stay.
  const bool is_online = info().make_online && info().traits.online_equals_batch;
  if (is_online && !info().needs_second_look({})) return;
  for (const std::uint32_t classes : {2U, up_to(4)}) {
    for (const int lone : {200, 20, 1}) {
      std::vector<ClassId> truths;
      const auto by = [lone](int t) { return "lone" + std::to_string(t % lone); };
      const Labels apart = alone(200, classes, by, truths);
      const SimulationOptions options = {.tasks = 300,
                                         .workers = 30,
                                         .classes = classes,
                                         .min_labels = 5,
                                         .max_labels = 5,
                                         .quality = QualityDistribution::parse("fixed:.7")};
      const Labels crowd = simulate_labels(options, 11);
      LabelsBuilder builder;
      for (const Labels* const part : {&apart, &crowd}) {
        for (TaskId t = 0; t < part->num_tasks(); ++t) {
          const TaskLabels task = part->task(t);
          for (std::size_t j = 0; j < task.size(); ++j)
            builder.add((part == &crowd ? "c" : "a") + std::to_string(t),
                        part->workers()[task.workers[j]], part->classes()[task.classes[j]]);
        }
      }
      const Labels labels = builder.build();  // the classes of `apart` come first, with its ids
      const Result result = fit(labels, quick(), {}, with(1, 1, true));
      EXPECT_LT(overpromised(result, truths), .1) << lone << " workers, " << classes << " classes";
      for (std::size_t t = 0; t < truths.size(); ++t)
        EXPECT_EQ(result.estimate[t], labels.task(static_cast<TaskId>(t)).classes[0]);
      EXPECT_GT(overpromised(result, truths), -.2);
      EXPECT_EQ(result.learned.counts_of(0).seen, 0);
    }
  }
}

TEST_P(EveryMethod, LearnsNothingAboutWorkersFromOneClass) {
  std::vector<LabelRow> rows;
  for (int t = 0; t < 30; ++t) {
    for (const char* worker : {"u", "v", "w"}) rows.push_back({std::to_string(t), worker, "a"});
  }
  const Result result = fit(labels_of(rows), quick());
  for (WorkerId w = 0; w < 3; ++w) EXPECT_EQ(result.learned.counts_of(w).seen, 0);
}

struct Panel {
  int workers;
  int odd;
  int rounds;
  bool both = false;
};

// Everybody labels everything, and every group of `odd` workers is against all others once in a round:
// no worker differs from another but by name. With `both`, what the others say changes from round to
// round. Rows are in an order of their own for every seed but 0. By name of task: what the others say.
Labels equals(const Panel& panel, std::uint64_t seed, std::map<std::string, std::string>& majority) {
  std::vector<LabelRow> rows;
  majority.clear();
  for (int round = 0; round < panel.rounds; ++round) {
    const bool yes = !panel.both || round % 2 == 0;
    for (std::uint32_t group = 0; group < 1U << panel.workers; ++group) {
      if (std::popcount(group) != panel.odd) continue;
      const std::string task = std::to_string(majority.size());
      for (int w = 0; w < panel.workers; ++w) {
        const bool is_odd = (group >> w & 1) != 0;
        rows.push_back({task, std::to_string(w), is_odd == yes ? "no" : "yes"});
      }
      majority[task] = yes ? "yes" : "no";
    }
  }
  if (seed > 0) Random(seed).shuffle(rows);
  return labels_of(rows);
}

// Whether the method may see it otherwise, by the equations of its paper.
bool may_contradict(const Traits& traits, const Panel& panel) {
  const bool is_narrow = panel.workers < 4 * panel.odd;
  return is_narrow && (traits.trusts_first_tasks || (traits.errors_may_be_shared && panel.both));
}

// Three to two is no clear majority: it is more even than chance. So are two to one in turn, again and
// again; where there are more tasks of one class, models then believe the shares of classes only.
TEST_P(EveryMethod, NeverContradictsAClearMajorityOfEquals) {
  std::map<std::string, std::string> majority;
  for (const Panel& panel : {Panel{3, 1, 1}, Panel{3, 1, 2}, Panel{3, 1, 2, true}, Panel{3, 1, 5},
                             Panel{5, 1, 1}, Panel{5, 1, 2}, Panel{5, 1, 2, true}, Panel{7, 1, 1},
                             Panel{7, 1, 2, true}, Panel{7, 2, 1}, Panel{7, 2, 2, true}}) {
    if (may_contradict(info().traits, panel)) continue;
    for (const std::uint64_t seed : {0U, 1U, 2U, 3U}) {
      const Labels labels = equals(panel, seed, majority);
      const Result result = fit(labels, {}, {}, with(1, seed, false));
      for (TaskId t = 0; t < labels.num_tasks(); ++t) {
        ASSERT_EQ(labels.classes()[result.estimate[t]], majority[std::string(labels.tasks()[t])])
            << "task " << t << ", seed " << seed << ": " << panel.odd << " of " << panel.workers
            << " against the others, " << panel.rounds << " rounds";
      }
    }
  }
}

// A number of steps, too, decides nothing.
TEST_P(EveryMethod, NeverContradictsAClearMajorityOfEqualsInAnyNumberOfIterations) {
  if (!info().has_option("iterations")) return;
  std::map<std::string, std::string> majority;
  for (const Panel& panel : {Panel{3, 1, 1}, Panel{5, 1, 1}, Panel{7, 2, 1}}) {
    const Labels labels = equals(panel, 0, majority);
    for (const char* iterations : {"30", "31", "32", "33", "101", "102"}) {
      const Result result = fit(labels, {{"iterations", iterations}});
      for (TaskId t = 0; t < labels.num_tasks(); ++t) {
        ASSERT_EQ(labels.classes()[result.estimate[t]], majority[std::string(labels.tasks()[t])])
            << "task " << t << ": " << panel.odd << " of " << panel.workers << " against the others, "
            << iterations << " iterations";
      }
    }
  }
}

}  // namespace
}  // namespace crowdfold
