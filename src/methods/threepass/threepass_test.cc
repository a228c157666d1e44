#include <fmt/format.h>
#include <gtest/gtest.h>

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "crowdfold/metrics.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::labels_of;

Result threepass(const Labels& labels, const Settings& settings = {}, const Knowledge& given = {},
                 bool confusion = false) {
  RunContext context;
  context.posterior = true;
  context.confusion = confusion;
  return find_method("threepass").make(settings)->fit(labels, given, context);
}

std::unique_ptr<OnlineMethod> online_threepass(const Settings& settings = {}) {
  return find_method("threepass").make_online(settings, 0);
}

// The definition, step by step, with nothing that makes it quick: all tables are built again for every
// task of pass 1 (refresh=0), numbers are where the formulas say.
// NOLINTBEGIN(readability-identifier-naming): names are those of the formulas
class ByTheBook {
 public:
  using Row = std::vector<double>;
  using Matrix = std::vector<Row>;

  explicit ByTheBook(const Labels& labels)
      : labels_(labels),
        K(labels.num_classes()),
        n(labels.num_workers(), Matrix(K, Row(K))),
        seen(labels.num_workers()),
        P(K, Row(K)),
        m(K),
        s(16.0 * static_cast<double>(K)),
        credits(labels.num_tasks(), Row(K)) {}

  // Answers after `passes` passes.
  std::vector<double> run(int passes) {
    std::vector<double> answers;
    Row held_out(9);
    double beta = 1;
    double next_strength = std::max(10.0, 2.0 * static_cast<double>(K));
    double next_pool = 0;
    double labels_seen = 0;
    for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
      const TaskLabels task = labels_.task(t);
      if (t <= 50 || t >= next_pool) {
        crowd();
        next_pool = 1.02 * t;
      }
      if (t >= next_strength) {
        strength();
        beta = temperature(held_out);
        next_strength *= 2;
      }
      const Row a = score(task);
      if (task.size() > 1) hold_out(task, pick(0, t, task.size()), a, Row(K), held_out);
      const Row answer = softened(a, beta, labels_seen);
      answers.insert(answers.end(), answer.begin(), answer.end());
      const auto workers = std::count_if(seen.begin(), seen.end(), [](double x) { return x > 0; });
      const double warm = 2.0 * static_cast<double>(K);
      const double f = warm / (warm + (workers > 0 ? labels_seen / static_cast<double>(workers) : 0));
      Row credit = softmax(a, 1);
      for (double& c : credit) c *= 1 - f;
      for (const ClassId l : task.classes) credit[l] += f / static_cast<double>(task.size());
      add(task, credit, 1);
      credits[t] = credit;
      for (const WorkerId w : task.workers) ++seen[w];
      labels_seen += static_cast<double>(task.size());
    }
    if (passes == 1) return answers;

