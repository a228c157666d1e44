// How often workers agree with each other: busy ones who share many tasks.
#include <algorithm>
#include <numeric>

#include "report/parts.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMostCandidates = 200;  // the busiest
constexpr std::size_t kMostPaired = 24;       // of them, in the end
constexpr std::uint64_t kFewestCommon = 5;    // tasks; a share of fewer means nothing
constexpr std::uint32_t kNotPaired = 0xFFFF'FFFF;

// By places in Report::workers.
std::vector<std::uint32_t> busiest_workers(const std::vector<ReportedWorker>& workers) {
  std::vector<std::uint32_t> order(workers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return workers[a].labels > workers[b].labels;
  });
  order.resize(std::min(kMostCandidates, order.size()));
  return order;
}

// n x n, both halves filled: tasks in common, and how often the labels are the same.
std::vector<WorkerPair> count_pairs(const Labels& labels, const std::vector<WorkerId>& workers) {
  const std::size_t n = workers.size();
  std::vector<std::uint32_t> place(labels.num_workers(), kNotPaired);
  for (std::uint32_t i = 0; i < n; ++i) place[workers[i]] = i;
  std::vector<WorkerPair> pairs(n * n);
  std::vector<std::pair<std::uint32_t, ClassId>> here;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    const TaskLabels task = labels.task(t);
    here.clear();
    for (std::size_t j = 0; j < task.size(); ++j) {
      if (place[task.workers[j]] != kNotPaired)
        here.emplace_back(place[task.workers[j]], task.classes[j]);
    }
    for (const auto& [a, said_a] : here) {
      for (const auto& [b, said_b] : here) {
        if (a == b) continue;
        ++pairs[a * n + b].common;
        pairs[a * n + b].agreed += said_a == said_b ? 1 : 0;
      }
    }
  }
  return pairs;
}

// The busiest worker, then one after another the worker who shares most tasks with those chosen so far.
std::vector<std::uint32_t> choose_group(const std::vector<WorkerPair>& pairs, std::size_t n) {
  std::vector<std::uint32_t> chosen;
  std::vector<std::uint64_t> shared(n);
  std::vector<bool> taken(n);
  std::size_t next = 0;
  while (chosen.size() < std::min(kMostPaired, n)) {
    chosen.push_back(static_cast<std::uint32_t>(next));
    taken[next] = true;
    for (std::size_t i = 0; i < n; ++i) shared[i] += pairs[next * n + i].common;
    next = static_cast<std::size_t>(std::find(taken.begin(), taken.end(), false) - taken.begin());
    for (std::size_t i = next; i < n; ++i) {
      if (!taken[i] && shared[i] > shared[next]) next = i;
    }
  }
  return chosen;
}

}  // namespace

void pair_workers(const ReportInput& reported, Report& report) {
  const std::vector<std::uint32_t> candidates = busiest_workers(report.workers);
  const std::size_t n = candidates.size();
  std::vector<WorkerId> ids;
  for (const std::uint32_t place : candidates) ids.push_back(report.workers[place].worker);
  const std::vector<WorkerPair> pairs = count_pairs(reported.labels, ids);
  std::vector<std::uint32_t> group = choose_group(pairs, n);
  std::sort(group.begin(), group.end(), [&](std::uint32_t a, std::uint32_t b) {
    return candidates[a] < candidates[b];
  });  // best first
  for (const std::uint32_t member : group) report.busiest.push_back(candidates[member]);
  for (std::uint32_t a = 0; a < group.size(); ++a) {
    for (std::uint32_t b = a + 1; b < group.size(); ++b) {
      const WorkerPair& pair = pairs[group[a] * n + group[b]];
      if (pair.common >= kFewestCommon) report.pairs.push_back({a, b, pair.common, pair.agreed});
    }
  }
}

}  // namespace crowdfold
