#include "methods/vote.h"

#include <cmath>
#include <limits>

namespace crowdfold {
namespace {

// No class, however unlikely, gets probability 0.
double above_zero(double p) { return std::max(p, std::numeric_limits<double>::min()); }

}  // namespace

LargeBallot& LargeBallot::of_this_thread(std::uint32_t classes, std::size_t labels) {
  thread_local LargeBallot ballot;
  if (ballot.entries_.size() < classes) ballot.entries_.resize(classes);
  if (ballot.voted_.size() < labels + 1) ballot.voted_.resize(labels + 1);
  ballot.classes_ = classes;
  return ballot;
}

ClassId LargeBallot::winner(const TieRule& rule) const {
  double best = -kOutOfReach;
  for (const ClassId c : voted()) best = std::max(best, entries_[c].score);
  ClassId lowest = kNoClass;
  std::vector<ClassId> winners;  // filled only to draw from
  for (const ClassId c : voted()) {
    if (entries_[c].score < best - kTie) continue;
    lowest = std::min(lowest, c);
    if (rule.draws()) winners.push_back(c);
  }
  if (winners.size() < 2) return lowest;
  std::sort(winners.begin(), winners.end());
  return winners[rule.draw(winners.size())];
}

double LargeBallot::probability(ClassId label, std::span<double> posterior) const {
  // Odds are relative to a class without votes, whose odds are 1, or to the highest where they would not
  // fit.
  double highest = 0;
  if (scaled_) {
    for (const ClassId c : voted()) highest = std::max(highest, log_odds(c));
  }
  const auto odds = [&](ClassId c) {
    return scaled_ ? above_zero(std::exp(log_odds(c) - highest)) : entries_[c].right / entries_[c].wrong;
  };
  const double unvoted = above_zero(std::exp(-highest));

  std::fill(posterior.begin(), posterior.end(), unvoted);
  double total = unvoted * static_cast<double>(classes_ - num_voted_);
  for (const ClassId c : voted()) {
    const double p = odds(c);
    total += p;
    if (!posterior.empty()) posterior[c] = p;
  }
  for (double& p : posterior) p /= total;
  return odds(label) / total;
}

void LargeBallot::clear() {
  for (const ClassId c : voted()) entries_[c] = {};
  num_voted_ = 0;
  scaled_ = false;
}

void LargeBallot::scale(Entry& entry) {
  if (entry.right > kLarge) {
    entry.right /= kLarge;
    entry.exponent += kLargeBits;
  }
  if (entry.wrong > kLarge) {
    entry.wrong /= kLarge;
    entry.exponent -= kLargeBits;
  }
  scaled_ = true;
}

double LargeBallot::log_odds(ClassId c) const {
  const Entry& entry = entries_[c];
  return std::log(entry.right / entry.wrong) + entry.exponent * std::log(2.0);
}

}  // namespace crowdfold
