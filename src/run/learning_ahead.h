// Learning from tasks while others are still being read: a method that takes task after task need not
// wait for the last one.
#pragma once

#include <memory>

#include "crowdfold/aggregate.h"
#include "crowdfold/method.h"
#include "labels/grouping/tasks_ahead.h"

namespace crowdfold {

class LearningAhead final : public TasksAhead {
 public:
  // Null unless the request's method can: it learns from labels alone, in the order of tasks, and judges
  // when it has learned from all.
  static std::unique_ptr<LearningAhead> of(const AggregateRequest& request, const RunContext& context);

  void take(const Tasks& tasks) override;
  void withdraw() override { method_.reset(); }

  // Whether it learned from all tasks of these labels, as they are.
  bool knows(const Labels& labels) const { return method_ != nullptr && learned_ == labels.num_tasks(); }
  // Then: what the method's fit() would say.
  Result answer(const Labels& labels, const RunContext& context) {
    return info_.answer_learned(*method_, labels, context);
  }

 private:
  LearningAhead(const MethodInfo& info, std::unique_ptr<OnlineMethod> method)
      : info_(info), method_(std::move(method)) {}

  const MethodInfo& info_;
  std::unique_ptr<OnlineMethod> method_;  // null: withdrawn
  std::uint64_t learned_ = 0;             // tasks
};

}  // namespace crowdfold
