#include "methods/votes/weighted_vote.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/parallel.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"

namespace crowdfold {

std::uint64_t WeightedVote::vote(std::span<const double> weights) {
  context_.throw_if_cancelled();
  std::atomic<std::uint64_t> changed = 0;
  parallel_ranges(context_.threads, labels_.num_tasks(), Posteriors::kTasksPerBlock,
                  [&](std::size_t first, std::size_t last, int) {
                    std::uint64_t in_block = 0;
                    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
                      const TaskLabels task = labels_.task(t);
                      ClassId y = given_.truth(t);
                      if (y == kNoClass) {
                        y = with_ballot(labels_.num_classes(), task, [&](auto& ballot) {
                          for (std::size_t j = 0; j < task.size(); ++j)
                            ballot.add(task.classes[j], weights[task.workers[j]]);
                          return ballot.winner(TieRule{ties_, context_.seed, t});
                        });
                      }
                      in_block += y != estimate_[t] ? 1 : 0;
                      estimate_[t] = y;
                    }
                    changed += in_block;
                  });
  for_worker_blocks(labels_.num_workers(), context_.threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const WorkerLabels labels = by_worker_.worker(w);
      double correct = 0;
      for (std::size_t j = 0; j < labels.size(); ++j)
        correct += labels.classes[j] == estimate_[labels.tasks[j]] ? 1 : 0;
      agreement_[w] = w < given_.workers.size() ? given_.workers[w] : WorkerCounts{};
      agreement_[w] += {correct, static_cast<double>(labels.size())};
    }
  });
  return changed;
}

double mean_agreement(const std::vector<WorkerCounts>& agreement) {
  WorkerCounts all;
  for (const WorkerCounts& counts : agreement) all += counts;
  return all.seen > 0 ? all.correct / all.seen : 0;
}

template <class Normalize>
void WeightedVote::report(std::span<const double> weights, const Normalize& normalize,
                          Result& result) const {
  const std::uint32_t classes = labels_.num_classes();
  result.estimate.assign(estimate_.begin(), estimate_.end());
  result.confidence.resize(estimate_.size());
  if (context_.posterior) result.posterior.resize(estimate_.size() * classes);
  parallel_ranges(context_.threads, labels_.num_tasks(), Posteriors::kTasksPerBlock,
                  [&](std::size_t first, std::size_t last, int) {
                    std::vector<double> row(classes);
                    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
                      const TaskLabels task = labels_.task(t);
                      std::fill(row.begin(), row.end(), 0.0);
                      for (std::size_t j = 0; j < task.size(); ++j)
                        row[task.classes[j]] += weights[task.workers[j]];
                      normalize(row);
                      if (given_.truth(t) != kNoClass) certain(given_.truth(t), row);
                      result.confidence[t] = estimate_[t] == kNoClass ? 0 : row[estimate_[t]];
                      if (context_.posterior) {
                        std::copy(row.begin(), row.end(),
                                  result.posterior.begin() + static_cast<std::ptrdiff_t>(t) * classes);
                      }
                    }
                  });
  result.learned.counts = agreement_;
  result.learned.classes = classes;
}

namespace {

void to_shares(std::span<double> scores) {
  for (double& score : scores) score = std::max(score, kLeastProbability);
  const double sum = std::accumulate(scores.begin(), scores.end(), 0.0);
  for (double& score : scores) score /= sum;
}

}  // namespace

void WeightedVote::report_shares(std::span<const double> weights, Result& result) const {
  report(weights, to_shares, result);
}

void WeightedVote::report_exponential(std::span<const double> weights, double rate,
                                      Result& result) const {
  report(
      weights,
      [rate](std::span<double> row) {
        const double highest = *std::max_element(row.begin(), row.end());
        for (double& score : row) score = std::exp(rate * (score - highest));
        to_shares(row);
      },
      result);
}

}  // namespace crowdfold
