// Shared by one-coin models: worker i is right with probability w_i, and otherwise says any of the
// other classes.
//
//   p(x_it = l | y_t = k)  =  w_i            if l = k
//                             (1 - w_i) / (K - 1)   otherwise
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/vector_math.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"

namespace crowdfold {

// Writes qualities as counts and, if asked for, confusion matrices.
void report_qualities(const Labels& labels, std::span<const double> quality, const RunContext& context,
                      Result& result);

// Learns from Posteriors.
class OneCoin {
 public:
  OneCoin(const Labels& labels, double start)
      : labels_(labels),
        others_(std::max(1.0, labels.num_classes() - 1.0)),
        seen_(numbers_of_labels(labels)),
        agreed_(ranges_to_learn(labels, labels.num_workers()),
                std::vector<double>(labels.num_workers())),
        quality_(labels.num_workers(), start),
        right_(labels.num_workers()),
        wrong_(labels.num_workers()) {
    take_logarithms();
  }

  std::size_t ranges() const { return agreed_.size(); }
  void begin(std::size_t range) { std::fill(agreed_[range].begin(), agreed_[range].end(), 0.0); }
  void add(std::size_t range, TaskId first, TaskId last, std::span<const double> rows) {
    double* const agreed = agreed_[range].data();
    const std::size_t width = row_width(labels_.num_classes());
    for (TaskId t = first; t < last; ++t) {
      const TaskLabels task = labels_.task(t);
      const double* const row = rows.data() + (t - first) * width;
      for (std::size_t j = 0; j < task.size(); ++j) agreed[task.workers[j]] += row[task.classes[j]];
    }
  }
  // w_i = mean over i's labels of q_t(x_it)
  void learn() {
    for (std::size_t w = 0; w < quality_.size(); ++w) {
      double agreed = 0;
      for (const std::vector<double>& of_range : agreed_) agreed += of_range[w];
      if (seen_[w] > 0) quality_[w] = agreed / seen_[w];
    }
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

  void report(const RunContext& context, Result& result) const {
    report_qualities(labels_, quality_, context, result);
  }

  static std::uint64_t bytes(const Labels& labels) {
    return 8ULL * labels.num_workers() * (4 + ranges_to_learn(labels, labels.num_workers()));
  }

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
  double others_;                            // classes that are wrong
  std::vector<double> seen_;                 // labels
  std::vector<std::vector<double>> agreed_;  // by range of tasks: sum of q_t(x_it)
  std::vector<double> quality_;
  std::vector<double> right_;  // log w_i
  std::vector<double> wrong_;  // log (1 - w_i) / (K - 1)
};

}  // namespace crowdfold
