// Opt-D&S: Dawid-Skene by EM, from confusion matrices that moments of the labels give.
//
// Y. Zhang, X. Chen, D. Zhou, M. I. Jordan: Spectral Methods Meet EM: A Provably Optimal Algorithm for
// Crowdsourcing. NIPS 2014; JMLR 17, 2016 (its Algorithm 1, then EM).
//
//   p(y_t = k) = W_k           p(x_it = l | y_t = k) = pi_i[k][l] = C_i[l][k]
//
// Stage 1. Workers are dealt into three groups at random. Z_a(t) holds the shares of votes of group a on
// task t, C_a its confusion matrix on average: E[Z_a | y_t = k] = column k of C_a. Given y_t, groups
// are independent, so with P_ab = E[Z_a Z_b'] and {a, b, c} = {1, 2, 3}:
//
//   P_cb P_ab^-1 Z_a             stands in for Z_c          (C_c C_a^-1 in expectation), likewise b
//   M2  =  P_cb P_ab^-1 P_ac     =  sum_k W_k mu_k mu_k'    mu_k: column k of C_c
//   M3  =  E[Z_a' Z_b' Z_c]      =  sum_k W_k mu_k mu_k mu_k (a tensor)
//   Q' M2 Q = I                  whitens: M3(Q, Q, Q) has orthogonal eigenvectors v_h with values a_h,
//                                found by the power method; W_h = a_h^-2, mu_h = a_h Q^-T v_h
//   V_a  =  (C_a diag W)^-1      V_a Z_a(t) is [y_t = k] / W_k in expectation
//   C_i[l][k]  ~  mean over t of [x_it = l] (V_a Z_a(t))_k, of the two groups that i is not in
//
// Column h is of the class in which it is largest, no class twice.
//
// Stage 2. EM as in ds: E-step first, with W and C, whose entries are at least `least` / K (the
// moments of a worker with few labels are noise); a row that no task speaks for becomes uniform.
//
// Moments are over tasks on which all three groups spoke. Where there are too few of them, or a matrix
// cannot be inverted well, or the tensor is too large, EM starts from shares of votes instead, at the
// M-step, as lfc does without a prior.
//
// Cost: O(sum_t K min(n_t, K)^2 + K^4) for stage 1, n_t labels on task t, and O(N K) an iteration;
// memory O(N + T K + M K^2 + K^3).
#include <Eigen/Dense>
#include <array>
#include <numeric>
#include <optional>

#include "base/random.h"
#include "base/vector_math.h"
#include "methods/batch.h"
#include "methods/confusion/confusion_rounds.h"
#include "methods/em.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t kGroups = 3;
// The tensor has K^3 entries.
constexpr std::uint32_t kMostClasses = 32;
// The fewest tasks per class with which moments are worth using.
constexpr double kTasksPerClass = 10;
// The least ratio of the smallest to the largest value of a matrix that is inverted.
constexpr double kLeastCondition = 1e-4;
// Ranges of tasks in which moments are summed, the same for any number of threads.
constexpr std::size_t kRanges = 64;
// The power method: random starts for every vector, steps, and the change that ends them.
constexpr int kStarts = 10;
constexpr int kSteps = 100;
constexpr double kStill = 1e-12;

// Workers in three groups, and the votes of a group.
class Groups {
 public:
  Groups(const Labels& labels, std::uint64_t seed) : labels_(labels), group_(labels.num_workers()) {
    std::vector<WorkerId> order(labels.num_workers());
    std::iota(order.begin(), order.end(), 0);
    Random(seed).shuffle(order);
    for (std::size_t i = 0; i < order.size(); ++i)
      group_[order[i]] = static_cast<std::uint8_t>(i % kGroups);
  }

  std::size_t of(WorkerId w) const { return group_[w]; }

  // Z_a(t) of the three groups, all 0 where a group is silent. False if one is.
  bool shares(TaskId t, std::array<VectorXd, kGroups>& z) const {
    for (VectorXd& votes : z) votes.setZero(labels_.num_classes());
    const TaskLabels task = labels_.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) z[of(task.workers[j])][task.classes[j]] += 1;
    bool all = true;
    for (VectorXd& votes : z) {
      const double count = votes.sum();
      all = all && count > 0;
      if (count > 0) votes /= count;
    }
    return all;
  }

 private:
  const Labels& labels_;
  std::vector<std::uint8_t> group_;
};

