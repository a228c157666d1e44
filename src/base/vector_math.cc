// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/vector_math.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "base/vector_math.h"

#include <algorithm>

#include "base/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {

using Lanes = hn::ScalableTag<double>;
using Vector = hn::Vec<Lanes>;

// Applies `function` to all of x, including a last part that does not fill a vector.
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

void digamma_all(double* x, std::size_t size) {
  apply(x, size, [](Lanes d, Vector v) { return digamma(d, v); });
}

void log_gamma_all(double* x, std::size_t size) {
  apply(x, size, [](Lanes d, Vector v) { return log_gamma(d, SixFurther<Lanes>(d, v)); });
}

// The last vector is filled up with 1, whose log-gamma is 0.
double digamma_and_log_gamma_all(double* x, std::size_t size) {
  Vector sum = hn::Zero(Lanes());
  apply(x, size, [&sum](Lanes d, Vector v) {
    const SixFurther<Lanes> at(d, v);
    sum = hn::Add(sum, log_gamma(d, at));
    return digamma(d, at);
  });
  return hn::GetLane(hn::SumOfLanes(Lanes(), sum));
}

constexpr double kLeastLog = -690;  // its exponential is above 0

// Reduces groups of `width` lanes by `op`; every lane of a group gets the result. (Not all targets have
// all shuffles: they are looked up by argument.)
template <class D, class Op>
HWY_INLINE hn::Vec<D> across(D d, hn::Vec<D> v, std::size_t width, const Op& op) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  if constexpr (kLanes >= 2) {
    if (width >= 2) v = op(v, Shuffle01(v));
  }
  if constexpr (kLanes >= 4) {
    if (width >= 4) v = op(v, SwapAdjacentBlocks(v));
  }
  if constexpr (kLanes >= 8) {
    if (width >= 8) v = op(v, ConcatLowerUpper(d, v, v));
  }
  return v;
}

// Sums over rows of numbers that are equal in all lanes of a row.
template <class D>
class LogSums {
 public:
  HWY_INLINE LogSums() : sum_(hn::Zero(D())), product_(hn::Set(D(), 1)) {}
  // The highest logarithm of a row, and the row's sum as a multiple of its exponential.
  HWY_INLINE void add(hn::Vec<D> highest, hn::Vec<D> total) {
    constexpr int kFactors = 32;  // of at most 2^16: their product is a double
    const D d;
    sum_ = hn::Add(sum_, highest);
    product_ = hn::Mul(product_, total);
    if (++factors_ % kFactors != 0) return;
    sum_ = hn::Add(sum_, hn::Log(d, product_));
    product_ = hn::Set(d, 1);
  }
  HWY_INLINE double of_rows(std::size_t width) const {
    const D d;
    const double of_lanes = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum_, hn::Log(d, product_))));
    return of_lanes / static_cast<double>(std::min(width, hn::Lanes(d)));
  }

 private:
  hn::Vec<D> sum_;
  hn::Vec<D> product_;
  int factors_ = 0;
};

// The same in whole units: adding this number to a logarithm leaves its units in the lowest bits.
template <class D>
class LogUnits {
 public:
  using Units = hn::RebindToSigned<D>;
  HWY_INLINE LogUnits() : sum_(hn::Zero(Units())) {}
  HWY_INLINE void add(hn::Vec<D> highest, hn::Vec<D> total) {
    constexpr double kRounds = 1.5 * 0x1p52 / kEvidenceUnits;
    constexpr double kMost = 0x1p52 / kEvidenceUnits / 4;  // up to which it does
    const D d;
    const Units u;
    const auto log = hn::Add(hn::Max(highest, hn::Set(d, -kMost)), hn::Log(d, total));
    const auto rounds = hn::Set(d, kRounds);
    const auto units = hn::Sub(hn::BitCast(u, hn::Add(log, rounds)), hn::BitCast(u, rounds));
    sum_ = hn::Add(sum_, units);
  }
  HWY_INLINE std::int64_t of_rows(std::size_t width) const {
    HWY_ALIGN std::int64_t lanes[hn::MaxLanes(Units())];
    hn::Store(sum_, Units(), lanes);
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < hn::Lanes(Units()); i += std::min(width, hn::Lanes(Units())))
      sum += lanes[i];
    return sum;
  }

 private:
  hn::Vec<Units> sum_;
};

