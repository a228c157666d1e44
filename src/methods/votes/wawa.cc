// Worker agreement with aggregate: a vote weighted by how often a worker agrees with the majority.
//
// A rule of crowdsourcing platforms; described by Appen as the "trust score" of contributors.
//
//   w_i  =  share of i's labels that agree with a majority vote
//   y_t  =  argmax_k  sum_i w_i [x_it = k]
//
// A class's probability is its share of the weights.
// Cost: O(N).
#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/votes/weighted_vote.h"

namespace crowdfold {
namespace {

struct Wawa {
  struct Options {
    Ties ties = Ties::first;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {ties_option<Options>()};
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return WeightedVote::bytes(input);
  }

  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class WawaModel final : public WeightedVote {
 public:
  WawaModel(const Wawa::Options& options, const RoundsInput& input)
      : WeightedVote({.name = "wawa", .rounds = 2, .ties = options.ties, .gives_weights = true}, input) {
  }

 private:
  void weigh() override {
    for (WorkerId i = 0; i < workers(); ++i) {
      const WorkerCounts& agreed = agreement()[i];
      weights()[i] = agreed.seen > 0 ? agreed.correct / agreed.seen : 0;
    }
  }
};

std::unique_ptr<RoundModel> Wawa::start(const Options& options, const RoundsInput& input) {
  return std::make_unique<WawaModel>(options, input);
}

}  // namespace

MethodInfo wawa_method() {
  return rounds_method<Wawa>("wawa", "a vote weighted by agreement with the majority", "folklore",
                             {.takes_workers = true, .gives = {kWeightGiven}, .by_shares = true});
}

}  // namespace crowdfold
