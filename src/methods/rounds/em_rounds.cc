#include "methods/rounds/em_rounds.h"

#include <cmath>

namespace crowdfold {

std::vector<double> EmSums::shares() const {
  std::vector<double> shares;
  shares.reserve(totals.size());
  for (const std::uint64_t units : totals) shares.push_back(share_of_units(units));
  return shares;
}

void EmSummary::add(const RoundSummary& summary) {
  const EmSums& other = static_cast<const EmSummary&>(summary).sums;
  for (std::size_t i = 0; i < sums.counts.size(); ++i) sums.counts[i] += other.counts[i];
  for (std::size_t k = 0; k < sums.totals.size(); ++k) sums.totals[k] += other.totals[k];
  sums.evidence += other.evidence;
  sums.change = std::max(sums.change, other.change);
}

void EmSummary::exchange(Archive& archive) {
  archive.rows(sums.counts, width, per_worker);
  archive.array(sums.totals);
  archive.value(sums.evidence);
  archive.value(sums.change);
}

void write_vote_shares(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                       std::span<double> rows) {
  const std::size_t width = row_width(classes);
  std::fill(rows.begin(), rows.end(), 0.0);
  for (TaskId t = first; t < last; ++t) {
    const std::span<double> row = rows.subspan((t - first) * width, classes);
    const TaskLabels task = block.task(t);
    if (const ClassId truth = block.truth(t); truth != kNoClass) {
      row[truth] = 1;
    } else if (task.size() == 0) {
      std::fill(row.begin(), row.end(), 1.0 / classes);
    } else {
      for (const ClassId c : task.classes) row[c] += 1.0 / static_cast<double>(task.size());
    }
  }
}

void correct_scores(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                    std::span<double> scores) {
  const std::size_t width = row_width(classes);
  for (TaskId t = first; t < last; ++t) {
    const ClassId truth = block.truth(t);
    if (truth == kNoClass && block.task(t).size() > 0) continue;
    const std::span<double> row = scores.subspan((t - first) * width, classes);
    for (std::uint32_t k = 0; k < classes; ++k) {
      if (truth == kNoClass) {
        row[k] = -std::log(classes);
      } else if (k != truth) {
        row[k] = kImpossible;
      }
    }
  }
}

ClassId elected(const TaskLabels& task, std::uint32_t classes, const TieRule& rule) {
  return with_ballot(classes, task, [&](auto& ballot) {
    for (const ClassId c : task.classes) ballot.add(c, 1);
    return ballot.winner(rule);
  });
}

}  // namespace crowdfold
