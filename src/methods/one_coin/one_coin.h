// Shared by one-coin models: worker i is right with probability w_i, and otherwise says any of the
// other classes.
//
//   p(x_it = l | y_t = k)  =  w_i            if l = k
//                             (1 - w_i) / (K - 1)   otherwise
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/vector_math.h"
#include "methods/rounds/em_rounds.h"

namespace crowdfold {

// Writes qualities of workers with so many `labels` as counts and, if asked for, confusion matrices.
void report_qualities(std::span<const double> labels, std::uint32_t classes,
                      std::span<const double> quality, const RunContext& context, Result& result);

// What EM in rounds knows of them (methods/rounds/em_rounds.h).
class OneCoinTables {
 public:
  void prepare(std::uint32_t workers, std::uint32_t classes);

  // log rho, the shares of classes: all alike unless they are set.
  void set_log_shares(std::span<const double> logs) {
    std::copy(logs.begin(), logs.end(), log_rho_.begin());
  }
  void set_quality(double quality);
  // w_i = mean over i's labels of q_t(x_it)
  void learn(const EmSums& sums);
  std::span<const double> quality() const { return quality_; }

  // The interface of EmModel.
  void add_scores(const TaskBlock& block, TaskId first, TaskId last, std::span<double> rows) const;
  std::size_t count_size() const { return 2 * quality_.size(); }
  std::size_t count_width() const { return 2; }
  std::size_t count_rows() const { return 1; }
  void add_counts(const TaskBlock& block, TaskId first, TaskId last,
                  std::span<const std::uint64_t> units, std::span<std::uint64_t> counts) const;
  std::uint64_t labels_of(WorkerId w, std::span<const std::uint64_t> counts) const {
    return counts[2 * w + 1];
  }
  void exchange(Archive& archive);

 private:
  void take_logarithms();

  double others_ = 1;  // classes that are wrong
  std::uint32_t classes_ = 0;
  std::vector<double> log_rho_;
  std::vector<double> quality_;
  std::vector<double> right_;  // log w_i
  std::vector<double> wrong_;  // log (1 - w_i) / (K - 1)
};

// EM with one quality for each worker, but for the M-step.
class OneCoinModel : public EmModel<OneCoinTables> {
 public:
  OneCoinModel(const EmPlan& plan, const RoundsInput& input) : EmModel(plan, input) {}
  static std::uint64_t bytes(const RoundsInput& input) {
    constexpr std::uint64_t kNumbers = 16;  // of a worker
    return kNumbers * sizeof(double) * input.workers;
  }

 protected:
  void report_workers(const EmSums& sums, const RunContext& context, Result& result) const override;
};

}  // namespace crowdfold
