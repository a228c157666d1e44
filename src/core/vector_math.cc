// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/vector_math.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "core/vector_math.h"

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include <algorithm>

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<double>;
using Vector = hn::Vec<Lanes>;

constexpr std::size_t kRowsAtOnce = 64;

// function over all of x, also over a last part that does not fill a vector.
template <class Function>
void apply(double* x, std::size_t size, const Function& function) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) hn::StoreU(function(d, hn::LoadU(d, x + i)), d, x + i);
  if (i == size) return;
  HWY_ALIGN double rest[hn::MaxLanes(d)];
  for (std::size_t j = 0; j < lanes; ++j) rest[j] = i + j < size ? x[i + j] : 1;
  hn::Store(function(d, hn::Load(d, rest)), d, rest);
  for (std::size_t j = 0; i + j < size; ++j) x[i + j] = rest[j];
}

void exp_all(double* x, std::size_t size) {
  apply(x, size, [](Lanes d, Vector v) { return hn::Exp(d, v); });
}

void log_all(double* x, std::size_t size) {
  apply(x, size, [](Lanes d, Vector v) { return hn::Log(d, v); });
}

inline Vector number(Lanes d, double value) { return hn::Set(d, value); }

// c[0] + c[1] x + c[2] x^2 + …
template <std::size_t kSize>
Vector polynomial(Lanes d, Vector x, const double (&c)[kSize]) {
  Vector sum = number(d, c[kSize - 1]);
  for (std::size_t i = kSize - 1; i-- > 0;) sum = hn::MulAdd(sum, x, number(d, c[i]));
  return sum;
}

// P(x) = x (x + 1) … (x + 5), and its derivative. With u = x (x + 5), P = u (u + 4) (u + 6).
struct Rising {
  Rising(Lanes d, Vector x) {
    const Vector u = hn::Mul(x, hn::Add(x, number(d, 5)));
    const Vector u4 = hn::Add(u, number(d, 4));
    const Vector u6 = hn::Add(u, number(d, 6));
    const Vector slope = hn::MulAdd(u, hn::Add(u4, u6), hn::Mul(u4, u6));
    value = hn::Mul(u, hn::Mul(u4, u6));
    derivative = hn::Mul(slope, hn::Add(hn::Add(x, x), number(d, 5)));
  }
  Vector value;
  Vector derivative;
};

// Digamma and log-gamma are simple six steps further, where their asymptotic series are exact to the
// last digits:
//   psi(x)       = psi(x + 6) - P'(x) / P(x)
//   log Gamma(x) = log Gamma(x + 6) - log P(x)
struct SixFurther {
  SixFurther(Lanes d, Vector x) : rising(d, x), y(hn::Add(x, number(d, 6))) {
    r = hn::Div(number(d, 1), y);
    r2 = hn::Mul(r, r);
    log_y = hn::Log(d, y);
  }
  Rising rising;
  Vector y;
  Vector r;  // 1 / y
  Vector r2;
  Vector log_y;
};

Vector digamma(Lanes d, const SixFurther& at) {
  const Vector series = polynomial(
      d, at.r2, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12});
  const Vector further = hn::NegMulAdd(series, at.r2, hn::NegMulAdd(number(d, .5), at.r, at.log_y));
  return hn::Sub(further, hn::Div(at.rising.derivative, at.rising.value));
}

Vector log_gamma(Lanes d, const SixFurther& at) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const Vector series =
      polynomial(d, at.r2, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360});
  const Vector stirling =
      hn::MulSub(hn::Sub(at.y, number(d, .5)), at.log_y, hn::Sub(at.y, number(d, kHalfLogTwoPi)));
  return hn::Sub(hn::MulAdd(series, at.r, stirling), hn::Log(d, at.rising.value));
}

void digamma_all(double* x, std::size_t size) {
  apply(x, size, [](Lanes d, Vector v) { return digamma(d, SixFurther(d, v)); });
}

void log_gamma_all(double* x, std::size_t size) {
  apply(x, size, [](Lanes d, Vector v) { return log_gamma(d, SixFurther(d, v)); });
}

// What fills up the last vector is 1, whose log-gamma is 0.
double digamma_and_log_gamma_all(double* x, std::size_t size) {
  Vector sum = number(Lanes(), 0);
  apply(x, size, [&sum](Lanes d, Vector v) {
    const SixFurther at(d, v);
    sum = hn::Add(sum, log_gamma(d, at));
    return digamma(d, at);
  });
  return hn::GetLane(hn::SumOfLanes(Lanes(), sum));
}

// step(accumulator, value) over a row: vector by vector, then over the lanes and the rest one by one.
template <class VectorStep, class Across, class Step>
double reduce(const double* row, std::size_t width, double start, const VectorStep& vector_step,
              const Across& across, const Step& step) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  double result = start;
  if (width >= lanes) {
    Vector all = hn::LoadU(d, row);
    for (i = lanes; i + lanes <= width; i += lanes) all = vector_step(all, hn::LoadU(d, row + i));
    result = step(result, hn::GetLane(across(d, all)));
  }
  for (; i < width; ++i) result = step(result, row[i]);
  return result;
}

