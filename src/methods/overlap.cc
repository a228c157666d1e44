#include "methods/overlap.h"

#include <algorithm>

namespace crowdfold {

bool workers_meet(const TaskLabels& task) {
  const auto other = [&](WorkerId w) { return w != task.workers.front(); };
  return std::any_of(task.workers.begin(), task.workers.end(), other);
}

bool tells_nothing(const Labels& labels, const Knowledge& given) {
  const auto known = [](ClassId truth) { return truth != kNoClass; };
  const auto seen = [](const WorkerCounts& counts) { return counts.seen > 0; };
  const auto meet = [&] {
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      if (workers_meet(labels.task(t))) return true;
    }
    return false;
  };
  // Of one class everybody is right by construction, whatever is known besides.
  return labels.num_classes() == 1 ||
         (!meet() && std::none_of(given.truths.begin(), given.truths.end(), known) &&
          std::none_of(given.workers.begin(), given.workers.end(), seen));
}

Estimate judge_by_prior(const TaskLabels& task, std::uint32_t classes, std::span<double> posterior) {
  const double wrong = classes > 1 ? (1 - kUnknownQuality) / (classes - 1.0) : 0;
  const double right = 1 - wrong * (classes - 1.0);
  const auto labels = static_cast<double>(task.size());
  const auto probability = [&](double votes) {
    return labels > 0 ? (votes * right + (labels - votes) * wrong) / labels : 1.0 / classes;
  };
  std::fill(posterior.begin(), posterior.end(), probability(0));
  Estimate best;
  for (const ClassId label : task.classes) {
    const auto votes = static_cast<double>(std::count(task.classes.begin(), task.classes.end(), label));
    const double p = probability(votes);
    if (!posterior.empty()) posterior[label] = p;
    if (p > best.confidence || (p == best.confidence && label < best.label)) best = {label, p};
  }
  return best;
}

void let_prior_rule(const Labels& labels, const Knowledge& given, Result& result) {
  const std::uint32_t classes = labels.num_classes();
  WorkerState learned;
  learned.alpha = result.learned.alpha;
  learned.beta = result.learned.beta;
  learned.expect(labels.num_workers(), classes);
  std::copy_n(given.workers.begin(), std::min(given.workers.size(), learned.counts.size()),
              learned.counts.begin());
  result.learned = std::move(learned);
  if (classes == 1) return;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    std::span<double> posterior;
    if (!result.posterior.empty())
      posterior = std::span(result.posterior).subspan(static_cast<std::size_t>(t) * classes, classes);
    const Estimate answer = judge_by_prior(labels.task(t), classes, posterior);
    result.estimate[t] = answer.label;
    result.confidence[t] = answer.confidence;
  }
  result.doubt = 0;
  for (std::size_t i = 0; i < result.confusion.size(); ++i) {
    const std::size_t cell = i % (static_cast<std::size_t>(classes) * classes);
    result.confusion[i] =
        cell % (classes + 1ULL) == 0 ? kUnknownQuality : (1 - kUnknownQuality) / (classes - 1.0);
  }
}

}  // namespace crowdfold