// A tensor K x K x K, as a matrix K x K^2: entry (i, j, k) in row i and column j + K k.
using Tensor = MatrixXd;

// sum over i of g(x, i) tensor(i, j, k), as a tensor (j, k, x): three times, and every index has had its
// matrix and is back in its place.
Tensor multiply_and_turn(const Tensor& tensor, const MatrixXd& g) {
  MatrixXd turned = (g * tensor).transpose();
  return Eigen::Map<const Tensor>(turned.data(), tensor.rows(), tensor.cols());
}
Tensor turn(const Tensor& tensor) {
  return multiply_and_turn(tensor, MatrixXd::Identity(tensor.rows(), tensor.rows()));
}

// The mean over all orders of indices.
Tensor symmetric(const Tensor& tensor) {
  const Eigen::Index n = tensor.rows();
  const Tensor once = turn(tensor);
  const Tensor sum = tensor + once + turn(once);
  Tensor result(n, n * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < n; ++j) {
      for (Eigen::Index k = 0; k < n; ++k)
        result(i, j + n * k) = (sum(i, j + n * k) + sum(i, k + n * j)) / 6;
    }
  }
  return result;
}

// E[Z_1 Z_2'], E[Z_2 Z_3'], E[Z_3 Z_1'] and E[Z_1 Z_2 Z_3].
struct Moments {
  double tasks = 0;
  std::array<MatrixXd, kGroups> pairs;
  Tensor triple;

  explicit Moments(Eigen::Index classes) : triple(Tensor::Zero(classes, classes * classes)) {
    for (MatrixXd& pair : pairs) pair = MatrixXd::Zero(classes, classes);
  }
  void add(const std::array<VectorXd, kGroups>& z) {
    const Eigen::Index n = triple.rows();
    tasks += 1;
    for (std::size_t a = 0; a < kGroups; ++a)
      pairs[a].noalias() += z[a] * z[(a + 1) % kGroups].transpose();
    for (Eigen::Index k = 0; k < n; ++k) {
      if (z[2][k] == 0) continue;
      for (Eigen::Index j = 0; j < n; ++j) {
        if (z[1][j] != 0) triple.col(j + n * k) += z[0] * (z[1][j] * z[2][k]);
      }
    }
  }
  void add(const Moments& other) {
    tasks += other.tasks;
    for (std::size_t a = 0; a < kGroups; ++a) pairs[a] += other.pairs[a];
    triple += other.triple;
  }
  void divide() {
    for (MatrixXd& pair : pairs) pair /= tasks;
    triple /= tasks;
  }
  // E[Z_a Z_b']
  MatrixXd pair(std::size_t a, std::size_t b) const {
    if (b == (a + 1) % kGroups) return pairs[a];
    return pairs[b].transpose();
  }
};

Moments moments(const Labels& labels, const Groups& groups, int threads) {
  const auto classes = static_cast<Eigen::Index>(labels.num_classes());
  const std::size_t grain = labels.num_tasks() / kRanges + 1;
  std::vector<Moments> ranges(kRanges, Moments(classes));
  parallel_ranges(threads, labels.num_tasks(), grain, [&](std::size_t first, std::size_t last, int) {
    std::array<VectorXd, kGroups> z;
    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
      if (groups.shares(t, z)) ranges[first / grain].add(z);
    }
  });
  Moments all(classes);
  for (const Moments& range : ranges) all.add(range);
  return all;
}

// The inverse, if there is one worth having.
std::optional<MatrixXd> inverse(const MatrixXd& matrix) {
  const Eigen::JacobiSVD<MatrixXd> svd(matrix);
  const VectorXd& values = svd.singularValues();
  if (!(values[values.size() - 1] > kLeastCondition * values[0])) return {};
  return matrix.inverse();
}

struct EigenPair {
  double value = 0;
  VectorXd vector;
};

// The largest eigenvalue of a symmetric tensor that is near to an orthogonal one.
EigenPair largest(const Tensor& tensor, Random& random) {
  const Eigen::Index n = tensor.rows();
  EigenPair best;
  for (int start = 0; start < kStarts; ++start) {
    VectorXd v(n);
    for (Eigen::Index i = 0; i < n; ++i) v[i] = random.normal();
    v.normalize();
    double value = 0;
    for (int step = 0; step < kSteps; ++step) {
      const MatrixXd square = v * v.transpose();
      VectorXd next = tensor * Eigen::Map<const VectorXd>(square.data(), n * n);
      value = next.dot(v);
      const double length = next.norm();
      if (!(length > 0)) break;
      next /= length;
      const double change = (next - v).squaredNorm();
      v = next;
      if (change < kStill) break;
    }
    if (value > best.value) best = {value, v};
  }
  return best;
}

