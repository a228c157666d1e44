// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "methods/network_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "methods/network_kernels.h"

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// kRows rows and kVectors vectors of columns of a product, held in registers.
template <std::size_t kRows, std::size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_block(D d, const T* HWY_RESTRICT a, std::size_t row_step,
                               std::size_t column_step, std::size_t inner, const T* HWY_RESTRICT b,
                               std::size_t columns, T* HWY_RESTRICT c) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sums[kRows][kVectors];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(d);
  }
  for (std::size_t j = 0; j < inner; ++j) {
    hn::Vec<D> of_b[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) of_b[v] = hn::LoadU(d, b + j * columns + v * lanes);
    for (std::size_t i = 0; i < kRows; ++i) {
      const auto of_a = hn::Set(d, a[i * row_step + j * column_step]);
      for (std::size_t v = 0; v < kVectors; ++v) sums[i][v] = hn::MulAdd(of_a, of_b[v], sums[i][v]);
    }
  }
  for (std::size_t i = 0; i < kRows; ++i) {
    for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sums[i][v], d, c + i * columns + v * lanes);
  }
}

template <std::size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void multiply_columns(D d, const T* a, std::size_t row_step, std::size_t column_step,
                                 std::size_t rows, std::size_t inner, const T* b, std::size_t columns,
                                 T* c) {
  constexpr std::size_t kRows = 4;
  std::size_t i = 0;
  for (; i + kRows <= rows; i += kRows)
    multiply_block<kRows, kVectors>(d, a + i * row_step, row_step, column_step, inner, b, columns,
                                    c + i * columns);
  for (; i < rows; ++i)
    multiply_block<1, kVectors>(d, a + i * row_step, row_step, column_step, inner, b, columns,
                                c + i * columns);
}

template <class T>
HWY_INLINE void multiply_any(const T* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
                             std::size_t inner, const T* b, std::size_t columns, T* c) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes)
    multiply_columns<2>(d, a, row_step, column_step, rows, inner, b + j, columns, c + j);
  for (; j + lanes <= columns; j += lanes)
    multiply_columns<1>(d, a, row_step, column_step, rows, inner, b + j, columns, c + j);
  // The last layer has as many columns as there are classes.
  const hn::CappedTag<T, 4> few;
  for (; j + hn::Lanes(few) <= columns; j += hn::Lanes(few))
    multiply_columns<1>(few, a, row_step, column_step, rows, inner, b + j, columns, c + j);
  const hn::CappedTag<T, 2> two;
  for (; j + hn::Lanes(two) <= columns; j += hn::Lanes(two))
    multiply_columns<1>(two, a, row_step, column_step, rows, inner, b + j, columns, c + j);
  for (; j < columns; ++j)
    multiply_columns<1>(hn::CappedTag<T, 1>(), a, row_step, column_step, rows, inner, b + j, columns,
                        c + j);
}

// body(d, i) over a row: in whole vectors, then number by number.
template <class T, class Body>
HWY_INLINE void over_row(std::size_t width, const Body& body) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= width; i += lanes) body(d, i);
  for (; i < width; ++i) body(hn::CappedTag<T, 1>(), i);
}

template <class T>
HWY_INLINE void gather_any(const TaskLabels& labels, std::size_t width, const T* from, T* to) {
  over_row<T>(width, [&](auto d, std::size_t i) HWY_ATTR {
    auto sum = hn::LoadU(d, to + i);
    for (std::size_t j = 0; j < labels.size(); ++j) {
      const auto factor = hn::Set(d, static_cast<T>(labels.classes[j] + 1));
      sum = hn::MulAdd(factor, hn::LoadU(d, from + labels.workers[j] * width + i), sum);
    }
    hn::StoreU(sum, d, to + i);
  });
}

template <class T>
HWY_INLINE void scatter_any(const TaskLabels& labels, std::size_t width, const T* from,
                            const std::uint32_t* place, T* to) {
  for (std::size_t j = 0; j < labels.size(); ++j) {
    const auto factor = static_cast<T>(labels.classes[j] + 1);
    T* const row = to + place[labels.workers[j]] * width;
    over_row<T>(width, [&](auto d, std::size_t i) HWY_ATTR {
      hn::StoreU(hn::MulAdd(hn::Set(d, factor), hn::LoadU(d, from + i), hn::LoadU(d, row + i)), d,
                 row + i);
    });
  }
}

