#include <gtest/gtest.h>

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "crowdfold/metrics.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "methods/fivepass/fivepass_model.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::labels_of;

Result fivepass(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {},
                int threads = 1) {
  RunContext context;
  context.posterior = true;
  context.confusion = true;
  context.threads = threads;
  return find_method("fivepass").make(settings)->fit(labels, given, context);
}

// The definition, step by step, in double precision and with nothing that makes it quick.
// NOLINTBEGIN(readability-identifier-naming): names are those of the formulas
class FivePassByTheBook {
 public:
  using Row = std::vector<double>;
  using Matrix = std::vector<Row>;

  explicit FivePassByTheBook(const Labels& labels)
      : labels_(labels),
        K(labels.num_classes()),
        M(labels.num_workers()),
        T(labels.num_tasks()),
        C(T, Row(K)),
        rho(kG),
        s_i(M) {
    for (TaskId t = 0; t < T; ++t) {
      for (const ClassId l : labels.task(t).classes)
        C[t][l] += 1 / static_cast<double>(labels.task(t).size());
    }
    for (std::size_t g = 0; g < kG; ++g) rho[g] = std::exp(-std::pow(b[g] - 1, 2));
    const double sum = std::accumulate(rho.begin(), rho.end(), 0.0);
    for (double& share : rho) share /= sum;
  }

  double temperature() const { return beta; }
  double class_power() const { return gamma(); }
  std::vector<double> run() {
    for (int round = 0; round < 5; ++round) {
      learn(round == 0 || round == 2);
      if (round > 0) hold_out();
      judge();
    }
    learn(true);
    hold_out();
    std::vector<double> answers;
    for (TaskId t = 0; t < T; ++t) {
      const Row a = over_types(scores(t));
      const double temperature = .7 * std::min(beta, 1.0);
      const double highest = *std::max_element(a.begin(), a.end());
      Row q;
      for (const double score : a) q.push_back(std::exp(temperature * (score - highest)));
      const double sum = std::accumulate(q.begin(), q.end(), 0.0);
      for (const double share : q) answers.push_back(.95 * share / sum + .05 / static_cast<double>(K));
    }
    return answers;
  }

 private:
  static constexpr std::size_t kG = 5;
  static constexpr double b[kG] = {0, .5, 1, 1.5, 2};

  double common(double value) const { return std::clamp(value, 1e-4, 1 - 1e-4); }

