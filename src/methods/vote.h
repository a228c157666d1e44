// Shared by the voting methods: a ballot with its tie rule, and the posterior of the one-coin model,
// which gives confidences.
//
// The one-coin model: worker i is right with probability q_i and otherwise picks one of the K - 1
// other classes at random; classes are equally likely beforehand. Then
//     P(y = k | labels)  is proportional to  the product over labels for k of  q_i (K - 1) / (1 - q_i),
// and to 1 for a class without a vote: it never gets probability 0.
//
// There are two ballots with the same functions. LargeBallot takes any number of classes and labels at a
// cost that depends on the labels only. SmallBallot, for few classes and labels, does not branch on the
// labels, which a processor cannot predict: it is twice as fast. with_ballot() chooses.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "crowdfold/labels.h"
#include "crowdfold/result.h"
#include "crowdfold/worker_state.h"
#include "methods/option_table.h"

namespace crowdfold {

enum class Ties { first, random };
enum class Order { given, shuffled };

// The options of every vote with Beta posteriors of worker quality.
struct VoteOptions {
  double alpha = 2;
  double beta = 2;
  Ties ties = Ties::first;
};
template <class Options>
OptionEntry<Options> ties_option() {
  return choice<Options, Ties>("ties", &Options::ties, {"first", "random"},
                               "best class among equals: the first seen, or a seeded draw");
}
template <class Options>
std::vector<OptionEntry<Options>> vote_options() {
  return {real<Options>("alpha", &Options::alpha, 1, 1e9, "prior of worker quality: Beta(alpha, beta)"),
          real<Options>("beta", &Options::beta, 1, 1e9, "prior of worker quality: Beta(alpha, beta)"),
          ties_option<Options>()};
}
template <class Options>
OptionEntry<Options> order_option() {
  return choice<Options, Order>("order", &Options::order, {"given", "shuffled"},
                                "tasks one after another as given, or in a seeded shuffle");
}

// How a tie is decided: the lowest class, or one drawn by (seed, task index).
struct TieRule {
  Ties ties = Ties::first;
  std::uint64_t seed = 0;
  std::uint64_t index = 0;

  bool draws() const { return ties == Ties::random; }
  std::size_t draw(std::size_t among) const { return pick(seed, index, among); }

  // One of the classes whose bits are set, kNoClass if there is none.
  ClassId choose(std::uint32_t winners) const {
    if (winners == 0) return kNoClass;
    if (draws() && (winners & (winners - 1)) != 0) {
      for (std::size_t skip = draw(static_cast<std::size_t>(std::popcount(winners))); skip > 0; --skip) {
        winners &= winners - 1;
      }
    }
    return static_cast<ClassId>(std::countr_zero(winners));
  }
};

// Scores that differ by less are a tie. Sums of the same weights in another order differ by less; sums
// that differ in truth by more, short of histories of 10^8 labels.
inline constexpr double kTie = 1e-9;

// Far below any score: where a class without a vote stands.
inline constexpr double kOutOfReach = 1e300;

class SmallBallot {
 public:
  static constexpr std::uint32_t kClasses = 8;
  static constexpr std::size_t kLabels = 12;  // 12 factors below 2^53 K cannot overflow

  static bool fits(std::uint32_t classes, std::size_t labels) {
    return classes <= kClasses && labels <= kLabels;
  }

  explicit SmallBallot(std::uint32_t classes) : classes_(classes) {
    for (std::uint32_t c = 0; c < classes_; ++c) entries_[c] = {0, -kOutOfReach, 1, 1};
  }

  // A vote for c with a weight.
  void add(ClassId c, double weight) {
    entries_[c].score += weight;
    entries_[c].reach = 0;
  }

  // The same for a worker of quality q, for the posterior: right : wrong = q (K - 1) : 1 - q, both at
  // least 1.
  void add(ClassId c, double weight, double right, double wrong) {
    add(c, weight);
    entries_[c].right *= right;
    entries_[c].wrong *= wrong;
  }

  // The class with the highest score, kNoClass if none got a vote.
  ClassId winner(const TieRule& rule) const {
    double best = -kOutOfReach / 2;
    for (std::uint32_t c = 0; c < classes_; ++c) best = std::max(best, entries_[c].standing());
    std::uint32_t winners = 0;
    for (std::uint32_t c = 0; c < classes_; ++c)
      winners |= static_cast<std::uint32_t>(entries_[c].standing() >= best - kTie) << c;
    return rule.choose(winners);
  }

