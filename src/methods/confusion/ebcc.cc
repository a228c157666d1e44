// Enhanced Bayesian classifier combination: every class has subtypes, on which workers err in different
// ways; so errors of workers are correlated within a class. Mean-field variational inference.
//
// Y. Li, B. I. P. Rubinstein, T. Cohn: Exploiting Worker Correlation for Label Aggregation in
// Crowdsourcing. ICML 2019.
//
//   rho ~ Dirichlet(a)               p(y_t = k) = rho_k
//   tau_k ~ Dirichlet(a_tau / G)     p(z_t = g | y_t = k) = tau_kg
//   pi_i[kg] ~ Dirichlet(a_i[k])     p(x_it = l | y_t = k, z_t = g) = pi_i[kg][l]
//
//   rho, tau_k, pi_i[kg]  Dirichlets with the expected counts added
//   q_t(k, g)  ~  exp( E log rho_k + E log tau_kg + sum_i E log pi_i[kg][x_it] )
//
// a is the sum over tasks of the shares of votes. Starts: shares of votes, split at random among a
// class's subtypes. Of several starts, the one with the highest evidence lower bound counts. Exact
// duplicates of labels are dropped first.
//
// Cost: O(N K G + M K^2 G) an iteration, less as subtypes empty; memory O(N + T K G + M K^2 G), for each
// start that runs at a time.
#include <numeric>

#include "base/random.h"
#include "methods/batch.h"
#include "methods/confusion/variational.h"
#include "methods/methods.h"
#include "methods/starts.h"