    strength();
    for (std::size_t block = 0; block < 8; ++block) {
      crowd();
      std::vector<Row> judged;
      const std::size_t first = labels_.num_tasks() * block / 8;
      const std::size_t last = labels_.num_tasks() * (block + 1) / 8;
      for (std::size_t t = first; t < last; ++t)
        judged.push_back(softmax(score(labels_.task(static_cast<TaskId>(t))), 1));
      for (std::size_t t = first; t < last; ++t) {
        add(labels_.task(static_cast<TaskId>(t)), credits[t], -1);
        credits[t] = judged[t - first];
        add(labels_.task(static_cast<TaskId>(t)), credits[t], 1);
      }
    }
    strength();
    held_out.assign(9, 0);
    for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
      const TaskLabels task = labels_.task(t);
      for (std::size_t j = 0; j < task.size() && task.size() > 1; ++j)
        hold_out(task, j, score(task), credits[t], held_out);
    }
    beta = temperature(held_out);
    answers.clear();
    for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
      const Row answer = softened(score(labels_.task(t)), beta, labels_seen);
      answers.insert(answers.end(), answer.begin(), answer.end());
    }
    return answers;
  }

 private:
  static double clip(double x) { return std::clamp(x, 1e-4, 1 - 1e-4); }

  // (G)
  void crowd() {
    double right = 0;
    double all = 0;
    for (std::size_t k = 0; k < K; ++k) {
      right += P[k][k];
      all += std::accumulate(P[k].begin(), P[k].end(), 0.0);
    }
    a0 = (right + 14) / (all + 20);
    E = Matrix(K, Row(K));
    const double others = static_cast<double>(K) - 1;
    const double tasks = std::accumulate(m.begin(), m.end(), 0.0);
    Cr = Matrix(K, Row(K));
    r = ltau = Row(K);
    for (std::size_t k = 0; k < K; ++k) {
      const double total = std::accumulate(P[k].begin(), P[k].end(), 0.0) + 20;
      const auto ph = [&](std::size_t l) {
        return (P[k][l] + 20 * (k == l ? a0 : (1 - a0) / others)) / total;
      };
      r[k] = clip(ph(k)) / (1 - clip(ph(k))) * (1 - a0) / a0;
      ltau[k] = std::log((m[k] + 1) / (tasks + static_cast<double>(K)));
      for (std::size_t l = 0; l < K; ++l) {
        E[k][l] = ph(l) / (1 - ph(k));
        Cr[k][l] = k == l ? std::log(a0 / ph(k)) : std::log((1 - a0) / (1 - ph(k)));
      }
    }
  }
  // b of (W)
  double centre(WorkerId w, std::size_t k, std::size_t l) const {
    double c = 0;
    for (std::size_t i = 0; i < K; ++i) c += n[w][i][i];
    const double v = clip((c + 5 * a0) / (seen[w] + 5));
    const double z = v / (1 - v) * r[k];
    return k == l ? z / (1 + z) : (1 - z / (1 + z)) * E[k][l];
  }
  double table(WorkerId w, std::size_t k, std::size_t l) const {
    const double lambda = s / (s + 16.0 * static_cast<double>(K));
    const double N = std::accumulate(n[w][k].begin(), n[w][k].end(), 0.0);
    return boost::math::digamma(std::max(n[w][k][l] + s * centre(w, k, l), 1e-3)) -
           boost::math::digamma(N + s) + lambda * Cr[k][l];
  }
  Row score(const TaskLabels& task) const {
    Row a(K);
    for (std::size_t k = 0; k < K; ++k) {
      a[k] = ltau[k] / (static_cast<double>(K) - 1);
      for (std::size_t j = 0; j < task.size(); ++j) a[k] += table(task.workers[j], k, task.classes[j]);
    }
    return a;
  }
  static Row softmax(const Row& a, double beta) {
    Row q(a.size());
    double total = 0;
    for (std::size_t k = 0; k < a.size(); ++k)
      total += q[k] = std::exp(beta * (a[k] - *std::max_element(a.begin(), a.end())));
    for (double& p : q) p /= total;
    return q;
  }
  Row softened(const Row& a, double beta, double labels_seen) const {
    Row q = softmax(a, .7 * std::min(beta, 1.0));
    for (const double doubt : {1 / (labels_seen + 2), .05}) {
      for (double& p : q) p = p * (1 - doubt) + doubt / static_cast<double>(K);
    }
    return q;
  }
  void add(const TaskLabels& task, const Row& credit, double sign) {
    for (std::size_t k = 0; k < K; ++k) {
      m[k] += sign * credit[k];
      for (std::size_t j = 0; j < task.size(); ++j) {
        n[task.workers[j]][k][task.classes[j]] += sign * credit[k];
        P[k][task.classes[j]] += sign * credit[k];
      }
    }
  }
  // (EB)
  void strength() {
    crowd();
    const Row places = {1, 2, 4, 8, 16, 32, 64, 128};
    Row heights;
    for (const double S : places) {
      double sum = 0;
      for (WorkerId w = 0; w < n.size(); ++w) {
        for (std::size_t k = 0; k < K; ++k) {
          const double N = std::accumulate(n[w][k].begin(), n[w][k].end(), 0.0);
          if (N <= 1e-9) continue;
          sum += std::lgamma(S) - std::lgamma(N + S);
          for (std::size_t l = 0; l < K; ++l) {
            if (n[w][k][l] <= 1e-9) continue;
            sum += std::lgamma(n[w][k][l] + S * centre(w, k, l)) - std::lgamma(S * centre(w, k, l));
          }
        }
      }
      heights.push_back(sum);
    }
    s = std::clamp(top(places, heights), 2.0, 64.0);
  }
  // (H)
  void hold_out(const TaskLabels& task, std::size_t j, const Row& a, const Row& u, Row& held_out) const {
    const WorkerId w = task.workers[j];
    const ClassId l = task.classes[j];
    Row h(K);
    for (std::size_t k = 0; k < K; ++k) h[k] = a[k] - table(w, k, l);
    for (std::size_t i = 0; i < temperatures.size(); ++i) {
      const Row q = softmax(h, temperatures[i]);
      double likelihood = 0;
      for (std::size_t k = 0; k < K; ++k) {
        const double N = std::accumulate(n[w][k].begin(), n[w][k].end(), 0.0);
        likelihood += q[k] * (std::max(n[w][k][l] - u[k], 0.0) + s * centre(w, k, l)) /
                      (std::max(N - u[k], 0.0) + s);
      }
      held_out[i] += std::log(likelihood);
    }
  }
  double temperature(Row held_out) const {
    for (std::size_t i = 0; i < held_out.size(); ++i)
      held_out[i] -= .5 * std::pow(std::log(temperatures[i]), 2);
    return top(temperatures, held_out);
  }
  // Of a parabola through the highest point and those beside it, over logarithms.
  static double top(const Row& places, const Row& heights) {
    const auto best =
        static_cast<std::size_t>(std::max_element(heights.begin(), heights.end()) - heights.begin());
    if (best == 0 || best + 1 == places.size()) return places[best];
    const double x1 = std::log(places[best - 1]);
    const double x2 = std::log(places[best]);
    const double x3 = std::log(places[best + 1]);
    const double y1 = heights[best - 1];
    const double y2 = heights[best];
    const double y3 = heights[best + 1];
    const double above = x1 * x1 * (y2 - y3) + x2 * x2 * (y3 - y1) + x3 * x3 * (y1 - y2);
    const double below = x1 * (y2 - y3) + x2 * (y3 - y1) + x3 * (y1 - y2);
    return std::exp(above / (2 * below));
  }

  const Labels& labels_;
  std::size_t K;
  std::vector<Matrix> n;  // by worker, truth, label
  Row seen;
  Matrix P;
  Row m;
  double s;
  std::vector<Row> credits;
  double a0 = 0;
  Matrix Cr;
  Row r;
  Matrix E;
  Row ltau;
  Row temperatures = {.05, .1, .2, .35, .5, .7, 1, 1.4, 2};
};
// NOLINTEND(readability-identifier-naming)

