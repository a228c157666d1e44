#include "methods/batch.h"

#include <algorithm>
#include <numeric>

#include "core/random.h"
#include "crowdfold/error.h"

namespace crowdfold {
namespace {

// The names of the methods that `fits`.
template <class Fits>
std::string methods_that(const Fits& fits) {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods()) {
    if (fits(info)) names.push_back(info.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

void require_fit(const std::string& method, const Takes& takes, const Labels& labels,
                 const Given& given) {
  const auto refuse = [&](const std::string& why, const std::string& others) {
    throw Error(ErrorCode::usage, fmt::format("{} {}; methods that fit: {}", method, why, others));
  };
  if (labels.num_classes() > takes.most_classes) {
    refuse(fmt::format("is for {} classes at most, and there are {}", takes.most_classes,
                       labels.num_classes()),
           methods_that([&](const MethodInfo& i) { return i.most_classes >= labels.num_classes(); }));
  }
  const auto known = [](ClassId truth) { return truth != kNoClass; };
  if (!takes.truths && std::any_of(given.truths.begin(), given.truths.end(), known))
    refuse("cannot use known truths", methods_that([](const MethodInfo& i) { return i.takes_truths; }));
  const auto seen = [](const WorkerCounts& counts) { return counts.seen > 0; };
  if (!takes.workers && std::any_of(given.workers.begin(), given.workers.end(), seen)) {
    refuse("cannot use earlier worker qualities",
           methods_that([](const MethodInfo& i) { return i.takes_workers; }));
  }
}

void require_memory(const std::string& method, std::uint64_t bytes, const RunContext& context) {
  if (context.max_memory == 0 || bytes <= context.max_memory) return;
  constexpr double kGigabyte = 1e9;
  throw Error(ErrorCode::usage,
              fmt::format("{} would need {:.1f} GB of memory, and {:.1f} GB may be used", method,
                          static_cast<double>(bytes) / kGigabyte,
                          static_cast<double>(context.max_memory) / kGigabyte));
}

std::vector<TaskId> shuffled_tasks(TaskId num_tasks, std::uint64_t seed) {
  std::vector<TaskId> tasks(num_tasks);
  std::iota(tasks.begin(), tasks.end(), 0);
  Random(seed).shuffle(tasks);
  return tasks;
}

Estimate OnlineMethod::observe(const TaskLabels& labels, ClassId truth, std::span<double> posterior) {
  if (truth != kNoClass) {
    learn(labels, truth);
    return certain(truth, posterior);
  }
  if (looks_twice()) {
    learn(labels);
    return estimate(labels, posterior);
  }
  const Estimate judged = estimate(labels, posterior);
  learn(labels, judged.label);
  return judged;
}

}  // namespace crowdfold
