// The inner loops of the crowd model (see crowd_model.h): rows of numbers by class, in single precision
// and in vector instructions. All rows have the same row_width(); what is behind the classes in them is
// worked on as well.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

// A score that a class never wins with; tables of any size may be added to it.
inline constexpr float kNoChance = -1e30F;

// What is known of the crowd as a whole, by class.
struct CrowdEffects {
  double strength = 0;               // s
  double symmetry = .5;              // lambda
  double accuracy = 0;               // a0
  double symmetric_errors = 0;       // added to P[k, l]: s1 (1 - a0) / (K - 1), and histories
  std::vector<float> ease;           // r
  std::vector<float> error_scale;    // of P[k, l] + symmetric_errors, to give E[k, l]
  std::vector<float> errors;         // E, by label and truth, if all cells are stored
  std::vector<float> correct_right;  // Cr[k, k]
  std::vector<float> correct_wrong;  // Cr[k, l]
  std::vector<float> log_classes;    // ltau

  void resize(std::size_t width) {
    for (auto* const row : {&ease, &error_scale, &correct_right, &correct_wrong, &log_classes})
      row->resize(width);
  }
};

// What is known of one worker.
struct WorkerRows {
  double ability = 1;             // v / (1 - v)
  double history_right = 0;       // counts in every cell of the diagonal
  double history_wrong = 0;       // and in every other cell
  const float* counts = nullptr;  // n_i, by label and truth
  std::size_t distance = 0;       // between rows of counts, and of what is made of them
};

// Tab_i.
void put_log_rows(const CrowdEffects& crowd, const WorkerRows& worker, std::size_t classes, float* rows);

// Rows of all workers, by worker and label: counts, and Tab beside them.
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

// a_t: `start` and the rows of Tab for a task's labels.
void add_up_logs(const TaskLabels& task, const CrowdLayout& layout, const float* rows,
                 const float* start, float* a);

// What a task is credited with: (1 - newness) softmax(a) + newness (its shares of votes).
void put_credit(const float* a, double newness, const TaskLabels& task, std::size_t width,
                float* credit);

// Both in one go, without a way through memory. False, and nothing done, if rows are longer than a
// vector or the task has hundreds of labels.
bool judge_in_registers(const TaskLabels& task, const CrowdLayout& layout, const float* rows,
                        const float* start, double newness, float* a, float* credit);

// softmax(beta a), in units of the largest: which that is, and their sum. And all of them, if there is
// room. In double precision: what a sum is more than 1 may be very little.
struct Shares {
  ClassId largest = 0;
  double sum = 1;
};
Shares put_shares(const float* a, double beta, std::size_t classes, std::size_t width, double* shares);

// Adds a task's credit to the counts of its labels; to the crowd's, by label and truth; and to the sum
// of credits.
void add_credit(const TaskLabels& task, const float* credit, const CrowdLayout& layout, float* rows,
                float* pooled, float* class_mass);

// judge_in_registers() and add_credit() in one go: the new credit takes the place of the old one. And
// the shares, if there is room for them.
bool learn_in_registers(const TaskLabels& task, const CrowdLayout& layout, float* rows,
                        const float* start, double newness, float* pooled, float* class_mass,
                        double beta, float* a, float* credit, Shares* shares);

// How likely a label is, if every class has its mean probability and classes are softmax(beta (h + power
// ltau)), for several (beta, power).
struct Curve {
  float beta = 1;
  float power = 0;
};
void put_likelihoods(const float* h, const float* log_classes, const float* mean, std::size_t width,
                     std::span<const Curve> curves, double* likelihoods);

}  // namespace crowdfold