  void learn(bool strengths) {
    const auto k_ = static_cast<double>(K);
    n.assign(M, Matrix(K, Row(K)));
    N.assign(M, Row(K));
    Matrix P(K, Row(K));
    Row right(M);
    Row all(M);
    Row m(K);
    for (TaskId t = 0; t < T; ++t) {
      const TaskLabels task = labels_.task(t);
      for (std::size_t k = 0; k < K; ++k) m[k] += C[t][k];
      for (std::size_t j = 0; j < task.size(); ++j) {
        const ClassId l = task.classes[j];
        for (std::size_t k = 0; k < K; ++k) {
          n[task.workers[j]][k][l] += C[t][k];
          N[task.workers[j]][k] += C[t][k];
          P[k][l] += C[t][k];
        }
        right[task.workers[j]] += C[t][l];
        ++all[task.workers[j]];
      }
    }
    // (G)
    const double s1 = std::max(20.0, 2 * k_);
    double diagonal = 14;
    double total = 20;
    for (std::size_t k = 0; k < K; ++k) {
      diagonal += P[k][k];
      total += std::accumulate(P[k].begin(), P[k].end(), 0.0);
    }
    const double a0 = diagonal / total;
    Matrix Ph(K, Row(K));
    Row r(K);
    ltau.assign(K, 0);
    const double tasks = std::accumulate(m.begin(), m.end(), 0.0);
    for (std::size_t k = 0; k < K; ++k) {
      const double row = std::accumulate(P[k].begin(), P[k].end(), 0.0);
      for (std::size_t l = 0; l < K; ++l)
        Ph[k][l] = (P[k][l] + s1 * (k == l ? a0 : (1 - a0) / (k_ - 1))) / (row + s1);
      const double p = common(Ph[k][k]);
      r[k] = p / (1 - p) * (1 - a0) / a0;
      ltau[k] = std::log((m[k] + 1) / (tasks + k_));
    }
    // b_i
    centre.assign(M, Matrix(K, Row(K)));
    for (WorkerId i = 0; i < M; ++i) {
      const double v = common((right[i] + 5 * a0) / (all[i] + 5));
      for (std::size_t k = 0; k < K; ++k) {
        const double z = v / (1 - v) * r[k];
        for (std::size_t l = 0; l < K; ++l)
          centre[i][k][l] = k == l ? z / (1 + z) : 1 / (1 + z) * Ph[k][l] / std::max(1 - Ph[k][k], 1e-6);
      }
    }
    if (strengths) fit_strengths();
    const double lambda = s / (s + 16 * k_);
    // Tables, with types
    table.assign(M, std::vector<Matrix>(kG, Matrix(K, Row(K))));
    for (WorkerId i = 0; i < M; ++i) {
      std::size_t only = 0;
      std::size_t kinds = 0;
      for (std::size_t l = 0; l < K; ++l) {
        double said = 0;
        for (std::size_t k = 0; k < K; ++k) said += n[i][k][l];
        if (said > 0) only = l;
        kinds += said > 0 ? 1 : 0;
      }
      if (kinds == 1 && all[i] >= 10) {
        for (std::size_t g = 0; g < kG; ++g) {
          for (std::size_t k = 0; k < K; ++k)
            table[i][g][k][only] = b[g] * std::log((n[i][k][only] + s) / (all[i] * m[k] / tasks + s));
        }
        continue;
      }
      Matrix U(K, Row(K));
      Row Z(K);
      Row habit(K);
      for (std::size_t k = 0; k < K; ++k) {
        for (std::size_t l = 0; l < K; ++l) {
          const double Cr =
              k == l ? std::log(a0 / Ph[k][k]) : std::log((1 - a0) / std::max(1 - Ph[k][k], 1e-6));
          const double Tab =
              boost::math::digamma(std::max(n[i][k][l] + s_i[i] * centre[i][k][l], 1e-3)) -
              boost::math::digamma(N[i][k] + s_i[i]) + lambda * Cr;
          Z[k] += U[k][l] = std::exp(Tab);
        }
        for (std::size_t l = 0; l < K; ++l) habit[l] += std::exp(ltau[k]) * (U[k][l] /= Z[k]);
      }
      for (std::size_t g = 0; g < kG; ++g) {
        for (std::size_t k = 0; k < K; ++k) {
          double sum = 0;
          const auto power = [&](std::size_t l) {
            return std::pow(std::max(U[k][l], 1e-12), b[g]) *
                   std::pow(std::max(habit[l], 1e-12), 1 - b[g]);
          };
          for (std::size_t l = 0; l < K; ++l) sum += power(l);
          for (std::size_t l = 0; l < K; ++l)
            table[i][g][k][l] = std::log(power(l) / sum) + std::log(Z[k]);
        }
      }
    }
  }

  void fit_strengths() {
    Matrix L(M, Row(8));
    Row sums(8);
    for (WorkerId i = 0; i < M; ++i) {
      for (std::size_t e = 0; e < 8; ++e) {
        const double S = std::exp2(e);
        for (std::size_t k = 0; k < K; ++k) {
          if (N[i][k] == 0) continue;
          L[i][e] += std::lgamma(S) - std::lgamma(N[i][k] + S);
          for (std::size_t l = 0; l < K; ++l) {
            if (n[i][k][l] > 0)
              L[i][e] +=
                  std::lgamma(n[i][k][l] + S * centre[i][k][l]) - std::lgamma(S * centre[i][k][l]);
          }
        }
        sums[e] += L[i][e];
      }
    }
    const auto best =
        static_cast<std::size_t>(std::max_element(sums.begin(), sums.end()) - sums.begin());
    auto top = static_cast<double>(best);
    if (best > 0 && best < 7) {
      const double down = sums[best] - sums[best - 1];
      const double up = sums[best] - sums[best + 1];
      top += (down - up) / (2 * (down + up));
    }
    s = std::clamp(std::exp2(top), 2., 64.);
    Row pi(8, 1. / 8);
    Matrix p(M, Row(8));
    const auto spread = [&] {
      for (WorkerId i = 0; i < M; ++i) {
        const double highest = *std::max_element(L[i].begin(), L[i].end());
        for (std::size_t e = 0; e < 8; ++e) p[i][e] = pi[e] * std::exp(L[i][e] - highest);
        const double sum = std::accumulate(p[i].begin(), p[i].end(), 0.0);
        for (double& share : p[i]) share /= sum;
      }
    };
    for (int time = 0; time < 8; ++time) {
      spread();
      for (std::size_t e = 0; e < 8; ++e) {
        double sum = .5;
        for (WorkerId i = 0; i < M; ++i) sum += p[i][e];
        pi[e] = sum / (M + 4.);
      }
    }
    spread();
    for (WorkerId i = 0; i < M; ++i) {
      double log_s = 0;
      for (std::size_t e = 0; e < 8; ++e) log_s += p[i][e] * static_cast<double>(e);
      s_i[i] = std::clamp(std::exp2(log_s), 2., 64.);
    }
  }

