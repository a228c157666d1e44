// The inner loops of fivepass, in single precision and vector instructions. Rows are as in
// threepass_kernels.h. Symbols are those of fivepass.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "crowdfold/labels.h"

namespace crowdfold {

// b_g
inline constexpr float kPowers[] = {0, .5F, 1, 1.5F, 2};
inline constexpr std::size_t kTypes = std::size(kPowers);

// Tables of all workers. Beside what all classes and types have in common, which no answer depends on,
//   Tab_i^g[k,l] = b_g D_i[k,l] + c_i^g[k],  D_i[k,l] = log U_i[k,l] / m_i[l],
//   c_i^g[k]     = log Z_i[k] - log sum_l U_i[k,l]^b_g m_i[l]^(1-b_g)
// A worker has a row of D for each label, and then one of c for each different one: at the powers 0 and
// 1 the sum is 1.
struct TypedLayout {
  std::size_t classes = 0;
  std::size_t width = 0;

  static constexpr std::size_t kShifts = kTypes - 1;
  static constexpr std::size_t kShiftOf[] = {0, 1, 0, 2, 3};  // by type: its row of c
  std::size_t of_worker() const { return (classes + kShifts) * width; }
  std::size_t shifts(std::size_t worker) const { return worker * of_worker() + classes * width; }
  std::size_t row(std::size_t worker, std::size_t label) const {
    return worker * of_worker() + label * width;
  }
};

// From Tab, by label and truth in rows, the rows of one worker. `shares` is tau; 0 in the padding.
void compute_types(const float* tab, const float* shares, std::size_t classes, std::size_t width,
                   float* rows);

// a_t, a row for each type: `start` and the tables of the task's labels.
void compute_typed_scores(const TaskLabels& task, const TypedLayout& layout, const float* tables,
                          const float* start, float* scores);

// softmax over classes and types, in whole units: by type and class, and summed over types.
void compute_typed_credit(const float* scores, std::size_t width, std::int32_t* by_type,
                          std::int32_t* credit);

// compute_typed_scores() and compute_typed_credit() without a detour through memory; adds the credits to
// rows of counts by worker and label, and to sums by type and class. Returns whether a count reached
// 2^31. For rows that fit_registers().
bool fit_registers(std::size_t width);
bool judge_in_registers(const TaskLabels& task, const TypedLayout& layout, const float* tables,
                        const float* start, std::uint32_t* counts, std::uint32_t* by_type);

// log sum_g exp a_t[k, g]
void add_up_types(const float* scores, std::size_t width, float* sums);

}  // namespace crowdfold
