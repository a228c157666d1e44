// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "methods/networks/network_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "methods/networks/network_kernels.h"

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>
#include <vector>

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

template <std::size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void gather_part(D d, const TaskLabels& labels, std::size_t width, const T* from, T* to) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) sum[v] = hn::LoadU(d, to + v * lanes);
  for (std::size_t j = 0; j < labels.size(); ++j) {
    const auto factor = hn::Set(d, static_cast<T>(labels.classes[j] + 1));
    const T* const row = from + labels.workers[j] * width;
    for (std::size_t v = 0; v < kVectors; ++v)
      sum[v] = hn::MulAdd(factor, hn::LoadU(d, row + v * lanes), sum[v]);
  }
  for (std::size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, to + v * lanes);
}

template <class T>
HWY_INLINE void gather_any(const TaskLabels& labels, std::size_t width, const T* from, T* to) {
  constexpr std::size_t kVectors = 4;
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + kVectors * lanes <= width; i += kVectors * lanes)
    gather_part<kVectors>(d, labels, width, from + i, to + i);
  for (; i < width; ++i) gather_part<1>(hn::CappedTag<T, 1>(), labels, width, from + i, to + i);
}

// 1 / sqrt(x). Of floats an approximation to twelve bits, made more precise: right but for the last bit
// or two, in a third of the time of a root and a division.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> inverse_root(D d, hn::Vec<D> x) {
  if constexpr (sizeof(T) == sizeof(float)) {
    const auto root = hn::ApproximateReciprocalSqrt(x);
    const auto half = hn::Mul(hn::Set(d, T(.5)), x);
    return hn::Mul(root, hn::NegMulAdd(hn::Mul(half, root), root, hn::Set(d, T(1.5))));
  } else {
    return hn::Div(hn::Set(d, T(1)), hn::Sqrt(x));
  }
}

// By value, so that the compiler does not take a store for a change of the rule.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> step_vector(D d, const RmsPropRule<T> rule, hn::Vec<D> gradient, T* weights,
                                  T* squares) {
  const auto one = hn::Set(d, T(1));
  const auto g = hn::Max(hn::Min(gradient, one), hn::Neg(one));
  const auto square = hn::MulAdd(hn::Set(d, rule.decay), hn::LoadU(d, squares),
                                 hn::Mul(hn::Set(d, 1 - rule.decay), hn::Mul(g, g)));
  hn::StoreU(square, d, squares);
  const auto move = hn::Mul(g, inverse_root(d, hn::Add(square, hn::Set(d, rule.epsilon))));
  const auto weight = hn::NegMulAdd(hn::Set(d, rule.rate), move, hn::LoadU(d, weights));
  hn::StoreU(weight, d, weights);
  return weight;
}

template <class T>
HWY_INLINE void step_numbers_any(const RmsPropRule<T> rule, std::span<const T> gradient, T* weights,
                                 T* squares) {
  const T* const from = gradient.data();
  over_row<T>(gradient.size(), [=](auto d, std::size_t i) HWY_ATTR {
    step_vector(d, rule, hn::LoadU(d, from + i), weights + i, squares + i);
  });
}

// kVectors vectors of a row at a time, with a pass over all labels of its worker for each.
template <std::size_t kVectors, class D, class T = hn::TFromD<D>>
HWY_INLINE void step_part(D d, const RmsPropRule<T> rule, const T* HWY_RESTRICT common,
                          const T* HWY_RESTRICT slopes, std::size_t width,
                          std::span<const BatchLabel> labels, T* HWY_RESTRICT weights,
                          T* HWY_RESTRICT squares, T* HWY_RESTRICT sum) {
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<D> gradient[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v) gradient[v] = hn::LoadU(d, common + v * lanes);
  for (const BatchLabel& label : labels) {
    const auto factor = hn::Set(d, static_cast<T>(label.label + 1));
    const T* const slope = slopes + label.row * width;
    for (std::size_t v = 0; v < kVectors; ++v)
      gradient[v] = hn::MulAdd(factor, hn::LoadU(d, slope + v * lanes), gradient[v]);
  }
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto weight = step_vector(d, rule, gradient[v], weights + v * lanes, squares + v * lanes);
    hn::StoreU(hn::Add(hn::LoadU(d, sum + v * lanes), weight), d, sum + v * lanes);
  }
}

// The same for a row whose gradient g is the common one, given as (1 - decay) g^2 and rate g.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void step_common(D d, const RmsPropRule<T> rule, const T* HWY_RESTRICT added,
                            const T* HWY_RESTRICT scaled, T* HWY_RESTRICT weights,
                            T* HWY_RESTRICT squares, T* HWY_RESTRICT sum) {
  const auto square = hn::MulAdd(hn::Set(d, rule.decay), hn::LoadU(d, squares), hn::LoadU(d, added));
  hn::StoreU(square, d, squares);
  const auto root = inverse_root(d, hn::Add(square, hn::Set(d, rule.epsilon)));
  const auto weight = hn::NegMulAdd(hn::LoadU(d, scaled), root, hn::LoadU(d, weights));
  hn::StoreU(weight, d, weights);
  hn::StoreU(hn::Add(hn::LoadU(d, sum), weight), d, sum);
}

