#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"
#include "crowdfold/registry.h"
#include "crowdfold/simulate.h"
#include "methods/networks/bila_network.h"
#include "support.h"

namespace crowdfold {
namespace {

using testing::error_of;
using testing::labels_of;
using Network = BilaNetwork<double>;

Labels small_crowd(std::uint64_t seed = 4) {
  return simulate_labels({.tasks = 12,
                          .workers = 8,
                          .classes = 3,
                          .min_labels = 1,
                          .max_labels = 3,
                          .quality = QualityDistribution::parse("uniform:.4,.9")},
                         seed);
}

BilaChunk chunk_of(const Labels& labels, const std::vector<ClassId>& truths = {}) {
  BilaChunk chunk;
  for (TaskId t = 0; t < labels.num_tasks(); ++t)
    chunk.add(labels.task(t), t < truths.size() ? truths[t] : kNoClass);
  return chunk;
}

BilaOptions small_layers() {
  BilaOptions options;
  options.hidden = 5;
  options.hidden_2 = 4;
  options.divergence = .6;
  return options;
}

Network network_for(const BilaOptions& options, const Labels& labels, const BilaChunk& chunk) {
  Network network(options, 3);
  network.expect(labels.num_workers(), labels.num_classes());
  network.begin(chunk);
  return network;
}

// Weights of both signs: else the layers saturate, and there is no gradient to be compared.
void disturb(Network& network) {
  Random random(1);
  const auto draw = [&](auto& values, double spread) {
    for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = spread * random.normal();
  };
  draw(network.weights().layer_1, .2);
  draw(network.weights().layer_2, .6);
  draw(network.weights().layer_3, .6);
  draw(network.weights().logits, .6);
  network.refresh();
}

// The loss as it is defined, with all M inputs of a task, whether there is a label or not.
double dense_loss(Network& network, const BilaOptions& options, const Labels& labels,
                  const BilaChunk& chunk) {
  const auto& w = network.weights();
  const Eigen::Index classes = labels.num_classes();
  std::vector<double> prior(labels.num_classes());
  for (const ClassId c : chunk.classes) prior[c] += 1 / static_cast<double>(chunk.classes.size());
  double loss = 0;
  for (std::size_t t = 0; t < chunk.size(); ++t) {
    const TaskLabels task = chunk.task(t);
    Eigen::RowVectorXd x = Eigen::RowVectorXd::Constant(labels.num_workers(), -1);
    for (std::size_t j = 0; j < task.size(); ++j) x(task.workers[j]) = task.classes[j];
    const Eigen::RowVectorXd h = (x * w.layer_1 + w.bias_1).array().tanh();
    const Eigen::RowVectorXd h2 = (h * w.layer_2 + w.bias_2).array().tanh();
    Eigen::RowVectorXd q = (h2 * w.layer_3 + w.bias_3).array().exp();
    q /= q.sum();
    if (chunk.truths[t] != kNoClass) q = Eigen::RowVectorXd::Unit(classes, chunk.truths[t]);
    for (Eigen::Index k = 0; k < classes; ++k) {
      if (chunk.truths[t] == kNoClass)
        loss += options.divergence * q(k) * std::log(q(k) / prior[static_cast<std::size_t>(k)]);
      for (std::size_t j = 0; j < task.size(); ++j) {
        double sum = 0;
        for (Eigen::Index c = 0; c < classes; ++c)
          sum += std::exp(w.logits(task.workers[j], c * classes + k));
        loss -= q(k) * (w.logits(task.workers[j], task.classes[j] * classes + k) - std::log(sum));
      }
    }
  }
  return loss / static_cast<double>(chunk.size());
}

TEST(BilaNetwork, HasTheLossOfTheDenseNetwork) {
  const Labels labels = small_crowd();
  const BilaChunk chunk = chunk_of(labels, {kNoClass, 2});
  Network network = network_for(small_layers(), labels, chunk);
  EXPECT_NEAR(network.differentiate(BilaBatch(chunk, 0, chunk.size())),
              dense_loss(network, small_layers(), labels, chunk), 1e-10);
  disturb(network);
  EXPECT_NEAR(network.differentiate(BilaBatch(chunk, 0, chunk.size())),
              dense_loss(network, small_layers(), labels, chunk), 1e-10);
}

TEST(BilaNetwork, HasTheGradientOfFiniteDifferences) {
  constexpr double kStep = 1e-5;
  const Labels labels = small_crowd();
  const BilaChunk chunk = chunk_of(labels, {kNoClass, 2});
  constexpr std::size_t kFirst = 1;  // a batch in the middle, without some of the workers
  constexpr std::size_t kLast = 3;
  const BilaBatch batch(chunk, kFirst, kLast);
  ASSERT_LT(batch.workers.size(), labels.num_workers());
  Network network = network_for(small_layers(), labels, chunk);
  disturb(network);
  network.differentiate(batch);
  const Network::Gradient g = network.gradient();
  Network::Matrix layer_1 = g.absent.replicate(labels.num_workers(), 1);
  for (std::size_t place = 0; place < batch.workers.size(); ++place)
    layer_1.row(batch.workers[place]) = network.layer_1_gradient(batch, place);

  int nonzero = 0;
  const auto check = [&](double& weight, double gradient, const char* what) {
    const double before = weight;
    weight = before + kStep;
    network.refresh();
    const double above = network.differentiate(batch);
    weight = before - kStep;
    network.refresh();
    const double below = network.differentiate(batch);
    weight = before;
    network.refresh();
    const double slope = (above - below) / (2 * kStep);
    EXPECT_NEAR(gradient, slope, 1e-8) << what;
    nonzero += std::abs(slope) > 1e-5 ? 1 : 0;
  };
  const auto check_all = [&](auto& weights, const auto& gradient, const char* what) {
    for (Eigen::Index i = 0; i < weights.size(); ++i) check(weights.data()[i], gradient.data()[i], what);
  };
  auto& w = network.weights();
  check_all(w.bias_1, g.bias_1, "bias 1");
  check_all(w.layer_2, g.layer_2, "layer 2");
  check_all(w.bias_2, g.bias_2, "bias 2");
  check_all(w.layer_3, g.layer_3, "layer 3");
  check_all(w.bias_3, g.bias_3, "bias 3");
  for (WorkerId worker = 0; worker < labels.num_workers(); ++worker) {
    const auto found = std::find(batch.workers.begin(), batch.workers.end(), worker);
    const Eigen::Index place = found - batch.workers.begin();
    const bool present = found != batch.workers.end();
    for (Eigen::Index i = 0; i < w.layer_1.cols(); ++i)
      check(w.layer_1(worker, i), layer_1(worker, i), "layer 1");
    for (Eigen::Index i = 0; i < w.logits.cols(); ++i)
      check(w.logits(worker, i), present ? g.logits(place, i) : 0, "logits");
  }
  EXPECT_GT(nonzero, 100);
}

// Step after step over all numbers, with no decay left for later.
TEST(BilaNetwork, TakesTheStepsOfTheDenseNetwork) {
  const Labels labels = small_crowd();
  const BilaChunk chunk = chunk_of(labels);
  BilaOptions options = small_layers();
  options.rate = .01;
  options.batch = 3;
  Network network = network_for(options, labels, chunk);
  disturb(network);
  Eigen::ArrayXXd layer_squares =
      Eigen::ArrayXXd::Constant(labels.num_workers(), options.hidden, RmsProp<double>::kMeanSquare);
  Eigen::ArrayXXd logit_squares =
      Eigen::ArrayXXd::Constant(labels.num_workers(), 9, RmsProp<double>::kMeanSquare);
  Network::Matrix layer_1 = network.weights().layer_1;
  Network::Matrix logits = network.weights().logits;
  const RmsProp<double> optimizer(options.rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (std::size_t first = 0; first < chunk.size(); first += 3) {
      const BilaBatch batch(chunk, first, std::min(chunk.size(), first + 3));
      network.differentiate(batch);
      const Network::Gradient& g = network.gradient();
      Eigen::ArrayXXd of_layer = g.absent.replicate(labels.num_workers(), 1);
      Eigen::ArrayXXd of_logits = Eigen::ArrayXXd::Zero(labels.num_workers(), 9);
      for (std::size_t place = 0; place < batch.workers.size(); ++place) {
        of_layer.row(batch.workers[place]) = network.layer_1_gradient(batch, place).array();
        of_logits.row(batch.workers[place]) = g.logits.row(static_cast<Eigen::Index>(place)).array();
      }
      optimizer.update(RmsProp<double>::clip(of_layer), layer_1.array(), layer_squares);
      optimizer.update(RmsProp<double>::clip(of_logits), logits.array(), logit_squares);
      network.step(batch);
    }
  }
  EXPECT_TRUE(network.weights().layer_1.isApprox(layer_1, 1e-12));
  EXPECT_TRUE(network.weights().logits.isApprox(logits, 1e-12));
}

TEST(BilaNetwork, StartsMatricesFromSharesOfLabelsGivenTheVote) {
  const Labels labels = labels_of({{"1", "u", "a"},
                                   {"1", "v", "a"},
                                   {"1", "w", "b"},
                                   {"2", "u", "a"},
                                   {"2", "v", "a"},
                                   {"3", "u", "b"},
                                   {"3", "w", "b"}});
  const BilaChunk chunk = chunk_of(labels);
  Network network = network_for(BilaOptions{}, labels, chunk);
  const auto e = [](double x) { return std::exp(x); };
  // u: on two tasks of a twice "a", on one of b once "b".
  EXPECT_NEAR(network.said(0, 0, 0), e(1) / (e(1) + e(0)), 1e-12);
  EXPECT_NEAR(network.said(0, 1, 1), e(1) / (e(1) + e(0)), 1e-12);
  // v: never on a task of b.
  EXPECT_NEAR(network.said(1, 0, 1), .5, 1e-12);
  // w: "b" on tasks of a, and of b.
  EXPECT_NEAR(network.said(2, 1, 0), e(1) / (e(1) + e(0)), 1e-12);
}

TEST(BilaNetwork, TakesMoreWorkersAndClassesWithoutForgetting) {
  const Labels labels = small_crowd();
  const BilaChunk chunk = chunk_of(labels);
  Network network = network_for(small_layers(), labels, chunk);
  Network larger = network;
  larger.expect(11, 5);
  EXPECT_EQ(larger.workers(), 11U);
  EXPECT_EQ(larger.classes(), 5U);
  EXPECT_TRUE(larger.weights().layer_1.topRows(8).isApprox(network.weights().layer_1));
  EXPECT_TRUE(larger.weights().layer_3.leftCols(3).isApprox(network.weights().layer_3));
  for (WorkerId w = 0; w < 8; ++w) {
    for (Eigen::Index c = 0; c < 3; ++c) {
      for (Eigen::Index k = 0; k < 3; ++k)
        EXPECT_EQ(larger.weights().logits(w, c * 5 + k), network.weights().logits(w, c * 3 + k));
    }
  }
}

TEST(BilaChunk, KeepsTheLastLabelOfEachWorker) {
  const std::vector<WorkerId> workers = {4, 2, 4, 2, 1};
  const std::vector<ClassId> classes = {0, 1, 2, 0, 1};
  BilaChunk chunk;
  chunk.add({7, workers, classes});
  chunk.add({8, {}, {}});
  ASSERT_EQ(chunk.size(), 1U);
  EXPECT_EQ(chunk.workers, (std::vector<WorkerId>{1, 2, 4}));
  EXPECT_EQ(chunk.classes, (std::vector<ClassId>{1, 0, 2}));
}

TEST(Bila, GoesDown) {
  const Labels labels = simulate_labels({.tasks = 1'000,
                                         .workers = 20,
                                         .classes = 3,
                                         .min_labels = 4,
                                         .max_labels = 6,
                                         .quality = QualityDistribution::parse("uniform:.5,.9")},
                                        1);
  const Result result = find_method("bila").make({})->fit(labels, RunContext{});
  ASSERT_EQ(result.trace.size(), 40U);
  EXPECT_LT(result.trace.back(), result.trace.front());
}

// Online.

struct Chunks {
  explicit Chunks(const Labels& labels, std::size_t tasks_each) {
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      if (t % tasks_each == 0) chunks.emplace_back();
      chunks.back().push_back(labels.task(t));
    }
  }
  std::vector<std::vector<TaskLabels>> chunks;
};

Labels stream(SimulatedCrowd* crowd = nullptr) {
  return simulate_labels({.tasks = 600,
                          .workers = 25,
                          .classes = 3,
                          .min_labels = 4,
                          .max_labels = 7,
                          .quality = QualityDistribution::parse("uniform:.5,.9")},
                         2, crowd);
}

TEST(BilaOnline, GivesOnOneChunkWhatTheBatchMethodGives) {
  const Labels labels = stream();
  RunContext context;
  context.seed = 5;
  const Result batch = find_method("bila").make({})->fit(labels, context);
  const auto online = find_method("bila").make_online({}, 5);
  online->expect(labels.num_workers(), labels.num_classes());
  const Chunks all(labels, labels.num_tasks());
  const std::vector<Estimate> estimates = online->observe_chunk(all.chunks[0]);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    EXPECT_EQ(estimates[t].label, batch.estimate[t]) << t;
    EXPECT_NEAR(estimates[t].confidence, batch.confidence[t], 1e-9) << t;
  }
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    EXPECT_EQ(online->state().counts_of(w).seen, batch.learned.counts_of(w).seen);
    EXPECT_NEAR(online->state().counts_of(w).correct, batch.learned.counts_of(w).correct, 1e-6);
  }
}

