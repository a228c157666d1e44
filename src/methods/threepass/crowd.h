// What a crowd says as a whole, and what that lets expect of a worker: equations (G), (H) and the
// centres of (W), for the methods that share them (threepass.cc states them).
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "crowdfold/worker_state.h"
#include "methods/threepass/credited_counts.h"
#include "methods/threepass/held_out.h"
#include "methods/threepass/threepass_kernels.h"

namespace crowdfold {

// The strengths of a prior of rows that (EB) compares.
inline constexpr std::array kStrengths = {1., 2., 4., 8., 16., 32., 64., 128.};

// Centres are at least this.
inline constexpr double kLeastCentre = 1e-9;

// Counts that (G) pools.
struct PooledLabels {
  const PooledCounts& counts;  // P, m
  WorkerCounts history;        // of all workers, given before
  double labels = 0;           // that were credited
};

// (G): all effects but the strength and lambda, and gamma ltau as `log_prior`. `prior_labels` is s1.
// `all_errors`: also E as a table.
void learn_crowd(const PooledLabels& pooled, double prior_labels, double class_power, bool all_errors,
                 CrowdEffects& crowd, std::span<float> log_prior);

// lambda
double symmetry_of(double strength, double c0, std::uint32_t classes);

// v / (1 - v) of a worker with such counts; `own` is s2.
double ability_of(const CrowdEffects& crowd, const WorkerCounts& counts, double own);

// b[k, l] of a worker with this ability.
double centre_of(const CrowdEffects& crowd, const PooledCounts& pooled, double ability, std::size_t k,
                 std::size_t l);

// Tab_i[k, l] where not all counts are stored, for a class that nobody named for the task.
double log_of_unnamed(double ability, std::uint32_t classes);
// Tab_i[., l] there, for a task to which some classes were `named`.
struct SparseWorker {
  WorkerId id;
  double ability;
  double strength;
  WorkerCounts history;
};
void write_sparse_row(const CrowdEffects& crowd, const PooledCounts& pooled,
                      const CreditedCounts& counts, const SparseWorker& worker,
                      std::span<const ClassId> named, ClassId label, std::span<float> row);

// gamma: how much class shares count. Little at first, later perhaps in full.
inline constexpr double kFullPower = 1;
inline double little_power(std::uint32_t classes) { return 1 / std::max(1.0, classes - 1.0); }
// gamma, by the guard for skewed classes.
inline double guarded_power(const HeldOut& held_out, double guard, std::uint32_t classes) {
  return held_out.favours_full_shares(guard) ? kFullPower : little_power(classes);
}

// (H) for one label: `scores` are h, computed with class_power, and `mean` is Vm; both in rows.
HeldOut likelihoods_of(const CrowdEffects& crowd, double class_power, std::uint32_t classes,
                       std::span<const float> scores, std::span<const float> mean);

// Rows of counts, and how likely a strength of their prior makes them.
class CountedRows {
 public:
  void clear();
  void add(double count, double centre);
  void add_total(double total) { totals_.push_back(total); }
  bool empty() const { return counts_.empty(); }
  // The Dirichlet-multinomial likelihood's logarithm.
  double log_likelihood(double strength);

 private:
  std::vector<double> counts_;
  std::vector<double> centres_;
  std::vector<double> totals_;
  std::vector<double> with_;
  std::vector<double> without_;
};

}  // namespace crowdfold
