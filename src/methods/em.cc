#include "methods/em.h"

#include <numeric>

#include "base/vector_math.h"
#include "methods/result_room.h"

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

Posteriors::Posteriors(const Labels& labels, const Knowledge& given, std::uint32_t subtypes)
    : labels_(labels),
      given_(given),
      subtypes_(subtypes),
      states_(labels.num_classes(), subtypes),
      values_(static_cast<std::size_t>(labels.num_tasks()) * states_.width()),
      by_class_(subtypes > 1 ? static_cast<std::size_t>(labels.num_tasks()) * labels.num_classes() : 0) {
  for (TaskId t = 0; t < labels.num_tasks() && all_labelled_; ++t)
    all_labelled_ = labels.task(t).size() > 0;
}

std::size_t ranges_to_learn(const Labels& labels, std::uint64_t entries) {
  constexpr std::uint64_t kMost = 32;
  constexpr std::uint64_t kLabelsPerEntry = 16;  // with 8, a million labels took half as long again
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
                    const std::span<double> block = rows(first, last);
                    std::fill(block.begin(), block.end(), 0.0);
                    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
                      const std::span<double> share = classes(t);
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

void Posteriors::correct(TaskId t, std::span<double> logs) const {
  if (const ClassId truth = given_.truth(t); truth != kNoClass) {
    for (std::size_t s = 0; s < logs.size(); ++s) {
      if (states_.class_of(s) != truth) logs[s] = kImpossible;
    }
  } else if (labels_.task(t).size() == 0) {
    std::size_t s = 0;
    for (const std::uint32_t end : states_.ends()) {
      const double share = 1.0 / labels_.num_classes() / static_cast<double>(end - s);
      for (; s < end; ++s) logs[s] = std::log(share);
    }
  }
}

double Posteriors::add_up_classes(std::size_t first, std::size_t last) {
  const std::size_t width = states_.width();
  const std::size_t num_classes = labels_.num_classes();
  const std::uint32_t* const ends = states_.ends().data();
  const double* row = values_.data() + first * width;
  double* of_class = by_class_.data() + first * num_classes;
  double change = 0;
  for (; first < last; ++first, row += width, of_class += num_classes) {
    std::size_t s = 0;
    for (std::size_t k = 0; k < num_classes; ++k) {
      double sum = 0;
      for (const std::size_t end = ends[k]; s < end; ++s) sum += row[s];
      const double move = std::abs(sum - of_class[k]);
      change = move > change ? move : change;
      of_class[k] = sum;
    }
  }
  return change;
}

void Posteriors::add_up_judged(std::size_t first, std::size_t last, std::span<double> totals) const {
  while (first < last) {
    std::size_t end = all_labelled_ ? last : first;
    while (end < last && is_judged(static_cast<TaskId>(end))) ++end;
    add_up_rows(rows(first, end), totals);
    first = end + 1;
  }
}

void Posteriors::keep(std::span<const std::uint32_t> states) {
  const std::size_t before = states_.width();
  states_.keep(states);
  const std::size_t after = states_.width();
  double* const values = values_.data();
  for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
    for (std::size_t s = 0; s < after; ++s)
      values[t * after + s] = s < states.size() ? values[t * before + states[s]] : 0;
  }
  values_.resize(labels_.num_tasks() * after);
}

std::vector<double> Posteriors::totals(int threads) const {
  const std::size_t num_tasks = labels_.num_tasks();
  std::vector<std::vector<double>> blocks((num_tasks + kTasksPerBlock - 1) / kTasksPerBlock);
  parallel_ranges(threads, num_tasks, kTasksPerBlock, [&](std::size_t first, std::size_t last, int) {
    std::vector<double>& sum = blocks[first / kTasksPerBlock];
    sum.resize(states_.width());
    add_up_judged(first, last, sum);
  });
  std::vector<double> all(states_.width());
  for (const std::vector<double>& sum : blocks) add_up_rows(sum, all);
  all.resize(states_.size());
  return all;
}

ClassId most_probable(std::span<const double> of_class, const TaskLabels& task) {
  const double highest = *std::max_element(of_class.begin(), of_class.end());
  ClassId best = kNoClass;
  std::ptrdiff_t most = -1;
  for (std::size_t k = 0; k < of_class.size(); ++k) {
    if (of_class[k] < highest - kOnlyRounding) continue;
    const auto votes = std::count(task.classes.begin(), task.classes.end(), k);
    if (votes > most) best = static_cast<ClassId>(k);
    most = std::max(most, votes);
  }
  return best;
}

void Posteriors::report(const RunContext& context, Result& result) const {
  const TaskId num_tasks = labels_.num_tasks();
  const std::uint32_t num_classes = labels_.num_classes();
  ResultRoom room(labels_, context, result);
  std::vector<double> of_class(num_classes);
  for (TaskId t = 0; t < num_tasks; ++t) {
    const std::span<const double> row = classes(t);
    for (std::size_t k = 0; k < row.size(); ++k) of_class[k] = std::min(row[k], 1.0);
    if (const ClassId truth = given_.truth(t); truth != kNoClass) {
      std::fill(of_class.begin(), of_class.end(), 0.0);
      of_class[truth] = 1;
    }
    const ClassId best = most_probable(of_class, labels_.task(t));
    room.put(t, is_judged(t) ? Estimate{best, of_class[best]} : Estimate());
    const std::span<double> posterior = room.posterior(t);
    std::copy_n(of_class.begin(), posterior.size(), posterior.begin());
  }
}

}  // namespace crowdfold
