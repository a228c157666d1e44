#include "methods/online_driver.h"

namespace crowdfold {

void ChunkLearner::add(const TaskLabels& labels, const Answer& answer) {
  if (size_ == 1) return method_.learn(labels, answer);
  tasks_.push_back({labels.index, labels.size()});
  workers_.insert(workers_.end(), labels.workers.begin(), labels.workers.end());
  classes_.insert(classes_.end(), labels.classes.begin(), labels.classes.end());
  answers_.push_back(answer);
  if (tasks_.size() >= size_) finish();
}

void ChunkLearner::finish() {
  std::vector<TaskLabels> chunk;
  std::size_t begin = 0;
  for (const auto& [index, size] : tasks_) {
    chunk.push_back({index, {workers_.data() + begin, size}, {classes_.data() + begin, size}});
    begin += size;
  }
  if (!chunk.empty()) method_.learn_chunk(chunk, answers_);
  tasks_.clear();
  workers_.clear();
  classes_.clear();
  answers_.clear();
}

Estimate OnlineMethod::observe(const TaskLabels& labels, ClassId truth, std::span<double> posterior) {
  if (truth != kNoClass) {
    learn(labels, Answer::truth(truth));
    return certain(truth, posterior);
  }
  if (judges_after_learning()) {
    learn(labels);
    return estimate(labels, posterior);
  }
  const Estimate judged = estimate(labels, posterior);
  learn(labels, judged);
  return judged;
}

void OnlineMethod::learn_chunk(std::span<const TaskLabels> tasks, std::span<const Answer> answers) {
  for (std::size_t i = 0; i < tasks.size(); ++i)
    learn(tasks[i], answers.empty() ? Answer() : answers[i]);
}

std::vector<Estimate> OnlineMethod::observe_chunk(std::span<const TaskLabels> tasks,
                                                  std::span<const ClassId> truths) {
  std::vector<Estimate> estimates(tasks.size());
  const auto truth = [&](std::size_t i) { return truths.empty() ? kNoClass : truths[i]; };
  if (!judges_after_learning()) {
    for (std::size_t i = 0; i < tasks.size(); ++i) estimates[i] = observe(tasks[i], truth(i));
    return estimates;
  }
  std::vector<Answer> answers(tasks.size());
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (truth(i) != kNoClass) answers[i] = Answer::truth(truth(i));
  }
  learn_chunk(tasks, answers);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    estimates[i] = truth(i) != kNoClass ? certain(truth(i), {}) : estimate(tasks[i]);
  return estimates;
}

}  // namespace crowdfold