namespace crowdfold {
namespace {

struct Ebcc {
  struct Options : Stopping {
    Options() : Stopping{500, 1e-3} {}
    int subtypes = 10;
    int starts = 10;
    double right = 4;
    double wrong = 1;
    double subtype_prior = 0.1;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kPosteriorsMove),
        {integer("subtypes", &Options::subtypes, 1, 1000, "subtypes of every class"),
         integer("starts", &Options::starts, 1, 100'000, "random starts; the best one counts"),
         real("right", &Options::right, 1e-3, 1e9,
              "prior of confusion matrices: Dirichlet, on the diagonal"),
         real("wrong", &Options::wrong, 1e-3, 1e9,
              "prior of confusion matrices: Dirichlet, off the diagonal"),
         real("subtype_prior", &Options::subtype_prior, 1e-6, 1e9,
              "prior of the subtypes of a class: Dirichlet, sum of its parameters")});
    return table;
  }
  static std::uint64_t bytes(const Options& options, const Labels& labels) {
    return bytes_of_start(options, labels);
  }
  static std::uint64_t bytes_of_start(const Options& options, const Labels& labels) {
    const auto subtypes = static_cast<std::uint32_t>(options.subtypes);
    return Posteriors::bytes(labels, subtypes) + Confusion::bytes(labels, subtypes) +
           ExpectedCounts::bytes(labels, subtypes);
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

// Splits the probability of every class at random among its subtypes, by Dirichlet(1, …, 1).
void split_at_random(const Labels& labels, std::uint64_t seed, int threads, Posteriors& q) {
  parallel_ranges(
      threads, labels.num_tasks(), Posteriors::kTasksPerBlock,
      [&](std::size_t first, std::size_t last, int) {
        for (auto t = static_cast<TaskId>(first); t < last; ++t) {
          Random random(seed ^ mix64(t));
          const std::span<double> row = q[t];
          std::uint32_t first_of_class = 0;
          for (const std::uint32_t end : q.states().ends()) {
            const std::span<double> of_class = row.subspan(first_of_class, end - first_of_class);
            first_of_class = end;
            const double probability = std::accumulate(of_class.begin(), of_class.end(), 0.0);
            double sum = 0;
            for (double& value : of_class) sum += value = -std::log(1 - random.uniform());
            for (double& value : of_class) value *= probability / sum;
          }
        }
      });
}

// One start.
class Run {
 public:
  Run(const Ebcc::Options& options, const Labels& labels, const Knowledge& given,
      const RunContext& context, std::uint64_t start)
      : labels_(labels),
        threads_(context.threads),
        classes_(labels.num_classes()),
        subtypes_(static_cast<std::uint32_t>(options.subtypes)),
        prior_{options.right, options.wrong, classes_, given.workers},
        rho_prior_(classes_),
        tau_prior_(static_cast<std::size_t>(classes_) * subtypes_, options.subtype_prior / subtypes_),
        q_(labels, given, subtypes_),
        pi_(labels.num_workers(), classes_, q_.states()),
        said_(labels, q_.states()) {
    q_.start_from_votes(context.threads);
    const std::vector<double> votes = q_.totals(threads_);
    for (std::size_t s = 0; s < votes.size(); ++s) rho_prior_[s / subtypes_] += votes[s];
    for (double& value : rho_prior_) value = std::max(value, kLeastVotes);
    split_at_random(labels, mix64(context.seed) + start, threads_, q_);
    q_.teach(threads_, said_);
    totals_ = q_.totals(threads_);

    iterate("ebcc", options, context, result_, [this] { return step(); });
  }

  double objective() const { return result_.trace.back(); }

  Result report(const RunContext& context) {
    q_.report(context, result_);
    report_posterior_workers(said_, prior_, numbers_of_labels(labels_), totals_, pi_, context, result_);
    return std::move(result_);
  }

 private:
  static constexpr double kLeastVotes = 1e-3;  // of a class that got none
  static constexpr double kEmpty = 1e-20;      // tasks in a subtype

  Step step() {
    leave_out_the_empty();
    std::vector<double> rho = rho_prior_;
    std::vector<double> tau = tau_prior_;  // by subtype, then by class
    for (std::size_t s = 0; s < totals_.size(); ++s) {
      rho[q_.states().class_of(s)] += totals_[s];
      tau[in_tau(s)] += totals_[s];
    }
    double divergence = expect_logarithms(rho, rho_prior_, 1);
    divergence += expect_logarithms(tau, tau_prior_, classes_);
    divergence += learn_confusion(said_, prior_, pi_, threads_);

    std::vector<double> log_prior(totals_.size());
    for (std::size_t s = 0; s < totals_.size(); ++s)
      log_prior[s] = rho[q_.states().class_of(s)] + tau[in_tau(s)];
    auto judged = q_.judge(threads_, ConfusionScore(labels_, std::move(log_prior), pi_), said_);
    totals_ = std::move(judged.totals);
    return {judged.evidence - divergence, judged.change};
  }

  // Most subtypes empty in a few iterations, and stay so, as E log tau of one with no tasks is about
  // -G / a_tau = -100. From then on they cost nothing. Every class keeps its largest.
  void leave_out_the_empty() {
    std::vector<std::uint32_t> kept;
    std::uint32_t first = 0;
    for (const std::uint32_t end : q_.states().ends()) {
      const auto of_class = std::span(totals_).subspan(first, end - first);
      const double largest = *std::max_element(of_class.begin(), of_class.end());
      for (; first < end; ++first) {
        if (totals_[first] >= std::min(kEmpty, largest)) kept.push_back(first);
      }
    }
    if (kept.size() == totals_.size()) return;
    q_.keep(kept);
    pi_.narrow(q_.states());
    said_.narrow(q_.states());
    q_.teach(threads_, said_);
    for (std::size_t i = 0; i < kept.size(); ++i) totals_[i] = totals_[kept[i]];
    totals_.resize(kept.size());
  }

  // Where a state is in tau. The subtypes that were left out are its last ones.
  std::size_t in_tau(std::size_t state) const {
    const ClassId of_class = q_.states().class_of(state);
    const std::size_t first = of_class == 0 ? 0 : q_.states().ends()[of_class - 1U];
    return (state - first) * classes_ + of_class;
  }

  const Labels& labels_;
  int threads_;
  std::uint32_t classes_;
  std::uint32_t subtypes_;
  PriorCounts prior_;
  std::vector<double> rho_prior_;
  std::vector<double> tau_prior_;
  Posteriors q_;
  Confusion pi_;
  ExpectedCounts said_;
  std::vector<double> totals_;  // of q_
  Result result_;
};

Result Ebcc::fit(const Options& options, const Labels& all_labels, const Knowledge& given,
                 const RunContext& context) {
  const Labels labels = drop_exact_duplicates(all_labels);
  return best_of_starts<Run>("ebcc", options.starts, 0, bytes_of_start(options, labels), context,
                             [&](std::size_t start, const RunContext& of_start) {
                               return Run(options, labels, given, of_start, start);
                             })
      .report(context);
}

}  // namespace

MethodInfo ebcc_method() {
  return batch_method<Ebcc>(
      "ebcc", "Bayesian Dawid-Skene with subtypes of classes, on which workers err alike; variational",
      "Li, Rubinstein, Cohn: Exploiting Worker Correlation for Label Aggregation in Crowdsourcing (ICML "
      "2019)",
      {.takes_workers = true,
       .has_confusion = true,
       .has_trace = true,
       .draws = true,
       .climbs = true,
       .has_free_matrices = true,
       .errors_may_be_shared = true});
}

}  // namespace crowdfold
