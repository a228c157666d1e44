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

Estimate judge_by_prior(const TaskLabels& task, std::uint32_t classes, std::span<double> posterior,
                        double quality) {
  quality = std::max(quality, 1.0 / classes);  // nobody is taken for worse than a guess
  const double wrong = classes > 1 ? (1 - quality) / (classes - 1.0) : 0;
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

LoneWorkers::LoneWorkers(const Labels& labels, const Knowledge& given) {
  for (TaskId t = 0; t < labels.num_tasks() && met_ < labels.num_workers(); ++t)
    add(labels.task(t), given.truth(t));
  leave_out_known(given.workers);
}

void LoneWorkers::note(WorkerId w, Meets meets) {
  if (w >= meets_.size()) meets_.resize(w + 1ULL);
  if (meets_[w] >= meets) return;
  lone_ -= meets_[w] == Meets::nobody ? 1 : 0;
  lone_ += meets == Meets::nobody ? 1 : 0;
  met_ += meets == Meets::somebody ? 1 : 0;
  meets_[w] = meets;
}

void LoneWorkers::add(const TaskLabels& task, ClassId truth) {
  const Meets meets = truth != kNoClass || workers_meet(task) ? Meets::somebody : Meets::nobody;
  for (const WorkerId w : task.workers) note(w, meets);
}

void LoneWorkers::add(const LoneWorkers& others) {
  for (WorkerId w = 0; w < others.meets_.size(); ++w) {
    if (others.meets_[w] != Meets::unseen) note(w, others.meets_[w]);
  }
}

void LoneWorkers::leave_out_known(std::span<const WorkerCounts> history) {
  for (WorkerId w = 0; w < std::min(meets_.size(), history.size()); ++w) {
    if (history[w].seen > 0) note(w, Meets::somebody);
  }
}

void LoneWorkers::exchange(Archive& archive) {
  archive.rows(meets_, 1);
  while (!meets_.empty() && meets_.back() == Meets::unseen) meets_.pop_back();
  const auto count = [&](Meets meets) {
    return static_cast<std::size_t>(std::count(meets_.begin(), meets_.end(), meets));
  };
  lone_ = count(Meets::nobody);
  met_ = count(Meets::somebody);
}

void LoneWorkers::forget(WorkerState& learned, std::span<const WorkerCounts> history) const {
  for (WorkerId w = 0; w < std::min(meets_.size(), learned.counts.size()); ++w) {
    if (has(w)) learned.counts[w] = w < history.size() ? history[w] : WorkerCounts{};
  }
  for (StateSection& section : learned.sections) {
    const auto axis = std::find(section.axes.begin(), section.axes.end(), StateSection::Axis::worker);
    if (axis == section.axes.end()) continue;
    const auto place = static_cast<std::size_t>(axis - section.axes.begin());
    const StateSection all = section;
    section.keys.clear();
    section.values.clear();
    for (std::size_t i = 0; i < all.rows(); ++i) {
      const std::span<const std::uint32_t> key = all.key(i);
      if (has(key[place])) continue;
      section.keys.insert(section.keys.end(), key.begin(), key.end());
      const std::span<const double> row = all.row(i);
      section.values.insert(section.values.end(), row.begin(), row.end());
    }
  }
}

double LoneWorkers::quality_of_others(const WorkerState& learned) const {
  constexpr double kLabels = 20;  // that the belief about any crowd is worth
  WorkerCounts all{kUnknownQuality * kLabels, kLabels};
  for (WorkerId w = 0; w < learned.counts.size(); ++w) {
    if (!has(w)) all += learned.counts[w];
  }
  return all.correct / all.seen;
}

void let_crowd_speak_for(const LoneWorkers& lone, const Labels& labels, const Knowledge& given,
                         Result& result) {
  const std::size_t classes = labels.num_classes();
  const double quality = lone.quality_of_others(result.learned);
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    if (!lone.labelled(task)) continue;
    std::span<double> posterior;
    if (!result.posterior.empty()) posterior = std::span(result.posterior).subspan(t * classes, classes);
    const Estimate answer = judge_by_prior(task, labels.num_classes(), posterior, quality);
    for (double& p : posterior) p = with_doubt(p, result.doubt, static_cast<double>(classes));
    result.estimate[t] = answer.label;
    result.confidence[t] = with_doubt(answer.confidence, result.doubt, static_cast<double>(classes));
  }
  lone.forget(result.learned, given.workers);
  write_by_quality(quality, labels.num_classes(), result.confusion, &lone);
}

void write_by_quality(double quality, std::uint32_t classes, std::span<double> confusion,
                      const LoneWorkers* lone) {
  const std::size_t cells = static_cast<std::size_t>(classes) * classes;
  for (std::size_t i = 0; i < confusion.size(); ++i) {
    if (lone != nullptr && !lone->has(static_cast<WorkerId>(i / cells))) continue;
    const bool right = i % cells % (classes + 1ULL) == 0;
    confusion[i] = right ? quality : (1 - quality) / (classes - 1.0);
  }
}

void forget_all(WorkerState& learned, std::uint32_t workers, std::span<const WorkerCounts> history) {
  WorkerState nothing;
  nothing.alpha = learned.alpha;
  nothing.beta = learned.beta;
  nothing.expect(workers, learned.classes);
  std::copy_n(history.begin(), std::min(history.size(), nothing.counts.size()), nothing.counts.begin());
  learned = std::move(nothing);
}

void let_prior_rule(const Labels& labels, const Knowledge& given, Result& result) {
  const std::uint32_t classes = labels.num_classes();
  result.learned.classes = classes;
  forget_all(result.learned, labels.num_workers(), given.workers);
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
  write_by_quality(kUnknownQuality, classes, result.confusion);
}

}  // namespace crowdfold
