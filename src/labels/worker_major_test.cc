#include "labels/worker_major.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

TEST(WorkerMajor, HoldsTheLabelsOfEachWorkerInTheOrderOfTheTasks) {
  const Labels labels =
      testing::labels_of({{"1", "u", "a"}, {"1", "v", "b"}, {"2", "v", "a"}, {"3", "u", "b"}});
  const WorkerMajor by_worker(labels, 1);
  ASSERT_EQ(by_worker.num_workers(), 2U);
  const WorkerLabels u = by_worker.worker(0);
  EXPECT_EQ(std::vector<TaskId>(u.tasks.begin(), u.tasks.end()), (std::vector<TaskId>{0, 2}));
  EXPECT_EQ(std::vector<ClassId>(u.classes.begin(), u.classes.end()), (std::vector<ClassId>{0, 1}));
  const WorkerLabels v = by_worker.worker(1);
  EXPECT_EQ(std::vector<TaskId>(v.tasks.begin(), v.tasks.end()), (std::vector<TaskId>{0, 1}));
  EXPECT_EQ(std::vector<ClassId>(v.classes.begin(), v.classes.end()), (std::vector<ClassId>{1, 0}));
}

RC_GTEST_PROP(WorkerMajor, IsTheSameOnAnyNumberOfThreads, (std::uint64_t seed)) {
  const Labels labels = simulate_labels({.tasks = 50, .workers = 12, .quality = {}}, seed);
  const WorkerMajor one(labels, 1);
  for (const int threads : {2, 3, 7}) {
    const WorkerMajor many(labels, threads);
    for (WorkerId w = 0; w < labels.num_workers(); ++w) {
      RC_ASSERT(std::ranges::equal(one.worker(w).tasks, many.worker(w).tasks));
      RC_ASSERT(std::ranges::equal(one.worker(w).classes, many.worker(w).classes));
    }
  }
}

TEST(WorkerMajor, OfNothingIsNothing) { EXPECT_EQ(WorkerMajor(Labels{}, 2).num_workers(), 0U); }

}  // namespace
}  // namespace crowdfold
