#include "run/learning_ahead.h"

#include "crowdfold/registry.h"

namespace crowdfold {

std::unique_ptr<LearningAhead> LearningAhead::of(const AggregateRequest& request,
                                                 const RunContext& context) {
  const MethodInfo& info = find_method(request.method);
  if (!info.answer_learned || !info.traits.online_equals_batch) return nullptr;
  if (!info.needs_second_look(request.settings) || info.shuffles(request.settings) ||
      info.learns_from_votes(request.settings))
    return nullptr;
  if (!request.truths.empty() || !request.workers.empty() || !request.classes.empty()) return nullptr;
  std::unique_ptr<OnlineMethod> method = info.make_online(request.settings, context.seed);
  if (method->chunk_size() > 1) return nullptr;
  return std::unique_ptr<LearningAhead>(new LearningAhead(info, std::move(method)));
}

void LearningAhead::take(const Tasks& tasks) {
  method_->expect(tasks.num_workers, tasks.num_classes);
  for (std::size_t i = 0; i + 1 < tasks.ends.size(); ++i) {
    const std::uint64_t begin = tasks.ends[i];
    const std::size_t size = tasks.ends[i + 1] - begin;
    method_->learn({tasks.first + i, {tasks.workers + begin, size}, {tasks.classes + begin, size}}, {});
  }
  learned_ += tasks.ends.size() - 1;
}

}  // namespace crowdfold
