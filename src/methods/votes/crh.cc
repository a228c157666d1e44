// CRH (conflict resolution on heterogeneous data): weights and answers that together make the weighted
// loss least, for labels that are classes.
//
// Q. Li, Y. Li, J. Gao, B. Zhao, W. Fan, J. Han: Resolving Conflicts in Heterogeneous Data by Truth
// Discovery and Source Reliability Estimation. SIGMOD 2014.
//
//   minimise  sum_i w_i loss_i     subject to  sum_i exp(-w_i) = 1
//
//   loss_i  =  share of i's labels that differ from y       0/1 loss
//   w_i     =  -log(loss_i / sum_j loss_j)
//   y_t     =  argmax_k  sum_i w_i [x_it = k]
//
// The loss is per label, as the paper has it for sources that are silent on some entries: a long history
// is no fault. A worker without a fault would have an infinite weight, so each worker is taken to have
// been wrong `smoothing` times more, and right as often. With many workers the weights are log M and a
// little: nearly a majority vote.
// Starts with a majority vote; ends when no estimate changes. A class's probability is its share of the
// weights.
// Cost: O(N) an iteration; memory O(M) beside the labels.
#include "methods/batch.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/votes/weighted_vote.h"

namespace crowdfold {
namespace {

struct ConflictResolution {
  struct Options {
    int iterations = 100;
    double smoothing = 0.5;
    Ties ties = Ties::first;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {
        integer("iterations", &Options::iterations, 1, 1'000'000, "weighted votes at most"),
        real("smoothing", &Options::smoothing, 1e-6, 1e6,
             "wrong labels added to every worker's, and as many right ones"),
        ties_option<Options>()};
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return WeightedVote::bytes(input);
  }

  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class ConflictResolutionModel final : public WeightedVote {
 public:
  ConflictResolutionModel(const ConflictResolution::Options& options, const RoundsInput& input)
      : WeightedVote({.name = "crh",
                      .rounds = options.iterations + 1,
                      .ties = options.ties,
                      .stops_at_rest = true},
                     input),
        smoothing_(options.smoothing) {}

 private:
  // -log of shares of all loss
  static std::vector<double> weights_of(const std::vector<WorkerCounts>& agreement, double smoothing) {
    std::vector<double> loss;
    loss.reserve(agreement.size());
    for (const WorkerCounts& agreed : agreement)
      loss.push_back((agreed.seen - agreed.correct + smoothing) / (agreed.seen + 2 * smoothing));
    // -log(1): a worker alone would have no weight
    if (loss.size() == 1) return {1};
    std::vector<double> w = log_shares(std::move(loss));
    for (double& value : w) value = -value;
    return w;
  }
  bool is_traced(int round) const override { return round > 0; }
  void weigh() override { weights() = weights_of(agreement(), smoothing_); }

  double smoothing_;
};

std::unique_ptr<RoundModel> ConflictResolution::start(const Options& options, const RoundsInput& input) {
  return std::make_unique<ConflictResolutionModel>(options, input);
}

}  // namespace

MethodInfo crh_method() {
  return rounds_method<ConflictResolution>(
      "crh", "votes weighted by the logarithm of a worker's share of all disagreement",
      "Li, Li, Gao, Zhao, Fan, Han: Resolving Conflicts in Heterogeneous Data (SIGMOD 2014)",
      {.takes_workers = true, .has_trace = true});
}

}  // namespace crowdfold