template <class T>
HWY_INLINE void step_rows_any(const RmsPropRule<T> rule, const RmsPropRows<T>& step) {
  constexpr std::size_t kVectors = 4;
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::fill_n(step.sum, step.width, T(0));
  std::vector<T> of_common(2 * step.width);
  T* const added = of_common.data();
  T* const scaled = added + step.width;
  for (std::size_t i = 0; i < step.width; ++i) {
    const T g = std::clamp(step.common[i], T(-1), T(1));
    added[i] = (1 - rule.decay) * (g * g);
    scaled[i] = rule.rate * g;
  }
  std::size_t place = 0;
  for (std::size_t row = 0; row < step.rows; ++row) {
    std::span<const BatchLabel> labels;
    if (place < step.workers.size() && step.workers[place] == row) {
      labels = step.labels.subspan(step.offsets[place], step.offsets[place + 1] - step.offsets[place]);
      ++place;
    }
    const std::size_t at = row * step.width;
    if (labels.empty()) {
      T* const weights = step.weights + at;
      T* const squares = step.mean_squares + at;
      T* const sum = step.sum;
      over_row<T>(step.width, [=](auto vectors, std::size_t i) HWY_ATTR {
        step_common(vectors, rule, added + i, scaled + i, weights + i, squares + i, sum + i);
      });
      continue;
    }
    std::size_t i = 0;
    for (; i + kVectors * lanes <= step.width; i += kVectors * lanes)
      step_part<kVectors>(d, rule, step.common + i, step.slopes + i, step.width, labels,
                          step.weights + at + i, step.mean_squares + at + i, step.sum + i);
    for (; i < step.width; ++i)
      step_part<1>(hn::CappedTag<T, 1>(), rule, step.common + i, step.slopes + i, step.width, labels,
                   step.weights + at + i, step.mean_squares + at + i, step.sum + i);
  }
}

template <class T>
HWY_INLINE void exp_any(std::span<T> values) {
  over_row<T>(values.size(), [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Exp(d, hn::LoadU(d, values.data() + i)), d, values.data() + i);
  });
}
// 1 - 2 / (e^2x + 1); beyond 20, that is 1 or -1.
template <class T>
HWY_INLINE void tanh_any(std::span<T> values) {
  T* const to = values.data();
  over_row<T>(values.size(), [=](auto d, std::size_t i) HWY_ATTR {
    const auto one = hn::Set(d, T(1));
    const auto most = hn::Set(d, T(20));
    const auto x = hn::Max(hn::Min(hn::LoadU(d, to + i), most), hn::Neg(most));
    const auto power = hn::Exp(d, hn::Add(x, x));
    hn::StoreU(hn::Sub(one, hn::Div(hn::Set(d, T(2)), hn::Add(power, one))), d, to + i);
  });
}
template <class T>
HWY_INLINE void log_any(std::span<T> values) {
  over_row<T>(values.size(), [&](auto d, std::size_t i) HWY_ATTR {
    hn::StoreU(hn::Log(d, hn::LoadU(d, values.data() + i)), d, values.data() + i);
  });
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
void step_floats(const RmsPropRule<float>& rule, std::span<const float> gradient, float* weights,
                 float* squares) {
  step_numbers_any(rule, gradient, weights, squares);
}
void step_doubles(const RmsPropRule<double>& rule, std::span<const double> gradient, double* weights,
                  double* squares) {
  step_numbers_any(rule, gradient, weights, squares);
}
void step_float_rows(const RmsPropRule<float>& rule, const RmsPropRows<float>& step) {
  step_rows_any(rule, step);
}
void step_double_rows(const RmsPropRule<double>& rule, const RmsPropRows<double>& step) {
  step_rows_any(rule, step);
}
void exp_floats(std::span<float> values) { exp_any(values); }
void exp_doubles(std::span<double> values) { exp_any(values); }
void tanh_floats(std::span<float> values) { tanh_any(values); }
void tanh_doubles(std::span<double> values) { tanh_any(values); }
void log_floats(std::span<float> values) { log_any(values); }
void log_doubles(std::span<double> values) { log_any(values); }

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(multiply_floats);
HWY_EXPORT(multiply_doubles);
HWY_EXPORT(gather_floats);
HWY_EXPORT(gather_doubles);
HWY_EXPORT(step_floats);
HWY_EXPORT(step_doubles);
HWY_EXPORT(step_float_rows);
HWY_EXPORT(step_double_rows);
HWY_EXPORT(exp_floats);
HWY_EXPORT(exp_doubles);
HWY_EXPORT(tanh_floats);
HWY_EXPORT(tanh_doubles);
HWY_EXPORT(log_floats);
HWY_EXPORT(log_doubles);

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
void step_numbers(const RmsPropRule<float>& rule, std::span<const float> gradient, float* weights,
                  float* mean_squares) {
  HWY_DYNAMIC_DISPATCH(step_floats)(rule, gradient, weights, mean_squares);
}
void step_numbers(const RmsPropRule<double>& rule, std::span<const double> gradient, double* weights,
                  double* mean_squares) {
  HWY_DYNAMIC_DISPATCH(step_doubles)(rule, gradient, weights, mean_squares);
}
void step_rows(const RmsPropRule<float>& rule, const RmsPropRows<float>& step) {
  HWY_DYNAMIC_DISPATCH(step_float_rows)(rule, step);
}
void step_rows(const RmsPropRule<double>& rule, const RmsPropRows<double>& step) {
  HWY_DYNAMIC_DISPATCH(step_double_rows)(rule, step);
}
void exp_numbers(std::span<float> values) { HWY_DYNAMIC_DISPATCH(exp_floats)(values); }
void exp_numbers(std::span<double> values) { HWY_DYNAMIC_DISPATCH(exp_doubles)(values); }
void tanh_numbers(std::span<float> values) { HWY_DYNAMIC_DISPATCH(tanh_floats)(values); }
void tanh_numbers(std::span<double> values) { HWY_DYNAMIC_DISPATCH(tanh_doubles)(values); }
void log_numbers(std::span<float> values) { HWY_DYNAMIC_DISPATCH(log_floats)(values); }
void log_numbers(std::span<double> values) { HWY_DYNAMIC_DISPATCH(log_doubles)(values); }

}  // namespace crowdfold
#endif  // HWY_ONCE