// The result of stage 1 for the groups.
struct Mixture {
  VectorXd prior;      // W
  MatrixXd confusion;  // C_c, by label and truth
};

// Assigns columns h to classes, and makes probabilities of numbers that are nearly probabilities.
Mixture in_order_of_classes(const VectorXd& prior, const MatrixXd& columns) {
  const Eigen::Index n = prior.size();
  Mixture mixture{VectorXd(n), MatrixXd(n, n)};
  MatrixXd left = columns;
  for (Eigen::Index i = 0; i < n; ++i) {
    Eigen::Index label = 0;
    Eigen::Index h = 0;
    left.maxCoeff(&label, &h);
    mixture.prior[label] = prior[h];
    mixture.confusion.col(label) = columns.col(h).cwiseMax(kLeastCondition);
    mixture.confusion.col(label) /= mixture.confusion.col(label).sum();
    left.row(label).setConstant(-kOutOfReach);
    left.col(h).setConstant(-kOutOfReach);
  }
  mixture.prior /= mixture.prior.sum();
  return mixture;
}

std::optional<Mixture> decompose(const Moments& moments, std::size_t c, Random& random) {
  const std::size_t a = (c + 1) % kGroups;
  const std::size_t b = (c + 2) % kGroups;
  const std::optional<MatrixXd> between = inverse(moments.pair(a, b));
  if (!between) return {};
  const MatrixXd for_a = moments.pair(c, b) * *between;
  const MatrixXd for_b = moments.pair(c, a) * between->transpose();
  const MatrixXd m2 = for_a * moments.pair(a, c);

  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen((m2 + m2.transpose()) / 2);
  const VectorXd& values = eigen.eigenvalues();  // smallest first
  const Eigen::Index n = values.size();
  if (!(values[0] > kLeastCondition * values[n - 1])) return {};
  const MatrixXd q = eigen.eigenvectors() * values.cwiseSqrt().cwiseInverse().asDiagonal();
  const MatrixXd q_inverse = eigen.eigenvectors() * values.cwiseSqrt().asDiagonal();  // Q^-T

  Tensor m3 = moments.triple;  // by group 1, 2, 3; to be by a, b, c
  for (std::size_t turns = 0; turns < a; ++turns) m3 = turn(m3);
  m3 = multiply_and_turn(m3, q.transpose() * for_a);
  m3 = multiply_and_turn(m3, q.transpose() * for_b);
  m3 = symmetric(multiply_and_turn(m3, q.transpose()));

  VectorXd prior(n);
  MatrixXd columns(n, n);
  for (Eigen::Index h = 0; h < n; ++h) {
    const EigenPair found = largest(m3, random);
    if (!(found.value > kLeastCondition)) return {};
    prior[h] = 1 / (found.value * found.value);
    columns.col(h) = found.value * (q_inverse * found.vector);
    const MatrixXd square = found.vector * found.vector.transpose();
    m3 -= found.value * found.vector * Eigen::Map<const VectorXd>(square.data(), n * n).transpose();
  }
  if (!columns.allFinite() || !prior.allFinite()) return {};
  return in_order_of_classes(prior, columns);
}

// W and V_a, from which single workers are estimated.
struct Groundwork {
  VectorXd prior;
  std::array<MatrixXd, kGroups> v;
};

std::optional<Groundwork> groundwork(const Labels& labels, const Groups& groups,
                                     const RunContext& context) {
  const std::uint32_t classes = labels.num_classes();
  if (classes < 2 || classes > kMostClasses) return {};
  Moments all = moments(labels, groups, context.threads);
  if (all.tasks < kTasksPerClass * classes) return {};
  all.divide();
  Random random(context.seed);
  Groundwork found{VectorXd::Zero(classes), {}};
  std::array<MatrixXd, kGroups> confusion;
  for (std::size_t c = 0; c < kGroups; ++c) {
    context.throw_if_cancelled();
    const std::optional<Mixture> mixture = decompose(all, c, random);
    if (!mixture) return {};
    confusion[c] = mixture->confusion;
    found.prior += mixture->prior / kGroups;
  }
  for (std::size_t a = 0; a < kGroups; ++a) {
    const std::optional<MatrixXd> v = inverse(confusion[a] * found.prior.asDiagonal());
    if (!v) return {};
    found.v[a] = *v;
  }
  return found;
}

