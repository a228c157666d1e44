// What EM in rounds knows of workers with a confusion matrix each (methods/rounds/em_rounds.h).
#pragma once

#include <span>
#include <vector>

#include "methods/confusion/confusion.h"
#include "methods/rounds/em_rounds.h"

namespace crowdfold {

// Logarithms, or their expectations: of the shares of classes, and of how likely worker i says l where
// the truth is k.
class ConfusionTables {
 public:
  void prepare(std::uint32_t workers, std::uint32_t classes);

  std::vector<double>& log_rho() { return log_rho_; }
  const std::vector<double>& log_rho() const { return log_rho_; }
  Confusion& log_pi() { return *log_pi_; }
  const Confusion& log_pi() const { return *log_pi_; }

  // The interface of EmModel.
  void add_scores(const TaskBlock& block, TaskId first, TaskId last, std::span<double> rows) const;
  std::size_t count_size() const { return workers_ * log_pi_->size(); }
  std::size_t count_width() const { return log_pi_->states().width(); }
  std::size_t count_rows() const { return log_pi_->labels(); }
  void add_counts(const TaskBlock& block, TaskId first, TaskId last,
                  std::span<const std::uint64_t> units, std::span<std::uint64_t> counts) const;
  std::uint64_t labels_of(WorkerId w, std::span<const std::uint64_t> counts) const;
  void exchange(Archive& archive);

 private:
  std::uint32_t workers_ = 0;
  std::vector<double> log_rho_;
  std::optional<Confusion> log_pi_;
};

// The counts of EmSums, in labels: how often every worker is expected to have said each label, by truth.
class SummedLabels {
 public:
  SummedLabels(const EmSums& sums, const ConfusionTables& tables, std::uint32_t workers)
      : counts_(sums.counts), tables_(tables), workers_(workers) {}

  std::uint32_t workers() const { return workers_; }
  const States& states() const { return tables_.log_pi().states(); }
  void add_to(WorkerId w, std::span<double> counts) const {
    const std::size_t size = tables_.log_pi().size();
    for (std::size_t i = 0; i < size; ++i) counts[i] += share_of_units(counts_[w * size + i]);
  }
  // By worker.
  std::vector<double> labels() const;

 private:
  std::span<const std::uint64_t> counts_;
  const ConfusionTables& tables_;
  std::uint32_t workers_;
};

// EM with confusion matrices, but for the M-step.
class ConfusionModel : public EmModel<ConfusionTables> {
 public:
  ConfusionModel(const EmPlan& plan, const RoundsInput& input) : EmModel(plan, input) {}

  // At the peak: tables of two rounds, sums of the last one, and a summary for each thread.
  static std::uint64_t bytes(const RoundsInput& input);

 protected:
  // log rho, of the shares of classes.
  void put_log_shares(const EmSums& sums, ConfusionTables& tables) const;
  // The same, and log pi: shares of labels and of what the prior adds, and any label equally likely
  // where no task speaks. Returns the logarithm of the prior's density.
  double learn_with(const PriorCounts& prior, const EmSums& sums, ConfusionTables& tables,
                    int threads) const;
  SummedLabels said(const EmSums& sums) const { return {sums, tables(), workers()}; }
  void report_workers(const EmSums& sums, const RunContext& context, Result& result) const override;
};

}  // namespace crowdfold
