#include "crowdfold/budget.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "stream/crowd.h"
#include "stream/judging.h"

namespace crowdfold {
namespace {

// What a live stream does with whole tasks.
class StreamJudge final : public OnlineMethod {
 public:
  explicit StreamJudge(const StreamConfig& config) : config_(config), crowd_(config) {}

  void expect(std::uint32_t workers, std::uint32_t classes) override {
    crowd_.expect(workers);
    classes_ = std::max(classes_, classes);
  }
  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    StreamTask task = task_of(labels);
    crowd_.judge(task, {classes_, classes_});
    if (!posterior.empty()) crowd_.put_posterior(task, {classes_, classes_}, posterior);
    return task.estimate;
  }
  void learn(const TaskLabels& labels, const Answer& /*answer*/) override {
    StreamTask task = task_of(labels);
    crowd_.judge(task, {classes_, classes_});
    crowd_.enter(task);
  }
  bool judges_after_learning() const override { return false; }
  // Counts alone: what they are for, replay() does not ask for.
  WorkerState state() const override {
    WorkerState state;
    state.alpha = config_.alpha;
    state.beta = config_.beta;
    state.expect(static_cast<std::uint32_t>(crowd_.size()), classes_);
    for (WorkerId w = 0; w < crowd_.size(); ++w) state.counts[w] = crowd_.counts(w);
    return state;
  }
  void restore(WorkerState state) override {
    crowd_ = LiveModel(config_);
    classes_ = 0;
    merge(state);
  }
  void merge(const WorkerState& other) override {
    expect(static_cast<std::uint32_t>(other.counts.size()), other.classes);
    for (WorkerId w = 0; w < other.counts.size(); ++w) crowd_.remember(w, {other.counts[w], {}});
  }

 private:
  static StreamTask task_of(const TaskLabels& labels) {
    StreamTask task;
    for (std::size_t j = 0; j < labels.size(); ++j)
      task.labels.push_back({labels.workers[j], labels.classes[j], 0});
    task.num_labels = static_cast<std::uint32_t>(labels.size());
    return task;
  }

  StreamConfig config_;
  mutable LiveModel crowd_;  // judging uses room of its own
  std::uint32_t classes_ = 0;
};

}  // namespace

std::unique_ptr<OnlineMethod> stream_judge(const StreamConfig& config) {
  return std::make_unique<StreamJudge>(config);
}

Spending replay(const Labels& labels, std::span<const ClassId> truths, OnlineMethod& method,
                const StopRule& stop, std::uint64_t seed, const RunContext& context) {
  constexpr std::size_t kTasksPerReport = 1 << 12;
  Random random(seed);
  std::vector<TaskId> order(labels.num_tasks());
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  method.expect(labels.num_workers(), labels.num_classes());

  // What was bought, task after task.
  std::vector<WorkerId> workers;
  std::vector<ClassId> classes;
  std::vector<std::size_t> ends;
  const auto bought = [&](std::size_t i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    const std::size_t size = (i < ends.size() ? ends[i] : workers.size()) - begin;
    return TaskLabels{order[i], std::span(workers).subspan(begin, size),
                      std::span(classes).subspan(begin, size)};
  };
  const auto is_right = [&](std::size_t i, const Estimate& answer) {
    return answer.label != kNoClass && answer.label == truths[order[i]] ? 1.0 : 0.0;
  };
  double closed = 0;
  double known = 0;
  double right_then = 0;
  double claimed = 0;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kTasksPerReport == 0) context.throw_if_cancelled();
    const TaskLabels all = labels.task(order[i]);
    places.resize(all.size());
    std::iota(places.begin(), places.end(), 0);
    random.shuffle(places);
    Estimate answer;
    for (std::size_t j = 0; j < places.size(); ++j) {
      workers.push_back(all.workers[places[j]]);
      classes.push_back(all.classes[places[j]]);
      answer = method.estimate(bought(i));
      if (why_to_close(stop, j + 1, answer.confidence) == nullptr) continue;
      closed += 1;
      break;
    }
    method.learn(bought(i), answer);
    ends.push_back(workers.size());
    right_then += is_right(i, answer);
    if (truths[order[i]] == kNoClass || answer.label == kNoClass) continue;
    known += 1;
    claimed += answer.confidence;
  }
  double right = 0;
  for (std::size_t i = 0; i < order.size(); ++i) right += is_right(i, method.estimate(bought(i)));
  const double tasks = std::max(1.0, static_cast<double>(order.size()));
  known = std::max(1.0, known);
  return {right / known, right_then / known, claimed / known,
          static_cast<double>(workers.size()) / tasks, closed / tasks};
}

}  // namespace crowdfold
