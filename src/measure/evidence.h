// What labels show about workers, as evidence that bounds the chance of a wrong sentence.
//
// The model: a worker knows the answer of a task with probability s, their knowledge, and otherwise says
// what they say out of habit, whatever the task is:
//     P(x | answer k) = (1 - s) h(x) + s [x = k].
// s = 0 is a worker who answers at random: their own habit is what chance gives, not 1/K. Nobody knows
// k, so the other workers' belief p(k) about the task stands for it: P(x) = h(x) + s (p(x) - h(x)).
//
// The evidence E against a hypothesis is a product over labels with an expected value of at most 1
// wherever the hypothesis holds. So E >= 1/a has a probability of at most a (Markov), for any number of
// labels. Over M workers, accusing where E >= M/a gives at most a false accusations on average, however
// the workers depend on each other. (Shafer, Testing by betting, JRSS A 184, 2021; Vovk and Wang,
// E-values, Annals of Statistics 49, 2021.) Evidence is given as its natural logarithm.
//
// Habits are counted on the same labels, which the theorem does not cover: docs/report.md measures what
// that costs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "crowdfold/labels.h"
#include "crowdfold/worker_state.h"

namespace crowdfold {

// One label, as evidence sees it.
struct Comparison {
  double believed = 0;   // p(x): the others' belief that the label is right
  double habit = 1;      // h(x): how often the worker says this
  bool agreed = false;   // x is the class v that the others believe in most
  double by_chance = 1;  // h(v): how often the worker says that
};

// Against "the worker knows nothing": the labels agree with the others more often than by chance.
double log_evidence_of_knowledge(std::span<const Comparison> labels);
// Against "the worker knows `knowledge` of the answers or more": they know less.
double log_evidence_of_guessing(std::span<const Comparison> labels, double knowledge);
// Against "the worker knows nothing, or something": the labels agree less often than by chance.
double log_evidence_of_contradiction(std::span<const Comparison> labels);

// For "what the worker says depends on what the others say", in any way, against "it does not": the
// Bayes factor of a contingency table with fixed rows, under Dirichlet priors that weigh one label
// (Gunel and Dickey, Biometrika 61, 1974). The spans are of one length.
double log_evidence_of_dependence(std::span<const ClassId> said, std::span<const ClassId> others);

// The chance that of `marked` things among `all`, `drawn` drawn at random hold `found` or more: Fisher's
// exact test, one-sided.
double hypergeometric_tail(std::uint64_t found, std::uint64_t drawn, std::uint64_t marked,
                           std::uint64_t all);

// Where a share of successes / trials lies with 95 % probability: Wilson's score interval (JASA 22,
// 1927). [0, 1] without trials.
Interval share_interval(std::uint64_t successes, std::uint64_t trials);

// The standard normal quantile z with P(Z > z) = tail, for tail in (0, 1/2].
double normal_quantile_above(double tail);

// h(x) of every label, in the order of tasks and of labels within a task: the share of this class among
// the worker's labels.
std::vector<float> habits_of(const Labels& labels);
// By class, among all labels.
std::vector<double> class_shares(const Labels& labels);

// What all workers together know, without looking at one of them.
struct CommonKnowledge {
  std::uint64_t tasks = 0;  // that two workers or more labelled
  double log_evidence = 0;  // against "all workers answer at random"
  double errors = 0;        // agreement beyond habits, in standard errors: see agreement_beyond_habits
  double knowledge = 0;     // of the workers, on average over labels
};
// How much more the labels of a task agree than their workers' habits give, in standard errors over
// tasks; 0 for fewer than 10 tasks with two labels or more. A pair of labels x of i and y of j counts
//     [x = y] - h_j(x) - h_i(y) + sum_k h_i(k) h_j(k),
// whose expected value is 0 for those who answer at random, whatever one of the two says (a degenerate
// U-statistic: Hoeffding, Annals of Mathematical Statistics 19, 1948). So a task's sum over pairs is,
// too.
double agreement_beyond_habits(const Labels& labels);

CommonKnowledge common_knowledge(const Labels& labels, std::span<const float> habits,
                                 std::span<const double> shares);

}  // namespace crowdfold
