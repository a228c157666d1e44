// The network of BiLA, which guesses classes from labels, and learns along with a confusion matrix for
// every worker. One chunk of tasks after another, of which nothing is kept.
//
// C. Hong, A. Ghiassi, Y. Zhou, R. Birke, L. Y. Chen: Online Label Aggregation: A Variational Bayesian
// Approach. WWW 2021.
//
//   x_t        M inputs: worker i's label as the number of its class, -1 where there is none
//   h_t        = tanh(x_t W + b)      h'_t = tanh(h_t W' + b')      q_t = softmax(h'_t W" + b")
//   pi_i(c|k)  ~  exp u_i[c][k]                                     a softmax over labels c
//   L_t        = .1 sum_k q_t(k) log (q_t(k) / rho_k)  -  sum_k q_t(k) S_t[k]
//   S_t[k]     = sum_i log pi_i(x_it | k)                           over the labels that exist
//   rho_k      the share of label k in the chunk
//
//   W, W', W"   layer_1, layer_2, layer_3        u   logits        S   score()
//
// Batches of 50 tasks, in their order; L is the mean of L_t over a batch of B. A known truth is the q_t
// of its task, from which the layers learn nothing. Gradients:
//
//   a"_t = h'_t W" + b"     dL/da"_t[k]  =  q_t(k) (f_t[k] - sum_j q_t(j) f_t[j]) / B
//                           f_t[k]  =  .1 log (q_t(k) / rho_k) - S_t[k]   (+ .1, which cancels)
//   a'_t = h_t W' + b'      dL/da'_t  =  (dL/da"_t W"^T) (1 - h'_t^2)     elementwise; likewise a_t
//   dL/dW  =  sum_t x_t^T dL/da_t                                         likewise W' and W"
//   dL/du_i[c][k]  =  sum_t q_t(k) (pi_i(c|k) - [x_it = c]) / B           t: tasks that i labelled
//
// Few inputs are there. As x = -1 + (x + 1),
//
//   x_t W  =  - sum_i W_i  +  sum over labels of (x_it + 1) W_i
//   dL/dW_i  =  - sum_t dL/da_t  +  sum over i's labels of (x_it + 1) dL/da_t
//
// so both cost O(H) a label. RMSProp moves all M H weights of layer 1 in every step, as workers without
// a label in the batch have a gradient, and means of its squares that differ. That is part of the
// definition; the loop adds up W for the next step on its way. Logits of workers who are not in the
// batch have no gradient: their mean squares decay when they are needed next, which comes to the same.
//
// A worker's logits start, in the first chunk that it is in, from its labels on tasks that a majority
// vote takes for a class: their shares themselves, not their logarithms, so matrices start out blurred.
// An estimate is argmax_k S_t[k], after the chunk has been learned from; the network's q is not asked.
//
// Cost of a step: O(B (n H + H H') + M H + workers in the batch * K^2), n labels a task. Steps depend on
// each other, so they run on one thread; tasks are judged on all. Memory O(M (H + K^2)), and the chunk.
#include "methods/networks/bila_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/random.h"
#include "base/vector_math.h"
#include "methods/batch.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/networks/small_counts.h"