// For callers that do not ask for these sums.
template <class D>
struct NoSums {
  HWY_INLINE void add(hn::Vec<D>, hn::Vec<D>) {}
  HWY_INLINE double of_rows(std::size_t) const { return 0; }
};

// Rows that do not fill a vector, several at a time.
template <template <class> class Sums, class Outcome, class D>
void normalize_narrow(D d, const double* logs, std::size_t size, std::size_t width, double* rows,
                      Outcome& normalized) {
  const std::size_t lanes = hn::Lanes(d);
  Sums<D> sums;
  hn::Vec<D> change = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto row = hn::LoadU(d, logs + i);
    const auto highest = across(d, row, width, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
    const auto power = hn::Exp(d, hn::Max(hn::Sub(row, highest), hn::Set(d, kLeastLog)));
    const auto total = across(d, power, width, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
    const auto share = hn::Div(power, total);
    change = hn::Max(change, hn::Abs(hn::Sub(share, hn::LoadU(d, rows + i))));
    hn::StoreU(share, d, rows + i);
    sums.add(highest, total);
  }
  normalized.log_sums += sums.of_rows(width);
  normalized.change = std::max(normalized.change, hn::GetLane(hn::MaxOfLanes(d, change)));
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::CappedTag<double, hn::MaxLanes(D()) / 2> half;
    if (i < size) normalize_narrow<Sums, Outcome>(half, logs + i, size - i, width, rows + i, normalized);
  }
}

// A row of one or several vectors. If their number is a constant, they stay in registers.
template <std::size_t kVectors, class Sums>
HWY_INLINE void normalize_row(double* logs, std::size_t width, double* row, Sums& sums,
                              hn::Vec<RowLanes>& change) {
  const RowLanes d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t vectors = kVectors > 0 ? kVectors : width / lanes;
  auto highest = hn::LoadU(d, logs);
  for (std::size_t v = 1; v < vectors; ++v) highest = hn::Max(highest, hn::LoadU(d, logs + v * lanes));
  highest = across(d, highest, lanes, [](auto a, auto b) HWY_ATTR { return hn::Max(a, b); });
  hn::Vec<RowLanes> kept[kVectors > 0 ? kVectors : 1];
  auto total = hn::Zero(d);
  for (std::size_t v = 0; v < vectors; ++v) {
    const auto log = hn::Sub(hn::LoadU(d, logs + v * lanes), highest);
    const auto power = hn::Exp(d, hn::Max(log, hn::Set(d, kLeastLog)));
    total = hn::Add(total, power);
    if constexpr (kVectors > 0)
      kept[v] = power;
    else
      hn::StoreU(power, d, logs + v * lanes);
  }
  total = across(d, total, lanes, [](auto a, auto b) HWY_ATTR { return hn::Add(a, b); });
  const auto scale = hn::Set(d, 1 / hn::GetLane(total));  // quicker than a division in all lanes
  for (std::size_t v = 0; v < vectors; ++v) {
    const auto power = kVectors > 0 ? kept[kVectors > 0 ? v : 0] : hn::LoadU(d, logs + v * lanes);
    const auto share = hn::Mul(power, scale);
    change = hn::Max(change, hn::Abs(hn::Sub(share, hn::LoadU(d, row + v * lanes))));
    hn::StoreU(share, d, row + v * lanes);
  }
  sums.add(highest, total);
}

template <template <class> class Sums, std::size_t kVectors, class Outcome>
void normalize_wide(double* logs, std::size_t size, std::size_t width, double* rows,
                    Outcome& normalized) {
  const RowLanes d;
  Sums<RowLanes> sums;
  auto change = hn::Zero(d);
  for (std::size_t i = 0; i < size; i += width)
    normalize_row<kVectors>(logs + i, width, rows + i, sums, change);
  normalized.log_sums = sums.of_rows(width);
  normalized.change = hn::GetLane(hn::MaxOfLanes(d, change));
}

