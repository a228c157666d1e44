#include "methods/em.h"

#include <numeric>

#include "core/vector_math.h"

namespace crowdfold {

double normalize_log_rows(std::span<double> rows, std::uint32_t states) {
  constexpr double kLeast = -690;
  if (rows.empty()) return 0;
  const std::size_t count = rows.size() / states;
  double evidence = 0;
  for (std::size_t r = 0; r < count; ++r) {
    const std::span<double> row = rows.subspan(r * states, states);
    double highest = row[0];
    for (const double value : row) highest = std::max(highest, value);
    for (double& value : row) value = std::max(value - highest, kLeast);
    evidence += highest;
  }
  vector_exp(rows);
  std::vector<double> sums(count);
  for (std::size_t r = 0; r < count; ++r) {
    const std::span<double> row = rows.subspan(r * states, states);
    for (const double value : row) sums[r] += value;
    const double scale = 1 / sums[r];
    for (double& value : row) value *= scale;
  }
  vector_log(sums);
  for (const double log_sum : sums) evidence += log_sum;
  return evidence;
}

std::vector<double> log_shares(std::vector<double> totals) {
  const double sum = std::accumulate(totals.begin(), totals.end(), 0.0);
  for (double& value : totals) value = std::max(value / sum, kLeastProbability);
  vector_log(totals);
  return totals;
}

void Posteriors::start_from_votes(int threads) {
  const double in_class = 1.0 / subtypes_;
  parallel_ranges(threads, labels_.num_tasks(), kTasksPerBlock,
                  [&](std::size_t first, std::size_t last, int) {
                    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
                      const std::span<double> row = rows(t, t + 1ULL);
                      std::fill(row.begin(), row.end(), is_judged(t) ? 0 : 1.0 / states_);
                      const auto add = [&](ClassId c, double share) {
                        for (std::uint32_t s = c * subtypes_; s < (c + 1U) * subtypes_; ++s)
                          row[s] += share * in_class;
                      };
                      const ClassId truth = given_.truth(t);
                      if (truth != kNoClass) {
                        add(truth, 1);
                        continue;
                      }
                      const std::span<const ClassId> votes = labels_.task(t).classes;
                      for (const ClassId c : votes) add(c, 1.0 / static_cast<double>(votes.size()));
                    }
                  });
}

double Posteriors::largest_change(std::span<const double> before, std::span<const double> after) const {
  double largest = 0;
  for (std::size_t i = 0; i < before.size(); i += subtypes_) {
    double change = 0;
    for (std::size_t s = i; s < i + subtypes_; ++s) change += after[s] - before[s];
    largest = std::max(largest, std::abs(change));
  }
  return largest;
}

std::vector<double> Posteriors::totals(int threads) const {
  const std::size_t num_tasks = labels_.num_tasks();
  std::vector<std::vector<double>> blocks((num_tasks + kTasksPerBlock - 1) / kTasksPerBlock);
  parallel_ranges(threads, num_tasks, kTasksPerBlock, [&](std::size_t first, std::size_t last, int) {
    std::vector<double>& sum = blocks[first / kTasksPerBlock];
    sum.resize(states_);
    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
      if (!is_judged(t)) continue;
      const std::span<const double> row = (*this)[t];
      for (std::uint32_t s = 0; s < states_; ++s) sum[s] += row[s];
    }
  });
  std::vector<double> all(states_);
  for (const std::vector<double>& sum : blocks) {
    for (std::uint32_t s = 0; s < states_; ++s) all[s] += sum[s];
  }
  return all;
}

void Posteriors::report(const RunContext& context, Result& result) const {
  const TaskId num_tasks = labels_.num_tasks();
  const std::uint32_t classes = labels_.num_classes();
  result.estimate.resize(num_tasks);
  result.confidence.resize(num_tasks);
  if (context.posterior) result.posterior.resize(static_cast<std::size_t>(num_tasks) * classes);
  std::vector<double> of_class(classes);
  for (TaskId t = 0; t < num_tasks; ++t) {
    const std::span<const double> row = (*this)[t];
    std::fill(of_class.begin(), of_class.end(), 0.0);
    for (std::uint32_t s = 0; s < states_; ++s)
      of_class[s / subtypes_] = std::min(of_class[s / subtypes_] + row[s], 1.0);
    if (const ClassId truth = given_.truth(t); truth != kNoClass) {
      std::fill(of_class.begin(), of_class.end(), 0.0);
      of_class[truth] = 1;
    }
    const auto best = std::max_element(of_class.begin(), of_class.end());
    result.estimate[t] = is_judged(t) ? static_cast<ClassId>(best - of_class.begin()) : kNoClass;
    result.confidence[t] = is_judged(t) ? *best : 0;
    if (context.posterior)
      std::copy(of_class.begin(), of_class.end(),
                result.posterior.begin() + static_cast<std::ptrdiff_t>(t) * classes);
  }
}

}  // namespace crowdfold