namespace crowdfold {
namespace {

constexpr double kSpread = .05;             // standard deviation of weights to start with
constexpr double kNoShare = 1e-10;          // in place of a share of 0: its logarithm is to be finite
constexpr std::uint64_t kRandomStride = 8;  // seeds of layers, by row or column

template <class Matrix>
std::span<typename Matrix::Scalar> numbers_of(Matrix& matrix) {
  return {matrix.data(), static_cast<std::size_t>(matrix.size())};
}

// C = A B, A^T B.
template <class Matrix>
void put_product(const Matrix& a, const Matrix& b, Matrix& c) {
  c.resize(a.rows(), b.cols());
  const auto columns = static_cast<std::size_t>(a.cols());
  multiply(a.data(), columns, 1, static_cast<std::size_t>(a.rows()), columns, b.data(),
           static_cast<std::size_t>(b.cols()), c.data());
}
template <class Matrix>
void put_transposed_product(const Matrix& a, const Matrix& b, Matrix& c) {
  c.resize(a.cols(), b.cols());
  const auto columns = static_cast<std::size_t>(a.cols());
  multiply(a.data(), 1, columns, columns, static_cast<std::size_t>(a.rows()), b.data(),
           static_cast<std::size_t>(b.cols()), c.data());
}

// The sum of the rows.
template <class Matrix, class Row>
void put_sum(const Matrix& rows, Row& sum) {
  sum.setZero(rows.cols());
  for (Eigen::Index i = 0; i < rows.rows(); ++i) sum += rows.row(i);
}

}  // namespace

void BilaChunk::add(const TaskLabels& labels, ClassId truth) {
  if (labels.size() == 0) return;
  std::vector<std::pair<WorkerId, std::size_t>> order(labels.size());
  for (std::size_t j = 0; j < order.size(); ++j) order[j] = {labels.workers[j], j};
  std::sort(order.begin(), order.end());
  for (std::size_t j = 0; j < order.size(); ++j) {
    if (j + 1 < order.size() && order[j + 1].first == order[j].first) continue;
    workers.push_back(order[j].first);
    classes.push_back(labels.classes[order[j].second]);
  }
  offsets.push_back(workers.size());
  truths.push_back(truth);
  indices.push_back(labels.index);
}

BilaBatch::BilaBatch(const BilaChunk& of_chunk, std::size_t first_task, std::size_t last_task)
    : chunk(&of_chunk), first(first_task), last(last_task) {
  std::vector<std::pair<WorkerId, BatchLabel>> all;
  for (std::size_t t = first; t < last; ++t) {
    const TaskLabels task = chunk->task(t);
    for (std::size_t j = 0; j < task.size(); ++j)
      all.push_back({task.workers[j], {static_cast<std::uint32_t>(t - first), task.classes[j]}});
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first, a.second.row) < std::pair(b.first, b.second.row);
  });
  for (const auto& [worker, label] : all) {
    if (workers.empty() || workers.back() != worker) {
      workers.push_back(worker);
      offsets.push_back(static_cast<std::uint32_t>(labels.size()));
    }
    labels.push_back(label);
  }
  offsets.push_back(static_cast<std::uint32_t>(labels.size()));
}

template <class Scalar>
BilaNetwork<Scalar>::BilaNetwork(const BilaOptions& options, std::uint64_t seed)
    : options_(options), seed_(seed), optimizer_(options.rate) {
  const Eigen::Index h = options.hidden;
  const Eigen::Index h2 = options.hidden_2;
  for (Parameters* const p : {&weights_, &mean_squares_}) {
    p->layer_1.resize(0, h);
    p->bias_1.setConstant(h, RmsProp<Scalar>::kMeanSquare);
    p->layer_2.setConstant(h, h2, RmsProp<Scalar>::kMeanSquare);
    p->bias_2.setConstant(h2, RmsProp<Scalar>::kMeanSquare);
    p->layer_3.resize(h2, 0);
    p->bias_3.resize(0);
    p->logits.resize(0, 0);
  }
  draw(weights_, 0, 0);
  refresh();
}

// The numbers to start with, of the layers between (if there was no worker and no class before), and of
// workers and classes that are new. The same whenever they come.
template <class Scalar>
void BilaNetwork<Scalar>::draw(Parameters& to, std::uint32_t old_workers,
                               std::uint32_t old_classes) const {
  const auto fill = [&](auto&& values, Eigen::Index fan_in, std::uint64_t layer, std::uint64_t number) {
    Random random(mix64(seed_) ^ mix64(number * kRandomStride + layer));
    const double mean = 1 / std::sqrt(2 * static_cast<double>(std::max<Eigen::Index>(fan_in, 1)));
    for (Eigen::Index i = 0; i < values.size(); ++i)
      values(i) = static_cast<Scalar>(mean + kSpread * random.normal());
  };
  if (old_workers == 0 && old_classes == 0) {
    fill(to.bias_1, to.bias_1.size(), 1, 0);
    for (Eigen::Index i = 0; i < to.layer_2.rows(); ++i)
      fill(to.layer_2.row(i), to.layer_2.rows(), 2, static_cast<std::uint64_t>(i));
    fill(to.bias_2, to.bias_2.size(), 3, 0);
  }
  for (Eigen::Index i = old_workers; i < to.layer_1.rows(); ++i)
    fill(to.layer_1.row(i), to.layer_1.rows(), 0, static_cast<std::uint64_t>(i));
  for (Eigen::Index k = old_classes; k < to.layer_3.cols(); ++k) {
    fill(to.layer_3.col(k), to.layer_3.rows(), 4, static_cast<std::uint64_t>(k));
    fill(to.bias_3.segment(k, 1), to.bias_3.size(), 5, static_cast<std::uint64_t>(k));
  }
}

