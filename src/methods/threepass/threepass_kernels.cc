// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "methods/threepass/threepass_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "methods/threepass/threepass_kernels.h"

#include "base/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {

// Up to eight: a row of as many classes is one vector on most machines.
using FloatLanes = hn::CappedTag<float, row_width(8)>;

// Its exponential is far above the smallest normal number, so products of it are not slow subnormals.
constexpr float kLeastLog = -80;

template <class D>
HWY_INLINE hn::Vec<D> set(D d, double value) {
  return hn::Set(d, static_cast<float>(value));
}

// psi(x) = psi(x + 4) - P'(x) / P(x),  P(x) = x (x + 1) (x + 2) (x + 3). With u = x (x + 3), P = u (u +
// 2). From 4 on, a short series around x - 1/2 is exact to the last digits of single precision.
template <class D>
HWY_INLINE hn::Vec<D> quick_digamma(D d, hn::Vec<D> x) {
  const auto far = set(d, 1e8);  // beyond, P'/P is nothing, and P would overflow
  const auto near = hn::Min(x, far);
  const auto three = set(d, 3);
  const auto u = hn::Mul(near, hn::Add(near, three));
  const auto rising = hn::Mul(u, hn::Add(u, set(d, 2)));
  const auto slope = hn::Mul(hn::MulAdd(set(d, 2), near, three), hn::MulAdd(set(d, 2), u, set(d, 2)));
  const auto z = hn::Add(x, set(d, 3.5));
  const auto r = hn::Div(set(d, 1), z);
  const auto r2 = hn::Mul(r, r);
  auto series = hn::MulAdd(r2, set(d, 31.0 / 8064), set(d, -7.0 / 960));
  series = hn::MulAdd(r2, series, set(d, 1.0 / 24));
  return hn::Sub(hn::MulAdd(r2, series, hn::Log(d, z)), hn::Div(slope, rising));
}

// (W) for one vector of classes k, from the i-th on:
//   d         = z / (1 + z),  z = ability r
//   b[k,l]    = d  or  (1 - d) E[k,l]
//   Tab[k,l]  = psi(n[k,l] + s b[k,l]) - psi(N[k] + s) + lambda Cr[k,l]
template <class D>
HWY_INLINE void compute_table_part(D d, const CrowdEffects& crowd, const WorkerRows& worker,
                                   std::size_t classes, std::size_t i, float* table) {
  constexpr double kLeastCount = 1e-3;  // that psi is asked for
  const auto load = [&](const std::vector<float>& row) HWY_ATTR { return hn::LoadU(d, &row[i]); };
  const std::size_t width = crowd.ease.size();
  const auto one = set(d, 1);
  const auto least = set(d, kLeastCount);
  const auto s = set(d, crowd.strength);
  const auto symmetry = set(d, crowd.symmetry);
  const auto wrong = hn::Div(one, hn::MulAdd(set(d, worker.ability), load(crowd.ease), one));
  const auto prior_errors = hn::Mul(s, wrong);
  auto total = set(d, worker.history_right + static_cast<double>(classes - 1) * worker.history_wrong);
  for (std::size_t l = 0; l < classes; ++l)
    total = hn::Add(total, hn::LoadU(d, worker.counts + l * worker.distance + i));
  const auto psi_total = quick_digamma(d, hn::Add(hn::Max(total, hn::Zero(d)), s));
  const auto after = hn::MulSub(symmetry, load(crowd.correct_wrong), psi_total);

  // The part of the diagonal that is in this vector.
  HWY_ALIGN float diagonal[hn::MaxLanes(D())] = {};
  const std::size_t end = std::min(classes, i + hn::Lanes(d));
  for (std::size_t l = i; l < end; ++l) diagonal[l - i] = worker.counts[l * worker.distance + l];
  const auto right = hn::Add(hn::Load(d, diagonal), set(d, worker.history_right));
  const auto log_right = quick_digamma(d, hn::Max(hn::MulAdd(s, hn::Sub(one, wrong), right), least));
  hn::Store(hn::Add(log_right, hn::MulSub(symmetry, load(crowd.correct_right), psi_total)), d, diagonal);

  for (std::size_t l = 0; l < classes; ++l) {
    const auto errors = hn::LoadU(d, &crowd.errors[l * width + i]);
    const auto count =
        hn::Add(hn::LoadU(d, worker.counts + l * worker.distance + i), set(d, worker.history_wrong));
    const auto log = quick_digamma(d, hn::Max(hn::MulAdd(prior_errors, errors, count), least));
    hn::StoreU(hn::Add(log, after), d, table + l * worker.distance + i);
  }
  for (std::size_t l = i; l < end; ++l) table[l * worker.distance + l] = diagonal[l - i];
}

