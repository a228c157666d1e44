#include "methods/threepass/softening.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace crowdfold {
namespace {

TEST(Softening, NeverSharpens) {
  const Softening softening;
  EXPECT_DOUBLE_EQ(softening.temperature(.5), .35);
  EXPECT_DOUBLE_EQ(softening.temperature(1), .7);
  EXPECT_DOUBLE_EQ(softening.temperature(2), .7);
}

TEST(Softening, TheDoubtIsTakenOffAgainForThresholds) {
  EXPECT_DOUBLE_EQ(with_doubt(.97, .05, 2), .9465);
  EXPECT_NEAR(certainty_of(.9465, .05, 2), .97, 1e-12);
  EXPECT_EQ(certainty_of(.9465, 0, 2), .9465);
  EXPECT_EQ(certainty_of(1, .05, 2), 1);  // a known truth
  EXPECT_EQ(certainty_of(0, .05, 2), 0);  // a task without labels
}

// Tasks of two classes with log odds `score`, right with the probability that the softening promises.
SofteningFit fit_of(const Softening& kept, int tasks, double score = 4) {
  SofteningFit fit;
  Random random(1);
  const double share = 1 / (1 + std::exp(-kept.soften * score));
  for (int i = 0; i < tasks; ++i) {
    // Some tasks say more than others, or the two numbers could not be told from each other.
    const double sure = i % 2 == 0 ? share : 1;
    const std::vector<float> scores = {static_cast<float>(i % 2 == 0 ? score : 40), 0};
    fit.add(scores, 1, random.uniform() < with_doubt(sure, kept.doubt, 2) ? 0 : 1);
  }
  return fit;
}

TEST(SofteningFit, WithoutTruthsGivesWhatWasSet) {
  const Softening fitted = SofteningFit().fitted({.soften = .9, .doubt = .01});
  EXPECT_EQ(fitted.soften, .9);
  EXPECT_EQ(fitted.doubt, .01);
}

TEST(SofteningFit, FindsWhatManyTruthsSay) {
  const Softening fitted = fit_of({.soften = .4, .doubt = .2}, 4000).fitted({});
  EXPECT_NEAR(fitted.soften, .4, .06);
  EXPECT_NEAR(fitted.doubt, .2, .04);
}

TEST(SofteningFit, LeavesWhatWasSetAndFitsTheOther) {
  const SofteningFit fit = fit_of({.soften = .4, .doubt = .2}, 4000);
  const Softening soften = {.soften = .4, .soften_is_set = true};
  EXPECT_EQ(fit.fitted(soften).soften, .4);
  EXPECT_NEAR(fit.fitted(soften).doubt, .2, .04);
  const Softening doubt = {.doubt = .2, .doubt_is_set = true};
  EXPECT_EQ(fit.fitted(doubt).doubt, .2);
  EXPECT_NEAR(fit.fitted(doubt).soften, .4, .06);
}

TEST(SofteningFit, LeavesADefaultThatSomebodySet) {
  struct Options : Softening {};
  const OptionTable<Options> table(softening_options<Options>(), {});
  const SofteningFit fit = fit_of({.soften = .4, .doubt = .2}, 4000);
  const Softening fitted = fit.fitted(table.parse("", {{"soften", ".7"}}));
  EXPECT_EQ(fitted.soften, .7);
  EXPECT_GT(fitted.doubt, .1);
  EXPECT_LT(fit.fitted(table.parse("", {{"doubt", "0.05"}})).soften, .6);
}

TEST(SofteningFit, ChangesLittleForFewTruths) {
  const Softening fitted = fit_of({.soften = .4, .doubt = .2}, 5).fitted({});
  EXPECT_NEAR(fitted.soften, .7, .15);
  EXPECT_NEAR(fitted.doubt, .05, .04);
}

TEST(SofteningFit, IsSavedAndLoaded) {
  const SofteningFit fit = fit_of({.soften = .4, .doubt = .2}, 50);
  const SofteningFit again = SofteningFit::load(fit.save());
  EXPECT_EQ(again.save(), fit.save());
  EXPECT_EQ(again.fitted({}).doubt, fit.fitted({}).doubt);
  EXPECT_EQ(SofteningFit::load({}).truths(), 0);
}

}  // namespace
}  // namespace crowdfold
