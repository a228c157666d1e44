#include "methods/one_coin/one_coin.h"

#include <cmath>

namespace crowdfold {

void report_qualities(std::span<const double> labels, std::uint32_t classes,
                      std::span<const double> quality, const RunContext& context, Result& result) {
  const double others = std::max(1.0, classes - 1.0);
  const auto workers = static_cast<std::uint32_t>(quality.size());
  result.learned.expect(workers, classes);
  if (context.confusion) result.confusion.resize(quality.size() * classes * classes);
  for (WorkerId w = 0; w < workers; ++w) {
    result.learned.counts[w] = {quality[w] * labels[w], labels[w]};
    if (!context.confusion) continue;
    double* const matrix = result.confusion.data() + static_cast<std::size_t>(w) * classes * classes;
    for (std::uint32_t k = 0; k < classes; ++k) {
      for (std::uint32_t l = 0; l < classes; ++l)
        matrix[k * classes + l] = k == l ? quality[w] : (1 - quality[w]) / others;
    }
  }
}

void OneCoinTables::prepare(std::uint32_t workers, std::uint32_t classes) {
  classes_ = classes;
  others_ = std::max(1.0, classes - 1.0);
  log_rho_.assign(row_width(classes), kImpossible);
  std::fill_n(log_rho_.begin(), classes, -std::log(classes));
  quality_.assign(workers, 1);
  take_logarithms();
}

void OneCoinTables::set_quality(double quality) {
  std::fill(quality_.begin(), quality_.end(), quality);
  take_logarithms();
}

void OneCoinTables::learn(const EmSums& sums) {
  for (std::size_t w = 0; w < quality_.size(); ++w) {
    const std::uint64_t labels = sums.counts[2 * w + 1];
    if (labels > 0) quality_[w] = share_of_units(sums.counts[2 * w]) / static_cast<double>(labels);
  }
  take_logarithms();
}

void OneCoinTables::add_scores(const TaskBlock& block, TaskId first, TaskId last,
                               std::span<double> rows) const {
  const std::size_t width = log_rho_.size();
  for (TaskId t = first; t < last; ++t) {
    const std::span<double> row = rows.subspan((t - first) * width, width);
    std::copy(log_rho_.begin(), log_rho_.end(), row.begin());
    const TaskLabels task = block.task(t);
    double all = 0;
    for (std::size_t j = 0; j < task.size(); ++j) {
      const WorkerId w = task.workers[j];
      row[task.classes[j]] += right_[w] - wrong_[w];
      all += wrong_[w];
    }
    for (std::size_t k = 0; k < classes_; ++k) row[k] += all;
  }
}

void OneCoinTables::add_counts(const TaskBlock& block, TaskId first, TaskId last,
                               std::span<const std::uint64_t> units,
                               std::span<std::uint64_t> counts) const {
  const std::size_t width = log_rho_.size();
  for (TaskId t = first; t < last; ++t) {
    const TaskLabels task = block.task(t);
    const std::uint64_t* const row = units.data() + (t - first) * width;
    for (std::size_t j = 0; j < task.size(); ++j) {
      counts[2 * task.workers[j]] += row[task.classes[j]];
      ++counts[2 * task.workers[j] + 1];
    }
  }
}

void OneCoinTables::exchange(Archive& archive) {
  archive.array(log_rho_);
  archive.rows(quality_, 1);
  if (archive.reads()) take_logarithms();
}

void OneCoinTables::take_logarithms() {
  right_.resize(quality_.size());
  wrong_.resize(quality_.size());
  for (std::size_t w = 0; w < quality_.size(); ++w) {
    right_[w] = std::max(quality_[w], kLeastProbability);
    wrong_[w] = std::max((1 - quality_[w]) / others_, kLeastProbability);
  }
  vector_log(right_);
  vector_log(wrong_);
}

void OneCoinModel::report_workers(const EmSums& sums, const RunContext& context, Result& result) const {
  const OneCoinTables last = final_tables(context.threads);
  std::vector<double> labels;
  for (WorkerId w = 0; w < workers(); ++w)
    labels.push_back(static_cast<double>(last.labels_of(w, sums.counts)));
  report_qualities(labels, classes(), last.quality(), context, result);
}

}  // namespace crowdfold
