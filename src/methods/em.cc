#include "methods/em.h"

#include <numeric>

#include "core/vector_math.h"

namespace crowdfold {

std::vector<double> log_shares(std::vector<double> totals) {
  const double sum = std::accumulate(totals.begin(), totals.end(), 0.0);
  for (double& value : totals) value = std::max(value / sum, kLeastProbability);
  vector_log(totals);
  return totals;
}

States::States(std::uint32_t classes, std::uint32_t subtypes) : ends_(classes) {
  for (std::uint32_t s = 0; s < classes * subtypes; ++s)
    class_of_.push_back(static_cast<ClassId>(s / subtypes));
  count();
}

void States::keep(std::span<const std::uint32_t> states) {
  for (std::size_t i = 0; i < states.size(); ++i) class_of_[i] = class_of_[states[i]];
  class_of_.resize(states.size());
  count();
}

void States::count() {
  std::fill(ends_.begin(), ends_.end(), 0);
  for (const ClassId c : class_of_) ++ends_[c];
  std::partial_sum(ends_.begin(), ends_.end(), ends_.begin());
}

std::size_t ranges_to_learn(const Labels& labels, std::uint64_t entries) {
  constexpr std::uint64_t kMost = 32;
  constexpr std::uint64_t kLabelsPerEntry = 8;
  return std::clamp<std::uint64_t>(
      labels.num_labels() / kLabelsPerEntry / std::max<std::uint64_t>(1, entries), 1, kMost);
}

std::vector<double> numbers_of_labels(const Labels& labels) {
  std::vector<double> numbers(labels.num_workers());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    for (const WorkerId w : labels.task(t).workers) ++numbers[w];
  }
  return numbers;
}

void Posteriors::start_from_votes(int threads) {
  parallel_ranges(threads, labels_.num_tasks(), kTasksPerBlock,
                  [&](std::size_t first, std::size_t last, int) {
                    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
                      const std::span<double> share = classes(t, t + 1ULL);
                      const double none = 1.0 / static_cast<double>(share.size());
                      std::fill(share.begin(), share.end(), is_judged(t) ? 0 : none);
                      const std::span<const ClassId> votes = labels_.task(t).classes;
                      if (const ClassId truth = given_.truth(t); truth != kNoClass) {
                        share[truth] = 1;
                      } else {
                        for (const ClassId c : votes)
                          share[c] += 1.0 / static_cast<double>(votes.size());
                      }
                      if (subtypes_ == 1) continue;
                      const std::span<double> row = (*this)[t];
                      for (std::size_t s = 0; s < row.size(); ++s)
                        row[s] = share[states_.class_of(s)] / subtypes_;
                    }
                  });
}

void Posteriors::know_nothing(TaskId t) {
  const std::span<double> row = (*this)[t];
  std::size_t s = 0;
  for (const std::uint32_t end : states_.ends()) {
    const double share = 1.0 / labels_.num_classes() / static_cast<double>(end - s);
    for (; s < end; ++s) row[s] = std::log(share);
  }
}

void Posteriors::keep(std::span<const std::uint32_t> states) {
  const std::size_t before = states_.size();
  double* to = values_.data();
  for (const double* from = to; from < values_.data() + values_.size(); from += before) {
    for (const std::uint32_t s : states) *to++ = from[s];
  }
  states_.keep(states);
  values_.resize(static_cast<std::size_t>(labels_.num_tasks()) * states_.size());
}

std::vector<double> Posteriors::totals(int threads) const {
  const std::size_t num_tasks = labels_.num_tasks();
  std::vector<std::vector<double>> blocks((num_tasks + kTasksPerBlock - 1) / kTasksPerBlock);
  parallel_ranges(threads, num_tasks, kTasksPerBlock, [&](std::size_t first, std::size_t last, int) {
    std::vector<double>& sum = blocks[first / kTasksPerBlock];
    sum.resize(states_.size());
    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
      if (!is_judged(t)) continue;
      const std::span<const double> row = (*this)[t];
      for (std::size_t s = 0; s < states_.size(); ++s) sum[s] += row[s];
    }
  });
  std::vector<double> all(states_.size());
  for (const std::vector<double>& sum : blocks) {
    for (std::size_t s = 0; s < states_.size(); ++s) all[s] += sum[s];
  }
  return all;
}

void Posteriors::report(const RunContext& context, Result& result) const {
  const TaskId num_tasks = labels_.num_tasks();
  const std::uint32_t num_classes = labels_.num_classes();
  result.estimate.resize(num_tasks);
  result.confidence.resize(num_tasks);
  if (context.posterior) result.posterior.resize(static_cast<std::size_t>(num_tasks) * num_classes);
  std::vector<double> of_class(num_classes);
  for (TaskId t = 0; t < num_tasks; ++t) {
    const std::span<const double> row = classes(t);
    for (std::size_t k = 0; k < row.size(); ++k) of_class[k] = std::min(row[k], 1.0);
    if (const ClassId truth = given_.truth(t); truth != kNoClass) {
      std::fill(of_class.begin(), of_class.end(), 0.0);
      of_class[truth] = 1;
    }
    const auto best = std::max_element(of_class.begin(), of_class.end());
    result.estimate[t] = is_judged(t) ? static_cast<ClassId>(best - of_class.begin()) : kNoClass;
    result.confidence[t] = is_judged(t) ? *best : 0;
    if (context.posterior)
      std::copy(of_class.begin(), of_class.end(),
                result.posterior.begin() + static_cast<std::ptrdiff_t>(t) * num_classes);
  }
}

}  // namespace crowdfold
