// What one-coin models share: worker i is right with probability w_i, and otherwise says any of the
// other classes.
//
//   p(x_it = l | y_t = k)  =  w_i            if l = k
//                             (1 - w_i) / (K - 1)   otherwise
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "core/vector_math.h"
#include "methods/confusion.h"
#include "methods/em.h"

namespace crowdfold {

// Qualities as counts and, if asked for, confusion matrices.
void report_qualities(const WorkerMajor& by_worker, std::span<const double> quality,
                      std::uint32_t classes, const RunContext& context, Result& result);

class OneCoin {
 public:
  OneCoin(const Labels& labels, double start)
      : labels_(labels),
        others_(std::max(1.0, labels.num_classes() - 1.0)),
        quality_(labels.num_workers(), start),
        right_(labels.num_workers()),
        wrong_(labels.num_workers()) {
    take_logarithms();
  }

  // w_i = mean over i's labels of q_t(x_it)
  void learn(const WorkerMajor& by_worker, const Posteriors& q, int threads) {
    for_worker_blocks(labels_.num_workers(), threads, [&](std::size_t first, std::size_t last) {
      for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
        const WorkerLabels labels = by_worker.worker(w);
        if (labels.size() == 0) continue;
        double right = 0;
        for (std::size_t j = 0; j < labels.size(); ++j) right += q[labels.tasks[j]][labels.classes[j]];
        quality_[w] = right / static_cast<double>(labels.size());
      }
    });
    take_logarithms();
  }

  // For Posteriors::judge, without a class prior.
  void add_to(TaskId t, std::span<double> row) const {
    const TaskLabels task = labels_.task(t);
    double all = 0;
    for (std::size_t j = 0; j < task.size(); ++j) {
      const WorkerId w = task.workers[j];
      row[task.classes[j]] += right_[w] - wrong_[w];
      all += wrong_[w];
    }
    for (double& value : row) value += all;
  }

  void report(const WorkerMajor& by_worker, const RunContext& context, Result& result) const {
    report_qualities(by_worker, quality_, labels_.num_classes(), context, result);
  }

  static std::uint64_t bytes(const Labels& labels) { return 24ULL * labels.num_workers(); }

 private:
  void take_logarithms() {
    for (std::size_t w = 0; w < quality_.size(); ++w) {
      right_[w] = std::max(quality_[w], kLeastProbability);
      wrong_[w] = std::max((1 - quality_[w]) / others_, kLeastProbability);
    }
    vector_log(right_);
    vector_log(wrong_);
  }

  const Labels& labels_;
  double others_;  // classes that are wrong
  std::vector<double> quality_;
  std::vector<double> right_;  // log w_i
  std::vector<double> wrong_;  // log (1 - w_i) / (K - 1)
};

}  // namespace crowdfold
