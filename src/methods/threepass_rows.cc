// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "methods/threepass_rows.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "methods/threepass_rows.h"

#include "core/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {

// (W) for the classes k of a vector, from the i-th on:
//   d         = z / (1 + z),  z = ability r
//   b[k,l]    = d  or  (1 - d) E[k,l]
//   Tab[k,l]  = psi(n[k,l] + s b[k,l]) - psi(N[k] + s) + lambda Cr[k,l]
template <class D>
HWY_INLINE void put_part(D d, const CrowdEffects& crowd, const WorkerRows& worker, std::size_t i,
                         double* rows) {
  constexpr double kLeastCount = 1e-3;  // that psi is asked for
  const auto load = [&](const std::vector<double>& row) HWY_ATTR { return hn::LoadU(d, &row[i]); };
  const auto one = hn::Set(d, 1);
  const auto least = hn::Set(d, kLeastCount);
  const auto s = hn::Set(d, crowd.strength);
  const auto symmetry = hn::Set(d, crowd.symmetry);
  const auto wrong = hn::Div(one, hn::MulAdd(hn::Set(d, worker.ability), load(crowd.ease), one));
  const auto scale = hn::Mul(hn::Mul(s, wrong), load(crowd.error_scale));
  const auto psi_total = digamma(d, hn::Add(hn::LoadU(d, worker.totals + i), s));
  const auto after = hn::MulSub(symmetry, load(crowd.correct_wrong), psi_total);
  for (std::size_t l = worker.first; l < worker.last; ++l) {
    const std::size_t row = (l - worker.first) * worker.distance + i;
    const auto errors =
        hn::Add(hn::LoadU(d, worker.pooled + row), hn::Set(d, crowd.symmetric_errors));
    const auto count = hn::Add(hn::LoadU(d, worker.counts + row), hn::Set(d, worker.history_wrong));
    const auto log = digamma(d, hn::Max(hn::MulAdd(scale, errors, count), least));
    hn::StoreU(hn::Add(log, after), d, rows + row);
  }

  // The diagonal, as far as it is here.
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t begin = std::max(worker.first, i);
  const std::size_t end = std::min(worker.last, i + lanes);
  if (begin >= end) return;
  HWY_ALIGN double diagonal[hn::MaxLanes(D())] = {};
  for (std::size_t l = begin; l < end; ++l)
    diagonal[l - i] = worker.counts[(l - worker.first) * worker.distance + l];
  const auto count = hn::Add(hn::Load(d, diagonal), hn::Set(d, worker.history_right));
  const auto right = hn::Sub(one, wrong);
  const auto log = digamma(d, hn::Max(hn::MulAdd(s, right, count), least));
  hn::Store(hn::Add(log, hn::MulSub(symmetry, load(crowd.correct_right), psi_total)), d, diagonal);
  for (std::size_t l = begin; l < end; ++l)
    rows[(l - worker.first) * worker.distance + l] = diagonal[l - i];
}

void put_rows(const CrowdEffects& crowd, const WorkerRows& worker, double* rows) {
  const std::size_t width = crowd.ease.size();
  with_vectors_of(RowLanes(), width, [&](auto d) {
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) put_part(d, crowd, worker, i, rows);
  });
}

void add_rows(const double* rows, std::size_t count, std::size_t distance, std::size_t width,
              double* sums) {
  with_vectors_of(RowLanes(), width, [&](auto d) {
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      auto sum = hn::LoadU(d, sums + i);
      for (std::size_t r = 0; r < count; ++r)
        sum = hn::Add(sum, hn::LoadU(d, rows + r * distance + i));
      hn::StoreU(sum, d, sums + i);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(put_rows);
HWY_EXPORT(add_rows);

void put_log_rows(const CrowdEffects& crowd, const WorkerRows& worker, double* rows) {
  HWY_DYNAMIC_DISPATCH(put_rows)(crowd, worker, rows);
}

void add_up_rows(const double* rows, std::size_t count, std::size_t distance, std::size_t width,
                 double* sums) {
  HWY_DYNAMIC_DISPATCH(add_rows)(rows, count, distance, width, sums);
}

}  // namespace crowdfold
#endif
