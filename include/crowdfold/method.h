// Method: labels in, a Result out. OnlineMethod: one task at a time, with a state that can be
// saved, restored and merged. Every online method is also a batch method (see registry.h). Judge: the
// part of an online method that does not learn; some batch methods have one, too.
// Several threads may call const member functions of an object at once; the others need it for
// themselves.
#pragma once

#include <span>
#include <vector>

#include "crowdfold/result.h"
#include "crowdfold/run_context.h"

namespace crowdfold {

// Facts besides the labels.
struct Knowledge {
  std::vector<ClassId> truths;        // by TaskId, kNoClass where not known; or empty
  std::vector<WorkerCounts> workers;  // earlier counts by WorkerId; or empty
  std::vector<Extra> extras;          // of those in Traits::takes

  ClassId truth(TaskId t) const { return t < truths.size() ? truths[t] : kNoClass; }
};

class Method {
 public:
  virtual ~Method() = default;
  virtual Result fit(const Labels& labels, const Knowledge& given, const RunContext& context) const = 0;
  Result fit(const Labels& labels, const RunContext& context) const { return fit(labels, {}, context); }
};

// What a task is learned with: a truth, or an estimate. However sure an estimate is, it is no truth.
struct Answer {
  ClassId label = kNoClass;  // kNoClass: as the method itself judges the task
  double confidence = 0;
  bool is_truth = false;

  Answer() = default;
  Answer(const Estimate& judged)  // NOLINT: an estimate is an answer
      : label(judged.label), confidence(judged.confidence) {}
  static Answer truth(ClassId label) {
    Answer known(Estimate{label, 1});
    known.is_truth = true;
    return known;
  }
};

// Judges tasks by what was learned from others.
class Judge {
 public:
  virtual ~Judge() = default;

  // The numbers of workers and classes, as far as known: labels must have ids below them. They may grow,
  // never shrink.
  virtual void expect(std::uint32_t workers, std::uint32_t classes) = 0;

  // Judges one task with the present state; learns nothing.
  // With `posterior` (size K, or empty) also gives every class its probability.
  virtual Estimate estimate(const TaskLabels& labels, std::span<double> posterior = {}) const = 0;
  // The doubt in its confidences: see certainty_of().
  virtual double doubt() const { return 0; }

  virtual WorkerState state() const = 0;
  // Error(usage) if the state was made with another prior.
  virtual void restore(WorkerState state) = 0;
};

class OnlineMethod : public Judge {
 public:
  // Learns from one task, given its answer.
  virtual void learn(const TaskLabels& labels, const Answer& answer = {}) = 0;

  // Whether tasks are to be judged after learning from them (from their whole chunk, best), not before.
  // Only methods/online_driver.h asks this, and for the chunk_size().
  virtual bool judges_after_learning() const = 0;

  // Judges one task and learns from it, in the method's order. A known truth is taken over.
  Estimate observe(const TaskLabels& labels, ClassId truth = kNoClass, std::span<double> posterior = {});

  // How many tasks it had best learn from at a time. Above 1 only if it judges after learning.
  virtual std::size_t chunk_size() const { return 1; }
  // Learns from a chunk of tasks, given their answers as in learn(), or none. Other than one after
  // another only for methods with a chunk_size() above 1.
  virtual void learn_chunk(std::span<const TaskLabels> tasks, std::span<const Answer> answers = {});
  // Judges the tasks of a chunk and learns from them, in the method's order. Truths are by place in the
  // chunk, kNoClass where not known; or there are none.
  std::vector<Estimate> observe_chunk(std::span<const TaskLabels> tasks,
                                      std::span<const ClassId> truths = {});

  // Error(usage) from methods that cannot: see MethodInfo.
  virtual void merge(const WorkerState& other) = 0;
};

}  // namespace crowdfold
