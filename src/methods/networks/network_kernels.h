// The loops that a network of float or double spends its time in, with the machine's vector
// instructions: Eigen uses only those that the compiler may assume on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "crowdfold/labels.h"

namespace crowdfold {

// C = A B. Element (i, j) of A is at a[i * row_step + j * column_step], so A may be a transpose; B and C
// are row by row.
void multiply(const float* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
              std::size_t inner, const float* b, std::size_t columns, float* c);
void multiply(const double* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
              std::size_t inner, const double* b, std::size_t columns, double* c);

// to += (label + 1) from[worker], over a task's labels. Rows have `width` numbers.
void gather_rows(const TaskLabels& labels, std::size_t width, const float* from, float* to);
void gather_rows(const TaskLabels& labels, std::size_t width, const double* from, double* to);

// How RMSProp (optimizer.h) changes a weight.
template <class Scalar>
struct RmsPropRule {
  Scalar rate;
  Scalar decay;
  Scalar epsilon;
};
// A step on some numbers, with clipped gradients.
void step_numbers(const RmsPropRule<float>& rule, std::span<const float> gradient, float* weights,
                  float* mean_squares);
void step_numbers(const RmsPropRule<double>& rule, std::span<const double> gradient, double* weights,
                  double* mean_squares);

// A label of a worker on a task of a batch.
struct BatchLabel {
  std::uint32_t row;  // the task, in the batch
  ClassId label;
};
// A step on rows of weights, one for each worker. A row's gradient is `common` plus (label + 1)
// slopes[row] for each of the worker's labels in the batch.
template <class Scalar>
struct RmsPropRows {
  std::size_t rows;
  std::size_t width;
  const Scalar* common;
  const Scalar* slopes;                    // row by row
  std::span<const WorkerId> workers;       // in the batch; in order
  std::span<const std::uint32_t> offsets;  // of their labels; one entry more
  std::span<const BatchLabel> labels;
  Scalar* weights;
  Scalar* mean_squares;
  Scalar* sum;  // overwritten: a row, the sum of the new weights over all rows, in order
};
void step_rows(const RmsPropRule<float>& rule, const RmsPropRows<float>& step);
void step_rows(const RmsPropRule<double>& rule, const RmsPropRows<double>& step);

// Functions of numbers, in place.
void exp_numbers(std::span<float> values);
void exp_numbers(std::span<double> values);
void tanh_numbers(std::span<float> values);
void tanh_numbers(std::span<double> values);
void log_numbers(std::span<float> values);
void log_numbers(std::span<double> values);

}  // namespace crowdfold