template <template <class> class Sums, class Outcome>
HWY_INLINE Outcome normalize_any(double* logs, std::size_t size, std::size_t width, double* rows) {
  const RowLanes d;
  Outcome normalized;
  if (width < hn::Lanes(d))
    normalize_narrow<Sums, Outcome>(d, logs, size, width, rows, normalized);
  else if (width == hn::Lanes(d))
    normalize_wide<Sums, 1>(logs, size, width, rows, normalized);
  else if (width == 2 * hn::Lanes(d))
    normalize_wide<Sums, 2>(logs, size, width, rows, normalized);
  else if (width == 3 * hn::Lanes(d))
    normalize_wide<Sums, 3>(logs, size, width, rows, normalized);
  else
    normalize_wide<Sums, 0>(logs, size, width, rows, normalized);
  return normalized;
}
Normalized normalize_rows(double* logs, std::size_t size, std::size_t width, double* rows) {
  return normalize_any<LogSums, Normalized>(logs, size, width, rows);
}
NormalizedInUnits normalize_rows_in_units(double* logs, std::size_t size, std::size_t width,
                                          double* rows) {
  return normalize_any<LogUnits, NormalizedInUnits>(logs, size, width, rows);
}
void softmax_rows(double* logs, std::size_t size, std::size_t width, double* rows) {
  normalize_any<NoSums, Normalized>(logs, size, width, rows);
}

// Adding 2^52 to a number from 0 to 2^52 leaves it, rounded, in the bits of the fraction.
void to_units(const double* probabilities, std::size_t size, std::uint64_t* units) {
  using Units = hn::RebindToUnsigned<Lanes>;
  const Lanes d;
  const Units u;
  constexpr double kUnits = 0x1p32;
  const auto fraction = hn::Set(u, (std::uint64_t{1} << 52) - 1);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= size; i += hn::Lanes(d)) {
    const auto scaled =
        hn::MulAdd(hn::LoadU(d, probabilities + i), hn::Set(d, kUnits), hn::Set(d, 0x1p52));
    hn::StoreU(hn::And(hn::BitCast(u, scaled), fraction), u, units + i);
  }
  for (; i < size; ++i) units[i] = static_cast<std::uint64_t>(std::nearbyint(probabilities[i] * kUnits));
}

// sum[i] += row[i]. Rows that do not fill a vector are added by narrower vectors.
template <class D>
void add_up_all(D d, const double* rows, std::size_t size, std::size_t width, double* sum) {
  if constexpr (hn::MaxLanes(D()) > 1) {
    if (width < hn::Lanes(d)) {
      const hn::CappedTag<double, hn::MaxLanes(D()) / 2> half;
      return add_up_all(half, rows, size, width, sum);
    }
  }
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < width; i += lanes) {
    auto all = hn::LoadU(d, sum + i);
    for (std::size_t r = i; r < size; r += width) all = hn::Add(all, hn::LoadU(d, rows + r));
    hn::StoreU(all, d, sum + i);
  }
}
void add_up(const double* rows, std::size_t size, std::size_t width, double* sum) {
  add_up_all(RowLanes(), rows, size, width, sum);
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
HWY_EXPORT(normalize_rows_in_units);
HWY_EXPORT(softmax_rows);
HWY_EXPORT(to_units);
HWY_EXPORT(add_up);

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

Normalized normalize_log_rows(std::span<double> logs, std::size_t width,
                              std::span<double> probabilities) {
  return HWY_DYNAMIC_DISPATCH(normalize_rows)(logs.data(), logs.size(), width, probabilities.data());
}

NormalizedInUnits normalize_log_rows_in_units(std::span<double> logs, std::size_t width,
                                              std::span<double> probabilities) {
  return HWY_DYNAMIC_DISPATCH(normalize_rows_in_units)(logs.data(), logs.size(), width,
                                                       probabilities.data());
}

void softmax_log_rows(std::span<double> logs, std::size_t width, std::span<double> probabilities) {
  HWY_DYNAMIC_DISPATCH(softmax_rows)(logs.data(), logs.size(), width, probabilities.data());
}

void write_units(std::span<const double> probabilities, std::span<std::uint64_t> units) {
  HWY_DYNAMIC_DISPATCH(to_units)(probabilities.data(), probabilities.size(), units.data());
}

void add_up_rows(std::span<const double> rows, std::span<double> sum) {
  HWY_DYNAMIC_DISPATCH(add_up)(rows.data(), rows.size(), sum.size(), sum.data());
}

}  // namespace crowdfold
#endif
