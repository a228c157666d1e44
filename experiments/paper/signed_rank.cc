#include "signed_rank.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace crowdfold::paper {
namespace {

constexpr double kSame = 1e-9;
constexpr int kExactPairs = 25;

struct Ranked {
  double size = 0;  // |difference|
  bool positive = false;
  int twice_rank = 0;  // ranks that are shared are halves
};

std::vector<Ranked> ranked(std::span<const double> differences) {
  std::vector<Ranked> pairs;
  for (const double d : differences) {
    if (std::abs(d) > kSame) pairs.push_back({std::abs(d), d > 0, 0});
  }
  std::sort(pairs.begin(), pairs.end(),
            [](const Ranked& a, const Ranked& b) { return a.size < b.size; });
  for (std::size_t first = 0; first < pairs.size();) {
    std::size_t last = first;
    while (last < pairs.size() && pairs[last].size - pairs[first].size <= kSame) ++last;
    for (std::size_t i = first; i < last; ++i) pairs[i].twice_rank = static_cast<int>(first + 1 + last);
    first = last;
  }
  return pairs;
}

// The share of the 2^n ways to set signs that give at least `twice_sum`.
double exact_p(const std::vector<Ranked>& pairs, int twice_sum) {
  int total = 0;
  std::vector<double> ways = {1};  // by twice the sum; whole numbers, exact up to 2^53
  for (const Ranked& pair : pairs) {
    const int rank = pair.twice_rank;
    total += rank;
    ways.resize(static_cast<std::size_t>(total) + 1);
    for (int sum = total; sum >= rank; --sum)
      ways[static_cast<std::size_t>(sum)] += ways[static_cast<std::size_t>(sum - rank)];
  }
  double high = 0;
  for (int sum = twice_sum; sum <= total; ++sum) high += ways[static_cast<std::size_t>(sum)];
  return std::ldexp(high, -static_cast<int>(pairs.size()));
}

// Var W+ = sum of squared ranks / 4, whether ranks are shared or not.
double normal_p(const std::vector<Ranked>& pairs, double statistic) {
  double mean = 0;
  double variance = 0;
  for (const Ranked& pair : pairs) {
    const double rank = pair.twice_rank / 2.0;
    mean += rank / 2;
    variance += rank * rank / 4;
  }
  constexpr double kContinuity = 0.5;
  return std::erfc((statistic - mean - kContinuity) / std::sqrt(2 * variance)) / 2;
}

}  // namespace

SignedRank signed_rank(std::span<const double> differences) {
  const std::vector<Ranked> pairs = ranked(differences);
  int twice_sum = 0;
  for (const Ranked& pair : pairs) twice_sum += pair.positive ? pair.twice_rank : 0;
  SignedRank test;
  test.statistic = twice_sum / 2.0;
  test.pairs = static_cast<int>(pairs.size());
  test.p = test.pairs <= kExactPairs ? exact_p(pairs, twice_sum) : normal_p(pairs, test.statistic);
  return test;
}

}  // namespace crowdfold::paper