HWY_INLINE double highest_of(const double* row, std::size_t width) {
  return reduce(
      row, width, row[0], [](Vector a, Vector b) { return hn::Max(a, b); },
      [](Lanes d, Vector v) { return hn::MaxOfLanes(d, v); },
      [](double a, double b) { return a > b ? a : b; });
}

HWY_INLINE double sum_of(const double* row, std::size_t width) {
  return reduce(
      row, width, 0, [](Vector a, Vector b) { return hn::Add(a, b); },
      [](Lanes d, Vector v) { return hn::SumOfLanes(d, v); }, [](double a, double b) { return a + b; });
}

// vector_step and step, the same function, on a row in place.
template <class VectorStep, class Step>
void change(double* row, std::size_t width, const VectorStep& vector_step, const Step& step) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= width; i += lanes) hn::StoreU(vector_step(hn::LoadU(d, row + i)), d, row + i);
  for (; i < width; ++i) row[i] = step(row[i]);
}

// Where rows have segments.
struct Segments {
  const std::uint32_t* ends = nullptr;
  std::size_t count = 0;
  double* sums = nullptr;
};

// The sum of a row. Leaves the sums of its segments in `sums`.
double sum_of_segments(const double* row, const Segments& segments, double* sums) {
  double sum = 0;
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < segments.count; ++i) {
    sum += sums[i] = sum_of(row + first, segments.ends[i] - first);
    first = segments.ends[i];
  }
  return sum;
}

double normalize_some_rows(double* rows, std::size_t width, std::size_t count,
                           const Segments& segments) {
  constexpr double kLeast = -690;
  const Lanes d;
  double evidence = 0;
  double totals[kRowsAtOnce];
  for (std::size_t r = 0; r < count; ++r) {
    double* const row = rows + r * width;
    const double highest = highest_of(row, width);
    change(
        row, width, [&](Vector v) { return hn::Max(hn::Sub(v, number(d, highest)), number(d, kLeast)); },
        [&](double value) { return value - highest > kLeast ? value - highest : kLeast; });
    evidence += highest;
  }
  exp_all(rows, count * width);
  for (std::size_t r = 0; r < count; ++r) {
    double* const row = rows + r * width;
    double* const sums = segments.sums + r * segments.count;
    totals[r] = segments.count > 0 ? sum_of_segments(row, segments, sums) : sum_of(row, width);
    const double scale = 1 / totals[r];
    change(
        row, width, [&](Vector v) { return hn::Mul(v, number(d, scale)); },
        [&](double value) { return value * scale; });
    for (std::size_t i = 0; i < segments.count; ++i) sums[i] *= scale;
  }
  log_all(totals, count);
  for (std::size_t r = 0; r < count; ++r) evidence += totals[r];
  return evidence;
}

double normalize_rows(double* rows, std::size_t width, std::size_t count, const std::uint32_t* ends,
                      std::size_t segments, double* sums) {
  constexpr std::size_t kNumbers = 2'048;  // that stay in the first-level cache
  const std::size_t step = std::clamp<std::size_t>(kNumbers / width, 1, kRowsAtOnce);
  double evidence = 0;
  for (std::size_t r = 0; r < count; r += step)
    evidence += normalize_some_rows(rows + r * width, width, std::min(step, count - r),
                                    {ends, segments, sums + r * segments});
  return evidence;
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(exp_all);
HWY_EXPORT(log_all);
HWY_EXPORT(digamma_all);
HWY_EXPORT(log_gamma_all);
HWY_EXPORT(digamma_and_log_gamma_all);
HWY_EXPORT(normalize_rows);

void vector_exp(std::span<double> values) {
  HWY_DYNAMIC_DISPATCH(exp_all)(values.data(), values.size());
}
void vector_log(std::span<double> values) {
  HWY_DYNAMIC_DISPATCH(log_all)(values.data(), values.size());
}
void vector_digamma(std::span<double> values) {
  HWY_DYNAMIC_DISPATCH(digamma_all)(values.data(), values.size());
}

void vector_log_gamma(std::span<double> values) {
  HWY_DYNAMIC_DISPATCH(log_gamma_all)(values.data(), values.size());
}

double vector_digamma_and_log_gamma(std::span<double> values) {
  return HWY_DYNAMIC_DISPATCH(digamma_and_log_gamma_all)(values.data(), values.size());
}

double normalize_log_rows(std::span<double> rows, std::size_t width) {
  if (rows.empty()) return 0;
  return HWY_DYNAMIC_DISPATCH(normalize_rows)(rows.data(), width, rows.size() / width, nullptr, 0,
                                              nullptr);
}
double normalize_log_rows(std::span<double> rows, std::span<const std::uint32_t> ends,
                          std::span<double> sums) {
  if (rows.empty()) return 0;
  const std::size_t width = ends.back();
  return HWY_DYNAMIC_DISPATCH(normalize_rows)(rows.data(), width, rows.size() / width, ends.data(),
                                              ends.size(), sums.data());
}

}  // namespace crowdfold
#endif
