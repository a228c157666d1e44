// Whether labels change over time. Labels know the order of their tasks only: that of first appearance.
#include <algorithm>

#include "report/parts.h"

namespace crowdfold {
namespace {

constexpr std::uint64_t kMostChunks = 24;
constexpr std::uint64_t kFewestTasks = 60;  // in a chunk
constexpr std::size_t kFollowedClasses = 6;

}  // namespace

std::vector<DriftChunk> follow_drift(const ReportInput& reported,
                                     std::span<const ReportedClass> classes) {
  const Labels& labels = reported.labels;
  const std::uint64_t tasks = labels.num_tasks();
  const std::uint64_t chunks = std::min(kMostChunks, tasks / kFewestTasks);
  if (chunks < 2) return {};
  const std::size_t followed = std::min(kFollowedClasses, classes.size());
  std::vector<std::size_t> place(labels.num_classes(), followed);
  for (std::size_t i = 0; i < followed; ++i) place[classes[i].label] = i;

  std::vector<DriftChunk> drift(chunks);
  for (std::uint64_t i = 0; i < chunks; ++i) {
    DriftChunk& chunk = drift[i];
    chunk.first_task = i * tasks / chunks;
    const std::uint64_t end = (i + 1) * tasks / chunks;
    chunk.tasks = end - chunk.first_task;
    chunk.classes.resize(followed);
    for (auto t = static_cast<TaskId>(chunk.first_task); t < end; ++t) {
      const ClassId estimate = reported.result.estimate[t];
      if (estimate == kNoClass) continue;
      chunk.confidence += reported.result.confidence[t] / static_cast<double>(chunk.tasks);
      if (place[estimate] < followed) ++chunk.classes[place[estimate]];
      const std::span<const ClassId> given = labels.task(t).classes;
      const auto agreed = std::count(given.begin(), given.end(), estimate);
      const double share = static_cast<double>(agreed) / static_cast<double>(given.size());
      chunk.labels += given.size();
      chunk.agreed += static_cast<std::uint64_t>(agreed);
      ++chunk.labelled;
      chunk.share += share;
      chunk.squared_share += share * share;
    }
  }
  return drift;
}

}  // namespace crowdfold