template <class Scalar>
void BilaNetwork<Scalar>::expect(std::uint32_t new_workers, std::uint32_t new_classes) {
  const std::uint32_t old_workers = workers();
  const std::uint32_t old_classes = classes();
  const std::uint32_t m = std::max(old_workers, new_workers);
  const std::uint32_t k = std::max(old_classes, new_classes);
  if (m == old_workers && k == old_classes) return;
  const auto start_square = static_cast<Scalar>(RmsProp<Scalar>::kMeanSquare);
  const auto grow = [](Matrix& matrix, Eigen::Index rows, Eigen::Index cols, Scalar fresh) {
    Matrix larger = Matrix::Constant(rows, cols, fresh);
    larger.topLeftCorner(matrix.rows(), matrix.cols()) = matrix;
    matrix = std::move(larger);
  };
  const Eigen::Index h = options_.hidden;
  const Eigen::Index h2 = options_.hidden_2;
  for (Parameters* const p : {&weights_, &mean_squares_}) {
    const Scalar fresh = p == &weights_ ? Scalar(0) : start_square;
    grow(p->layer_1, m, h, fresh);
    grow(p->layer_3, h2, k, fresh);
    const Row old_bias = p->bias_3;
    p->bias_3.setConstant(k, fresh);
    p->bias_3.head(old_classes) = old_bias;
    Matrix logits = Matrix::Constant(m, Eigen::Index{k} * k, fresh);
    for (Eigen::Index w = 0; w < old_workers; ++w) {
      for (Eigen::Index c = 0; c < old_classes; ++c)
        logits.row(w).segment(c * k, old_classes) =
            p->logits.row(w).segment(c * old_classes, old_classes);
    }
    p->logits = std::move(logits);
  }
  draw(weights_, old_workers, old_classes);
  started_.resize(m, 0);
  current_.resize(m, steps_);
  refresh();
}

template <class Scalar>
void BilaNetwork<Scalar>::refresh() {
  pi_.resize(weights_.logits.rows(), weights_.logits.cols());
  log_pi_.resize(pi_.rows(), pi_.cols());
  by_class_.resize(classes());
  std::vector<WorkerId> all(workers());
  std::iota(all.begin(), all.end(), 0);
  decode(all);
  add_up_layer_1();
}

// In the order of step(), so that the same bits come out.
template <class Scalar>
void BilaNetwork<Scalar>::add_up_layer_1() {
  Row sum = Row::Zero(weights_.layer_1.cols());
  for (Eigen::Index w = 0; w < weights_.layer_1.rows(); ++w) sum += weights_.layer_1.row(w);
  base_ = weights_.bias_1 - sum;
}

// pi and its logarithms. The same bits for a worker, whoever comes along.
template <class Scalar>
void BilaNetwork<Scalar>::decode(std::span<const WorkerId> some) {
  constexpr std::size_t kNumbers = 1 << 16;  // of scratch
  const std::size_t cells = std::size_t{classes()} * classes();
  const std::size_t at_once = std::max<std::size_t>(1, kNumbers / std::max<std::size_t>(1, cells));
  while (some.size() > at_once) {
    decode(some.first(at_once));
    some = some.subspan(at_once);
  }
  with_count(classes(), [&](auto k) {
    tables_.resize(some.size() * cells);
    sums_.assign(some.size() * k, Scalar(0));
    for (std::size_t n = 0; n < some.size(); ++n)
      std::copy_n(weights_.logits.data() + some[n] * cells, cells, tables_.data() + n * cells);
    // Logits stay between 0 and 1, and a little beyond: no exponential is out of range.
    exp_numbers(std::span<Scalar>(tables_));
    for (std::size_t n = 0; n < some.size(); ++n) {
      const Scalar* const table = tables_.data() + n * cells;
      Scalar* const sums = sums_.data() + n * k;
      Scalar* const pi = pi_.data() + some[n] * cells;
      for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t i = 0; i < k; ++i) sums[i] += table[c * k + i];
      }
      for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t i = 0; i < k; ++i) pi[c * k + i] = table[c * k + i] / sums[i];
      }
    }
    log_numbers(std::span<Scalar>(sums_));
    for (std::size_t n = 0; n < some.size(); ++n) {
      const Scalar* const logits = weights_.logits.data() + some[n] * cells;
      const Scalar* const log_sums = sums_.data() + n * k;
      Scalar* const logs = log_pi_.data() + some[n] * cells;
      for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t i = 0; i < k; ++i) logs[c * k + i] = logits[c * k + i] - log_sums[i];
      }
    }
  });
}

