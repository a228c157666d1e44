// fivepass: the model of threepass with types of tasks and a strength for each worker, in rounds from
// the votes. The order of tasks does not matter, nothing is drawn, and all cores are used.
//
//   y_t ~ tau     g_t ~ rho     x_it | y_t = k, g_t = g ~ U_i^b_g[k, .]
//
// n_i, N_i, P, m, the equations (G), (W), (H) and the constants are those of threepass.cc. New are:
//
//   Types      of tasks: how much their labels tell. A type has a power b_g in (0, 1/2, 1, 3/2, 2). At 0
//              everybody labels by their own habit m_i, at 2 evidence counts twice.
//       Z_i[k]       = sum_l exp Tab_i[k,l]               U_i[k,l] = exp Tab_i[k,l] / Z_i[k]
//       m_i[l]       = sum_k tau[k] U_i[k,l]
//       U_i^b[k,l]   ~ U_i[k,l]^b m_i[l]^(1-b)            their sum over l is 1
//       Tab_i^g[k,l] = log U_i^b_g[k,l] + log Z_i[k]
//   (S)  a_t[k,g]    = gamma ltau[k] + log rho_g + sum_i Tab_i^g[k, x_it]
//        q_t         = softmax of a_t over all (k, g)     C_t[k] = sum_g q_t[k,g], a task's credit
//        rho_g       = (sum_tk q_t[k,g] + 1) / (T + G)    before the first round ~ exp(-(b_g - 1)^2)
//
//   Strengths  L_i(S): logarithm of the Dirichlet-multinomial likelihood of worker i's rows, for the
//              S = 1, 2, 4, ... 128 that (EB) compares
//        p_iS ~ pi_S exp L_i(S)    pi_S = (sum_i p_iS + 1/2) / (workers + 4), eight times from equal
//        ones s_i         = 2^(sum_S p_iS log2 S), in Tab_i and in Vm;  lambda has the s of the whole
//        crowd
//
//   Workers of one label (l, at least ten times): how much more often they speak up on a class than the
//              share of tasks that they label would say
//       Tab_i^g[k,l] = b_g log (n_i[k,l] + s) / (n_i m_k / T + s)
//
//              Where most labels are theirs, they are labelling functions: nothing but votes could
//              teach types and strengths, and the answers are those of threepass (methods/one_label.h)
//
//   Rounds
//     start     C_t = shares of votes; gamma = 1 / (K - 1)
//     5 times   n, N, P, c, m of C; (G), (EB), s_i, all tables; from the second time on the guard of
//     gamma;
//               all tasks: q_t, the new C_t and rho
//     answers   n, ... tables, guard; beta by (H), with h[k] = log sum_g exp(a_t[k,g] - Tab_i^g[k,
//     x_it])
//               and Vm of rows without types: of rows with types, beta would be near 2, and too sure
//               softened softmax(beta log sum_g exp a_t[k,g]): softening.h
//
// s and s_i are found in the first and the third round and for the answers. Held-out labels that judge
// gamma and beta are at most 20,000. The credit that Vm leaves out is the task's present one.
//
// A known truth is a credit of 1. Counts that workers bring along are spread as in threepass.cc.
//
// Credits are whole multiples of 2^-20, so their sums are exact: crowdfold/rounds.h. With more than 64
// classes, or so many workers that their tables would be much, tasks have no types, workers of one label
// are as all others, and only cells that are not 0 are stored.
//
// The equations are in fivepass_model.cc, in the order of a round.
//
// Cost: G = 5 rows of K numbers for each label and round, K G exponentials for each task; K^2 digammas
// and roots for each worker and round, and 16 K^2 log-gammas three times. Memory O(N + M K^2).

#include <algorithm>
#include <memory>
#include <utility>

#include "methods/batch.h"
#include "methods/fivepass/fivepass_model.h"
#include "methods/methods.h"
#include "methods/one_label.h"
#include "methods/option_table.h"
#include "methods/threepass/threepass_model.h"

namespace crowdfold {
namespace {

struct FivePass {
  using Options = FivePassOptions;
  static const OptionTable<Options>& option_table();
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return FivePassModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input) {
    return std::make_unique<FivePassModel>(options, input.workers, input.classes, input.history(),
                                           input.all_workers());
  }
};

const OptionTable<FivePassOptions>& FivePass::option_table() {
  static const OptionTable<Options> table(
      crowd_options<Options>(),
      {integer("rounds", &Options::rounds, 1, 100, "rounds over the labels before the answers")});
  return table;
}

// Where labelling functions prevail, the answers are those of threepass, which needs the labels in
// memory.
class FivePassMethod final : public Method {
 public:
  FivePassMethod(const FivePassOptions& options, std::unique_ptr<Method> in_rounds)
      : options_(options), in_rounds_(std::move(in_rounds)) {}
  Result fit(const Labels& labels, const Knowledge& given, const RunContext& context) const override {
    if (labels.num_classes() == 0 || !OneLabelWorkers(labels, given).prevail())
      return in_rounds_->fit(labels, given, context);
    ThreePassOptions shared;
    static_cast<CrowdOptions&>(shared) = options_;
    return believable(true, labels, given, fit_threepass(shared, labels, given, context));
  }

 private:
  FivePassOptions options_;
  std::unique_ptr<Method> in_rounds_;
};

// Judges further tasks by what a fit learned. Workers and classes that are new are those of whom nothing
// is known.
class FivePassJudge final : public Judge {
 public:
  explicit FivePassJudge(const FivePassOptions& options) : options_(options) {}

  void expect(std::uint32_t workers, std::uint32_t classes) override {
    if (workers <= state_.counts.size() && classes <= state_.classes) return;
    state_.expect(workers, classes);
    renew();
  }
  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    if (model_ != nullptr && labels.size() > 0) {
      FivePassModel::Scratch scratch(*model_);
      return model_->answer(labels, posterior, scratch);
    }
    std::fill(posterior.begin(), posterior.end(), 1 / static_cast<double>(posterior.size()));
    return {};
  }
  double doubt() const override { return model_ != nullptr ? model_->doubt() : options_.doubt; }
  WorkerState state() const override { return state_; }
  void restore(WorkerState state) override {
    state_ = std::move(state);
    renew();
  }

 private:
  void renew() {
    if (state_.classes > 0) model_ = std::make_unique<FivePassModel>(options_, state_, /*threads=*/1);
  }

  FivePassOptions options_;
  WorkerState state_;
  std::unique_ptr<FivePassModel> model_;
};

}  // namespace

MethodInfo fivepass_method() {
  MethodInfo info = rounds_method<FivePass>(
      "fivepass", "confusion rows, and tasks that tell more or less, in rounds; calibrated", "crowdfold",
      {.takes_workers = true, .has_confusion = true});
  info.make = [make = info.make](const Settings& settings) -> std::unique_ptr<Method> {
    return std::make_unique<FivePassMethod>(FivePass::option_table().parse("fivepass", settings),
                                            make(settings));
  };
  info.make_judge = [](const Settings& settings) -> std::unique_ptr<Judge> {
    return std::make_unique<FivePassJudge>(FivePass::option_table().parse("fivepass", settings));
  };
  return info;
}

}  // namespace crowdfold
