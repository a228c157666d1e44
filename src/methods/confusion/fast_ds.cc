// Fast Dawid-Skene: Dawid-Skene with a hard decision on every task between its steps.
//
// V. B. Sinha, S. Rao, V. N. Balasubramanian: Fast Dawid-Skene: A Fast Vote Aggregation Scheme for
// Sentiment Classification. arXiv:1803.02781, 2018.
//
//   M   rho_k       =  share of tasks with y_t = k
//       pi_i[k][l]  =  share of l among i's labels on tasks with y_t = k
//   E   q_t(k)      ~  rho_k  prod_i pi_i[k][x_it]
//   C   y_t         =  argmax_k q_t(k)
//
// Starts with a majority vote; ends when no decision changes, which it does after a few iterations.
// The objective is the joint log-likelihood of labels and decisions.
// Cost: O(N K) a round; memory O(M K^2) beside the labels.
#include "methods/batch.h"
#include "methods/confusion/confusion_rounds.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

struct FastDawidSkene {
  struct Options {
    int iterations = 100;
    Ties ties = Ties::first;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {
        integer("iterations", &Options::iterations, 1, 1'000'000, "iterations at most"),
        ties_option<Options>()};
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return ConfusionModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class FastDawidSkeneModel final : public ConfusionModel {
 public:
  FastDawidSkeneModel(const FastDawidSkene::Options& options, const RoundsInput& input)
      : ConfusionModel(
            {.name = "fast_ds", .stopping = {options.iterations, 1e-9}, .decides = options.ties},
            input) {}

 private:
  double m_step(const EmSums& sums, ConfusionTables& tables, int threads) const override {
    return learn_with({0, 0, classes(), {}}, sums, tables, threads);
  }
};

std::unique_ptr<RoundModel> FastDawidSkene::start(const Options& options, const RoundsInput& input) {
  return std::make_unique<FastDawidSkeneModel>(options, input);
}

}  // namespace

MethodInfo fast_ds_method() {
  return rounds_method<FastDawidSkene>(
      "fast_ds", "Dawid-Skene with a hard decision on every task in between: a few iterations",
      "Sinha, Rao, Balasubramanian: Fast Dawid-Skene (2018)",
      {.has_confusion = true,
       .has_trace = true,
       .climbs = true,
       .by_shares = true,
       .has_free_matrices = true});
}

}  // namespace crowdfold
