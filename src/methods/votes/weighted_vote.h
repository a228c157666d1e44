// Shared by weighted votes: a vote on all tasks with a weight for each worker, and how often each worker
// agrees with it.
#pragma once

#include <span>
#include <vector>

#include "labels/worker_major.h"
#include "methods/vote.h"

namespace crowdfold {

class WeightedVote {
 public:
  WeightedVote(const Labels& labels, const Knowledge& given, Ties ties, const RunContext& context)
      : labels_(labels),
        given_(given),
        ties_(ties),
        context_(context),
        by_worker_(labels, context.threads),
        estimate_(labels.num_tasks(), kNoClass),
        agreement_(labels.num_workers()) {}

  // Votes with a weight per worker. Returns how many estimates changed. Known truths stay.
  std::uint64_t vote(std::span<const double> weights);

  const std::vector<ClassId>& estimates() const { return estimate_; }
  const WorkerMajor& by_worker() const { return by_worker_; }
  // Each worker's agreement with the last vote, their history included.
  const std::vector<WorkerCounts>& agreement() const { return agreement_; }

  // Write estimates and workers. A class's probability is its share of all scores with these weights, or
  // is proportional to exp(rate score).
  void report_shares(std::span<const double> weights, Result& result) const;
  void report_exponential(std::span<const double> weights, double rate, Result& result) const;

  static std::uint64_t bytes(const Labels& labels) {
    return WorkerMajor::bytes(labels) + 2ULL * labels.num_tasks() + 24ULL * labels.num_workers();
  }

 private:
  // normalize(scores) turns one task's scores into probabilities.
  template <class Normalize>
  void report(std::span<const double> weights, const Normalize& normalize, Result& result) const;

  const Labels& labels_;
  const Knowledge& given_;
  Ties ties_;
  const RunContext& context_;
  WorkerMajor by_worker_;
  std::vector<ClassId> estimate_;
  std::vector<WorkerCounts> agreement_;
};

// The share of all labels that agree with a vote.
double mean_agreement(const std::vector<WorkerCounts>& agreement);

}  // namespace crowdfold
