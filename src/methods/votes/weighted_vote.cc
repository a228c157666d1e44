#include "methods/votes/weighted_vote.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "methods/em.h"

namespace crowdfold {
namespace {

void to_shares(std::span<double> scores) {
  for (double& score : scores) score = std::max(score, kLeastProbability);
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  for (double& score : scores) score /= sum;
}

}  // namespace

WeightedVote::WeightedVote(const VotePlan& plan, const RoundsInput& input)
    : AgreementModel(input),
      plan_(plan),
      seed_(input.seed),
      weights_(input.workers, 1),
      converged_(!plan.stops_at_rest) {}

ClassId WeightedVote::choose(const TaskLabels& task) const {
  return with_ballot(classes(), task, [&](auto& ballot) {
    for (std::size_t j = 0; j < task.size(); ++j) ballot.add(task.classes[j], weights_[task.workers[j]]);
    return ballot.winner(TieRule{plan_.ties, seed_, task.index});
  });
}

bool WeightedVote::next(bool rests) {
  if (is_traced(round_)) trace_.push_back(mean_agreement());
  ++round_;
  const bool stops = plan_.stops_at_rest && rests;
  converged_ = converged_ || stops;
  if (stops || round_ >= plan_.rounds) return false;
  weigh();
  return true;
}

void WeightedVote::answer(const TaskBlock& block, std::span<Estimate> estimates,
                          std::span<double> posteriors) const {
  std::vector<double> row(classes());
  const std::size_t asked = posteriors.size() / std::max<std::size_t>(1, estimates.size());
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const auto t = static_cast<TaskId>(block.first() + i);
    const TaskLabels task = block.task(t);
    const ClassId truth = block.truth(t);
    const ClassId y = truth != kNoClass ? truth : choose(task);
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t j = 0; j < task.size(); ++j) row[task.classes[j]] += weights_[task.workers[j]];
    if (plan_.rate > 0) {
      const double highest = *std::max_element(row.begin(), row.end());
      for (double& score : row) score = std::exp(plan_.rate * (score - highest));
    }
    to_shares(row);
    if (truth != kNoClass) certain(truth, row);
    estimates[i] = {y, y == kNoClass ? 0 : row[y]};
    std::copy_n(row.begin(), asked, posteriors.begin() + static_cast<std::ptrdiff_t>(i * asked));
  }
}

void WeightedVote::report(const RunContext& context, Result& result) const {
  AgreementModel::report(context, result);
  result.trace = trace_;
  result.converged = converged_;
}

void WeightedVote::exchange(Archive& archive) {
  AgreementModel::exchange(archive);
  archive.rows(weights_, 1);
  archive.array(trace_);
  archive.value(round_);
  archive.value(converged_);
}

}  // namespace crowdfold