template <class T>
HWY_INLINE void step_any(const RmsPropRows<T>& step) {
  std::fill_n(step.sum, step.width, T(0));
  for (std::size_t row = 0; row < step.rows; ++row) {
    const bool is_common = step.place[row] == kNowhere;
    const T* const gradient = is_common ? step.common : step.own + step.place[row] * step.width;
    T* const weights = step.weights + row * step.width;
    T* const squares = step.mean_squares + row * step.width;
    over_row<T>(step.width, [&](auto d, std::size_t i) HWY_ATTR {
      const auto one = hn::Set(d, T(1));
      const auto g = hn::Max(hn::Min(hn::LoadU(d, gradient + i), one), hn::Neg(one));
      const auto square = hn::MulAdd(hn::Set(d, step.decay), hn::LoadU(d, squares + i),
                                     hn::Mul(hn::Set(d, 1 - step.decay), hn::Mul(g, g)));
      hn::StoreU(square, d, squares + i);
      const auto move = hn::Div(hn::Mul(hn::Set(d, step.rate), g),
                                hn::Sqrt(hn::Add(square, hn::Set(d, step.epsilon))));
      const auto weight = hn::Sub(hn::LoadU(d, weights + i), move);
      hn::StoreU(weight, d, weights + i);
      hn::StoreU(hn::Add(hn::LoadU(d, step.sum + i), weight), d, step.sum + i);
    });
  }
}

void multiply_floats(const float* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
                     std::size_t inner, const float* b, std::size_t columns, float* c) {
  multiply_any(a, row_step, column_step, rows, inner, b, columns, c);
}
void multiply_doubles(const double* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
                      std::size_t inner, const double* b, std::size_t columns, double* c) {
  multiply_any(a, row_step, column_step, rows, inner, b, columns, c);
}
void gather_floats(const TaskLabels& labels, std::size_t width, const float* from, float* to) {
  gather_any(labels, width, from, to);
}
void gather_doubles(const TaskLabels& labels, std::size_t width, const double* from, double* to) {
  gather_any(labels, width, from, to);
}
void scatter_floats(const TaskLabels& labels, std::size_t width, const float* from,
                    const std::uint32_t* place, float* to) {
  scatter_any(labels, width, from, place, to);
}
void scatter_doubles(const TaskLabels& labels, std::size_t width, const double* from,
                     const std::uint32_t* place, double* to) {
  scatter_any(labels, width, from, place, to);
}
void step_floats(const RmsPropRows<float>& step) { step_any(step); }
void step_doubles(const RmsPropRows<double>& step) { step_any(step); }

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(multiply_floats);
HWY_EXPORT(multiply_doubles);
HWY_EXPORT(gather_floats);
HWY_EXPORT(gather_doubles);
HWY_EXPORT(scatter_floats);
HWY_EXPORT(scatter_doubles);
HWY_EXPORT(step_floats);
HWY_EXPORT(step_doubles);

void multiply(const float* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
              std::size_t inner, const float* b, std::size_t columns, float* c) {
  HWY_DYNAMIC_DISPATCH(multiply_floats)(a, row_step, column_step, rows, inner, b, columns, c);
}
void multiply(const double* a, std::size_t row_step, std::size_t column_step, std::size_t rows,
              std::size_t inner, const double* b, std::size_t columns, double* c) {
  HWY_DYNAMIC_DISPATCH(multiply_doubles)(a, row_step, column_step, rows, inner, b, columns, c);
}
void gather_rows(const TaskLabels& labels, std::size_t width, const float* from, float* to) {
  HWY_DYNAMIC_DISPATCH(gather_floats)(labels, width, from, to);
}
void gather_rows(const TaskLabels& labels, std::size_t width, const double* from, double* to) {
  HWY_DYNAMIC_DISPATCH(gather_doubles)(labels, width, from, to);
}
void scatter_rows(const TaskLabels& labels, std::size_t width, const float* from,
                  const std::uint32_t* place, float* to) {
  HWY_DYNAMIC_DISPATCH(scatter_floats)(labels, width, from, place, to);
}
void scatter_rows(const TaskLabels& labels, std::size_t width, const double* from,
                  const std::uint32_t* place, double* to) {
  HWY_DYNAMIC_DISPATCH(scatter_doubles)(labels, width, from, place, to);
}
void step_rows(const RmsPropRows<float>& step) { HWY_DYNAMIC_DISPATCH(step_floats)(step); }
void step_rows(const RmsPropRows<double>& step) { HWY_DYNAMIC_DISPATCH(step_doubles)(step); }

}  // namespace crowdfold
#endif  // HWY_ONCE
