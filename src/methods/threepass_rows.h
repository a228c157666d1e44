// (G) and (W) of threepass in flat arrays, for its inner loop: see threepass.cc.
#pragma once

#include <cstddef>
#include <vector>

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
  double ability = 1;           // v / (1 - v)
  double history_right = 0;     // in every cell of the diagonal
  double history_wrong = 0;     // in every other cell
  std::size_t first = 0;        // labels, of which there are rows
  std::size_t last = 0;
  const double* counts = nullptr;  // n_i, by label and truth
  const double* pooled = nullptr;  // P
  std::size_t distance = 0;        // between rows of both
  const double* totals = nullptr;  // N_i
};

// Tab_i, in rows at the same distance.
void put_log_rows(const CrowdEffects& crowd, const WorkerRows& worker, double* rows);

// Adds `count` rows to their sums.
void add_up_rows(const double* rows, std::size_t count, std::size_t distance, std::size_t width,
                 double* sums);

}  // namespace crowdfold
