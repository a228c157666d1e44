// The network of bila: see bila_network.cc. Its gradients are tested in double; the method is in float,
// as the published one.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <span>
#include <vector>

#include "crowdfold/flat_array.h"
#include "crowdfold/labels.h"
#include "crowdfold/worker_state.h"
#include "methods/networks/network_kernels.h"
#include "methods/networks/optimizer.h"
#include "methods/vote.h"

namespace crowdfold {

struct BilaOptions {
  int epochs = 20;
  int start_epochs = 20;
  int batch = 50;
  double rate = 1e-4;
  double divergence = .1;
  int hidden = 64;
  int hidden_2 = 32;
  int chunk = 1'000;
  Order order = Order::given;
};

// Tasks with labels, one of each worker: the last, of several. In the order of workers.
struct BilaChunk {
  std::vector<std::size_t> offsets = {0};
  std::vector<WorkerId> workers;
  std::vector<ClassId> classes;
  std::vector<ClassId> truths;         // kNoClass where not known
  std::vector<std::uint64_t> indices;  // as TaskLabels has them

  std::size_t size() const { return truths.size(); }
  TaskLabels task(std::size_t t) const {
    const std::size_t count = offsets[t + 1] - offsets[t];
    return {indices[t], {workers.data() + offsets[t], count}, {classes.data() + offsets[t], count}};
  }
  // A task without labels is left out.
  void add(const TaskLabels& labels, ClassId truth = kNoClass);
};

// Some tasks of a chunk, and their labels by worker. The chunk must outlive it.
struct BilaBatch {
  BilaBatch(const BilaChunk& of_chunk, std::size_t first_task, std::size_t last_task);

  const BilaChunk* chunk;
  std::size_t first;
  std::size_t last;
  std::vector<WorkerId> workers;  // in order
  std::vector<std::uint32_t> offsets;
  std::vector<BatchLabel> labels;
};

template <class Scalar>
class BilaNetwork {
 public:
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Row = Eigen::Matrix<Scalar, 1, Eigen::Dynamic>;

  // One number for each thing that is learned.
  struct Parameters {
    Matrix layer_1;  // M x H
    Row bias_1;
    Matrix layer_2;  // H x H'
    Row bias_2;
    Matrix layer_3;  // H' x K
    Row bias_3;
    Matrix logits;  // by worker: label c, class k
  };
  // Of the loss of a batch. Workers who are not in it have the same gradient in layer 1, and none in
  // their logits.
  struct Gradient {
    Row absent;  // layer 1, workers who are not in the batch
    Row bias_1;
    Matrix layer_2;
    Row bias_2;
    Matrix layer_3;
    Row bias_3;
    Matrix logits;  // by place in the batch's workers
  };

  BilaNetwork(const BilaOptions& options, std::uint64_t seed);

  // There are so many workers and classes, or more.
  void expect(std::uint32_t workers, std::uint32_t classes);
  std::uint32_t workers() const { return static_cast<std::uint32_t>(weights_.layer_1.rows()); }
  std::uint32_t classes() const { return static_cast<std::uint32_t>(weights_.layer_3.cols()); }

  // Before a chunk is learned from: class shares, and the matrices of workers who were not met before.
  void begin(const BilaChunk& chunk);
  // So many times over the chunk, batch by batch; after_epoch(mean loss) each time.
  void train(const BilaChunk& chunk, int epochs, const std::function<void(double)>& after_epoch);

  // Forward and backward. Returns the loss.
  double differentiate(const BilaBatch& batch);
  const Gradient& gradient() const { return gradient_; }
  // In layer 1, of the worker in one of the batch's places.
  Row layer_1_gradient(const BilaBatch& batch, std::size_t place) const;
  // One step down the gradient.
  void step(const BilaBatch& batch);
  Parameters& weights() { return weights_; }
  // To be called when weights were changed by others than step().
  void refresh();

  // sum_i log pi_i(x_i | k), by class k.
  void score(const TaskLabels& labels, std::span<double> scores) const;
  // pi_i(c | k)
  double said(WorkerId w, std::size_t c, std::size_t k) const {
    return static_cast<double>(pi_(w, static_cast<Eigen::Index>(c * classes() + k)));
  }

  // What goes into a state: the widths of the layers, the weights, the means of their squared gradients,
  // and which workers were met. Nothing of it adds: the weights of two networks that were trained apart
  // say nothing about each other.
  std::vector<StateSection> sections() const;
  static bool is_in(const WorkerState& state);
  // From a state without such sections: a new network. Error(usage) if the layers are not as many and as
  // wide as the options say.
  void restore(const WorkerState& state);

 private:
  void draw(Parameters& to, std::uint32_t old_workers, std::uint32_t old_classes) const;
  void start_worker_matrices(const BilaChunk& chunk);
  void decode(std::span<const WorkerId> some);
  void add_up_layer_1();
  void forward(const BilaBatch& batch);
  void backward(const BilaBatch& batch);
  template <class Classes>
  void put_logit_gradient(Classes k, const BilaBatch& batch);
  void step_logits(const BilaBatch& batch);
  void catch_up();
  RmsPropRule<Scalar> rule() const {
    return {optimizer_.rate(), RmsProp<Scalar>::kDecay, RmsProp<Scalar>::kEpsilon};
  }

  BilaOptions options_;
  std::uint64_t seed_;
  RmsProp<Scalar> optimizer_;

  // Learned.
  Parameters weights_;
  Parameters mean_squares_;
  std::vector<std::uint8_t> started_;  // by worker: its logits come from labels

  // Follow from it.
  Row base_;       // bias_1 - sum of layer_1's rows: what layer 1 makes of a task without labels
  Matrix pi_;      // as logits
  Matrix log_pi_;  // as logits
  std::uint64_t steps_ = 0;
  std::vector<std::uint64_t> current_;  // by worker: steps that its logits' mean squares are worth

  // Of the chunk.
  std::vector<Scalar> log_prior_;

  // Of the batch.
  Matrix hidden_1_;
  Matrix hidden_2_;
  Matrix q_;
  Matrix slopes_;  // of the loss, in what comes out of layer 3; of layer 2; of layer 1
  Matrix slopes_2_;
  Matrix slopes_1_;
  Matrix turned_;                 // a layer's transpose
  std::vector<Scalar> by_class_;  // scratch
  Gradient gradient_;
  // Of some workers: K x K numbers each, twice, and K.
  std::vector<Scalar> tables_;
  std::vector<Scalar> squares_;
  std::vector<Scalar> sums_;
};

}  // namespace crowdfold