class ThreePassByTheBook : public ::testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Classes, ThreePassByTheBook, ::testing::Values(2U, 3U, 5U, 9U),
                         [](const auto& parameter) { return std::to_string(parameter.param); });

TEST_P(ThreePassByTheBook, GivesTheSameProbabilities) {
  const Labels labels = simulate_labels({.tasks = 160,
                                         .workers = 12,
                                         .classes = GetParam(),
                                         .min_labels = 1,
                                         .max_labels = 5,
                                         .quality = {},
                                         .confusion = true},
                                        GetParam());
  constexpr double kSinglePrecision = 1e-5;  // of logarithms, added up
  for (const int passes : {1, 3}) {
    const std::vector<double> expected = ByTheBook(labels).run(passes);
    const Result result =
        threepass(labels, {{"refresh", "0"}, {"guard", "1e9"}, {"passes", std::to_string(passes)}});
    ASSERT_EQ(result.posterior.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(result.posterior[i], expected[i], kSinglePrecision)
          << passes << " passes, number " << i;
  }
}

const SimulationOptions kConfused = {.tasks = 600,
                                     .workers = 20,
                                     .classes = 4,
                                     .min_labels = 2,
                                     .max_labels = 6,
                                     .quality = {},
                                     .confusion = true};

TEST(ThreePass, OnlineIsItsFirstPass) {
  const Labels labels = simulate_labels(kConfused, 1);
  const Result result = threepass(labels, {{"passes", "1"}});
  const auto method = online_threepass();
  method->expect(20, 4);
  std::vector<double> posterior(4);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const Estimate estimate = method->observe(labels.task(t), kNoClass, posterior);
    ASSERT_EQ(estimate.label, result.estimate[t]) << t;
    ASSERT_NEAR(estimate.confidence, result.confidence[t], 1e-9) << t;
    ASSERT_NEAR(posterior[0], result.posterior[4 * t], 1e-9) << t;
  }
  EXPECT_EQ(method->state().counts.size(), 20U);
  for (WorkerId w = 0; w < 20; ++w)
    EXPECT_NEAR(method->state().counts[w].correct, result.learned.counts[w].correct, 1e-9);
}

