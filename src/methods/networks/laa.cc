// LAA, a label-aware autoencoder: a network guesses a task's class from its labels, and another one
// guesses the labels from the class.
//
// L. Yin, J. Han, W. Zhang, Y. Yu: Aggregating Crowd Wisdoms with Label-aware Autoencoders. IJCAI 2017.
//
//   encoder   q_t(k)       ~  exp a_t[k],     a_t[k] = b[k] + sum_i W_i[x_it][k]
//   decoder   p_i(l | k)   ~  exp (V_i[l][k] + c_i[l])                       a softmax over l
//   votes     s_t(k)       the share of k among the labels of task t
//
// Phase 1, `imitate`, 50 steps:       L  =  - mean_t sum_k s_t(k) log q_t(k)
// Phase 2, `reconstruct`, 100 steps:
//
//   L  =  mean_t sum_k q_t(k) (R_t[k] / (M K)  +  lambda log (q_t(k) / s_t(k)))  +  mu / (M K^2) |W|_1
//   R_t[k]  =  - sum_i log p_i(x_it | k)            a mean over all M K inputs, few of them present
//
// Gradients, with T tasks:
//
//   phase 1   dL/da_t[k]  =  (q_t(k) - s_t(k)) / T
//   phase 2   dL/da_t[k]  =  q_t(k) (f_t[k] - sum_j q_t(j) f_t[j]) / T,
//             f_t[k]  =  R_t[k] / (M K)  +  lambda log (q_t(k) / s_t(k))     (+ lambda, which cancels)
//             dL/dV_i[l][k]  =  (n_i[k] p_i(l | k) - n_i[l][k]) / (T M K),   dL/dc_i[l]  = its sum over
//             k n_i[l][k]  =  sum_t q_t(k) [x_it = l],    n_i[k]  =  sum_l n_i[l][k]
//   both      dL/db[k]  =  sum_t dL/da_t[k],    dL/dW_i[l][k]  =  sum_t [x_it = l] dL/da_t[k],
//             in phase 2 with mu / (M K^2) sign W_i[l][k]
//
// All weights by Adam, which starts anew with phase 2. The paper draws W and V from a normal
// distribution that is cut off at two standard deviations of .01, and puts b and c at 0. Here nothing is
// drawn, and the start leans to the votes. W and c are 0, and with n as above for q = s,
//
//   b[k]  =  log mean_t s_t(k),    V_i[l][k]  =  .02 log ((n_i[l][k] + 1 / K) / (n_i[k] + 1))
//
// Where the votes are the same on all tasks but for who dissents, labels do not tell which class is
// which. A drawn decoder then decides, against six of seven; and from b = 0 all W hold the share of
// classes until the penalty takes it from them, faster than b can take it over.
//
// A worker has one input for a task: of several labels the last one. A known truth is the q of its task,
// from which W and b learn nothing.
//
// Cost: O(N K + M K^2) a step. Tasks are judged from their labels, workers learn from theirs: no sum
// runs over absent labels, and none depends on the number of threads. Memory O(N + T K + M K^2).
#include "methods/networks/laa.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/vector_math.h"
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/methods.h"
#include "methods/networks/small_counts.h"

namespace crowdfold {
namespace {

constexpr double kLeaning = .02;       // of the decoder to the votes: as much as the paper draws
constexpr double kLeastShare = 1e-10;  // in place of a share of 0: its logarithm is to be finite
constexpr double kMostLogit = 300;     // of the decoder: beyond, exponentials would be out of range

double count_labelled(const Labels& labels) {
  double count = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) count += labels.task(t).size() > 0 ? 1 : 0;
  return std::max(count, 1.0);
}

struct Laa {
  struct Options : LaaNetwork::Penalties {
    int imitation = 50;
    int iterations = 100;
    double rate = .005;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {
        integer("imitation", &Options::imitation, 0, 1'000'000,
                "steps of phase 1, in which the encoder learns to repeat the votes"),
        integer("iterations", &Options::iterations, 1, 1'000'000, "steps of phase 2"),
        real("rate", &Options::rate, 1e-9, 1, "learning rate of Adam"),
        real<Options>("divergence", &Options::divergence, 0, 1e9,
                      "weight of the divergence from the votes"),
        real<Options>("sparsity", &Options::weights, 0, 1e9, "weight of the encoder's mean |weight|")};
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) { return LaaNetwork::bytes(labels); }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

}  // namespace

LaaNetwork::LaaNetwork(const Penalties& penalties, const Labels& labels, const Knowledge& given,
                       int threads)
    : penalties_(penalties),
      labels_(labels),
      given_(given),
      threads_(threads),
      classes_(labels.num_classes()),
      size_(classes_ * (2 * classes_ + 1)),
      tasks_(count_labelled(labels)),
      by_worker_(labels, threads),
      votes_(labels, given),
      q_(labels, given),
      log_votes_(labels.num_tasks() * classes_),
      surprise_(log_votes_.size()),
      judged_(2 * log_votes_.size()),
      tables_(2 * labels.num_workers() * classes_ * classes_),
      weights_(labels.num_workers() * size_),
      first_moments_(weights_.size()),
      second_moments_(weights_.size()),
      bias_(classes_),
      bias_moments_(2 * classes_),
      bias_gradient_(classes_) {
  votes_.start_from_votes(threads);
  q_.start_from_votes(threads);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (std::size_t k = 0; k < classes_; ++k)
      log_votes_[t * classes_ + k] = std::max(votes_[t][k], kLeastShare);
  }
  vector_log(log_votes_);
  start_from_votes();
  forget_moments();
}

