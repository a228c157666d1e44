// How often the busiest workers agree with each other.
#include <algorithm>
#include <numeric>

#include "report/parts.h"

namespace crowdfold {
namespace {

constexpr std::size_t kMostPaired = 24;
constexpr std::uint32_t kNotPaired = 0xFFFF'FFFF;

}  // namespace

void pair_workers(const Reported& reported, Report& report) {
  std::vector<std::uint32_t> order(report.workers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return report.workers[a].labels > report.workers[b].labels;
  });
  order.resize(std::min(kMostPaired, order.size()));
  std::sort(order.begin(), order.end());  // best first again
  report.busiest = order;

  const std::size_t n = order.size();
  std::vector<std::uint32_t> place(reported.labels.num_workers(), kNotPaired);
  for (std::uint32_t i = 0; i < n; ++i) place[report.workers[order[i]].worker] = i;
  std::vector<WorkerPair> pairs(n * n);
  std::vector<std::pair<std::uint32_t, ClassId>> here;
  for (TaskId t = 0; t < reported.labels.num_tasks(); ++t) {
    const TaskLabels task = reported.labels.task(t);
    here.clear();
    for (std::size_t j = 0; j < task.size(); ++j) {
      if (place[task.workers[j]] != kNotPaired)
        here.emplace_back(place[task.workers[j]], task.classes[j]);
    }
    for (const auto& [a, said_a] : here) {
      for (const auto& [b, said_b] : here) {
        if (a >= b) continue;
        ++pairs[a * n + b].common;
        pairs[a * n + b].agreed += said_a == said_b ? 1 : 0;
      }
    }
  }
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) {
      const WorkerPair& pair = pairs[a * n + b];
      if (pair.common > 0) report.pairs.push_back({a, b, pair.common, pair.agreed});
    }
  }
}

}  // namespace crowdfold
