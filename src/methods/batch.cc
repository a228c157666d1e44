#include "methods/batch.h"

#include <algorithm>
#include <numeric>

#include "base/random.h"
#include "crowdfold/error.h"
#include "crowdfold/words.h"

namespace crowdfold {
namespace {

// Error(usage) that names the methods that fit instead.
template <class Fits>
void refuse(const std::string& method, const std::string& why, const Fits& fits) {
  std::vector<std::string> names;
  for (const MethodInfo& info : methods()) {
    if (fits(info)) names.push_back(info.name);
  }
  throw Error(ErrorCode::usage,
              fmt::format("{} {}; methods that fit: {}", method, why, fmt::join(names, ", ")));
}

}  // namespace

void require_classes(const std::string& method, std::uint32_t most, std::uint32_t classes) {
  if (classes <= most) return;
  refuse(method, fmt::format("is for {} classes at most, and there are {}", most, classes),
         [&](const MethodInfo& i) { return i.traits.most_classes >= classes; });
}

void require_known(const std::string& method, const Traits& traits, std::uint32_t classes,
                   const Knowledge& given) {
  require_classes(method, traits.most_classes, classes);
  const auto known = [](ClassId truth) { return truth != kNoClass; };
  if (!traits.takes_truths && std::any_of(given.truths.begin(), given.truths.end(), known))
    refuse(method, "cannot use known truths", [](const MethodInfo& i) { return i.traits.takes_truths; });
  const auto seen = [](const WorkerCounts& counts) { return counts.seen > 0; };
  if (!traits.takes_workers && std::any_of(given.workers.begin(), given.workers.end(), seen)) {
    refuse(method, "cannot use earlier worker qualities",
           [](const MethodInfo& i) { return i.traits.takes_workers; });
  }
}

void require_fit(const std::string& method, const Traits& traits, const Labels& labels,
                 const Knowledge& given) {
  require_known(method, traits, labels.num_classes(), given);
  require_extras(method, traits.takes, labels, given.extras);
}

void require_extras(const std::string& method, const std::vector<ExtraInfo>& takes, const Labels& labels,
                    const std::vector<Extra>& extras) {
  for (const Extra& extra : extras) {
    const auto same = [&](const ExtraInfo& info) { return info.name == extra.name; };
    const auto taken = std::find_if(takes.begin(), takes.end(), same);
    if (taken == takes.end()) {
      refuse(method, fmt::format("takes no '{}'", extra.name), [&](const MethodInfo& i) {
        return std::any_of(i.traits.takes.begin(), i.traits.takes.end(), same);
      });
    }
    const std::size_t rows = taken->per == Per::task     ? labels.num_tasks()
                             : taken->per == Per::worker ? labels.num_workers()
                                                         : labels.num_classes();
    std::size_t width = 1;
    for (int axis = 0; axis < taken->class_axes; ++axis) width *= labels.num_classes();
    if (extra.per != taken->per || extra.width != width || extra.values.size() != rows * width) {
      throw Error(ErrorCode::usage, fmt::format("{}: '{}' has {} numbers, not {} times {}", method,
                                                extra.name, extra.values.size(), rows, width));
    }
  }
}

RoundsInput rounds_input(const Labels& labels, const Knowledge& given, const RunContext& context) {
  return {labels.num_workers(), labels.num_classes(), labels.num_labels(),
          context.seed,         context.max_memory,   &given};
}

Result fit_in_rounds(std::unique_ptr<RoundModel> model, const Labels& labels, const Knowledge& given,
                     const RunContext& context) {
  const LabelBlocks blocks(labels, given.truths);
  run_rounds(*model, blocks, context);
  return result_of_rounds(*model, blocks, labels.num_classes(), context);
}

void judge_each(const Judge& judge, const TaskBlock& block, std::span<Estimate> estimates,
                std::span<double> posteriors) {
  const std::size_t width = posteriors.size() / std::max<std::size_t>(1, estimates.size());
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const auto t = static_cast<TaskId>(block.first() + i);
    const std::span<double> posterior = posteriors.subspan(i * width, width);
    const ClassId truth = block.truth(t);
    estimates[i] =
        truth != kNoClass ? certain(truth, posterior) : judge.estimate(block.task(t), posterior);
  }
}

Result no_labels(const Labels& labels, const RunContext& context) {
  context.throw_if_cancelled();
  Result result;
  result.estimate.assign(labels.num_tasks(), kNoClass);
  result.confidence.assign(labels.num_tasks(), 0);
  result.learned.expect(labels.num_workers(), 0);
  return result;
}

void require_memory(const std::string& method, std::uint64_t bytes, const RunContext& context) {
  if (context.max_memory == 0 || bytes <= context.max_memory) return;
  throw Error(ErrorCode::usage, fmt::format("{} would need {} of memory, and {} may be used", method,
                                            memory_size(bytes), memory_size(context.max_memory)));
}

std::vector<TaskId> shuffled_tasks(TaskId num_tasks, std::uint64_t seed) {
  std::vector<TaskId> tasks(num_tasks);
  std::iota(tasks.begin(), tasks.end(), 0);
  Random(seed).shuffle(tasks);
  return tasks;
}

}  // namespace crowdfold
