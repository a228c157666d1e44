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

// Fewer labels may be all the same by chance. With this number, fewer than one in a thousand workers who
// label like the crowd would give them. Where 95 of 100 labels are of one class, that takes 135.
constexpr double kFewest = 10;
constexpr double kChance = 1e-3;
bool is_no_chance(double labels, double share) {
  return labels >= kFewest && labels * std::log(share) < std::log(kChance);
}

}  // namespace

void OneLabelCounts::add(const TaskLabels& task) {
  for (std::size_t j = 0; j < task.size(); ++j) add(task.workers[j], task.classes[j], 1);
}

void OneLabelCounts::add(WorkerId w, ClassId label, double labels) {
  if (w >= seen_.size()) seen_.resize(w + 1ULL);
  if (label >= of_class_.size()) of_class_.resize(label + 1ULL);
  Seen& worker = seen_[w];
  worker.several |= worker.labels > 0 && worker.label != label;
  worker.label = label;
  worker.labels += labels;
  of_class_[label] += labels;
  labels_ += labels;
}

bool OneLabelCounts::is_sure(WorkerId w) const {
  return has_one(w) && is_no_chance(seen_[w].labels, of_class_[seen_[w].label] / labels_);
}

bool OneLabelCounts::prevail() const {
  double theirs = 0;
  for (WorkerId w = 0; w < workers(); ++w) theirs += is_sure(w) ? seen_[w].labels : 0;
  return theirs > labels_ / 2;
}

OneLabelWorkers::OneLabelWorkers(const Labels& labels, const Knowledge& given) {
  find(labels, given);
  if (!empty()) count(labels, given);
}

void OneLabelWorkers::find(const Labels& labels, const Knowledge& given) {
  OneLabelCounts counts;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) counts.add(labels.task(t));
  const auto is_new = [&](WorkerId w) {
    return w >= given.workers.size() || given.workers[w].seen == 0;
  };
  const auto is_sure = [&](WorkerId w) { return is_new(w) && counts.is_sure(w); };
  double theirs = 0;
  for (WorkerId w = 0; w < counts.workers(); ++w) theirs += is_sure(w) ? counts.labels_of(w) : 0;
  prevail_ = theirs > counts.labels() / 2;
  // Where they prevail, those with few labels are no others.
  for (WorkerId w = 0; w < labels.num_workers() && theirs > 0; ++w) {
    const bool is_one =
        w < counts.workers() && (is_sure(w) || (prevail_ && is_new(w) && counts.has_one(w)));
    number_.push_back(is_one ? static_cast<std::uint32_t>(workers_.size()) : kNobody);
    if (is_one) workers_.emplace_back().label = counts.label_of(w);
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