void LaaNetwork::start_from_votes() {
  bias_ = votes_.totals(threads_);
  for (double& b : bias_) b = std::log(std::max(b / tasks_, kLeastShare));
  const auto classes = static_cast<double>(classes_);
  const std::size_t cells = classes_ * classes_;
  for_worker_blocks(labels_.num_workers(), threads_, [&](std::size_t first, std::size_t last) {
    std::vector<double> totals(classes_);
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const std::span<double> mine = weights(w);
      std::fill(mine.begin(), mine.end(), 0.0);
      std::fill(totals.begin(), totals.end(), 1.0);
      const std::span<double> v = mine.subspan(cells, cells);
      std::fill(v.begin(), v.end(), 1 / classes);
      const WorkerLabels said = by_worker_.worker(w);
      for (std::size_t j = 0; j < said.size(); ++j) {
        const std::span<const double> shares = std::as_const(votes_)[said.tasks[j]];
        for (std::size_t k = 0; k < classes_; ++k) {
          v[said.classes[j] * classes_ + k] += shares[k];
          totals[k] += shares[k];
        }
      }
      for (std::size_t i = 0; i < cells; ++i) v[i] = kLeaning * std::log(v[i] / totals[i % classes_]);
      refresh(w);
    }
  });
}

void LaaNetwork::forget_moments() {
  std::fill(first_moments_.begin(), first_moments_.end(), 0.0);
  std::fill(second_moments_.begin(), second_moments_.end(), 0.0);
  std::fill(bias_moments_.begin(), bias_moments_.end(), 0.0);
}

void LaaNetwork::refresh(WorkerId w) {
  const std::size_t cells = classes_ * classes_;
  const double* const encoder = weights(w).data();
  const double* const v = encoder + cells;
  const double* const c = v + cells;
  std::vector<double> exps(cells);
  std::vector<double> sums(classes_);
  double* const table = tables_.data() + 2 * w * cells;
  for (std::size_t l = 0; l < classes_; ++l) {
    for (std::size_t k = 0; k < classes_; ++k) {
      const double logit = std::clamp(v[l * classes_ + k] + c[l], -kMostLogit, kMostLogit);
      exps[l * classes_ + k] = logit;
      table[2 * l * classes_ + k] = encoder[l * classes_ + k];
      table[(2 * l + 1) * classes_ + k] = -logit;
    }
  }
  vector_exp(exps);
  for (std::size_t i = 0; i < cells; ++i) sums[i % classes_] += exps[i];
  vector_log(sums);
  for (std::size_t l = 0; l < classes_; ++l) {
    for (std::size_t k = 0; k < classes_; ++k) table[(2 * l + 1) * classes_ + k] += sums[k];
  }
}

// Computes a, and R beside it.
template <class Classes>
void LaaNetwork::score(Classes classes, Phase phase, TaskId first, TaskId last, std::span<double> rows) {
  std::fill(rows.begin(), rows.end(), kImpossible);
  const std::size_t width = rows.size() / (last - first);
  const bool reconstructs = phase == Phase::reconstruct;
  for (TaskId t = first; t < last; ++t) {
    const TaskLabels task = labels_.task(t);
    double* const a = rows.data() + (t - first) * width;
    double* const r = surprise_.data() + t * classes;
    std::copy(bias_.begin(), bias_.end(), a);
    std::fill_n(r, static_cast<std::size_t>(classes), 0.0);
    for (std::size_t j = 0; j < task.size(); ++j) {
      const double* const row =
          tables_.data() + 2 * (task.workers[j] * classes + task.classes[j]) * classes;
      for (std::size_t k = 0; k < classes; ++k) a[k] += row[k];
      if (!reconstructs) continue;
      for (std::size_t k = 0; k < classes; ++k) r[k] += row[classes + k];
    }
  }
}

