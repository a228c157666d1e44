// Shared by the files that Highway compiles once per instruction set.
#if defined(CROWDFOLD_CORE_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef CROWDFOLD_CORE_VECTORS_INL_H
#undef CROWDFOLD_CORE_VECTORS_INL_H
#else
#define CROWDFOLD_CORE_VECTORS_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "base/vector_math.h"

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Up to eight doubles: the narrowest row that takes a whole vector.
using RowLanes = hn::CappedTag<double, row_width(8)>;

// Calls body(d) with the widest vectors that divide a row of `width` numbers.
template <class D, class Body>
HWY_INLINE void with_vectors_of(D d, std::size_t width, const Body& body) {
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (width < hn::Lanes(d))
      return with_vectors_of(hn::CappedTag<hn::TFromD<D>, hn::MaxLanes(D()) / 2>(), width, body);
  }
  body(d);
}

// c[0] + c[1] x + c[2] x^2 + …
template <class D, std::size_t kSize>
HWY_INLINE hn::Vec<D> polynomial(D d, hn::Vec<D> x, const double (&c)[kSize]) {
  auto sum = hn::Set(d, c[kSize - 1]);
  for (std::size_t i = kSize - 1; i-- > 0;) sum = hn::MulAdd(sum, x, hn::Set(d, c[i]));
  return sum;
}

// P(x) = x (x + 1) … (x + 5), and its derivative. With u = x (x + 5), P = u (u + 4) (u + 6).
template <class D>
struct Rising {
  HWY_INLINE Rising(D d, hn::Vec<D> x) {
    const auto u = hn::Mul(x, hn::Add(x, hn::Set(d, 5)));
    const auto u4 = hn::Add(u, hn::Set(d, 4));
    const auto u6 = hn::Add(u, hn::Set(d, 6));
    const auto slope = hn::MulAdd(u, hn::Add(u4, u6), hn::Mul(u4, u6));
    value = hn::Mul(u, hn::Mul(u4, u6));
    derivative = hn::Mul(slope, hn::Add(hn::Add(x, x), hn::Set(d, 5)));
  }
  hn::Vec<D> value;
  hn::Vec<D> derivative;
};

// Digamma and log-gamma are computed at x + 6, where their asymptotic series are exact to the last
// digits:
//   psi(x)       = psi(x + 6) - P'(x) / P(x)
//   log Gamma(x) = log Gamma(x + 6) - log P(x)
template <class D>
struct SixFurther {
  HWY_INLINE SixFurther(D d, hn::Vec<D> x) : rising(d, x), y(hn::Add(x, hn::Set(d, 6))) {
    r = hn::Div(hn::Set(d, 1), y);
    r2 = hn::Mul(r, r);
    log_y = hn::Log(d, y);
  }
  Rising<D> rising;
  hn::Vec<D> y;
  hn::Vec<D> r;  // 1 / y
  hn::Vec<D> r2;
  hn::Vec<D> log_y;
};

template <class D>
HWY_INLINE hn::Vec<D> digamma(D d, const SixFurther<D>& at) {
  const auto series = polynomial(
      d, at.r2, {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12});
  const auto further = hn::NegMulAdd(series, at.r2, hn::NegMulAdd(hn::Set(d, .5), at.r, at.log_y));
  return hn::Sub(further, hn::Div(at.rising.derivative, at.rising.value));
}
template <class D>
HWY_INLINE hn::Vec<D> digamma(D d, hn::Vec<D> x) {
  return digamma(d, SixFurther<D>(d, x));
}

template <class D>
HWY_INLINE hn::Vec<D> log_gamma(D d, const SixFurther<D>& at) {
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  const auto series =
      polynomial(d, at.r2, {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360});
  const auto stirling =
      hn::MulSub(hn::Sub(at.y, hn::Set(d, .5)), at.log_y, hn::Sub(at.y, hn::Set(d, kHalfLogTwoPi)));
  return hn::Sub(hn::MulAdd(series, at.r, stirling), hn::Log(d, at.rising.value));
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#endif
