// LA-onepass: label aggregation in one pass over the tasks.
//
// Y. Yang, Z.-Q. Zhao, Q. Bai, Q. Liu, W. Li: A Light-weight, Effective and Efficient Model for Label
// Aggregation in Crowdsourcing. arXiv 2022; ACM TKDD 2024.
//
// Model: a dynamic Bayesian network whose time-slices are tasks. Worker i is right with probability
// w_i; beliefs about w_i are a Beta that starts at Beta(alpha, beta) and is updated after each task with
// whether i agreed with the task's estimate.
//
//   w_i   = (C_i + alpha - 1) / (n_i + alpha + beta - 2)     the posterior's mode
//   y_t   = argmax_k  sum_i w_i [x_it = k]                   over the classes that got a vote
//   C_i  += [x_it = y_t],   n_i += 1                         for the workers who labelled t
//
// Symbols: x_it labels.classes[j] of i = labels.workers[j]; C_i, n_i WorkerCounts::correct, seen.
// Cost: O(N) time; the state is two numbers per worker, and nothing else is kept of a task.
#include "methods/passes/onepass.h"

#include "methods/batch.h"
#include "methods/methods.h"

namespace crowdfold {

const OptionTable<OnePass::Options>& OnePass::option_table() {
  static const OptionTable<Options> table(vote_options<Options>(), {order_option<Options>()});
  return table;
}

OnePass::OnePass(const Options& options, std::uint64_t seed)
    : options_(options),
      seed_(seed),
      prior_correct_(options.alpha - 1 + kNextToNothing),
      prior_seen_(options.alpha + options.beta - 2 + 2 * kNextToNothing) {
  state_.alpha = options.alpha;
  state_.beta = options.beta;
}

ClassId OnePass::vote(const TaskLabels& labels) const {
  return with_ballot(state_.classes, labels, [&](auto& ballot) {
    for (std::size_t j = 0; j < labels.size(); ++j) {
      ballot.add(labels.classes[j], weight(state_.counts[labels.workers[j]]));
    }
    return ballot.winner(tie_rule(labels));
  });
}

Estimate OnePass::estimate(const TaskLabels& labels, std::span<double> posterior) const {
  return judge(labels, posterior, [this](const WorkerCounts& counts) { return weight(counts); });
}

void OnePass::learn(const TaskLabels& labels, const Answer& answer) {
  const ClassId y = answer.label != kNoClass ? answer.label : vote(labels);
  state_.add(labels, y);
}

// One after another; what is known of the workers of tasks ahead is fetched from memory meanwhile, as of
// a million workers it is in no cache.
void OnePass::learn_chunk(std::span<const TaskLabels> tasks, std::span<const Answer> answers) {
  constexpr std::size_t kAhead = 4;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (i + kAhead < tasks.size()) {
      for (const WorkerId w : tasks[i + kAhead].workers) __builtin_prefetch(state_.counts.data() + w, 1);
    }
    learn(tasks[i], answers.empty() ? Answer() : answers[i]);
  }
}

void OnePass::restore(WorkerState state) {
  state.require_prior(options_.alpha, options_.beta);
  state_ = std::move(state);
}

MethodInfo onepass_method() {
  return online_method<OnePass>(
      "onepass", "one pass: every worker's quality is a Beta posterior, updated after each task",
      "Yang, Zhao, Bai, Liu, Li: A Light-weight, Effective and Efficient Model for Label Aggregation in "
      "Crowdsourcing (TKDD 2024)",
      {.estimate_is_argmax = false, .weighs_every_class = false});
}

}  // namespace crowdfold
