// The inner loops of methods with confusion matrices. `table` has a row of numbers by state for every
// worker and label: that of (w, l) is row w * classes + l. All rows have the same row_width().
#pragma once

#include <span>

#include "crowdfold/blocks.h"

namespace crowdfold {

// Row t - first becomes `start` plus the table's rows for the labels of task t, for t = first … last
// - 1.
void add_up_labels(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                   std::span<const double> start, const double* table, std::span<double> rows);

// Adds row t - first to the table's rows for the labels of task t, for t = first … last - 1.
void add_to_labels(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                   std::span<const double> rows, double* table);
void add_to_labels(const TaskBlock& block, std::uint32_t classes, TaskId first, TaskId last,
                   std::span<const std::uint64_t> rows, std::uint64_t* table);

// The same for one task, whose labels are below `classes`. The rows of the table may lie further apart
// than they are wide: `distance` numbers.
void add_up_labels(const TaskLabels& task, std::uint32_t classes, std::size_t distance,
                   std::span<const double> start, const double* table, std::span<double> row);
// And for a list of tasks.
void add_up_labels(const Labels& labels, std::span<const TaskId> tasks, std::size_t distance,
                   std::span<const double> start, const double* table, std::span<double> rows);
void add_to_labels(const TaskLabels& task, std::uint32_t classes, std::size_t distance,
                   std::span<const double> row, double* table);

}  // namespace crowdfold
