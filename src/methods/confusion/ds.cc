// Dawid-Skene: every worker has a confusion matrix; maximum likelihood by EM.
//
// A. P. Dawid, A. M. Skene: Maximum Likelihood Estimation of Observer Error-Rates Using the EM
// Algorithm. Applied Statistics 28, 1979.
//
//   p(y_t = k) = rho_k           p(x_it = l | y_t = k) = pi_i[k][l]
//
//   E   q_t(k)      ~  rho_k  prod_i pi_i[k][x_it]
//   M   rho_k       =  mean_t q_t(k)
//       pi_i[k][l]  =  sum_t q_t(k) [x_it = l]  /  sum_t q_t(k)         t: tasks that i labelled
//
// Starts at the E-step, with pi of .7 on the diagonal and the rest shared by the other classes, and all
// classes equally likely. With start=0 it starts at the M-step, with shares of votes for q. A row of pi
// that no task speaks for goes back to that start; to equal shares, if votes were the start. Where
// matrices are given, it starts with those, or with the M-step of shares of votes and the counts given,
// and with rho of the votes. Without any iteration, shares of votes are the answers. Cost: O(N K) an
// iteration; memory O(M K^2) beside the labels.
#include "methods/batch.h"
#include "methods/confusion/confusion_rounds.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

struct DawidSkene {
  struct Options : Stopping {
    double start = 0.7;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kPosteriorsMove, 0),
        {real("start", &Options::start, 0, 0.99,
              "probability of a right label to start from; 0: start from shares of votes")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const RoundsInput& input) {
    return ConfusionModel::bytes(input);
  }
  static std::unique_ptr<RoundModel> start(const Options& options, const RoundsInput& input);
};

class DawidSkeneModel final : public ConfusionModel {
 public:
  // Where matrices are given, shares of votes are asked for first.
  DawidSkeneModel(const DawidSkene::Options& options, const RoundsInput& input,
                  const std::vector<Extra>& extras)
      : ConfusionModel({.name = "ds", .stopping = options, .starts_with_votes = false}, input),
        right_(options.start > 0 ? options.start : 1.0 / input.classes),
        confusion_(find_extra(extras, "confusion")),
        counts_(find_extra(extras, "counts")) {
    if (confusion_ != nullptr || counts_ != nullptr || options.start == 0 || options.iterations == 0) {
      ask_votes();
      return;
    }
    set_tables([](WorkerId, std::span<double>) {});
  }

 private:
  // pi[k][l] to start from
  double start_of(std::size_t k, std::size_t l) const {
    if (classes() == 1) return 1;
    return k == l ? right_ : (1 - right_) / (classes() - 1);
  }
  // From the counts that add_counts(worker, counts) adds.
  template <class AddCounts>
  void set_tables(const AddCounts& add_counts) {
    Confusion& log_pi = tables().log_pi();
    for (WorkerId w = 0; w < workers(); ++w) {
      const std::span<double> pi = log_pi.of(w);
      std::fill(pi.begin(), pi.end(), 0.0);
      add_counts(w, pi);
      normalize_over_labels(pi, log_pi.states(),
                            [this](std::size_t k, std::size_t l) { return start_of(k, l); });
      vector_log(pi);
    }
  }
  // A worker's matrix, by truth and label, on top of counts by label and state.
  void add_matrix(const Extra& extra, WorkerId w, std::span<double> counts) const {
    const double* const matrix = extra.values.data() + w * extra.width;
    const std::size_t width = row_width(classes());
    for (std::size_t k = 0; k < classes(); ++k) {
      for (std::size_t l = 0; l < classes(); ++l) counts[l * width + k] += matrix[k * classes() + l];
    }
  }

  void start(const EmSums& sums, int /*threads*/) override {
    put_log_shares(sums, tables());
    set_tables([&](WorkerId w, std::span<double> pi) {
      if (confusion_ == nullptr) said(sums).add_to(w, pi);
      for (const Extra* const extra : {confusion_, counts_}) {
        if (extra != nullptr) add_matrix(*extra, w, pi);
      }
    });
  }
  double m_step(const EmSums& sums, ConfusionTables& tables, int threads) const override {
    put_log_shares(sums, tables);
    const PriorCounts no_prior{0, 0, classes(), {}};
    learn_shares(
        said(sums), no_prior, [this](std::size_t k, std::size_t l) { return start_of(k, l); },
        tables.log_pi(), threads);
    return 0;
  }

  double right_;
  const Extra* confusion_;
  const Extra* counts_;
};

std::unique_ptr<RoundModel> DawidSkene::start(const Options& options, const RoundsInput& input) {
  static const std::vector<Extra> nothing;
  return std::make_unique<DawidSkeneModel>(options, input,
                                           input.given != nullptr ? input.given->extras : nothing);
}

}  // namespace

MethodInfo ds_method() {
  return rounds_method<DawidSkene>(
      "ds", "Dawid-Skene: a confusion matrix for every worker, by EM",
      "Dawid, Skene: Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm "
      "(Applied Statistics 1979)",
      {.takes = {{"confusion", Per::worker, 2, "pi to start from, by truth and label"},
                 {"counts", Per::worker, 2, "labels that are added to those of a vote to start from"}},
       .has_confusion = true,
       .has_trace = true,
       .climbs = true,
       .by_shares = true,
       .has_free_matrices = true});
}

}  // namespace crowdfold