  Matrix scores(TaskId t) const {
    const TaskLabels task = labels_.task(t);
    Matrix a(kG, Row(K));
    for (std::size_t g = 0; g < kG; ++g) {
      for (std::size_t k = 0; k < K; ++k) {
        a[g][k] = gamma() * ltau[k] + std::log(rho[g]);
        for (std::size_t j = 0; j < task.size(); ++j)
          a[g][k] += table[task.workers[j]][g][k][task.classes[j]];
      }
    }
    return a;
  }
  Row over_types(const Matrix& a) const {
    Row sums(K);
    for (std::size_t k = 0; k < K; ++k) {
      double highest = a[0][k];
      for (const Row& row : a) highest = std::max(highest, row[k]);
      for (const Row& row : a) sums[k] += std::exp(row[k] - highest);
      sums[k] = highest + std::log(sums[k]);
    }
    return sums;
  }
  Matrix posterior(TaskId t) const {
    Matrix q = scores(t);
    double highest = q[0][0];
    for (const Row& row : q) highest = std::max(highest, *std::max_element(row.begin(), row.end()));
    double sum = 0;
    for (Row& row : q) {
      for (double& value : row) sum += value = std::exp(value - highest);
    }
    for (Row& row : q) {
      for (double& value : row) value /= sum;
    }
    return q;
  }

  void judge() {
    Row mass(kG);
    for (TaskId t = 0; t < T; ++t) {
      const Matrix q = posterior(t);
      std::fill(C[t].begin(), C[t].end(), 0.0);
      for (std::size_t g = 0; g < kG; ++g) {
        for (std::size_t k = 0; k < K; ++k) {
          C[t][k] += q[g][k];
          mass[g] += q[g][k];
        }
      }
    }
    for (std::size_t g = 0; g < kG; ++g) rho[g] = (mass[g] + 1) / (T + 5.);
  }

  // The guard; and beta, for the new gamma.
  void hold_out() {
    full_ = likelihood(1, 1) - likelihood(1, 1 / std::max(1., static_cast<double>(K) - 1)) >
            std::max(3., .01 * static_cast<double>(labels_.num_labels()));
    const double places[] = {.05, .1, .2, .35, .5, .7, 1, 1.4, 2};
    Row heights;
    for (const double place : places)
      heights.push_back(likelihood(place, gamma()) - std::pow(std::log(place), 2) / 2);
    const auto best =
        static_cast<std::size_t>(std::max_element(heights.begin(), heights.end()) - heights.begin());
    beta = places[best];
    if (best == 0 || best == 8) return;
    const double left = std::log(places[best - 1] / beta);
    const double right = std::log(places[best + 1] / beta);
    const double dl = heights[best - 1] - heights[best];
    const double dr = heights[best + 1] - heights[best];
    beta *= std::exp(std::clamp((dl * right * right - dr * left * left) / (2 * (dl * right - dr * left)),
                                left, right));
  }
  double likelihood(double at, double power) const {
    double sum = 0;
    for (TaskId t = 0; t < T; ++t) {
      const TaskLabels task = labels_.task(t);
      const Matrix a = scores(t);
      const Matrix q = posterior(t);
      for (std::size_t j = 0; j < task.size() && task.size() > 1; ++j) {
        const WorkerId i = task.workers[j];
        const ClassId l = task.classes[j];
        Matrix others = a;
        for (std::size_t g = 0; g < kG; ++g) {
          for (std::size_t k = 0; k < K; ++k) others[g][k] -= table[i][g][k][l];
        }
        const Row h = over_types(others);
        double highest = -1e300;
        for (std::size_t k = 0; k < K; ++k)
          highest = std::max(highest, h[k] + (power - gamma()) * ltau[k]);
        double all = 0;
        double likely = 0;
        for (std::size_t k = 0; k < K; ++k) {
          double u = 0;
          for (const Row& row : q) u += row[k];
          const double Vm = (std::max(n[i][k][l] - u, 0.0) + s_i[i] * centre[i][k][l]) /
                            (std::max(N[i][k] - u, 0.0) + s_i[i]);
          const double share = std::exp(at * (h[k] + (power - gamma()) * ltau[k] - highest));
          all += share;
          likely += share * Vm;
        }
        sum += std::log(likely / all);
      }
    }
    return sum;
  }
  double gamma() const { return full_ ? 1 : 1 / std::max(1., static_cast<double>(K) - 1); }

  const Labels& labels_;
  std::size_t K;
  WorkerId M;
  TaskId T;
  Matrix C;
  Row rho;
  Row s_i;
  double s = 0;
  double beta = 1;
  bool full_ = false;
  Row ltau;
  std::vector<Matrix> n;
  Matrix N;
  std::vector<Matrix> centre;
  std::vector<std::vector<Matrix>> table;
};
// NOLINTEND(readability-identifier-naming)

