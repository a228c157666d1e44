// (G) and (W) of threepass in flat arrays, for its inner loop: see threepass.cc.
#pragma once

#include <cstddef>
#include <vector>

#include "crowdfold/labels.h"

namespace crowdfold {

// What is known of the crowd as a whole. By class, in rows of the same width.
struct CrowdEffects {
  double strength = 0;                // s
  double symmetry = .5;               // lambda
  double accuracy = 0;                // a0
  double symmetric_errors = 0;        // added to P[k, l]: s1 (1 - a0) / (K - 1), and histories
  std::vector<double> ease;           // r
  std::vector<double> error_scale;    // of P[k, l] + symmetric_errors, to give E[k, l]
  std::vector<double> correct_right;  // Cr[k, k]
  std::vector<double> correct_wrong;  // Cr[k, l]
  std::vector<double> log_classes;    // ltau

  void resize(std::size_t width) {
    for (auto* const row : {&ease, &error_scale, &correct_right, &correct_wrong, &log_classes})
      row->resize(width);
  }
};

// What is known of one worker.
struct WorkerRows {
  double ability = 1;        // v / (1 - v)
  double history_right = 0;  // in every cell of the diagonal
  double history_wrong = 0;  // in every other cell
  std::size_t first = 0;     // labels, of which there are rows
  std::size_t last = 0;
  const double* counts = nullptr;  // n_i, by label and truth
  const double* pooled = nullptr;  // P
  std::size_t distance = 0;        // between rows of both
  const double* totals = nullptr;  // N_i
};

// Tab_i, in rows at the same distance.
void put_log_rows(const CrowdEffects& crowd, const WorkerRows& worker, double* rows);

// Probabilities of classes from rows of scores a: (1 - doubt) softmax(beta a) + doubt / K.
void put_answers(const double* a, std::size_t rows, double beta, double doubt, std::size_t classes,
                 std::size_t width, double* answers);
// What a task is credited with: (1 - newness) softmax(a) + newness (its shares of votes).
void put_credit(const double* a, double newness, const TaskLabels& task, std::size_t classes,
                std::size_t width, double* credit);

// Scores of a task, its credit, and if there is room for it, the answer: as add_up_labels, put_credit
// and put_answers have them, in one go. False, and nothing done, if rows are longer than a vector or the
// task has hundreds of labels.
struct DenseTables {
  std::size_t classes = 0;
  std::size_t width = 0;
  std::size_t distance = 0;       // between rows
  const double* rows = nullptr;   // Tab, by worker, label and truth
  const double* start = nullptr;  // gamma ltau
};
struct Judging {
  double newness = 0;
  double beta = 1;
  double doubt = 0;
};
struct Judged {
  double* a = nullptr;
  double* credit = nullptr;
  double* answer = nullptr;
};
bool judge_in_registers(const TaskLabels& task, const DenseTables& tables, const Judging& how,
                        const Judged& judged);

// Adds a task's credit to counts, of workers and of the crowd.
struct DenseCounts {
  std::size_t classes = 0;
  std::size_t width = 0;
  std::size_t distance = 0;  // between rows of counts
  double* counts = nullptr;  // n, by worker, label and truth
  double* pooled = nullptr;  // P
};
void add_credit(const TaskLabels& task, const double* credit, const DenseCounts& counts,
                double* pooled_totals, double* class_mass);

// Adds `count` rows to their sums.
void add_up_rows(const double* rows, std::size_t count, std::size_t distance, std::size_t width,
                 double* sums);

}  // namespace crowdfold
