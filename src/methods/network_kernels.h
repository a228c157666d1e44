// The loops that a network of float or double spends its time in, with the machine's vector
// instructions: Eigen knows no more of them than the compiler was told, which is what every machine has.
#pragma once

#include <cstddef>
#include <cstdint>

#include "crowdfold/labels.h"

namespace crowdfold {

// C = A B. Element (i, j) of A is at a[i * row_step + j * column_step], so A may be a transpose; B and C
// are row by row.
void multiply(const float* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
              std::size_t inner, const float* b, std::size_t columns, float* c);
void multiply(const double* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
              std::size_t inner, const double* b, std::size_t columns, double* c);

// to += (label + 1) from[worker], over a task's labels: rows of so many numbers.
void gather_rows(const TaskLabels& labels, std::size_t width, const float* from, float* to);
void gather_rows(const TaskLabels& labels, std::size_t width, const double* from, double* to);
// to[place[worker]] += (label + 1) from, the way back.
void scatter_rows(const TaskLabels& labels, std::size_t width, const float* from,
                  const std::uint32_t* place, float* to);
void scatter_rows(const TaskLabels& labels, std::size_t width, const double* from,
                  const std::uint32_t* place, double* to);

// A step of RMSProp (optimizer.h) on rows of weights, with clipped gradients. Most rows have the same
// gradient.
inline constexpr std::uint32_t kNowhere = ~0U;
template <class Scalar>
struct RmsPropRows {
  std::size_t rows;
  std::size_t width;
  const Scalar* common;        // the gradient of rows whose place is kNowhere
  const Scalar* own;           // of the others: row by row
  const std::uint32_t* place;  // by row, in `own`
  Scalar rate;
  Scalar decay;
  Scalar epsilon;
  Scalar* weights;
  Scalar* mean_squares;
  Scalar* sum;  // of the new weights over all rows, in order; a row that is overwritten
};
void step_rows(const RmsPropRows<float>& step);
void step_rows(const RmsPropRows<double>& step);

}  // namespace crowdfold