class FivePassOfClasses : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Classes, FivePassOfClasses, ::testing::Values(2U, 3U, 5U, 9U),
                         ::testing::PrintToStringParamName());

SimulationOptions small_crowd(std::uint32_t classes) {
  SimulationOptions options{.tasks = 120, .workers = 12, .classes = classes};
  options.min_labels = 1;
  options.max_labels = 6;
  options.quality = QualityDistribution::parse("uniform:.4,.95");
  options.confusion = true;
  return options;
}

TEST_P(FivePassOfClasses, GivesTheProbabilitiesOfItsDefinition) {
  const Labels labels = simulate_labels(small_crowd(GetParam()), 5);
  FivePassByTheBook by_the_book(labels);
  const std::vector<double> expected = by_the_book.run();
  const Result result = fivepass(labels);
  ASSERT_EQ(result.posterior.size(), expected.size());
  // Apart from the rule of succession, which a few labels still feel, and single precision.
  const double tolerance = 1e-3 + 1 / static_cast<double>(labels.num_labels());
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_NEAR(result.posterior[i], expected[i], tolerance) << i;
  const std::vector<double>& calibration = result.learned.sections.back().values;
  EXPECT_EQ(calibration[0], by_the_book.class_power());
  EXPECT_NEAR(calibration[1], by_the_book.temperature(), .003);
}

TEST(FivePass, IsTheSameOnAnyNumberOfThreads) {
  // Several blocks, more labels than are held out, and many classes.
  for (const std::uint32_t classes : {3U, 70U}) {
    SimulationOptions options = small_crowd(classes);
    options.tasks = classes < 10 ? 9'000 : 4'500;
    options.workers = classes < 10 ? 3'000 : 100;
    options.max_labels = classes < 10 ? 6 : 3;
    const Labels labels = simulate_labels(options, 7);
    const Result one = fivepass(labels);
    for (int threads = 2; threads <= 4; ++threads) {
      const Result several = fivepass(labels, {}, {}, threads);
      EXPECT_EQ(several.posterior, one.posterior);
      EXPECT_EQ(several.confidence, one.confidence);
      EXPECT_EQ(several.learned.sections, one.learned.sections);
    }
  }
}

// Functions that label, each for one class, and abstain elsewhere; the rest of what they say is wrong.
TEST(FivePass, HearsWorkersOfOneLabel) {
  constexpr TaskId kTasks = 1'500;
  constexpr std::size_t kFunctions = 9;
  std::vector<std::array<std::string, 3>> rows;
  std::vector<ClassId> truths;
  for (TaskId t = 0; t < kTasks; ++t) {
    const auto truth = static_cast<ClassId>(pick(1, t, 3));
    for (std::size_t f = 0; f < kFunctions; ++f) {
      const bool own = f % 3 == truth;
      if (pick(2 + f, t, 100) < (own ? 50 : 3 + 12 * (f / 3)))
        rows.push_back({std::to_string(t), "f" + std::to_string(f), std::to_string(f % 3)});
    }
  }
  LabelsBuilder builder;
  for (const auto& [task, worker, label] : rows) builder.add(task, worker, label);
  const Labels labels = builder.build();
  const Result result = fivepass(labels);
  const Result votes = find_method("mv").make({})->fit(labels, RunContext{});
  double right = 0;
  double right_votes = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const auto truth = std::to_string(pick(1, std::stoul(std::string(labels.tasks()[t])), 3));
    right += labels.classes()[result.estimate[t]] == truth ? 1 : 0;
    right_votes += labels.classes()[votes.estimate[t]] == truth ? 1 : 0;
  }
  EXPECT_GT(right / labels.num_tasks(), .7);
  EXPECT_GE(right, right_votes);
}

TEST(FivePass, FitsItsSofteningToTruths) {
  SimulationOptions options = small_crowd(3);
  options.tasks = 3'000;
  options.min_labels = 5;
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(options, 9, &crowd);
  Knowledge given;
  given.truths.assign(labels.num_tasks(), kNoClass);
  for (TaskId t = 0; t < 600; ++t) given.truths[t] = crowd.truths[t];
  // Workers of the model need no doubt.
  EXPECT_LT(fivepass(labels, {}, given).doubt, fivepass(labels).doubt / 2);
  EXPECT_EQ(fivepass(labels, {{"doubt", "0.1"}}, given).doubt, .1);
}

TEST(FivePass, SaysInWhichWaysItCanBeUsed) {
  const MethodInfo& info = find_method("five-pass");
  EXPECT_EQ(info.name, "fivepass");
  EXPECT_EQ(info.make_online, nullptr);
  EXPECT_NE(info.make_judge, nullptr);
}

}  // namespace
}  // namespace crowdfold
