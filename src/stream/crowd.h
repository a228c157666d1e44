// What a live stream knows of its crowd, and how it judges tasks by it.
//
// Like threepass, a stream knows how workers err, not only how often; unlike it, everything it knows is
// a sum over closed tasks, so that a task can be taken out again, and nothing else is needed to go on.
//
//   C_i, N_i   labels of worker i that are the estimate of their task; all labels
//   n_i[k,l]   how often i said l where the truth is k: the posterior of k, summed up
//   P[k,l]     the same of all workers
//   H, T       tasks that were too hard, by their posterior; all tasks
//
//   v    = (C_i + alpha) / (N_i + alpha + beta)            the quality of i
//   d_k  = z / (1 + z),  z = v / (1 - v) r_k                on class k, if i were like the others
//   b    = d_k  or  (1 - d_k) E[k,l]
//   V_i[k,l] = (n_i[k,l] + s b) / (N_i[k] + s)  f^lambda,   f = v / d_k  or  (1 - v) / (1 - d_k)
//
// By P, r_k is how easy class k is, and E[k,l] how often it is taken for l when it is mistaken.
// f takes back what all workers have in common: that a crowd is better on one class than on another can
// hardly be told from there being more tasks of it; least so with two classes: lambda = 1 / (K - 1).
//
//   h    = (H + 1) / (T + 10)
//   P(y = k | labels)  is proportional to  (1 - h) prod_i K V_i[k, x_i] + h
//
// A share h of tasks is too hard for everybody, and labels are by chance: the product alone would trust
// labels that agree far too much. h is learned from the tasks that closed, truths or not.
//
// Why so: docs/stream.md has the figures.
#pragma once

#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "crowdfold/stream.h"
#include "stream/confusion.h"
#include "stream/store.h"

namespace crowdfold {

class LiveModel {
 public:
  // fetch(w, worker) adds the confusions of a worker who was there before, when they are needed first.
  using Fetch = std::function<void(WorkerId, StreamWorker&)>;
  explicit LiveModel(const StreamConfig& config, Fetch fetch = {});

  // What is known of the crowd as a whole, after its workers were added one by one.
  void load(const StreamStore& store);
  // What changed since the last time.
  void save(StreamStore& store);

  std::size_t size() const { return workers_.size(); }
  // Workers have the ids 0, 1, 2, … One who was there before comes without confusions.
  void add(const StreamWorker& known) { workers_.push_back({known, false, false, known.now.counts}); }
  void expect(std::size_t workers) { workers_.resize(std::max(workers, workers_.size())); }
  const WorkerCounts& counts(WorkerId w) const { return workers_[w].known.now.counts; }
  double usual_quality() const;
  double hard_share() const;  // h
  // Those of all workers were fetched, with the crowd.
  bool has_confusions() const { return has_confusions_; }

  // Classes that are known, and how many there may be.
  struct Classes {
    std::uint32_t known = 0;
    std::uint32_t possible = 0;
  };
  // The answer of a task that is not in the counts, and what it is to be credited with. Of equally
  // probable classes, the answer is the lowest that was named.
  void judge(StreamTask& task, const Classes& classes);
  // The probabilities of all possible classes.
  void put_posterior(const StreamTask& task, const Classes& classes, std::span<double> posterior);

  // A closed task enters the counts, or leaves them. Labels that enter for the first time get their
  // tick.
  void enter(StreamTask& task);
  void leave(const StreamTask& task);
  // A label alone, on a task whose other labels were forgotten.
  void enter(const StreamTask& task, StreamLabel& label);

  // What a worker did elsewhere, and how hard tasks were there.
  void remember(WorkerId w, const WorkerRecord& history);
  void remember(const HardTasks& elsewhere);

  // What is to be known if the closed tasks of the store are counted anew.
  LiveModel recounted(const StreamStore& store);
  // Where the other one differs, in words.
  std::vector<std::string> differences(LiveModel& other,
                                       const std::function<std::string_view(WorkerId)>& name_of);

 private:
  struct Worker {
    StreamWorker known;
    bool fetched = true;
    bool touched = false;
    std::optional<WorkerCounts> stored = {};  // the counts in the store
  };
  struct CrowdRow {
    SparseConfusion cells;
    double sum = 0;
    bool touched = false;
  };
  // What P tells of a truth.
  struct ClassEffect {
    double odds = 1;   // r_k
    double wrong = 1;  // labels beside the diagonal
    double even = 0;   // of them, in every cell, before there were any
  };
  // A class that a task may be of.
  struct Candidate {
    ClassId label = 0;
    bool named = false;
    ClassEffect effect = {};
    double likelihood = 1;  // of the labels, beside labels by chance
    double probability = 0;
  };

  WorkerRecord& record(WorkerId w);
  void touch(WorkerId w);
  void add_to_crowd(ClassId truth, ClassId label, double count);
  ClassEffect effect_of(ClassId truth) const;

  // Puts the candidates of a task, with their probabilities.
  void weigh(const StreamTask& task, const Classes& classes);
  void add_candidate(ClassId label, bool named);
  void multiply(const StreamLabel& label);
  void normalise(ClassId truth);

  double worth_of(const StreamLabel& label) const;
  void add(const StreamTask& task, const StreamLabel& label, double times);
  void count_hard(const StreamTask& task, double times);

  StreamConfig config_;
  double fading_;  // of a count, at each tick
  Fetch fetch_;

  std::vector<Worker> workers_;
  std::vector<WorkerId> touched_;
  std::vector<CrowdRow> crowd_;  // P, by truth
  double crowd_right_ = 0;       // its diagonal
  double crowd_all_ = 0;
  HardTasks hard_;
  bool hard_touched_ = false;
  bool has_confusions_ = false;

  // Of the task weighed last.
  double num_classes_ = 2;
  std::vector<Candidate> candidates_;  // by class
  Candidate other_;                    // any class that is none of them
  double chance_ = 1;                  // likelihood of labels by chance
  double hard_share_ = 0;              // probability that they are
};

}  // namespace crowdfold
