// The inner loops of ThreePassModel, in single precision and vector instructions. Each function is
// compiled once per instruction set. A row holds one number per class and is row_width() numbers long;
// the kernels compute on the padding behind the classes too, so it must be initialised.
//
// Symbols are those of threepass.cc.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

// The score of a class that must never win. Adding any table to it keeps it that low.
inline constexpr float kNoChance = -1e30F;

// The model's knowledge of the crowd as a whole, by class.
struct CrowdEffects {
  double strength = 0;               // s
  double symmetry = .5;              // lambda
  double accuracy = 0;               // a0
  double symmetric_errors = 0;       // added to P[k, l]: s1 (1 - a0) / (K - 1), and histories
  std::vector<float> ease;           // r
  std::vector<float> error_scale;    // E[k, l] = error_scale[k] (P[k, l] + symmetric_errors)
  std::vector<float> errors;         // E, by label and truth, if all cells are stored
  std::vector<float> correct_right;  // Cr[k, k]
  std::vector<float> correct_wrong;  // Cr[k, l]
  std::vector<float> log_classes;    // ltau

  void resize(std::size_t width) {
    for (auto* const row : {&ease, &error_scale, &correct_right, &correct_wrong, &log_classes})
      row->resize(width);
  }
};

// The model's knowledge of one worker.
struct WorkerRows {
  double ability = 1;             // v / (1 - v)
  double history_right = 0;       // counts in every cell of the diagonal
  double history_wrong = 0;       // and in every other cell
  const float* counts = nullptr;  // n_i, by label and truth
  std::size_t distance = 0;       // between rows of counts, and between rows of the table
};

// Where the rows of each worker and label are: a row of counts, and the row of Tab behind it.
struct CrowdLayout {
  std::size_t classes = 0;
  std::size_t width = 0;

  std::size_t distance() const { return 2 * width; }
  std::size_t row(std::size_t worker, std::size_t label) const {
    return (worker * classes + label) * distance();
  }
  std::size_t row(const TaskLabels& task, std::size_t j) const {
    return row(task.workers[j], task.classes[j]);
  }
};

// The sums that a task's credit is added to.
struct CreditSums {
  float* rows = nullptr;        // n of all workers, in a CrowdLayout
  float* pooled = nullptr;      // P, by label and truth
  float* class_mass = nullptr;  // m
};

// softmax(beta a), as multiples of the largest share. In double precision: the sum may exceed 1 by very
// little.
struct Shares {
  ClassId largest = 0;
  double sum = 1;
};

// (W): the table of a worker, Tab_i.
void compute_table(const CrowdEffects& crowd, const WorkerRows& worker, std::size_t classes,
                   float* table);

// (S): a_t, the sum of `start` and of the Tab rows of the task's labels.
void compute_scores(const TaskLabels& task, const CrowdLayout& layout, const float* rows,
                    const float* start, float* scores);

// A task's credit: (1 - newness) softmax(scores) + newness (its shares of votes).
void compute_credit(const float* scores, double newness, const TaskLabels& task, std::size_t width,
                    float* credit);

// Writes all shares to `shares` unless it is null.
Shares compute_shares(const float* scores, double beta, std::size_t classes, std::size_t width,
                      double* shares);

// Adds a task's credit to the counts of its labels, to the crowd's, and to the class mass.
void add_credit(const TaskLabels& task, const float* credit, const CrowdLayout& layout, CreditSums sums);

// compute_scores() and compute_credit() without a detour through memory. Unless they are null, `sums`
// get the change from the old content of `credit` to the new one, and `shares` those of softmax(beta
// scores). Returns false, and does nothing, if rows are longer than a vector or the task has hundreds of
// labels.
bool judge_in_registers(const TaskLabels& task, const CrowdLayout& layout, const float* rows,
                        const float* start, double newness, float* scores, float* credit,
                        const CreditSums* sums, double beta, Shares* shares);

// (H): the probability of a held-out label that class k gives with probability mean[k], if the classes
// are softmax(beta (held_out_scores + power log_classes)), for each (beta, power) of `curves`.
struct Curve {
  float beta = 1;
  float power = 0;
};
void compute_likelihoods(const float* held_out_scores, const float* log_classes, const float* mean,
                         std::size_t width, std::span<const Curve> curves, double* likelihoods);

}  // namespace crowdfold
