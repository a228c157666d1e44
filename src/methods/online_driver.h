// Drives online methods over tasks. Nobody else needs to know that some methods judge a task before they
// learn from it and others after, nor how many tasks they learn from at a time.
#pragma once

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "crowdfold/method.h"
#include "methods/result_room.h"
#include "methods/vote.h"

namespace crowdfold {

// Whether the method judges tasks only after it has learned from all of them.
inline bool needs_second_look(const OnlineMethod& method) { return method.judges_after_learning(); }

// Learns from tasks that come one after another and do not stay. Keeps the labels of a chunk if the
// method learns from several tasks at a time.
class ChunkLearner {
 public:
  explicit ChunkLearner(OnlineMethod& method) : method_(method), size_(method.chunk_size()) {}

  // In tasks.
  std::size_t size() const { return size_; }
  void add(const TaskLabels& labels, const Answer& answer = {});
  // Learns from the tasks that do not fill a chunk.
  void finish();

 private:
  struct Task {
    std::uint64_t index;
    std::size_t size;
  };

  OnlineMethod& method_;
  std::size_t size_;
  std::vector<Task> tasks_;
  std::vector<WorkerId> workers_;
  std::vector<ClassId> classes_;
  std::vector<Answer> answers_;
};

// All tasks of some labels.
struct TaskSequence {
  const Labels& labels;
  std::span<const ClassId> truths = {};  // by TaskId, kNoClass where not known; or empty
  std::span<const TaskId> order = {};    // or empty: as they are
  std::uint64_t first_index = 0;         // TaskLabels::index of the first

  TaskLabels task(TaskId t) const {
    TaskLabels task = labels.task(t);
    task.index = first_index + t;
    return task;
  }
  ClassId truth(TaskId t) const { return t < truths.size() ? truths[t] : kNoClass; }
};

// Judges all tasks that have no truth, in parallel, by a method that has learned. `Online`: see below.
template <class Online>
void judge_all(const Online& method, const TaskSequence& tasks, const RunContext& context,
               ResultRoom& room) {
  constexpr std::size_t kGrain = 1 << 16;
  parallel_ranges(context.threads, tasks.labels.num_tasks(), kGrain,
                  [&](std::size_t first, std::size_t last, int) {
                    context.throw_if_cancelled();
                    for (auto t = static_cast<TaskId>(first); t < last; ++t) {
                      if (tasks.truth(t) != kNoClass) continue;
                      if constexpr (std::is_abstract_v<Online>)
                        room.put(t, method.estimate(tasks.task(t), room.posterior(t)));
                      else
                        room.put(t, method.Online::estimate(tasks.task(t), room.posterior(t)));
                    }
                  });
}

// Judges all tasks and learns from them, in the method's order: a method that looks twice judges them
// when it has learned from all. Fills the result's answers and what was learned.
//
// `Online` may be the method's own class instead of the interface: then the compiler sees through the
// loop, which makes it half as fast again.
template <class Online>
Result observe_all(Online& method, const TaskSequence& tasks, const char* stage,
                   const RunContext& context) {
  constexpr TaskId kTasksPerReport = 1 << 16;
  const auto estimate = [&](TaskId t, std::span<double> posterior) {
    if constexpr (std::is_abstract_v<Online>)
      return std::as_const(method).estimate(tasks.task(t), posterior);
    else
      return std::as_const(method).Online::estimate(tasks.task(t), posterior);
  };
  const auto learn = [&](TaskId t, const Answer& answer) {
    if constexpr (std::is_abstract_v<Online>)
      method.learn(tasks.task(t), answer);
    else
      method.Online::learn(tasks.task(t), answer);
  };
  const bool twice = needs_second_look(method);
  const TaskId num_tasks = tasks.labels.num_tasks();
  Result result;
  ResultRoom room(tasks.labels, context, result);

  ChunkLearner chunk(method);
  const TaskId step = chunk.size() > 1 ? static_cast<TaskId>(chunk.size()) : kTasksPerReport;
  TaskId next_report = 0;
  for (TaskId i = 0; i < num_tasks; ++i) {
    if (i == next_report) {
      context.throw_if_cancelled();
      context.report(stage, i, num_tasks);
      next_report += step;
    }
    const TaskId t = tasks.order.empty() ? i : tasks.order[i];
    Answer answer;
    if (const ClassId truth = tasks.truth(t); truth != kNoClass) {
      answer = Answer::truth(truth);
      room.put(t, certain(truth, room.posterior(t)));
    } else if (!twice) {
      const Estimate judged = estimate(t, room.posterior(t));
      answer = judged;
      room.put(t, judged);
    }
    if (chunk.size() == 1)
      learn(t, answer);
    else
      chunk.add(tasks.task(t), answer);
  }
  chunk.finish();

  if (twice) judge_all(method, tasks, context, room);
  result.learned = method.state();
  result.doubt = method.doubt();
  return result;
}

}  // namespace crowdfold
