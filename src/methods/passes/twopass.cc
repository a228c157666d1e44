// LA-twopass: onepass, then every task judged again with the qualities that came out of it.
//
// Y. Yang, Z.-Q. Zhao, Q. Bai, Q. Liu, W. Li: A Light-weight, Effective and Efficient Model for Label
// Aggregation in Crowdsourcing. arXiv 2022; ACM TKDD 2024.
//
//   v_i   = K w_i - 1                          below zero for a worker worse than chance
//   y_t   = argmax_k  sum_i v_i [x_it = k]     over the classes that got a vote; nothing is updated
//
// Online, the second look is taken chunk by chunk, after the chunk was learned.
//
// With `vote_rounds` the pass over tasks in their order gives way to rounds from a majority vote, which
// need no order (crowdfold/rounds.h): C_i and n_i are i's agreement with the vote; then, round by round,
// with the tasks judged by v_i. Cost: twice onepass; for the second look at a task, its labels must be
// kept or read again.
#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/passes/onepass.h"
#include "methods/rounds/agreement_rounds.h"
#include "methods/rounds/em_rounds.h"

namespace crowdfold {
namespace {

class TwoPass final : public OnePass {
 public:
  struct Options : OnePass::Options {
    int vote_rounds = 0;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        vote_options<Options>(),
        {order_option<Options>(),
         integer("vote_rounds", &Options::vote_rounds, 0, 1000,
                 "learn in rounds from a majority vote, not in the order of tasks; 0: in their order")});
    return table;
  }
  using OnePass::OnePass;

  bool judges_after_learning() const override { return true; }

  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    const double k = state_.classes;
    return judge(labels, posterior, [&](const WorkerCounts& counts) { return k * weight(counts) - 1; });
  }
};

class TwoPassModel final : public AgreementModel {
 public:
  TwoPassModel(const TwoPass::Options& options, const RoundsInput& input)
      : AgreementModel(input), options_(options), seed_(input.seed), method_(options, input.seed) {}

  std::uint64_t rounds_left() const override {
    return is_done() ? 0 : static_cast<std::uint64_t>(options_.vote_rounds - round_);
  }
  const char* stage() const override { return "twopass"; }
  void answer(const TaskBlock& block, std::span<Estimate> estimates,
              std::span<double> posteriors) const override {
    judge_each(method_, block, estimates, posteriors);
  }
  void report(const RunContext& /*context*/, Result& result) const override {
    result.learned = method_.state();
  }
  void exchange(Archive& archive) override {
    AgreementModel::exchange(archive);
    archive.value(round_, 0, options_.vote_rounds);
    archive.require(round_ > 0 || !is_done());
    if (archive.reads() && round_ > 0) count();
  }

 private:
  ClassId choose(const TaskLabels& task) const override {
    if (round_ == 0) return elected(task, classes(), {options_.ties, seed_, task.index});
    return method_.estimate(task, {}).label;
  }
  bool next(bool rests) override {
    ++round_;
    count();
    return round_ < options_.vote_rounds && !rests;
  }
  void count() { method_.restore(state(options_.alpha, options_.beta)); }

  TwoPass::Options options_;
  std::uint64_t seed_;
  TwoPass method_;
  int round_ = 0;
};

struct TwoPassInRounds {
  using Options = TwoPass::Options;
  static const OptionTable<Options>& option_table() { return TwoPass::option_table(); }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return AgreementModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input) {
    return std::make_unique<TwoPassModel>(options, input);
  }
};

}  // namespace

MethodInfo twopass_method() {
  const char* const name = "twopass";
  const char* const summary = "onepass, then every task judged again with the workers' final qualities";
  const char* const citation =
      "Yang, Zhao, Bai, Liu, Li: A Light-weight, Effective and Efficient Model for Label Aggregation in "
      "Crowdsourcing (TKDD 2024)";
  const Traits traits = {
      .takes_workers = true, .estimate_is_argmax = false, .weighs_every_class = false};
  MethodInfo info = online_method<TwoPass>(name, summary, citation, traits);
  const MethodInfo in_rounds = rounds_method<TwoPassInRounds>(name, summary, citation, traits);
  const auto asks_for_rounds = [](const Settings& settings) {
    return TwoPass::option_table().parse("twopass", settings).vote_rounds > 0;
  };
  info.make = [=, make = info.make](const Settings& settings) {
    return asks_for_rounds(settings) ? in_rounds.make(settings) : make(settings);
  };
  info.make_rounds = [=](const Settings& settings, const RoundsInput& input) {
    return asks_for_rounds(settings) ? in_rounds.make_rounds(settings, input) : nullptr;
  };
  return info;
}

}  // namespace crowdfold
