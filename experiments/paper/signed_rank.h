// Wilcoxon's one-sided signed-rank test: are the differences above 0 more often, and by more, than by
// chance?
#pragma once

#include <span>

namespace crowdfold::paper {

struct SignedRank {
  double statistic = 0;  // W+: the sum of the ranks of the positive differences
  int pairs = 0;         // pairs that differ
  double p = 1;          // the probability of a sum at least as high if signs were random
};

// Differences of 0 are left out, equal ones share the mean of their ranks (both up to 1e-9, as means of
// accuracies are not exact). p is exact for up to 25 pairs, ties included; beyond, a normal
// approximation with the correction for ties.
SignedRank signed_rank(std::span<const double> differences);

}  // namespace crowdfold::paper