template <class Scalar>
void BilaNetwork<Scalar>::begin(const BilaChunk& chunk) {
  std::vector<double> counts(classes());
  for (const ClassId c : chunk.classes) counts[c] += 1;
  log_prior_.resize(counts.size());
  const double total = std::max<double>(1, static_cast<double>(chunk.classes.size()));
  for (std::size_t k = 0; k < counts.size(); ++k)
    log_prior_[k] = static_cast<Scalar>(std::log(std::max(counts[k] / total, kNoShare)));
  start_worker_matrices(chunk);
}

template <class Scalar>
void BilaNetwork<Scalar>::start_worker_matrices(const BilaChunk& chunk) {
  const std::uint32_t k = classes();
  std::vector<WorkerId> fresh;
  for (const WorkerId w : chunk.workers) {
    if (started_[w] != 0) continue;
    started_[w] = 2;  // in this chunk
    fresh.push_back(w);
    weights_.logits.row(w).setZero();
  }
  if (fresh.empty()) return;
  for (std::size_t t = 0; t < chunk.size(); ++t) {
    const TaskLabels task = chunk.task(t);
    ClassId vote = chunk.truths[t];
    if (vote == kNoClass) {
      vote = with_ballot(k, task, [&](auto& ballot) {
        for (const ClassId c : task.classes) ballot.add(c, 1);
        return ballot.winner({Ties::random, seed_, task.index});
      });
    }
    for (std::size_t j = 0; j < task.size(); ++j) {
      if (started_[task.workers[j]] == 2)
        weights_.logits(task.workers[j], Eigen::Index{task.classes[j]} * k + vote) += 1;
    }
  }
  using Table = Eigen::Array<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  for (const WorkerId w : fresh) {
    started_[w] = 1;
    Eigen::Map<Table> table(weights_.logits.row(w).data(), k, k);
    for (Eigen::Index of_class = 0; of_class < k; ++of_class) {
      const Scalar sum = table.col(of_class).sum();
      if (sum > 0)
        table.col(of_class) /= sum;
      else
        table.col(of_class).setConstant(1 / static_cast<Scalar>(k));
    }
  }
  decode(fresh);
}

template <class Scalar>
void BilaNetwork<Scalar>::forward(const BilaBatch& batch) {
  const auto width = static_cast<std::size_t>(weights_.layer_1.cols());
  hidden_1_.resize(static_cast<Eigen::Index>(batch.last - batch.first), weights_.layer_1.cols());
  hidden_1_.rowwise() = base_;
  for (std::size_t t = batch.first; t < batch.last; ++t)
    gather_rows(batch.chunk->task(t), width, weights_.layer_1.data(),
                hidden_1_.data() + (t - batch.first) * width);
  tanh_numbers(numbers_of(hidden_1_));
  put_product(hidden_1_, weights_.layer_2, hidden_2_);
  hidden_2_.rowwise() += weights_.bias_2;
  tanh_numbers(numbers_of(hidden_2_));
  put_product(hidden_2_, weights_.layer_3, q_);
  q_.rowwise() += weights_.bias_3;  // a"
}