// Computes dL/da of some tasks, and adds their sum to bias_gradient. Returns their part of the loss.
double LaaNetwork::compute_slopes(Phase phase, TaskId first, TaskId last,
                                  std::span<double> bias_gradient) {
  const double inputs = static_cast<double>(labels_.num_workers()) * static_cast<double>(classes_);
  std::vector<double> logs((last - first) * classes_);
  for (TaskId t = first; t < last; ++t)
    std::copy_n(q_[t].data(), classes_, &logs[(t - first) * classes_]);
  vector_log(logs);
  double loss = 0;
  for (TaskId t = first; t < last; ++t) {
    const double* const q = q_[t].data();
    const double* const log_q = &logs[(t - first) * classes_];
    double* const slope = judged_.data() + 2 * t * classes_;
    std::copy_n(q, classes_, slope + classes_);
    std::fill_n(slope, classes_, 0.0);
    if (labels_.task(t).size() == 0) continue;
    double mean = 0;
    if (phase == Phase::imitate) {
      const double* const s = votes_[t].data();
      for (std::size_t k = 0; k < classes_; ++k) {
        mean -= s[k] * log_q[k];
        slope[k] = (q[k] - s[k]) / tasks_;
      }
    } else {
      const double* const log_s = log_votes_.data() + t * classes_;
      const double* const r = surprise_.data() + t * classes_;
      for (std::size_t k = 0; k < classes_; ++k) {
        slope[k] = r[k] / inputs + penalties_.divergence * (log_q[k] - log_s[k]);  // f
        mean += q[k] * slope[k];
      }
      for (std::size_t k = 0; k < classes_; ++k) slope[k] = q[k] * (slope[k] - mean) / tasks_;
    }
    loss += mean / tasks_;
    if (given_.truth(t) != kNoClass) std::fill_n(slope, classes_, 0.0);
    for (std::size_t k = 0; k < classes_; ++k) bias_gradient[k] += slope[k];
  }
  return loss;
}

double LaaNetwork::judge(Phase phase) {
  with_count(classes_, [&](auto classes) {
    q_.judge(threads_, [&](TaskId first, TaskId last, std::span<double> rows) {
      score(classes, phase, first, last, rows);
    });
  });
  constexpr std::size_t kBlock = Posteriors::kTasksPerBlock;
  const std::size_t blocks = (labels_.num_tasks() + kBlock - 1) / kBlock;
  std::vector<double> losses(blocks);
  std::vector<double> bias_gradients(blocks * classes_);
  parallel_ranges(threads_, labels_.num_tasks(), kBlock, [&](std::size_t first, std::size_t last, int) {
    const std::size_t block = first / kBlock;
    losses[block] = compute_slopes(phase, static_cast<TaskId>(first), static_cast<TaskId>(last),
                                   std::span(bias_gradients).subspan(block * classes_, classes_));
  });
  std::fill(bias_gradient_.begin(), bias_gradient_.end(), 0.0);
  for (std::size_t i = 0; i < bias_gradients.size(); ++i)
    bias_gradient_[i % classes_] += bias_gradients[i];
  double loss = std::accumulate(losses.begin(), losses.end(), 0.0);
  if (phase == Phase::reconstruct) {
    const double each =
        penalties_.weights / (static_cast<double>(labels_.num_workers()) *
                              static_cast<double>(classes_) * static_cast<double>(classes_));
    loss += each *
            sum_over_workers(labels_.num_workers(), threads_, [&](std::size_t first, std::size_t last) {
              double sum = 0;
              for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
                for (const double x : weights(w).first(classes_ * classes_)) sum += std::abs(x);
              }
              return sum;
            });
  }
  return loss;
}

// By label: the slopes of tasks that it was given to, and q of these tasks.
template <class Classes>
void LaaNetwork::add_up(Classes classes, Phase phase, const WorkerLabels& said, double* slopes,
                        double* q) const {
  const bool reconstructs = phase == Phase::reconstruct;
  for (std::size_t j = 0; j < said.size(); ++j) {
    const double* const judged = judged_.data() + 2 * said.tasks[j] * classes;
    double* const slope = slopes + said.classes[j] * classes;
    for (std::size_t k = 0; k < classes; ++k) slope[k] += judged[k];
    if (!reconstructs) continue;
    double* const of_class = q + said.classes[j] * classes;
    for (std::size_t k = 0; k < classes; ++k) of_class[k] += judged[classes + k];
  }
}