void compute_table(const CrowdEffects& crowd, const WorkerRows& worker, std::size_t classes,
                   float* table) {
  const std::size_t width = crowd.ease.size();
  with_vectors_of(FloatLanes(), width, [&](auto d) {
    for (std::size_t i = 0; i < width; i += hn::Lanes(d))
      compute_table_part(d, crowd, worker, classes, i, table);
  });
}

template <class D>
HWY_INLINE hn::Vec<D> highest_of(D d, const float* row, std::size_t width) {
  auto highest = hn::LoadU(d, row);
  for (std::size_t i = hn::Lanes(d); i < width; i += hn::Lanes(d))
    highest = hn::Max(highest, hn::LoadU(d, row + i));
  return hn::MaxOfLanes(d, highest);
}

// Exponentials of a vector of scores, in units of the highest of all.
template <class D>
HWY_INLINE hn::Vec<D> powers(D d, hn::Vec<D> scores, hn::Vec<D> highest, hn::Vec<D> beta) {
  return hn::Exp(d, hn::Max(hn::Mul(hn::Sub(scores, highest), beta), set(d, kLeastLog)));
}

// The sum of a vector's lanes in double precision, as some may be too small beside others for single.
template <class D>
HWY_INLINE double exact_sum([[maybe_unused]] D d, hn::Vec<D> values) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > 1) {
    const hn::Half<D> half;
    const hn::Rebind<double, decltype(half)> exact;
    const auto lower = hn::PromoteTo(exact, hn::LowerHalf(half, values));
    const auto upper = hn::PromoteTo(exact, hn::UpperHalf(half, values));
    return hn::GetLane(hn::SumOfLanes(exact, hn::Add(lower, upper)));
  }
#endif
  return static_cast<double>(hn::GetLane(values));
}

// Shares of the classes of a vector, from the i-th on; adds them to `found`.
template <class D>
HWY_INLINE hn::Vec<D> add_shares(D d, hn::Vec<D> scores, hn::Vec<D> highest, double beta, std::size_t i,
                                 Shares& found) {
  const auto share = powers(d, scores, highest, set(d, beta));
  if (const std::intptr_t lane = hn::FindFirstTrue(d, hn::Eq(scores, highest)); lane >= 0)
    found.largest = static_cast<ClassId>(i + static_cast<std::size_t>(lane));
  found.sum += exact_sum(d, share);
  return share;
}

// Scores, for the classes of a vector, from the i-th on. Two sums, which do not wait for each other.
template <class D>
HWY_INLINE hn::Vec<D> scores_from(D d, const TaskLabels& task, const CrowdLayout& layout,
                                  const float* rows, const float* start, std::size_t i) {
  const float* const logs = rows + layout.width + i;
  auto even = hn::LoadU(d, start + i);
  auto odd = hn::Zero(d);
  std::size_t j = 0;
  for (; j + 1 < task.size(); j += 2) {
    even = hn::Add(even, hn::LoadU(d, logs + layout.row(task, j)));
    odd = hn::Add(odd, hn::LoadU(d, logs + layout.row(task, j + 1)));
  }
  if (j < task.size()) even = hn::Add(even, hn::LoadU(d, logs + layout.row(task, j)));
  return hn::Add(even, odd);
}

void compute_scores(const TaskLabels& task, const CrowdLayout& layout, const float* rows,
                    const float* start, float* scores) {
  with_vectors_of(FloatLanes(), layout.width, [&](auto d) {
    for (std::size_t i = 0; i < layout.width; i += hn::Lanes(d))
      hn::StoreU(scores_from(d, task, layout, rows, start, i), d, scores + i);
  });
}

// Votes of a task by class, in the bytes of one number, so that adding a vote does not wait for memory.
// For as many classes and labels as fit.
class PackedVotes {
 public:
  static bool fit(std::size_t classes, std::size_t labels) { return classes <= 8 && labels <= 255; }
  HWY_INLINE explicit PackedVotes(const TaskLabels& task) {
    for (const ClassId label : task.classes) packed_ += 1ULL << (8 * label);
  }
  HWY_INLINE float of(std::size_t label) const {
    return static_cast<float>(static_cast<int>((packed_ >> (8 * label)) & 255));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> get(D d) const {
    HWY_ALIGN std::uint8_t votes[8];
    for (std::size_t label = 0; label < 8; ++label)
      votes[label] = static_cast<std::uint8_t>(packed_ >> (8 * label));
    const auto bytes = hn::Load(hn::Rebind<std::uint8_t, D>(), votes);
    return hn::ConvertTo(d, hn::PromoteTo(hn::RebindToSigned<D>(), bytes));
  }

 private:
  std::uint64_t packed_ = 0;
};

void compute_credit(const float* scores, double newness, const TaskLabels& task, std::size_t width,
                    float* credit) {
  with_vectors_of(FloatLanes(), width, [&](auto d) {
    const auto highest = highest_of(d, scores, width);
    auto sum = hn::Zero(d);
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      const auto power = powers(d, hn::LoadU(d, scores + i), highest, set(d, 1));
      sum = hn::Add(sum, power);
      hn::StoreU(power, d, credit + i);
    }
    const auto scale = hn::Div(set(d, 1 - newness), hn::SumOfLanes(d, sum));
    for (std::size_t i = 0; i < width; i += hn::Lanes(d))
      hn::StoreU(hn::Mul(hn::LoadU(d, credit + i), scale), d, credit + i);
  });
  if (newness == 0) return;
  const auto vote = static_cast<float>(newness / static_cast<double>(task.size()));
  for (const ClassId label : task.classes) credit[label] += vote;
}

