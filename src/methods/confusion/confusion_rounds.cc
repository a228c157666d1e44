#include "methods/confusion/confusion_rounds.h"

#include <cmath>

namespace crowdfold {

void ConfusionTables::prepare(std::uint32_t workers, std::uint32_t classes) {
  workers_ = workers;
  log_rho_.assign(row_width(classes), kImpossible);
  std::fill_n(log_rho_.begin(), classes, -std::log(classes));
  log_pi_.emplace(workers, classes, States(classes));
}

void ConfusionTables::add_scores(const TaskBlock& block, TaskId first, TaskId last,
                                 std::span<double> rows) const {
  add_up_labels(block, log_pi_->labels(), first, last, log_rho_, log_pi_->of(0).data(), rows);
}

void ConfusionTables::add_counts(const TaskBlock& block, TaskId first, TaskId last,
                                 std::span<const std::uint64_t> units,
                                 std::span<std::uint64_t> counts) const {
  add_to_labels(block, log_pi_->labels(), first, last, units, counts.data());
}

// A label's shares sum to 1, but for rounding.
std::uint64_t ConfusionTables::labels_of(WorkerId w, std::span<const std::uint64_t> counts) const {
  double labels = 0;
  for (const std::uint64_t units : counts.subspan(w * log_pi_->size(), log_pi_->size()))
    labels += share_of_units(units);
  return static_cast<std::uint64_t>(std::llround(labels));
}

void ConfusionTables::exchange(Archive& archive) {
  archive.array(log_rho_);
  NumbersInPlace<double> rows{log_pi_->of(0, workers_)};
  archive.rows(rows, log_pi_->states().width(), log_pi_->labels());
}

std::vector<double> SummedLabels::labels() const {
  std::vector<double> labels;
  labels.reserve(workers_);
  for (WorkerId w = 0; w < workers_; ++w)
    labels.push_back(static_cast<double>(tables_.labels_of(w, counts_)));
  return labels;
}

std::uint64_t ConfusionModel::bytes(const RoundsInput& input) {
  constexpr std::uint64_t kTables = 5;
  const std::uint64_t classes = input.classes;
  return kTables * sizeof(double) * input.workers * classes * row_width(classes);
}

void ConfusionModel::put_log_shares(const EmSums& sums, ConfusionTables& tables) const {
  const std::vector<double> logs = log_shares(sums.shares());
  std::copy(logs.begin(), logs.end(), tables.log_rho().begin());
}

double ConfusionModel::learn_with(const PriorCounts& prior, const EmSums& sums, ConfusionTables& tables,
                                  int threads) const {
  put_log_shares(sums, tables);
  const auto uniform = [this](std::size_t, std::size_t) { return 1.0 / classes(); };
  return learn_shares(said(sums), prior, uniform, tables.log_pi(), threads);
}

void ConfusionModel::report_workers(const EmSums& sums, const RunContext& context,
                                    Result& result) const {
  ConfusionTables last = final_tables(context.threads);
  std::vector<double> log_rho = last.log_rho();
  log_rho.resize(classes());
  report_learned(said(sums).labels(), history(), std::move(last.log_pi()), std::move(log_rho), context,
                 result);
}

}  // namespace crowdfold
