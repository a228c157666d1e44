#include "methods/one_label.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace crowdfold {
namespace {

// q: the quality of a worker of whom nothing is known.
constexpr double kPriorQuality = .7;
// s: labels that the prior of a rate is worth.
constexpr double kPriorLabels = 5;
// How much what such workers say of each other counts.
constexpr double kEcho = .5;

// Fewer labels may be all the same by chance: so many, and not one in a thousand workers who label like
// the crowd would give them. Where 95 of 100 labels are of one class, that takes 135.
constexpr double kFewest = 10;
constexpr double kChance = 1e-3;
bool is_no_chance(double labels, double share) {
  return labels >= kFewest && labels * std::log(share) < std::log(kChance);
}

}  // namespace

OneLabelWorkers::OneLabelWorkers(const Labels& labels, const Knowledge& given) {
  find(labels, given);
  if (!empty()) count(labels, given);
}

void OneLabelWorkers::find(const Labels& labels, const Knowledge& given) {
  struct Seen {
    std::uint32_t labels = 0;
    ClassId label = kNoClass;
    bool several = false;
  };
  std::vector<Seen> seen(labels.num_workers());
  std::vector<double> of_class(labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) {
      Seen& worker = seen[task.workers[j]];
      const ClassId label = task.classes[j];
      worker.several |= worker.labels++ > 0 && worker.label != label;
      worker.label = label;
      ++of_class[label];
    }
  }
  const auto all = static_cast<double>(labels.num_labels());
  const auto has_one = [&](WorkerId w) {
    const bool has_history = w < given.workers.size() && given.workers[w].seen > 0;
    return seen[w].labels > 0 && !seen[w].several && !has_history;
  };
  const auto is_sure = [&](WorkerId w) {
    return has_one(w) && is_no_chance(seen[w].labels, of_class[seen[w].label] / all);
  };
  double theirs = 0;
  for (WorkerId w = 0; w < seen.size(); ++w) theirs += is_sure(w) ? seen[w].labels : 0;
  prevail_ = theirs > all / 2;
  // Where they prevail, those with few labels are no others.
  for (WorkerId w = 0; w < seen.size() && theirs > 0; ++w) {
    number_.push_back(
        is_sure(w) || (prevail_ && has_one(w)) ? static_cast<std::uint32_t>(workers_.size()) : kNobody);
    if (number_.back() != kNobody) workers_.emplace_back().label = seen[w].label;
  }
}

void OneLabelWorkers::count(const Labels& labels, const Knowledge& given) {
  // One task of each class beforehand.
  vote_shares_.assign(labels.num_classes(), 1);
  truth_shares_ = vote_shares_;
  ByClass votes;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    if (const ClassId truth = given.truth(t); truth != kNoClass) {
      ++truth_shares_[truth];
      for (const WorkerId w : task.workers) {
        if (has(w)) ++workers_[number_[w]].truths[truth];
      }
    } else if (alone_on(task)) {
      votes.clear();
      for (const ClassId label : task.classes) votes[label] += 1 / static_cast<double>(task.size());
      for (const auto& [label, share] : votes) {
        vote_shares_[label] += share;
        for (const WorkerId w : task.workers) workers_[number_[w]].votes[label] += share;
      }
    }
  }
  for (std::vector<double>* const shares : {&vote_shares_, &truth_shares_}) {
    const double all = std::accumulate(shares->begin(), shares->end(), 0.0);
    for (double& share : *shares) share /= all;
  }
}

bool OneLabelWorkers::alone_on(const TaskLabels& task) const {
  return !empty() && task.size() > 0 &&
         std::all_of(task.workers.begin(), task.workers.end(), [&](WorkerId w) { return has(w); });
}

void OneLabelWorkers::write_row(WorkerId w, std::span<const double> credits,
                                std::span<const double> shares, std::span<float> row,
                                ClassId without) const {
  const Worker& worker = workers_[number_[w]];
  const std::size_t classes = vote_shares_.size();
  std::vector<double> n(classes);
  const auto fill = [&](const ByClass& counts) {
    std::fill(n.begin(), n.end(), 0.0);
    for (const auto& [k, count] : counts) n[k] = count;
    return std::accumulate(n.begin(), n.end(), 0.0);
  };

  const double others = std::max(1.0, static_cast<double>(classes) - 1);
  std::vector<double> prior(classes);
  const double votes = fill(worker.votes);
  for (std::size_t k = 0; k < classes; ++k)
    prior[k] = std::pow((n[k] + kPriorLabels) / (votes * vote_shares_[k] + kPriorLabels), kEcho);
  prior[worker.label] *= kPriorQuality * others / (1 - kPriorQuality);

  if (prevail_) {
    shares = truth_shares_;
    fill(worker.truths);
  } else {
    std::transform(credits.begin(), credits.end(), n.begin(), [](double c) { return std::max(c, 0.0); });
  }
  if (without != kNoClass) n[without] = std::max(n[without] - 1, 0.0);
  const double labels = std::accumulate(n.begin(), n.end(), 0.0);
  double mean = 0;
  for (std::size_t k = 0; k < classes; ++k) mean += shares[k] * prior[k];
  for (std::size_t k = 0; k < classes; ++k)
    row[k] = static_cast<float>(
        std::log((n[k] + kPriorLabels * prior[k] / mean) / (labels * shares[k] + kPriorLabels)));
}

}  // namespace crowdfold