// C_i of all workers, by label and truth, not below `least`. A worker on whose tasks no other group
// spoke has uniform rows.
void start_workers(const Labels& labels, const Groups& groups, const Groundwork& found, double least,
                   Confusion& pi) {
  const std::uint32_t classes = labels.num_classes();
  const std::span<double> all = pi.of(0, labels.num_workers());
  std::fill(all.begin(), all.end(), 0.0);
  std::array<VectorXd, kGroups> z;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    groups.shares(t, z);
    for (std::size_t a = 0; a < kGroups; ++a) z[a] = found.v[a] * z[a];
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      const std::size_t own = groups.of(task.workers[j]);
      double* const row = pi.row(task.workers[j], task.classes[j]).data();
      for (std::uint32_t k = 0; k < classes; ++k)
        row[k] += z[(own + 1) % kGroups][k] + z[(own + 2) % kGroups][k];
    }
  }
  for (WorkerId w = 0; w < labels.num_workers(); ++w) {
    const std::span<double> counts = pi.of(w);
    for (double& count : counts) count = std::max(count, 0.0);
    const auto uniform = [&](std::size_t, std::size_t) { return 1.0 / classes; };
    normalize_over_labels(counts, pi.states(), uniform);
    for (double& count : counts) count = std::max(count, least);
    normalize_over_labels(counts, pi.states(), uniform);
  }
}

struct SpectralDawidSkene {
  struct Options : Stopping {
    double least = 0.3;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kPosteriorsMove),
        {real("least", &Options::least, 1e-9, 1,
              "least probability of a label in the matrices to start from, in units of 1 / K")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    const std::uint64_t classes = std::min(labels.num_classes(), kMostClasses);
    return ConfusionModel::bytes({.workers = labels.num_workers(), .classes = labels.num_classes()}) +
           5ULL * labels.num_workers() + 8 * (kRanges + 8) * classes * classes * (classes + kGroups);
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

class SpectralModel final : public ConfusionModel {
 public:
  SpectralModel(const SpectralDawidSkene::Options& options, const RoundsInput& input)
      : ConfusionModel({.name = "opt_ds", .stopping = options}, input) {}

  // Starts from these matrices and shares of classes, not from shares of votes.
  void start_from(Confusion log_pi, const std::vector<double>& log_rho) {
    tables().log_pi() = std::move(log_pi);
    std::copy(log_rho.begin(), log_rho.end(), tables().log_rho().begin());
    start_with_tables();
  }

 private:
  double m_step(const EmSums& sums, ConfusionTables& tables, int threads) const override {
    return learn_with({0, 0, classes(), {}}, sums, tables, threads);
  }
};

Result SpectralDawidSkene::fit(const Options& options, const Labels& labels, const Knowledge& given,
                               const RunContext& context) {
  const std::uint32_t classes = labels.num_classes();
  auto model = std::make_unique<SpectralModel>(options, rounds_input(labels, given, context));
  const Groups groups(labels, context.seed);
  if (const std::optional<Groundwork> found = groundwork(labels, groups, context)) {
    Confusion log_pi(labels.num_workers(), classes, States(classes));
    start_workers(labels, groups, *found, options.least / classes, log_pi);
    vector_log(log_pi.of(0, labels.num_workers()));
    model->start_from(std::move(log_pi),
                      log_shares({found->prior.data(), found->prior.data() + classes}));
  }
  return fit_in_rounds(std::move(model), labels, given, context);
}

}  // namespace

MethodInfo opt_ds_method() {
  return batch_method<SpectralDawidSkene>(
      "opt_ds", "Dawid-Skene by EM, started from moments of the labels (spectral)",
      "Zhang, Chen, Zhou, Jordan: Spectral Methods Meet EM (NIPS 2014; JMLR 2016)",
      {.has_confusion = true,
       .has_trace = true,
       .draws = true,
       .climbs = true,
       .has_free_matrices = true});
}

}  // namespace crowdfold