TEST(ThreePass, MorePassesAreBetterThanOne) {
  double one = 0;
  double three = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SimulatedCrowd crowd;
    const Labels labels = simulate_labels(kConfused, seed, &crowd);
    one += testing::accuracy(threepass(labels, {{"passes", "1"}}), crowd.truths) / 5;
    three += testing::accuracy(threepass(labels), crowd.truths) / 5;
  }
  EXPECT_GT(three, one + .01);
}

// Two of five workers mean the opposite. In some orders they are right on the first tasks, by chance,
// and all that follows fits them.
TEST(ThreePass, IsNotTakenInByWorkersWhoMeanTheOpposite) {
  constexpr double kQualities[] = {.85, .85, .85, .2, .2};
  Random random(11);
  LabelsBuilder builder;
  std::vector<ClassId> truths(500);
  for (TaskId t = 0; t < truths.size(); ++t) {
    truths[t] = static_cast<ClassId>(random.below(2));
    for (std::size_t w = 0; w < std::size(kQualities); ++w) {
      const bool right = random.uniform() < kQualities[w];
      builder.add(fmt::format("t{}", t), fmt::format("w{}", w),
                  truths[t] == (right ? 1 : 0) ? "yes" : "no");
    }
  }
  const Labels labels = builder.build();
  const auto id_of = [&](const char* name) {
    return static_cast<ClassId>(*labels.classes().find(name));
  };
  for (ClassId& truth : truths) truth = id_of(truth == 1 ? "yes" : "no");
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RunContext context;
    context.seed = seed;
    const Result result =
        find_method("threepass").make({{"order", "shuffled"}})->fit(labels, {}, context);
    EXPECT_GT(testing::accuracy(result, truths), .9) << seed;
  }
}

TEST(ThreePass, GoesOnFromASavedState) {
  const Labels labels = simulate_labels(kConfused, 1);
  const auto whole = online_threepass();
  auto parts = online_threepass();
  whole->expect(20, 4);
  parts->expect(20, 4);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (t % 150 == 149) {
      const WorkerState saved = parts->state();
      parts = online_threepass();
      parts->restore(saved);
      const WorkerState again = parts->state();
      EXPECT_EQ(again.sections, saved.sections);
      EXPECT_EQ(again.counts, saved.counts);
    }
    whole->observe(labels.task(t));
    parts->observe(labels.task(t));
  }
  // Tables are fresh where it went on, and may be a few labels old where it did not stop.
  for (WorkerId w = 0; w < 20; ++w)
    EXPECT_NEAR(parts->state().quality(w).mean(), whole->state().quality(w).mean(), .01) << w;
}

TEST(ThreePass, StatesAddInAnyOrderAndNothingAddsNothing) {
  const Labels labels = simulate_labels(kConfused, 1);
  std::vector<WorkerState> parts;
  for (TaskId part = 0; part < 3; ++part) {
    const auto method = online_threepass();
    method->expect(20, 4);
    for (TaskId t = 200 * part; t < 200 * (part + 1); ++t) method->observe(labels.task(t));
    parts.push_back(method->state());
  }
  const auto sum = [&](const std::vector<std::size_t>& order) {
    const auto method = online_threepass();
    for (const std::size_t part : order) method->merge(parts[part]);
    method->merge(WorkerState{});
    return method->state();
  };
  const WorkerState a = sum({0, 1, 2});
  const WorkerState b = sum({2, 0, 1});
  ASSERT_EQ(a.sections.size(), b.sections.size());
  for (const StateSection& section : a.sections) {
    const StateSection* const same = b.find(section.name);
    ASSERT_NE(same, nullptr) << section.name;
    ASSERT_EQ(section.keys, same->keys) << section.name;
    ASSERT_EQ(section.values.size(), same->values.size()) << section.name;
    for (std::size_t i = 0; i < section.values.size(); ++i)
      EXPECT_NEAR(section.values[i], same->values[i], 1e-9) << section.name;
  }
  for (WorkerId w = 0; w < 20; ++w) {
    EXPECT_EQ(a.counts[w].seen, b.counts[w].seen);
    EXPECT_EQ(a.counts[w].seen,
              parts[0].counts[w].seen + parts[1].counts[w].seen + parts[2].counts[w].seen);
  }
}