// A task in registers, for rows of one vector and votes that can be packed.
template <class D>
class NarrowTask {
 public:
  HWY_INLINE NarrowTask(const TaskLabels& task, const CrowdLayout& layout)
      : task_(task), votes_(task), layout_{layout.classes, hn::Lanes(D())} {}
  static bool fits(D d, const TaskLabels& task, const CrowdLayout& layout) {
    return layout.width == hn::Lanes(d) && PackedVotes::fit(layout.classes, task.size());
  }

  HWY_INLINE hn::Vec<D> score(const float* rows, const float* start) const {
    return scores_from(D(), task_, layout_, rows, start, 0);
  }

  HWY_INLINE hn::Vec<D> credit(hn::Vec<D> scores, double newness) const {
    const D d;
    const auto power = powers(d, scores, hn::MaxOfLanes(d, scores), set(d, 1));
    const auto scale = hn::Div(set(d, 1 - newness), hn::SumOfLanes(d, power));
    if (newness == 0) return hn::Mul(power, scale);
    const auto vote = set(d, newness / static_cast<double>(task_.size()));
    return hn::MulAdd(power, scale, hn::Mul(votes_.get(d), vote));
  }

  HWY_INLINE Shares shares(hn::Vec<D> scores, double beta) const {
    const D d;
    Shares found{0, 0};
    add_shares(d, scores, hn::MaxOfLanes(d, scores), beta, 0, found);
    return found;
  }

  HWY_INLINE void add(hn::Vec<D> credit, CreditSums sums) const {
    const D d;
    float* pooled = sums.pooled;
    for (std::size_t j = 0; j < task_.size(); ++j) {
      float* const row = sums.rows + layout_.row(task_, j);
      hn::StoreU(hn::Add(hn::LoadU(d, row), credit), d, row);
    }
    for (std::size_t label = 0; label < layout_.classes; ++label, pooled += layout_.width)
      hn::StoreU(hn::MulAdd(credit, hn::Set(d, votes_.of(label)), hn::LoadU(d, pooled)), d, pooled);
    hn::StoreU(hn::Add(hn::LoadU(d, sums.class_mass), credit), d, sums.class_mass);
  }

 private:
  // Copies: registers, as far as the compiler can tell that nothing is stored over them.
  const TaskLabels task_;
  const PackedVotes votes_;
  const CrowdLayout layout_;
};

bool judge_in_registers(const TaskLabels& task, const CrowdLayout& layout, const float* rows,
                        const float* start, double newness, float* scores, float* credit,
                        const CreditSums* sums, double beta, Shares* shares) {
  bool done = false;
  with_vectors_of(FloatLanes(), layout.width, [&](auto d) {
    if (!NarrowTask<decltype(d)>::fits(d, task, layout)) return;
    const NarrowTask<decltype(d)> narrow(task, layout);
    const auto score = narrow.score(rows, start);
    hn::StoreU(score, d, scores);
    if (shares != nullptr) *shares = narrow.shares(score, beta);
    const auto after = narrow.credit(score, newness);
    if (sums != nullptr) narrow.add(hn::Sub(after, hn::LoadU(d, credit)), *sums);
    hn::StoreU(after, d, credit);
    done = true;
  });
  return done;
}

Shares compute_shares(const float* scores, double beta, std::size_t classes, std::size_t width,
                      double* shares) {
  Shares found{0, 0};
  with_vectors_of(FloatLanes(), width, [&](auto d) {
    HWY_ALIGN float some[hn::MaxLanes(decltype(d)())];
    const auto highest = highest_of(d, scores, width);
    for (std::size_t i = width; i > 0;) {
      i -= hn::Lanes(d);
      const auto share = add_shares(d, hn::LoadU(d, scores + i), highest, beta, i, found);
      if (shares == nullptr) continue;
      hn::Store(share, d, some);
      for (std::size_t k = i; k < std::min(classes, i + hn::Lanes(d)); ++k)
        shares[k] = static_cast<double>(some[k - i]);
    }
  });
  return found;
}