TEST(BilaOnline, LearnsChunkByChunkAndGoesOnFromASavedState) {
  SimulatedCrowd crowd;
  const Labels labels = stream(&crowd);
  const Chunks parts(labels, 150);
  const auto whole = find_method("bila").make_online({}, 1);
  std::unique_ptr<OnlineMethod> resumed = find_method("bila").make_online({}, 1);
  whole->expect(labels.num_workers(), labels.num_classes());
  resumed->expect(labels.num_workers(), labels.num_classes());
  double right = 0;
  TaskId t = 0;
  for (const auto& chunk : parts.chunks) {
    const std::vector<Estimate> a = whole->observe_chunk(chunk);
    // Another process: all it has is the state.
    const WorkerState saved = resumed->state();
    resumed = find_method("bila").make_online({}, 1);
    resumed->restore(saved);
    resumed->expect(labels.num_workers(), labels.num_classes());
    const std::vector<Estimate> b = resumed->observe_chunk(chunk);
    for (std::size_t i = 0; i < chunk.size(); ++i, ++t) {
      EXPECT_EQ(a[i].label, b[i].label);
      EXPECT_EQ(a[i].confidence, b[i].confidence);
      right += a[i].label == crowd.truths[t] ? 1 : 0;
    }
  }
  EXPECT_EQ(whole->state().sections, resumed->state().sections);
  EXPECT_EQ(whole->state().counts, resumed->state().counts);
  EXPECT_GT(right / labels.num_tasks(), .85);
}

