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
// Cost: O(N K) for the E-step, O(N) for the M-step; memory O(N + T K + M K^2).
#include "base/vector_math.h"
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/votes/weighted_vote.h"

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
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return WorkerMajor::bytes(labels) + Posteriors::bytes(labels) + Confusion::bytes(labels);
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

Result FastDawidSkene::fit(const Options& options, const Labels& labels, const Knowledge& given,
                           const RunContext& context) {
  const std::uint32_t classes = labels.num_classes();
  WeightedVote election(labels, given, options.ties, context);
  election.vote(std::vector<double>(labels.num_workers(), 1));
  std::vector<ClassId> y = election.estimates();
  const WorkerMajor& by_worker = election.by_worker();
  Posteriors q(labels, given);
  q.start_from_votes(context.threads);
  std::vector<double> log_rho;
  Confusion log_pi(labels.num_workers(), classes, q.states());

  Result result;
  iterate("fast_ds", Stopping{options.iterations, 1e-9}, context, result, [&] {
    std::vector<double> decided(classes);
    for (const ClassId k : y) {
      if (k != kNoClass) ++decided[k];
    }
    log_rho = log_shares(decided);
    for_worker_blocks(labels.num_workers(), context.threads, [&](std::size_t first, std::size_t last) {
      for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
        const std::span<double> pi = log_pi.of(w);
        std::fill(pi.begin(), pi.end(), 0.0);
        const WorkerLabels said = by_worker.worker(w);
        for (std::size_t j = 0; j < said.size(); ++j) ++log_pi.row(w, said.classes[j])[y[said.tasks[j]]];
        normalize_over_labels(pi, log_pi.states(),
                              [&](std::size_t, std::size_t) { return 1.0 / classes; });
      }
      vector_log(log_pi.of(first, last));
    });

    q.judge(context.threads, ConfusionScore(labels, log_rho, log_pi));
    q.report(context, result);
    double changed = 0;
    double objective = 0;
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      changed += result.estimate[t] != y[t] ? 1 : 0;
      y[t] = result.estimate[t];
      if (y[t] == kNoClass) continue;
      const TaskLabels task = labels.task(t);
      objective += log_rho[y[t]];
      for (std::size_t j = 0; j < task.size(); ++j)
        objective += log_pi.row(task.workers[j], task.classes[j])[y[t]];
    }
    return Step{objective, changed};
  });

  report_learned(labels, given, std::move(log_pi), std::move(log_rho), context, result);
  return result;
}

}  // namespace

MethodInfo fast_ds_method() {
  return batch_method<FastDawidSkene>(
      "fast_ds", "Dawid-Skene with a hard decision on every task in between: a few iterations",
      "Sinha, Rao, Balasubramanian: Fast Dawid-Skene (2018)",
      {.has_confusion = true,
       .has_trace = true,
       .climbs = true,
       .by_shares = true,
       .has_free_matrices = true});
}

}  // namespace crowdfold