TEST(ThreePass, TakesStatesOfOtherMethodsAsHistories) {
  const auto method = online_threepass();
  WorkerState state;
  state.classes = 2;
  state.counts = {{95, 100}, {50, 100}, {50, 100}};
  method->restore(state);
  EXPECT_EQ(method->state().counts, state.counts);
  const std::vector<WorkerId> workers = {0, 1, 2};
  const std::vector<ClassId> classes = {0, 1, 1};
  EXPECT_EQ(method->estimate({0, workers, classes}).label, 0);
  // Added to a state with matrices, they are still histories.
  method->learn({0, workers, classes});
  method->merge(state);
  EXPECT_EQ(method->state().counts[0].seen, 201);
}

TEST(ThreePass, TakesClassesAndWorkersThatTurnUpLate) {
  const auto method = online_threepass();
  method->expect(2, 2);
  const std::vector<WorkerId> two = {0, 1};
  const std::vector<ClassId> agreed = {1, 1};
  for (int i = 0; i < 20; ++i) method->observe({0, two, agreed});
  method->expect(3, 12);  // rows become wider
  const std::vector<WorkerId> three = {0, 1, 2};
  const std::vector<ClassId> late = {11, 11, 1};
  EXPECT_EQ(method->observe({0, three, late}).label, 11);
  EXPECT_EQ(method->state().counts_of(0).seen, 21);
  EXPECT_EQ(method->state().classes, 12U);
}

TEST(ThreePass, KnownTruthsAreCredits) {
  const Labels labels = simulate_labels(kConfused, 2);
  SimulatedCrowd crowd;
  simulate_labels(kConfused, 2, &crowd);
  Knowledge given;
  given.truths.assign(crowd.truths.begin(), crowd.truths.begin() + 300);
  const auto on_the_rest = [&](const Result& result) {
    int right = 0;
    for (TaskId t = 300; t < 600; ++t) right += result.estimate[t] == crowd.truths[t] ? 1 : 0;
    return right;
  };
  EXPECT_GT(on_the_rest(threepass(labels, {}, given)), on_the_rest(threepass(labels)));
}

TEST(ThreePass, HistoriesOfWorkersHelpFromTheFirstTask) {
  // The better worker alone against two who guess.
  const Labels labels = labels_of({{"1", "good", "a"}, {"1", "u", "b"}, {"1", "v", "b"}});
  Knowledge given;
  given.workers = {{98, 100}, {50, 100}, {50, 100}};
  EXPECT_EQ(threepass(labels).estimate[0], 1);
  EXPECT_EQ(threepass(labels, {}, given).estimate[0], 0);
}

// Eight classes, most tasks of one of them, few labels: the nearly flat class prior is wrong there.
TEST(ThreePass, GuardsAgainstSkewedClasses) {
  double with = 0;
  double without = 0;
  double two = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    SimulatedCrowd crowd;
    const Labels labels = simulate_labels({.tasks = 1'500,
                                           .workers = 40,
                                           .classes = 8,
                                           .min_labels = 4,
                                           .max_labels = 4,
                                           .quality = QualityDistribution::parse("uniform:.3,.7"),
                                           .skew = 2},
                                          seed, &crowd);
    with += testing::accuracy(threepass(labels), crowd.truths) / 5;
    without += testing::accuracy(threepass(labels, {{"guard", "1e9"}}), crowd.truths) / 5;
    two += testing::accuracy(find_method("twopass").make({})->fit(labels, {}), crowd.truths) / 5;
  }
  EXPECT_GT(with, without + .1);
  EXPECT_GT(with, two);
}

TEST(ThreePass, RemembersInAStateThatClassesAreSkewed) {
  const Labels labels = simulate_labels({.tasks = 1'000,
                                         .workers = 30,
                                         .classes = 8,
                                         .quality = QualityDistribution::parse("uniform:.3,.7"),
                                         .skew = 2},
                                        1);
  const auto method = online_threepass();
  method->expect(30, 8);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) method->observe(labels.task(t));
  const auto again = online_threepass();
  again->restore(method->state());
  int same = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t)
    same += method->estimate(labels.task(t)).label == again->estimate(labels.task(t)).label ? 1 : 0;
  EXPECT_GT(same, 950);
}