  // The one-coin posterior of `label`. Writes all K posteriors to `posterior` unless it is empty.
  double probability(ClassId label, std::span<double> posterior) const {
    std::array<double, kClasses> odds;
    double total = 0;
    for (std::uint32_t c = 0; c < classes_; ++c)
      total += odds[c] = entries_[c].right / entries_[c].wrong;
    for (std::size_t c = 0; c < posterior.size(); ++c) posterior[c] = odds[c] / total;
    return odds[label] / total;
  }

 private:
  struct Entry {
    double score;
    double reach;  // 0 with a vote, far below before
    double right;
    double wrong;

    double standing() const { return score + reach; }
  };

  std::uint32_t classes_;
  std::array<Entry, kClasses> entries_;
};

class LargeBallot {
 public:
  // The calling thread's ballot, blank, for a task with `labels` labels.
  static LargeBallot& of_this_thread(std::uint32_t classes, std::size_t labels);

  // As in SmallBallot.
  void add(ClassId c, double weight) { mark(c).score += weight; }
  void add(ClassId c, double weight, double right, double wrong) {
    Entry& entry = mark(c);
    entry.score += weight;
    entry.right *= right;
    entry.wrong *= wrong;
    if (std::max(entry.right, entry.wrong) > kLarge) [[unlikely]]
      scale(entry);
  }
  ClassId winner(const TieRule& rule) const;
  double probability(ClassId label, std::span<double> posterior) const;

  void clear();

 private:
  static constexpr double kLarge = 0x1p500;
  static constexpr int kLargeBits = 500;

  // The odds are right / wrong * 2^exponent: products of thousands of factors fit.
  struct Entry {
    double score = 0;
    double right = 1;
    double wrong = 1;
    std::int32_t exponent = 0;
    std::uint32_t marked = 0;  // got a vote
  };

  Entry& mark(ClassId c) {
    Entry& entry = entries_[c];
    voted_[num_voted_] = c;
    num_voted_ += 1 - entry.marked;
    entry.marked = 1;
    return entry;
  }
  std::span<const ClassId> voted() const { return {voted_.data(), num_voted_}; }
  void scale(Entry& entry);
  double log_odds(ClassId c) const;

  std::uint32_t classes_ = 0;
  std::vector<Entry> entries_;  // by class; blank between tasks
  std::vector<ClassId> voted_;  // classes that got a vote, in order of their first one
  std::size_t num_voted_ = 0;
  bool scaled_ = false;  // some exponent is not 0
};

// Calls use(ballot) with a blank ballot that fits a task with `labels` labels. Inlined into its caller,
// as outcome() is: a call per task would cost a tenth of the time.
template <class Use>
[[gnu::always_inline]] inline auto with_ballot(std::uint32_t classes, std::size_t labels,
                                               const Use& use) {
  if (SmallBallot::fits(classes, labels)) {
    SmallBallot ballot(classes);
    return use(ballot);
  }
  LargeBallot& ballot = LargeBallot::of_this_thread(classes, labels);
  auto result = use(ballot);
  ballot.clear();
  return result;
}
template <class Use>
[[gnu::always_inline]] inline auto with_ballot(std::uint32_t classes, const TaskLabels& labels,
                                               const Use& use) {
  return with_ballot(classes, labels.size(), use);
}

// The ballot's outcome with its probability. A task without labels has no estimate, no confidence, and
// every class the same probability.
template <class Ballot>
[[gnu::always_inline]] inline Estimate outcome(const Ballot& ballot, const TieRule& rule,
                                               std::span<double> posterior) {
  const ClassId winner = ballot.winner(rule);
  if (winner != kNoClass) return {winner, ballot.probability(winner, posterior)};
  std::fill(posterior.begin(), posterior.end(),
            1.0 / static_cast<double>(std::max<std::size_t>(1, posterior.size())));
  return {};
}

// A known truth leaves no doubt.
inline Estimate certain(ClassId truth, std::span<double> posterior) {
  std::fill(posterior.begin(), posterior.end(), 0.0);
  if (!posterior.empty()) posterior[truth] = 1;
  return {truth, 1};
}

}  // namespace crowdfold
