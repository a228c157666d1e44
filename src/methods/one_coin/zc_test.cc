#include <gtest/gtest.h>

#include "crowdfold/registry.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::kWholeUnits;
using testing::labels_of;

Result zc(const Labels& labels, const Settings& settings) {
  RunContext context;
  context.posterior = true;
  return find_method("zc").make(settings)->fit(labels, context);
}

TEST(ZenCrowd, BeginsWithFourRightOutOfFive) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "x", "c"}});
  const Result result = zc(labels, {{"iterations", "1"}});
  // a : b : c = .8 .8 .1 : .1 .1 .8 : .1 .1 .1
  EXPECT_NEAR(result.posterior[0], .064 / .073, kWholeUnits);
  EXPECT_NEAR(result.posterior[1], .008 / .073, kWholeUnits);
  EXPECT_NEAR(result.posterior[2], .001 / .073, kWholeUnits);
}

TEST(ZenCrowd, LearnsTheExpectedShareOfRightLabels) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}});
  const Result result = zc(labels, {{"iterations", "1"}});
  // a : b = .8 .8 .2 : .2 .2 .8 = .8 : .2
  EXPECT_NEAR(result.learned.counts_of(0).correct, .8, kWholeUnits);
  EXPECT_NEAR(result.learned.counts_of(2).correct, .2, kWholeUnits);
}

}  // namespace
}  // namespace crowdfold
