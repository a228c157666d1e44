// Zero-based skill: skills that follow agreement with the weighted vote, in smaller and smaller steps.
//
// As in crowd-kit (Ustalov, Pavlichenko, Tseitlin: Learning from Crowds with Crowd-Kit. JOSS 9, 2024).
//
//   s_i  =  1 / K + excess to start with
//   y_t  =  argmax_k  sum_i s_i [x_it = k]
//   s_i +=  rate * (share of i's labels that agree with y - s_i)
//
// The rate starts at 1 and is multiplied by a factor every 20 iterations. A class's probability is its
// share of the skills. Cost: O(N) an iteration; memory O(M) beside the labels.
#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/votes/weighted_vote.h"

namespace crowdfold {
namespace {

struct ZeroBasedSkill {
  struct Options {
    int iterations = 100;
    double rate = 1;
    int halve_after = 20;
    double factor = 0.5;
    double excess = 1e-5;
    Ties ties = Ties::first;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {
        integer("iterations", &Options::iterations, 0, 1'000'000, "steps"),
        real("rate", &Options::rate, 1e-6, 1,
             "initial rate: share of the way from a skill to the agreement"),
        integer("halve_after", &Options::halve_after, 1, 1'000'000,
                "steps between reductions of the rate"),
        real("factor", &Options::factor, 1e-6, 1, "factor of each reduction"),
        real("excess", &Options::excess, 0, 1, "initial excess of a skill over chance"),
        ties_option<Options>()};
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return WeightedVote::bytes(input);
  }

  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class ZeroBasedSkillModel final : public WeightedVote {
 public:
  ZeroBasedSkillModel(const ZeroBasedSkill::Options& options, const RoundsInput& input)
      : WeightedVote({.name = "zbs",
                      .rounds = options.iterations + 1,
                      .ties = options.ties,
                      .gives_weights = true},
                     input),
        options_(options),
        rate_(options.rate) {
    weights().assign(workers(), 1.0 / classes() + options.excess);
  }
  void exchange(Archive& archive) override {
    WeightedVote::exchange(archive);
    archive.value(rate_, 0.0, 1.0);
    archive.value(steps_, 0, options_.iterations + 1);
  }

 private:
  bool is_traced(int round) const override { return round < options_.iterations; }
  void weigh() override {
    if (++steps_ % options_.halve_after == 0) rate_ *= options_.factor;
    for (WorkerId i = 0; i < workers(); ++i) {
      const WorkerCounts& agreed = agreement()[i];
      double& skill = weights()[i];
      if (agreed.seen > 0) skill += rate_ * (agreed.correct / agreed.seen - skill);
    }
  }

  ZeroBasedSkill::Options options_;
  double rate_;
  int steps_ = 0;
};

std::unique_ptr<RoundModel> ZeroBasedSkill::start(const Options& options, const RoundsInput& input) {
  return std::make_unique<ZeroBasedSkillModel>(options, input);
}

}  // namespace

MethodInfo zbs_method() {
  return rounds_method<ZeroBasedSkill>(
      "zbs", "zero-based skill: weights that follow agreement with the weighted vote",
      "Ustalov, Pavlichenko, Tseitlin: Learning from Crowds with Crowd-Kit (JOSS 2024)",
      {.takes_workers = true, .has_trace = true, .gives = {kWeightGiven}, .by_shares = true});
}

}  // namespace crowdfold