// Where counts are not all stored. Most labels are right, so that a class has a few tasks.
TEST(ThreePass, TakesThousandsOfClasses) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels({.tasks = 1'000,
                                         .workers = 40,
                                         .classes = 1'000,
                                         .min_labels = 5,
                                         .max_labels = 5,
                                         .quality = QualityDistribution::parse("uniform:.3,.9")},
                                        1, &crowd);
  const Result three = threepass(labels);
  const Result two = find_method("twopass").make({})->fit(labels, {});
  EXPECT_GE(testing::accuracy(three, crowd.truths), testing::accuracy(two, crowd.truths) - .002);
  for (WorkerId w = 0; w < labels.num_workers(); ++w)
    EXPECT_NEAR(three.learned.quality(w).mean(), crowd.quality[w], .15) << w;
}

TEST(ThreePass, IsNeverMoreCertainThanItsLabelsAllow) {
  const Labels labels = simulate_labels({.tasks = 50, .workers = 5, .classes = 2, .quality = {}}, 1);
  const Result result = threepass(labels);
  for (TaskId t = 0; t < labels.num_tasks(); ++t)
    EXPECT_LE(result.certainty(t), 1 - .5 / (static_cast<double>(labels.num_labels()) + 2) + 1e-12);
}

TEST(ThreePass, SoftensItsAnswersWithoutChangingThem) {
  const Labels labels = simulate_labels(kConfused, 1);
  const Result sharp = threepass(labels, {{"soften", "1"}, {"doubt", "0"}});
  const Result soft = threepass(labels);
  EXPECT_EQ(soft.estimate, sharp.estimate);
  EXPECT_EQ(soft.learned.counts, sharp.learned.counts);
  EXPECT_EQ(sharp.doubt, 0);
  EXPECT_EQ(soft.doubt, .05);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    EXPECT_LT(soft.confidence[t], sharp.confidence[t]);
    EXPECT_GE(soft.posterior[4 * t], .05 / 4 - 1e-12);
    EXPECT_GT(soft.certainty(t), soft.confidence[t]);
  }
}

// Nine workers; five of them copy each other: held-out labels cannot see that they err together.
Labels crowd_with_copies(std::uint64_t seed, SimulatedCrowd& crowd) {
  const Labels once = simulate_labels({.tasks = 600,
                                       .workers = 5,
                                       .classes = 2,
                                       .min_labels = 5,
                                       .max_labels = 5,
                                       .quality = QualityDistribution::parse("fixed:.7")},
                                      seed, &crowd);
  LabelsBuilder builder;
  for (TaskId t = 0; t < once.num_tasks(); ++t) {
    const TaskLabels task = once.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      const int copies = task.workers[j] == 0 ? 5 : 1;
      for (int c = 0; c < copies; ++c)
        builder.add(once.tasks()[t], fmt::format("{}-{}", task.workers[j], c),
                    once.classes()[task.classes[j]]);
    }
  }
  return builder.build();
}

TEST(ThreePass, FitsItsSofteningToKnownTruths) {
  SimulatedCrowd crowd;
  const Labels labels = crowd_with_copies(5, crowd);
  Knowledge given;
  given.truths.assign(crowd.truths.begin(), crowd.truths.begin() + 300);
  std::vector<ClassId> others = crowd.truths;
  std::fill_n(others.begin(), 300, kNoClass);
  const auto loss = [&](const Settings& settings) {
    const Result result = threepass(labels, settings, given);
    return evaluate(result.estimate, others, 2, result.confidence, result.posterior).log_loss;
  };
  EXPECT_LT(loss({}), loss({{"soften", "0.7001"}, {"doubt", "0.0501"}}) - .02);
  // Values that somebody set stay.
  EXPECT_EQ(threepass(labels, {{"doubt", "0.2"}}, given).doubt, .2);
  EXPECT_NE(threepass(labels, {{"soften", "1"}}, given).doubt, .05);
}

