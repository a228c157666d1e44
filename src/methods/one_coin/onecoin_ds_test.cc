#include <gtest/gtest.h>

#include <cmath>

#include "crowdfold/registry.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::kWholeUnits;
using testing::labels_of;

Result onecoin_ds(const Labels& labels, const Settings& settings, const Knowledge& given = {}) {
  RunContext context;
  context.posterior = true;
  return find_method("onecoin_ds").make(settings)->fit(labels, given, context);
}

TEST(OneCoinDawidSkene, LearnsFromSharesOfVotesThenJudges) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "u", "b"}});
  const Result result = onecoin_ds(labels, {{"iterations", "1"}});
  // rho = 1/3, 2/3; u: 5/6, v: 2/3, w: 1/3. Task 1: a : b = 1/3 5/6 2/3 2/3 : 2/3 1/6 1/3 1/3
  EXPECT_NEAR(result.posterior[0], 10. / 11, kWholeUnits);
  // Task 2: a : b = 1/3 1/6 : 2/3 5/6
  EXPECT_NEAR(result.posterior[3], 10. / 11, kWholeUnits);
  EXPECT_NEAR(result.trace[0], std::log(22. / 162) + std::log(11. / 18), kWholeUnits);
}

TEST(OneCoinDawidSkene, ReportsTheQualitiesThatItJudgedBy) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "u", "b"}});
  const Result result = onecoin_ds(labels, {{"iterations", "1"}});
  EXPECT_NEAR(result.learned.counts_of(0).correct, 2 * 5. / 6, kWholeUnits);
  EXPECT_NEAR(result.learned.counts_of(1).correct, 2. / 3, kWholeUnits);
  EXPECT_NEAR(result.learned.counts_of(2).correct, 1. / 3, kWholeUnits);
}

TEST(OneCoinDawidSkene, LearnsFromAKnownTruthAsFromACertainOne) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"1", "v", "b"}, {"2", "u", "a"}, {"2", "v", "b"}});
  Knowledge given;
  given.truths = {1};
  const Result result = onecoin_ds(labels, {{"iterations", "1"}}, given);
  // rho = 1/4, 3/4; u: 1/4, v: 3/4. Task 2: a : b = 1/4 1/4 1/4 : 3/4 3/4 3/4
  EXPECT_NEAR(result.posterior[3], 27. / 28, kWholeUnits);
}

}  // namespace
}  // namespace crowdfold