template <class D>
HWY_INLINE void add_row(D d, const float* row, std::size_t width, float* to) {
  for (std::size_t i = 0; i < width; i += hn::Lanes(d))
    hn::StoreU(hn::Add(hn::LoadU(d, to + i), hn::LoadU(d, row + i)), d, to + i);
}

void add_credit(const TaskLabels& task, const float* credit, const CrowdLayout& layout,
                CreditSums sums) {
  const std::size_t width = layout.width;
  with_vectors_of(FloatLanes(), width, [&](auto d) {
    if (NarrowTask<decltype(d)>::fits(d, task, layout))
      return NarrowTask<decltype(d)>(task, layout).add(hn::LoadU(d, credit), sums);
    for (std::size_t j = 0; j < task.size(); ++j) {
      add_row(d, credit, width, sums.rows + layout.row(task, j));
      add_row(d, credit, width, sums.pooled + task.classes[j] * width);
    }
    add_row(d, credit, width, sums.class_mass);
  });
}

void compute_likelihoods(const float* held_out_scores, const float* log_classes, const float* mean,
                         std::size_t width, std::span<const Curve> curves, double* likelihoods) {
  with_vectors_of(FloatLanes(), width, [&](auto d) {
    for (std::size_t c = 0; c < curves.size(); ++c) {
      const auto power = hn::Set(d, curves[c].power);
      const auto score = [&](std::size_t i) HWY_ATTR {
        return hn::MulAdd(power, hn::LoadU(d, log_classes + i), hn::LoadU(d, held_out_scores + i));
      };
      auto highest = score(0);
      for (std::size_t i = hn::Lanes(d); i < width; i += hn::Lanes(d))
        highest = hn::Max(highest, score(i));
      highest = hn::MaxOfLanes(d, highest);
      auto all = hn::Zero(d);
      auto likely = hn::Zero(d);
      for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
        const auto share = powers(d, score(i), highest, hn::Set(d, curves[c].beta));
        all = hn::Add(all, share);
        likely = hn::MulAdd(share, hn::LoadU(d, mean + i), likely);
      }
      likelihoods[c] = static_cast<double>(hn::GetLane(hn::SumOfLanes(d, likely))) /
                       static_cast<double>(hn::GetLane(hn::SumOfLanes(d, all)));
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(compute_table);
HWY_EXPORT(compute_scores);
HWY_EXPORT(compute_credit);
HWY_EXPORT(compute_shares);
HWY_EXPORT(add_credit);
HWY_EXPORT(judge_in_registers);
HWY_EXPORT(compute_likelihoods);

void compute_table(const CrowdEffects& crowd, const WorkerRows& worker, std::size_t classes,
                   float* table) {
  HWY_DYNAMIC_DISPATCH(compute_table)(crowd, worker, classes, table);
}

void compute_scores(const TaskLabels& task, const CrowdLayout& layout, const float* rows,
                    const float* start, float* scores) {
  HWY_DYNAMIC_DISPATCH(compute_scores)(task, layout, rows, start, scores);
}

void compute_credit(const float* scores, double newness, const TaskLabels& task, std::size_t width,
                    float* credit) {
  HWY_DYNAMIC_DISPATCH(compute_credit)(scores, newness, task, width, credit);
}

Shares compute_shares(const float* scores, double beta, std::size_t classes, std::size_t width,
                      double* shares) {
  return HWY_DYNAMIC_DISPATCH(compute_shares)(scores, beta, classes, width, shares);
}

void add_credit(const TaskLabels& task, const float* credit, const CrowdLayout& layout,
                CreditSums sums) {
  HWY_DYNAMIC_DISPATCH(add_credit)(task, credit, layout, sums);
}

bool judge_in_registers(const TaskLabels& task, const CrowdLayout& layout, const float* rows,
                        const float* start, double newness, float* scores, float* credit,
                        const CreditSums* sums, double beta, Shares* shares) {
  return HWY_DYNAMIC_DISPATCH(judge_in_registers)(task, layout, rows, start, newness, scores, credit,
                                                  sums, beta, shares);
}

void compute_likelihoods(const float* held_out_scores, const float* log_classes, const float* mean,
                         std::size_t width, std::span<const Curve> curves, double* likelihoods) {
  HWY_DYNAMIC_DISPATCH(compute_likelihoods)
  (held_out_scores, log_classes, mean, width, curves, likelihoods);
}

}  // namespace crowdfold
#endif