template <class Scalar>
double BilaNetwork<Scalar>::differentiate(const BilaBatch& batch) {
  forward(batch);
  const BilaChunk& chunk = *batch.chunk;
  const auto tasks = static_cast<Scalar>(batch.last - batch.first);
  const auto divergence = static_cast<Scalar>(options_.divergence);
  slopes_.resize(q_.rows(), q_.cols());
  double loss = 0;
  with_count(classes(), [&](auto k) {
    for (std::size_t t = batch.first; t < batch.last; ++t) {
      const TaskLabels task = chunk.task(t);
      Scalar* const q = q_.data() + (t - batch.first) * k;
      Scalar* const f = slopes_.data() + (t - batch.first) * k;
      std::fill_n(f, std::size_t{k}, Scalar(0));
      for (std::size_t j = 0; j < task.size(); ++j) {
        const Scalar* const logs =
            log_pi_.data() + (std::size_t{task.workers[j]} * k + task.classes[j]) * k;
        for (std::size_t i = 0; i < k; ++i) f[i] -= logs[i];
      }
      if (const ClassId truth = chunk.truths[t]; truth != kNoClass) {
        loss += static_cast<double>(f[truth]);
        std::fill_n(f, std::size_t{k}, Scalar(0));
        std::fill_n(q, std::size_t{k}, Scalar(0));
        q[truth] = 1;
        continue;
      }
      const Scalar highest = *std::max_element(q, q + k);
      std::copy_n(q, std::size_t{k}, by_class_.begin());
      Scalar sum = 0;
      for (std::size_t i = 0; i < k; ++i) sum += q[i] = std::exp(q[i] - highest);
      const Scalar log_sum = std::log(sum) + highest;
      Scalar mean = 0;
      for (std::size_t i = 0; i < k; ++i) {
        q[i] /= sum;
        f[i] += divergence * (by_class_[i] - log_sum - log_prior_[i]);
        mean += q[i] * f[i];
      }
      loss += static_cast<double>(mean);
      for (std::size_t i = 0; i < k; ++i) f[i] = q[i] * (f[i] - mean) / tasks;
    }
  });
  backward(batch);
  return loss / static_cast<double>(batch.last - batch.first);
}

template <class Scalar>
void BilaNetwork<Scalar>::backward(const BilaBatch& batch) {
  Gradient& g = gradient_;
  put_transposed_product(hidden_2_, slopes_, g.layer_3);
  put_sum(slopes_, g.bias_3);
  turned_ = weights_.layer_3.transpose();
  put_product(slopes_, turned_, slopes_2_);
  slopes_2_.array() *= 1 - hidden_2_.array().square();
  put_transposed_product(hidden_1_, slopes_2_, g.layer_2);
  put_sum(slopes_2_, g.bias_2);
  turned_ = weights_.layer_2.transpose();
  put_product(slopes_2_, turned_, slopes_1_);
  slopes_1_.array() *= 1 - hidden_1_.array().square();
  put_sum(slopes_1_, g.bias_1);
  g.absent = -g.bias_1;
  with_count(classes(), [&](auto k) { put_logit_gradient(k, batch); });
}

template <class Scalar>
template <class Classes>
void BilaNetwork<Scalar>::put_logit_gradient(Classes k, const BilaBatch& batch) {
  const std::size_t cells = k * k;
  gradient_.logits.setZero(static_cast<Eigen::Index>(batch.workers.size()),
                           static_cast<Eigen::Index>(cells));
  const Scalar each = 1 / static_cast<Scalar>(batch.last - batch.first);
  Scalar* const totals = by_class_.data();
  for (std::size_t place = 0; place < batch.workers.size(); ++place) {
    Scalar* const table = gradient_.logits.data() + place * cells;  // to begin with: sums of q by label
    const Scalar* const pi = pi_.data() + batch.workers[place] * cells;
    std::fill_n(totals, std::size_t{k}, Scalar(0));
    for (std::size_t j = batch.offsets[place]; j < batch.offsets[place + 1]; ++j) {
      const Scalar* const q = q_.data() + batch.labels[j].row * k;
      Scalar* const row = table + batch.labels[j].label * k;
      for (std::size_t i = 0; i < k; ++i) row[i] += q[i];
      for (std::size_t i = 0; i < k; ++i) totals[i] += q[i];
    }
    for (std::size_t c = 0; c < k; ++c) {
      for (std::size_t i = 0; i < k; ++i)
        table[c * k + i] = (totals[i] * pi[c * k + i] - table[c * k + i]) * each;
    }
  }
}

