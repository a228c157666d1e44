#include "methods/em.h"

#include <gtest/gtest.h>

#include "methods/dirichlet.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::labels_of;

TEST(NormalizeLogRows, DividesRowsByTheirSumsAndReturnsTheLogarithmsOfThese) {
  // Rows narrower than a vector, as wide, and wider; numbers of rows that fill no vector.
  for (const std::size_t width : {1U, 2U, 4U, 8U, 24U, 40U}) {
    for (const std::size_t count : {1U, 2U, 3U, 70U}) {
      std::vector<double> logs(count * width);
      std::vector<double> expected;
      double log_sums = 0;
      for (std::size_t r = 0; r < count; ++r) {
        double sum = 0;
        for (std::size_t i = 0; i < width; ++i)
          sum += std::exp(logs[r * width + i] = std::sin(static_cast<double>(r * width + i)) * 3 + 100);
        for (std::size_t i = 0; i < width; ++i) expected.push_back(std::exp(logs[r * width + i]) / sum);
        log_sums += std::log(sum);
      }
      std::vector<double> rows(logs.size(), 1);
      const Normalized normalized = normalize_log_rows(logs, width, rows);
      EXPECT_NEAR(normalized.log_sums, log_sums, 1e-12 * log_sums) << width << ' ' << count;
      for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_NEAR(rows[i], expected[i], 1e-15);
      EXPECT_NEAR(normalized.change, 1 - *std::min_element(expected.begin(), expected.end()), 1e-15);
    }
  }
}

TEST(NormalizeLogRows, RulesNothingOutAndOverflowsNowhere) {
  std::vector<double> logs = {-1e5, -2e5, kImpossible, kImpossible, 5e4, kImpossible, 5e4, kImpossible};
  std::vector<double> rows(logs.size());
  EXPECT_NEAR(normalize_log_rows(logs, 4, rows).log_sums, -1e5 + 5e4 + std::log(2), 1e-9);
  EXPECT_EQ(rows[0], 1);
  EXPECT_GT(rows[1], 0);
  EXPECT_GT(rows[2], 0);
  EXPECT_NEAR(rows[4], .5, 1e-15);
}

TEST(Posteriors, StartFromSharesOfVotesAndKnownTruths) {
  const Labels labels =
      labels_of({{"1", "u", "a"}, {"1", "v", "a"}, {"1", "w", "b"}, {"2", "u", "b"}, {"3", "u", ""}});
  Knowledge given;
  given.truths = {kNoClass, 0};
  Posteriors q(labels, given, 2);
  q.start_from_votes(1);
  const auto row = [&](TaskId t) { return std::vector<double>(q[t].begin(), q[t].end()); };
  EXPECT_NEAR(row(0)[0], 1.0 / 3, 1e-15);  // two thirds of a, by two subtypes
  EXPECT_NEAR(row(0)[3], 1.0 / 6, 1e-15);
  EXPECT_EQ(row(1), (std::vector<double>{.5, .5, 0, 0}));
  EXPECT_EQ(row(2), (std::vector<double>{.25, .25, .25, .25}));
  // Tasks with neither a label nor a truth do not count.
  const std::vector<double> totals = q.totals(1);
  EXPECT_NEAR(totals[0] + totals[1], 2.0 / 3 + 1, 1e-15);
}

TEST(Posteriors, TellTheEvidenceAndTheLargestChangeOfAClass) {
  const Labels labels = labels_of({{"1", "u", "a"}, {"2", "u", "b"}});
  const Knowledge given;
  Posteriors q(labels, given, 2);
  q.start_from_votes(1);
  const auto judged = q.judge(1, [](TaskId, std::span<double> row) {
    row[0] = std::log(.1);
    row[1] = std::log(.2);
    row[2] = std::log(.3);
    row[3] = std::log(.4);
  });
  EXPECT_NEAR(judged.evidence, 0, 1e-12);
  EXPECT_NEAR(judged.change, .7, 1e-12);  // of a on task 1: from 1 to .3

  Result result;
  RunContext context;
  context.posterior = true;
  q.report(context, result);
  EXPECT_EQ(result.estimate, (FlatArray<ClassId>{1, 1}));
  EXPECT_NEAR(result.confidence[0], .7, 1e-12);
  EXPECT_NEAR(result.posterior[0], .3, 1e-12);
}

TEST(Iterate, StopsAtTheToleranceOrAfterAllIterations) {
  const RunContext context;
  Result settled;
  double change = 1;
  iterate("test", {100, .1}, context, settled, [&] { return Step{1, change /= 2}; });
  EXPECT_EQ(settled.trace.size(), 4U);
  EXPECT_TRUE(settled.converged);

  Result cut;
  iterate("test", {3, .1}, context, cut, [] { return Step{1, 1}; });
  EXPECT_EQ(cut.trace.size(), 3U);
  EXPECT_FALSE(cut.converged);

  Result fixed;
  iterate("test", {3, 0}, context, fixed, [] { return Step{1, 0}; });
  EXPECT_EQ(fixed.trace.size(), 3U);
  EXPECT_TRUE(fixed.converged);
}

TEST(Dirichlet, HasNoDivergenceFromItselfAndKnownLogarithms) {
  // Two Dirichlets side by side: (1, 1) and (2, 1).
  std::vector<double> nu = {1, 2, 1, 1};
  const std::vector<double> alpha = nu;
  EXPECT_NEAR(expect_logarithms(nu, alpha, 2), 0, 1e-12);
  EXPECT_NEAR(nu[0], -1, 1e-12);   // psi(1) - psi(2)
  EXPECT_NEAR(nu[1], -.5, 1e-12);  // psi(2) - psi(3)
  EXPECT_NEAR(nu[2], -1, 1e-12);
  EXPECT_NEAR(nu[3], -1.5, 1e-12);  // psi(1) - psi(3)
}

TEST(Dirichlet, DivergesFromAnother) {
  // KL(Beta(2, 1) || Beta(1, 1)) = log 2 - 1/2
  std::vector<double> nu = {2, 1};
  const std::vector<double> alpha = {1, 1};
  EXPECT_NEAR(expect_logarithms(nu, alpha, 1), std::log(2) - .5, 1e-12);
}

}  // namespace
}  // namespace crowdfold
