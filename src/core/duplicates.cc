#include "core/duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace crowdfold {

DuplicateLabel::DuplicateLabel(std::string_view task_name, std::string_view worker_name,
                               Location location)
    : Error(
          ErrorCode::data, std::move(location),
          fmt::format(
              "worker '{}' labels task '{}' a second time (--duplicates last, first or keep accepts it)",
              worker_name, task_name)),
      task(task_name),
      worker(worker_name) {}

std::size_t Deduplicator::apply(WorkerId* workers, ClassId* classes, std::size_t count) {
  if (rule_ == Duplicates::keep) return count;
  if (++stamp_ == 0) {  // wrapped around: forget the old stamps
    std::fill(seen_.begin(), seen_.end(), Seen{});
    stamp_ = 1;
  }
  std::size_t kept = 0;
  for (std::size_t j = 0; j < count; ++j) {
    Seen& seen = seen_[workers[j]];
    if (seen.stamp == stamp_) {
      ++duplicates;
      if (rule_ == Duplicates::error) {
        offender = workers[j];
        return count;
      }
      if (rule_ == Duplicates::last) classes[seen.position] = classes[j];
      continue;
    }
    seen = {stamp_, static_cast<std::uint32_t>(kept)};
    workers[kept] = workers[j];
    classes[kept] = classes[j];
    ++kept;
  }
  return kept;
}

}  // namespace crowdfold
