#include <gtest/gtest.h>

#include "crowdfold/registry.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::labels_of;
using testing::outvoted;

ClassId last_estimate(const char* method) {
  const Labels labels = labels_of(outvoted());
  return find_method(method).make({})->fit(labels, RunContext{}).estimate[*labels.tasks().find("last")];
}

TEST(IterativeWeightedVote, ListensToThoseWhoWereRightElsewhere) {
  EXPECT_EQ(last_estimate("mv"), 1);
  EXPECT_EQ(last_estimate("iwmv"), 0);
}

TEST(Wawa, ListensToThoseWhoWereRightElsewhere) { EXPECT_EQ(last_estimate("wawa"), 0); }

TEST(ZeroBasedSkill, ListensToThoseWhoWereRightElsewhere) { EXPECT_EQ(last_estimate("zbs"), 0); }

TEST(IterativeWeightedVote, StopsWhenNothingChanges) {
  const Result result = find_method("iwmv").make({})->fit(labels_of(outvoted()), RunContext{});
  EXPECT_TRUE(result.converged);
  EXPECT_LT(result.trace.size(), 5U);
}

TEST(Wawa, GivesSharesOfTheWeights) {
  RunContext context;
  context.posterior = true;
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "w", "b"}});
  const Result result = find_method("wawa").make({})->fit(labels, context);
  EXPECT_NEAR(result.posterior[0], 2 / 2.5, 1e-12);  // u and v agree always, w half of the time
}

}  // namespace
}  // namespace crowdfold
