// The network of laa: see laa.cc. In a header of its own for the test of its gradients.
#pragma once

#include "labels/worker_major.h"
#include "methods/em.h"
#include "methods/networks/optimizer.h"

namespace crowdfold {

class LaaNetwork {
 public:
  // The two phases of learning: to agree with the votes, then to explain the labels.
  enum class Phase { imitate, reconstruct };
  struct Penalties {
    double divergence = 1e-4;  // from the votes' shares
    double weights = .005;     // for |W|_1, on average
  };

  // The labels must have no duplicates. `labels` and `given` must outlive the network.
  LaaNetwork(const Penalties& penalties, const Labels& labels, const Knowledge& given, int threads);

  // Forward over all tasks. Returns the loss.
  double judge(Phase phase);
  // Backward from the last judge() to one worker's weights, which lie as in weights().
  void compute_gradient(Phase phase, WorkerId w, std::span<double> gradient) const;
  std::span<const double> bias_gradient() const { return bias_gradient_; }
  // One step down the gradients.
  void learn(Phase phase, Adam& adam);
  // Restarts Adam.
  void forget_moments();

  // A worker's W[l][k], then V[l][k], then c[l]; l is a label, k a class.
  std::span<double> weights(WorkerId w) { return {weights_.data() + w * size_, size_}; }
  std::span<const double> weights(WorkerId w) const { return {weights_.data() + w * size_, size_}; }
  // b
  std::span<double> bias() { return bias_; }
  // Call it after changing weights by other means than learn().
  void refresh(WorkerId w);

  const Posteriors& posteriors() const { return q_; }
  // Writes estimates, the workers' agreement with them, and the decoder as confusion matrices.
  void report(const RunContext& context, Result& result) const;

  static std::uint64_t bytes(const Labels& labels);

 private:
  using Row = Eigen::Map<Eigen::ArrayXd>;
  using ConstRow = Eigen::Map<const Eigen::ArrayXd>;

  void start_from_votes();
  template <class Classes>
  void score(Classes classes, Phase phase, TaskId first, TaskId last, std::span<double> rows);
  double compute_slopes(Phase phase, TaskId first, TaskId last, std::span<double> bias_gradient);
  template <class Classes>
  void add_up(Classes classes, Phase phase, const WorkerLabels& said, double* slopes, double* q) const;

  const Penalties penalties_;
  const Labels& labels_;
  const Knowledge& given_;
  const int threads_;
  const std::size_t classes_;
  const std::size_t size_;  // of a worker's weights
  const double tasks_;      // that have labels
  WorkerMajor by_worker_;
  Posteriors votes_;  // shares
  Posteriors q_;
  FlatArray<double> log_votes_;  // by task, class
  FlatArray<double> surprise_;   // by task, class: R
  // By task: the slopes of the loss in its scores, by class, then its q, by class. And by worker and
  // label: W, by class, then - log p(label | class). Numbers that are read together lie together.
  FlatArray<double> judged_;
  FlatArray<double> tables_;
  FlatArray<double> weights_;  // by worker
  FlatArray<double> first_moments_;
  FlatArray<double> second_moments_;
  std::vector<double> bias_;
  std::vector<double> bias_moments_;
  std::vector<double> bias_gradient_;
};

}  // namespace crowdfold