void LaaNetwork::compute_gradient(Phase phase, WorkerId w, std::span<double> gradient) const {
  const std::size_t cells = classes_ * classes_;
  double* const of_w = gradient.data();
  double* const of_v = of_w + cells;  // n to begin with
  double* const of_c = of_v + cells;
  std::fill(gradient.begin(), gradient.end(), 0.0);
  with_count(classes_, [&](auto classes) { add_up(classes, phase, by_worker_.worker(w), of_w, of_v); });
  if (phase == Phase::imitate) return;

  const double workers = labels_.num_workers();
  const auto classes = static_cast<double>(classes_);
  const double each = penalties_.weights / (workers * classes * classes);
  const std::span<const double> mine = weights(w);
  for (std::size_t i = 0; i < cells; ++i) of_w[i] += mine[i] > 0 ? each : mine[i] < 0 ? -each : 0;

  std::vector<double> totals(classes_);
  for (std::size_t i = 0; i < cells; ++i) totals[i % classes_] += of_v[i];
  std::vector<double> said(cells);
  const double* const table = tables_.data() + 2 * w * cells;
  for (std::size_t i = 0; i < cells; ++i)
    said[i] = -table[(2 * (i / classes_) + 1) * classes_ + i % classes_];
  vector_exp(said);
  const double scale = 1 / (tasks_ * workers * classes);
  for (std::size_t l = 0; l < classes_; ++l) {
    for (std::size_t k = 0; k < classes_; ++k) {
      double& cell = of_v[l * classes_ + k];
      cell = scale * (totals[k] * said[l * classes_ + k] - cell);
      of_c[l] += cell;
    }
  }
}

void LaaNetwork::learn(Phase phase, Adam& adam) {
  adam.begin_step();
  const auto count = static_cast<Eigen::Index>(classes_);
  adam.update(ConstRow(bias_gradient_.data(), count), Row(bias_.data(), count),
              Row(bias_moments_.data(), count), Row(bias_moments_.data() + classes_, count));
  const auto size = static_cast<Eigen::Index>(size_);
  for_worker_blocks(labels_.num_workers(), threads_, [&](std::size_t first, std::size_t last) {
    std::vector<double> gradient(size_);
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      compute_gradient(phase, w, gradient);
      adam.update(ConstRow(gradient.data(), size), Row(weights(w).data(), size),
                  Row(first_moments_.data() + w * size_, size),
                  Row(second_moments_.data() + w * size_, size));
      refresh(w);
    }
  });
}

void LaaNetwork::report(const RunContext& context, Result& result) const {
  q_.report(context, result);
  const std::size_t cells = classes_ * classes_;
  result.learned.expect(labels_.num_workers(), static_cast<std::uint32_t>(classes_));
  if (context.confusion) result.confusion.resize(labels_.num_workers() * cells);
  for_worker_blocks(labels_.num_workers(), context.threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const WorkerLabels said = by_worker_.worker(w);
      WorkerCounts counts{0, static_cast<double>(said.size())};
      for (std::size_t j = 0; j < said.size(); ++j)
        counts.correct += said.classes[j] == result.estimate[said.tasks[j]] ? 1 : 0;
      result.learned.counts[w] = counts;
      if (!context.confusion) continue;
      for (std::size_t i = 0; i < cells; ++i) {
        const std::size_t label = w * classes_ + i % classes_;
        result.confusion[w * cells + i] =
            std::min(std::exp(-tables_[(2 * label + 1) * classes_ + i / classes_]), 1.0);
      }
    }
  });
}

std::uint64_t LaaNetwork::bytes(const Labels& labels) {
  const std::uint64_t classes = labels.num_classes();
  const std::uint64_t of_worker = 3 * classes * (2 * classes + 1) + 2 * classes * classes;
  return WorkerMajor::bytes(labels) + 2 * Posteriors::bytes(labels) + 6 * labels.num_labels() +
         8 * (4 * labels.num_tasks() * classes + labels.num_workers() * of_worker);
}

Result Laa::fit(const Options& options, const Labels& all_labels, const Knowledge& given,
                const RunContext& context) {
  using Phase = LaaNetwork::Phase;
  const Labels labels = keep_last_labels(all_labels);
  LaaNetwork network(options, labels, given, context.threads);
  Result result;
  const auto imitation = static_cast<std::uint64_t>(options.imitation);
  const auto iterations = static_cast<std::uint64_t>(options.iterations);
  const auto train = [&](Phase phase, std::uint64_t from, std::uint64_t steps) {
    Adam adam(options.rate);
    network.forget_moments();
    for (std::uint64_t i = 0; i < steps; ++i) {
      context.throw_if_cancelled();
      context.report("laa", from + i, imitation + iterations);
      result.trace.push_back(network.judge(phase));
      network.learn(phase, adam);
    }
  };
  train(Phase::imitate, 0, imitation);
  train(Phase::reconstruct, imitation, iterations);
  network.judge(Phase::reconstruct);
  network.report(context, result);
  return result;
}

MethodInfo laa_method() {
  return batch_method<Laa>(
      "laa", "a label-aware autoencoder: a network from labels to classes, and one back",
      "Yin, Han, Zhang, Yu: Aggregating Crowd Wisdoms with Label-aware Autoencoders (IJCAI 2017)",
      {.has_confusion = true, .has_trace = true});
}

}  // namespace crowdfold