TEST(BilaOnline, RefusesTheStateOfAnotherNetworkAndToMerge) {
  const Labels labels = stream();
  const Chunks all(labels, labels.num_tasks());
  const auto a = find_method("bila").make_online({{"epochs", "1"}}, 1);
  const auto b = find_method("bila").make_online({{"epochs", "1"}, {"hidden", "8"}}, 1);
  for (OnlineMethod* const method : {a.get(), b.get()}) {
    method->expect(labels.num_workers(), labels.num_classes());
    method->learn_chunk(all.chunks[0]);
  }
  const Error other = error_of([&] { b->restore(a->state()); });
  EXPECT_EQ(other.code(), ErrorCode::usage);
  EXPECT_NE(std::string(other.what()).find("hidden layers of 8 and 32"), std::string::npos);
  const Error merged = error_of([&] { a->merge(a->state()); });
  EXPECT_EQ(merged.code(), ErrorCode::usage);
  EXPECT_NE(std::string(merged.what()).find("cannot be merged"), std::string::npos);
}

TEST(BilaOnline, TakesTruthsOver) {
  const Labels labels = stream();
  const Chunks all(labels, labels.num_tasks());
  const auto method = find_method("bila").make_online({{"epochs", "2"}}, 1);
  method->expect(labels.num_workers(), labels.num_classes());
  std::vector<ClassId> truths(labels.num_tasks(), kNoClass);
  truths[0] = 2;
  truths[1] = 0;
  const std::vector<Estimate> estimates = method->observe_chunk(all.chunks[0], truths);
  EXPECT_EQ(estimates[0].label, 2);
  EXPECT_EQ(estimates[0].confidence, 1);
  EXPECT_EQ(estimates[1].label, 0);
  EXPECT_LT(estimates[2].confidence, 1);
}

}  // namespace
}  // namespace crowdfold
