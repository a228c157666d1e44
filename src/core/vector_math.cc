// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/vector_math.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "core/vector_math.h"

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::ScalableTag<double>;
using Vector = hn::Vec<Lanes>;

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

// Both functions are simple six steps further, where their asymptotic series are exact to the last
// digits:
//   psi(x)       = psi(x + 6) - P'(x) / P(x)
//   log Gamma(x) = log Gamma(x + 6) - log P(x)
void digamma_all(double* x, std::size_t size) {
  apply(x, size, [](Lanes d, Vector v) {
    const Rising rising(d, v);
    const Vector y = hn::Add(v, number(d, 6));
    const Vector r = hn::Div(number(d, 1), y);
    const Vector r2 = hn::Mul(r, r);
    const Vector series = polynomial(
        d, r2, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12});
    const Vector further = hn::NegMulAdd(series, r2, hn::NegMulAdd(number(d, .5), r, hn::Log(d, y)));
    return hn::Sub(further, hn::Div(rising.derivative, rising.value));
  });
}

void log_gamma_all(double* x, std::size_t size) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  apply(x, size, [](Lanes d, Vector v) {
    const Rising rising(d, v);
    const Vector y = hn::Add(v, number(d, 6));
    const Vector r = hn::Div(number(d, 1), y);
    const Vector series = polynomial(
        d, hn::Mul(r, r), {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360});
    const Vector stirling =
        hn::MulSub(hn::Sub(y, number(d, .5)), hn::Log(d, y), hn::Sub(y, number(d, kHalfLogTwoPi)));
    return hn::Sub(hn::MulAdd(series, r, stirling), hn::Log(d, rising.value));
  });
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

}  // namespace crowdfold
#endif