template <class Scalar>
auto BilaNetwork<Scalar>::layer_1_gradient(const BilaBatch& batch, std::size_t place) const -> Row {
  Row gradient = gradient_.absent;
  for (std::size_t j = batch.offsets[place]; j < batch.offsets[place + 1]; ++j)
    gradient += static_cast<Scalar>(batch.labels[j].label + 1) * slopes_1_.row(batch.labels[j].row);
  return gradient;
}

template <class Scalar>
void BilaNetwork<Scalar>::step(const BilaBatch& batch) {
  const Gradient& g = gradient_;
  const auto update = [&](const auto& gradient, auto& weights, auto& mean_squares) {
    step_numbers(rule(), std::span(gradient.data(), static_cast<std::size_t>(gradient.size())),
                 weights.data(), mean_squares.data());
  };
  update(g.bias_1, weights_.bias_1, mean_squares_.bias_1);
  update(g.layer_2, weights_.layer_2, mean_squares_.layer_2);
  update(g.bias_2, weights_.bias_2, mean_squares_.bias_2);
  update(g.layer_3, weights_.layer_3, mean_squares_.layer_3);
  update(g.bias_3, weights_.bias_3, mean_squares_.bias_3);
  step_rows(rule(),
            RmsPropRows<Scalar>{workers(), static_cast<std::size_t>(g.absent.size()), g.absent.data(),
                                slopes_1_.data(), batch.workers, batch.offsets, batch.labels,
                                weights_.layer_1.data(), mean_squares_.layer_1.data(), base_.data()});
  base_ = weights_.bias_1 - base_;
  step_logits(batch);
  ++steps_;
}

// The logits of workers in the batch, which lie here and there, side by side.
template <class Scalar>
void BilaNetwork<Scalar>::step_logits(const BilaBatch& batch) {
  const std::size_t cells = std::size_t{classes()} * classes();
  const std::size_t count = batch.workers.size();
  tables_.resize(count * cells);
  squares_.resize(count * cells);
  for (std::size_t place = 0; place < count; ++place) {
    const WorkerId w = batch.workers[place];
    const Scalar decay = RmsProp<Scalar>::decay(steps_ - current_[w]);
    current_[w] = steps_ + 1;
    std::copy_n(weights_.logits.data() + w * cells, cells, tables_.data() + place * cells);
    const Scalar* const from = mean_squares_.logits.data() + w * cells;
    for (std::size_t i = 0; i < cells; ++i) squares_[place * cells + i] = decay * from[i];
  }
  step_numbers(rule(), std::span<const Scalar>(gradient_.logits.data(), count * cells), tables_.data(),
               squares_.data());
  for (std::size_t place = 0; place < count; ++place) {
    const WorkerId w = batch.workers[place];
    std::copy_n(tables_.data() + place * cells, cells, weights_.logits.data() + w * cells);
    std::copy_n(squares_.data() + place * cells, cells, mean_squares_.logits.data() + w * cells);
  }
  decode(batch.workers);
}

// All mean squares as if no step had been left out.
template <class Scalar>
void BilaNetwork<Scalar>::catch_up() {
  for (WorkerId w = 0; w < workers(); ++w)
    mean_squares_.logits.row(w) *= RmsProp<Scalar>::decay(steps_ - current_[w]);
  steps_ = 0;
  std::fill(current_.begin(), current_.end(), 0);
}

template <class Scalar>
void BilaNetwork<Scalar>::train(const BilaChunk& chunk, int epochs,
                                const std::function<void(double)>& after_epoch) {
  std::vector<BilaBatch> batches;
  const auto tasks = static_cast<std::size_t>(options_.batch);
  for (std::size_t first = 0; first < chunk.size(); first += tasks)
    batches.emplace_back(chunk, first, std::min(chunk.size(), first + tasks));
  for (int epoch = 0; epoch < epochs; ++epoch) {
    double loss = 0;
    for (const BilaBatch& batch : batches) {
      loss += differentiate(batch) * static_cast<double>(batch.last - batch.first);
      step(batch);
    }
    after_epoch(loss / static_cast<double>(std::max<std::size_t>(1, chunk.size())));
  }
  catch_up();
}