TEST(ThreePass, FewTruthsChangeItsSofteningLittle) {
  SimulatedCrowd crowd;
  const Labels labels = simulate_labels(kConfused, 1, &crowd);
  double mean = 0;
  constexpr TaskId kTrials = 40;
  for (TaskId trial = 0; trial < kTrials; ++trial) {
    Knowledge given;
    given.truths.assign(labels.num_tasks(), kNoClass);
    for (TaskId t = 3 * trial; t < 3 * trial + 3; ++t) given.truths[t] = crowd.truths[t];
    mean += threepass(labels, {}, given).doubt / kTrials;
  }
  EXPECT_NEAR(mean, .05, .02);
}

// A truth that had helped to judge its own task would make answers look better than they are: here
// labels tell nothing, and every truth is known.
TEST(ThreePass, JudgesATaskWithoutItsTruthWhenItFitsItsSoftening) {
  LabelsBuilder builder;
  Knowledge given;
  Random random(3);
  for (TaskId t = 0; t < 200; ++t) {
    // Every worker has two labels, so that the own one would be half of what is known.
    builder.add(std::to_string(t), "w" + std::to_string(t / 2), random.below(2) == 0 ? "a" : "b");
    builder.add(std::to_string(t), "v" + std::to_string(t / 2), random.below(2) == 0 ? "a" : "b");
    given.truths.push_back(static_cast<ClassId>(random.below(2)));
  }
  const Result result = threepass(builder.build(), {}, given);
  EXPECT_GT(result.doubt, .1);
}

TEST(ThreePass, RemembersInAStateWhatTruthsToldAboutItsSoftening) {
  SimulatedCrowd crowd;
  const Labels labels = crowd_with_copies(5, crowd);
  const auto method = online_threepass();
  method->expect(9, 2);
  EXPECT_EQ(method->doubt(), .05);
  for (TaskId t = 0; t < 300; ++t) method->observe(labels.task(t), crowd.truths[t]);
  EXPECT_NE(method->doubt(), .05);
  const auto again = online_threepass();
  again->restore(method->state());
  EXPECT_EQ(again->doubt(), method->doubt());
  EXPECT_EQ(again->state().sections, method->state().sections);
}

TEST(ThreePass, IsBetterCalibratedThanProductsOfLikelihoods) {
  // Copies of workers: their errors are the same.
  SimulatedCrowd crowd;
  const Labels once = simulate_labels({.tasks = 800,
                                       .workers = 10,
                                       .classes = 3,
                                       .quality = QualityDistribution::parse("uniform:.5,.8")},
                                      3, &crowd);
  LabelsBuilder builder;
  for (TaskId t = 0; t < once.num_tasks(); ++t) {
    const TaskLabels task = once.task(t);
    for (const char* copy : {"a", "b", "c", "d"}) {
      for (std::size_t j = 0; j < task.size(); ++j)
        builder.add(once.tasks()[t], std::string(once.workers()[task.workers[j]]) + copy,
                    once.classes()[task.classes[j]]);
    }
  }
  const Labels labels = builder.build();
  RunContext context;
  context.posterior = true;
  const auto loss = [&](const char* method) {
    const Result result = find_method(method).make({})->fit(labels, {}, context);
    return evaluate(result.estimate, crowd.truths, 3, result.confidence, result.posterior).log_loss;
  };
  EXPECT_LT(loss("threepass"), loss("ds"));
}

TEST(ThreePass, FittedToTruthsPromisesLittleMoreThanItKeepsOfOtherTasks) {
  // Few labels per worker and class: a task's own labels change what is believed of its workers.
  constexpr std::size_t kKnown = 200;
  double promised = 0;
  double others = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    SimulatedCrowd crowd;
    const Labels labels = simulate_labels(
        {.tasks = 2'000, .workers = 60, .classes = 20, .min_labels = 3, .max_labels = 3}, seed, &crowd);
    Knowledge given;
    given.truths.assign(crowd.truths.begin(), crowd.truths.begin() + kKnown);
    const Result result = find_method("threepass").make({})->fit(labels, given, {});
    for (std::size_t t = kKnown; t < crowd.truths.size(); ++t) {
      promised += result.confidence[t] - (result.estimate[t] == crowd.truths[t] ? 1 : 0);
      others += 1;
    }
  }
  EXPECT_LT(promised / others, .06);  // .074 if such labels are forgotten of tasks with truths
}

}  // namespace
}  // namespace crowdfold