template <class Scalar>
void BilaNetwork<Scalar>::score(const TaskLabels& labels, std::span<double> scores) const {
  const std::size_t k = classes();
  std::fill(scores.begin(), scores.end(), 0.0);
  for (std::size_t j = 0; j < labels.size(); ++j) {
    const Scalar* const logs = log_pi_.row(labels.workers[j]).data() + labels.classes[j] * k;
    for (std::size_t i = 0; i < k; ++i) scores[i] += static_cast<double>(logs[i]);
  }
}

namespace {

// Of the sections of a state.
constexpr const char* kLayers = "network";
constexpr const char* kWeights = "network weights";
constexpr const char* kMeanSquares = "network mean squares";
constexpr const char* kStarted = "network workers met";

// In the order of a state.
template <class Parameters, class Visit>
void for_parameters(Parameters& p, const Visit& visit) {
  visit(p.layer_1);
  visit(p.bias_1);
  visit(p.layer_2);
  visit(p.bias_2);
  visit(p.layer_3);
  visit(p.bias_3);
  visit(p.logits);
}

}  // namespace

template <class Scalar>
std::vector<StateSection> BilaNetwork<Scalar>::sections() const {
  const auto section = [](const char* name) { return StateSection{name, {}, 0, false, {}, {}}; };
  StateSection layers = section(kLayers);
  StateSection weights = section(kWeights);
  StateSection mean_squares = section(kMeanSquares);
  StateSection started = section(kStarted);
  layers.values = {static_cast<double>(workers()), static_cast<double>(options_.hidden),
                   static_cast<double>(options_.hidden_2), static_cast<double>(classes())};
  const auto append_to = [](std::vector<double>& to) {
    return
        [&to](const auto& values) { to.insert(to.end(), values.data(), values.data() + values.size()); };
  };
  for_parameters(weights_, append_to(weights.values));
  for_parameters(mean_squares_, append_to(mean_squares.values));
  started.values.assign(started_.begin(), started_.end());
  std::vector<StateSection> all = {std::move(layers), std::move(weights), std::move(mean_squares),
                                   std::move(started)};
  for (StateSection& one : all) one.width = one.values.size();
  return all;
}

template <class Scalar>
bool BilaNetwork<Scalar>::is_in(const WorkerState& state) {
  return state.find(kLayers) != nullptr;
}

template <class Scalar>
void BilaNetwork<Scalar>::restore(const WorkerState& state) {
  *this = BilaNetwork(options_, seed_);
  if (!is_in(state)) return;
  const auto values = [&](const char* name) {
    const StateSection* const section = state.find(name);
    return section != nullptr ? std::span(section->values) : std::span<const double>();
  };
  const std::span<const double> layers = values(kLayers);
  const std::span<const double> weights = values(kWeights);
  const std::span<const double> mean_squares = values(kMeanSquares);
  const std::span<const double> started = values(kStarted);
  const bool fits = layers.size() == 4 && layers[1] == options_.hidden && layers[2] == options_.hidden_2;
  if (fits) expect(static_cast<std::uint32_t>(layers[0]), static_cast<std::uint32_t>(layers[3]));
  std::size_t numbers = 0;
  for_parameters(weights_,
                 [&](const auto& of_layer) { numbers += static_cast<std::size_t>(of_layer.size()); });
  if (!fits || weights.size() != numbers || mean_squares.size() != numbers ||
      started.size() != workers()) {
    throw Error(ErrorCode::usage,
                fmt::format("the state is not that of a network with hidden layers of {} and {}",
                            options_.hidden, options_.hidden_2));
  }
  const auto read_from = [](std::span<const double> from) {
    return [next = from.data()](auto& of_layer) mutable {
      for (Eigen::Index i = 0; i < of_layer.size(); ++i)
        of_layer.data()[i] = static_cast<Scalar>(*next++);
    };
  };
  auto read_weights = read_from(weights);
  auto read_squares = read_from(mean_squares);
  for_parameters(weights_, [&](auto& of_layer) { read_weights(of_layer); });
  for_parameters(mean_squares_, [&](auto& of_layer) { read_squares(of_layer); });
  std::transform(started.begin(), started.end(), started_.begin(),
                 [](double value) { return static_cast<std::uint8_t>(value); });
  refresh();
}

template class BilaNetwork<float>;
template class BilaNetwork<double>;

}  // namespace crowdfold
