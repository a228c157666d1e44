// Compiled once per instruction set by Highway's foreach_target; the best one is chosen at run time.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "methods/fivepass/fivepass_kernels.cc"
// clang-format off
#include <hwy/foreach_target.h>
// clang-format on
#include "methods/fivepass/fivepass_kernels.h"

#include "base/vectors-inl.h"
#include "methods/rounds/units.h"

HWY_BEFORE_NAMESPACE();
namespace crowdfold {
namespace HWY_NAMESPACE {

// Up to eight, as in threepass_kernels.cc.
using TypedLanes = hn::CappedTag<float, row_width(8)>;

template <class D>
HWY_INLINE hn::Vec<D> constant(D d, double value) {
  return hn::Set(d, static_cast<float>(value));
}

// Powers of 1/2, 1, 3/2 and 2 are roots and products. Rows of U are where those of D will be.
void compute_types(const float* tab, const float* shares, std::size_t classes, std::size_t width,
                   float* rows) {
  constexpr float kLeast = 1e-12F;  // of U and m
  with_vectors_of(TypedLanes(), width, [&](auto d) {
    using V = hn::Vec<decltype(d)>;
    const auto least = hn::Set(d, kLeast);
    float* const shifts = rows + classes * width;
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      auto sum = hn::Zero(d);
      for (std::size_t l = 0; l < classes; ++l) {
        const auto power = hn::Exp(d, hn::Max(hn::LoadU(d, tab + l * width + i), constant(d, -80)));
        sum = hn::Add(sum, power);
        hn::StoreU(power, d, rows + l * width + i);
      }
      hn::StoreU(sum, d, shifts + i);
      const auto scale = hn::Div(constant(d, 1), sum);
      for (std::size_t l = 0; l < classes; ++l) {
        float* const at = rows + l * width + i;
        hn::StoreU(hn::Max(hn::Mul(hn::LoadU(d, at), scale), least), d, at);
      }
      for (std::size_t c = 1; c < TypedLayout::kShifts; ++c)
        hn::StoreU(hn::Zero(d), d, shifts + c * width + i);
    }
    for (std::size_t l = 0; l < classes; ++l) {
      float* const row = rows + l * width;
      auto habit = hn::Zero(d);
      for (std::size_t i = 0; i < width; i += hn::Lanes(d))
        habit = hn::MulAdd(hn::LoadU(d, row + i), hn::LoadU(d, shares + i), habit);
      const V m = hn::Max(hn::SumOfLanes(d, habit), least);
      const V over = hn::Div(constant(d, 1), m);
      for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
        const V u = hn::LoadU(d, row + i);
        const V ratio = hn::Mul(u, over);
        const V root = hn::Sqrt(ratio);
        const auto add = [&](std::size_t shift, V a, V b) HWY_ATTR {
          float* const at = shifts + shift * width + i;
          hn::StoreU(hn::MulAdd(a, b, hn::LoadU(d, at)), d, at);
        };
        add(1, m, root);
        add(2, u, root);
        add(3, u, ratio);
        hn::StoreU(hn::Log(d, ratio), d, row + i);
      }
    }
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      const V log_z = hn::Log(d, hn::LoadU(d, shifts + i));
      hn::StoreU(log_z, d, shifts + i);
      for (std::size_t c = 1; c < TypedLayout::kShifts; ++c) {
        float* const at = shifts + c * width + i;
        hn::StoreU(hn::Sub(log_z, hn::Log(d, hn::LoadU(d, at))), d, at);
      }
    }
  });
}

// Sums of D and of each c over a task's labels, for the classes of a vector.
template <class D>
struct TypedSums {
  HWY_INLINE TypedSums(D d, const TaskLabels& task, const TypedLayout& layout, const float* tables,
                       std::size_t i)
      : said(hn::Zero(d)), c0(said), c1(said), c2(said), c3(said) {
    const std::size_t width = layout.width;
    for (std::size_t j = 0; j < task.size(); ++j) {
      const float* const worker = tables + task.workers[j] * layout.of_worker() + i;
      const float* const shifts = worker + layout.classes * width;
      said = hn::Add(said, hn::LoadU(d, worker + task.classes[j] * width));
      c0 = hn::Add(c0, hn::LoadU(d, shifts));
      c1 = hn::Add(c1, hn::LoadU(d, shifts + width));
      c2 = hn::Add(c2, hn::LoadU(d, shifts + 2 * width));
      c3 = hn::Add(c3, hn::LoadU(d, shifts + 3 * width));
    }
  }
  // b_g times what was said, and the type's shifts.
  template <class Use>
  HWY_INLINE void for_types(D d, const Use& use) const {
    use(0, c0);
    use(1, hn::MulAdd(said, hn::Set(d, kPowers[1]), c1));
    use(2, hn::Add(said, c0));
    use(3, hn::MulAdd(said, hn::Set(d, kPowers[3]), c2));
    use(4, hn::MulAdd(said, hn::Set(d, kPowers[4]), c3));
  }
  hn::Vec<D> said, c0, c1, c2, c3;
};

void compute_typed_scores(const TaskLabels& task, const TypedLayout& layout, const float* tables,
                          const float* start, float* scores) {
  const std::size_t width = layout.width;
  with_vectors_of(TypedLanes(), width, [&](auto d) {
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      const TypedSums<decltype(d)> sums(d, task, layout, tables, i);
      sums.for_types(d, [&](std::size_t g, auto of_type) HWY_ATTR {
        hn::StoreU(hn::Add(of_type, hn::LoadU(d, start + g * width + i)), d, scores + g * width + i);
      });
    }
  });
}

template <class D>
HWY_INLINE hn::Vec<D> highest_score(D d, const float* scores, std::size_t numbers) {
  auto highest = hn::LoadU(d, scores);
  for (std::size_t i = hn::Lanes(d); i < numbers; i += hn::Lanes(d))
    highest = hn::Max(highest, hn::LoadU(d, scores + i));
  return hn::MaxOfLanes(d, highest);
}
template <class D>
HWY_INLINE hn::Vec<D> power_of(D d, hn::Vec<D> score, hn::Vec<D> highest) {
  return hn::Exp(d, hn::Max(hn::Sub(score, highest), constant(d, -80)));
}

void compute_typed_credit(const float* scores, std::size_t width, std::int32_t* by_type,
                          std::int32_t* credit) {
  with_vectors_of(TypedLanes(), width, [&](auto d) {
    const hn::Rebind<std::int32_t, decltype(d)> whole;
    const std::size_t numbers = kTypes * width;
    const auto highest = highest_score(d, scores, numbers);
    auto sum = hn::Zero(d);
    auto* const powers = reinterpret_cast<float*>(by_type);
    for (std::size_t i = 0; i < numbers; i += hn::Lanes(d)) {
      const auto power = power_of(d, hn::LoadU(d, scores + i), highest);
      sum = hn::Add(sum, power);
      hn::StoreU(power, d, powers + i);
    }
    const auto scale = hn::Div(constant(d, kUnits), hn::SumOfLanes(d, sum));
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      auto all = hn::Zero(whole);
      for (std::size_t at = i; at < numbers; at += width) {
        const auto units = hn::NearestInt(hn::Mul(hn::LoadU(d, powers + at), scale));
        all = hn::Add(all, units);
        hn::StoreU(units, whole, by_type + at);
      }
      hn::StoreU(all, whole, credit + i);
    }
  });
}

bool fit_registers(std::size_t width) {
  bool fit = false;
  with_vectors_of(TypedLanes(), width, [&](auto d) { fit = hn::Lanes(d) == width; });
  return fit;
}

bool judge_in_registers(const TaskLabels& task, const TypedLayout& layout, const float* tables,
                        const float* start, std::uint32_t* counts, std::uint32_t* by_type) {
  bool full = false;
  with_vectors_of(TypedLanes(), layout.width, [&](auto d) {
    using V = hn::Vec<decltype(d)>;
    const std::size_t width = hn::Lanes(d);
    const hn::Rebind<std::int32_t, decltype(d)> whole;
    const hn::Rebind<std::uint32_t, decltype(d)> units;
    // Copies: registers, as far as the compiler can tell that nothing is stored over them.
    const TaskLabels labels = task;
    const TypedLayout at = layout;
    const TypedSums<decltype(d)> sums(d, labels, at, tables, 0);
    V a0, a1, a2, a3, a4;
    const auto with = [&](std::size_t g, V of_type)
                          HWY_ATTR { return hn::Add(of_type, hn::LoadU(d, start + g * width)); };
    a0 = with(0, sums.c0);
    a1 = with(1, hn::MulAdd(sums.said, hn::Set(d, kPowers[1]), sums.c1));
    a2 = with(2, hn::Add(sums.said, sums.c0));
    a3 = with(3, hn::MulAdd(sums.said, hn::Set(d, kPowers[3]), sums.c2));
    a4 = with(4, hn::MulAdd(sums.said, hn::Set(d, kPowers[4]), sums.c3));
    const V highest = hn::MaxOfLanes(d, hn::Max(hn::Max(hn::Max(a0, a1), hn::Max(a2, a3)), a4));
    a0 = power_of(d, a0, highest);
    a1 = power_of(d, a1, highest);
    a2 = power_of(d, a2, highest);
    a3 = power_of(d, a3, highest);
    a4 = power_of(d, a4, highest);
    const V sum = hn::Add(hn::Add(hn::Add(a0, a1), hn::Add(a2, a3)), a4);
    const V scale = hn::Div(constant(d, kUnits), hn::SumOfLanes(d, sum));
    auto credit = hn::Zero(units);
    const auto add = [&](std::size_t g, V power) HWY_ATTR {
      const auto share = hn::BitCast(units, hn::NearestInt(hn::Mul(power, scale)));
      std::uint32_t* const mass = by_type + g * width;
      hn::StoreU(hn::Add(hn::LoadU(units, mass), share), units, mass);
      credit = hn::Add(credit, share);
    };
    add(0, a0);
    add(1, a1);
    add(2, a2);
    add(3, a3);
    add(4, a4);
    auto all = hn::Zero(units);
    for (std::size_t j = 0; j < labels.size(); ++j) {
      std::uint32_t* const row = counts + (labels.workers[j] * at.classes + labels.classes[j]) * width;
      const auto count = hn::Add(hn::LoadU(units, row), credit);
      hn::StoreU(count, units, row);
      all = hn::Or(all, count);
    }
    full = !hn::AllFalse(whole, hn::Lt(hn::BitCast(whole, all), hn::Zero(whole)));
  });
  return full;
}

void add_up_types(const float* scores, std::size_t width, float* sums) {
  with_vectors_of(TypedLanes(), width, [&](auto d) {
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      auto highest = hn::LoadU(d, scores + i);
      for (std::size_t g = 1; g < kTypes; ++g)
        highest = hn::Max(highest, hn::LoadU(d, scores + g * width + i));
      auto sum = hn::Zero(d);
      for (std::size_t g = 0; g < kTypes; ++g)
        sum = hn::Add(sum, power_of(d, hn::LoadU(d, scores + g * width + i), highest));
      hn::StoreU(hn::Add(highest, hn::Log(d, sum)), d, sums + i);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace crowdfold
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace crowdfold {

HWY_EXPORT(compute_types);
HWY_EXPORT(compute_typed_scores);
HWY_EXPORT(compute_typed_credit);
HWY_EXPORT(fit_registers);
HWY_EXPORT(judge_in_registers);
HWY_EXPORT(add_up_types);

void compute_types(const float* tab, const float* shares, std::size_t classes, std::size_t width,
                   float* rows) {
  HWY_DYNAMIC_DISPATCH(compute_types)(tab, shares, classes, width, rows);
}

void compute_typed_scores(const TaskLabels& task, const TypedLayout& layout, const float* tables,
                          const float* start, float* scores) {
  HWY_DYNAMIC_DISPATCH(compute_typed_scores)(task, layout, tables, start, scores);
}

void compute_typed_credit(const float* scores, std::size_t width, std::int32_t* by_type,
                          std::int32_t* credit) {
  HWY_DYNAMIC_DISPATCH(compute_typed_credit)(scores, width, by_type, credit);
}

bool fit_registers(std::size_t width) { return HWY_DYNAMIC_DISPATCH(fit_registers)(width); }

bool judge_in_registers(const TaskLabels& task, const TypedLayout& layout, const float* tables,
                        const float* start, std::uint32_t* counts, std::uint32_t* by_type) {
  return HWY_DYNAMIC_DISPATCH(judge_in_registers)(task, layout, tables, start, counts, by_type);
}

void add_up_types(const float* scores, std::size_t width, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_up_types)(scores, width, sums);
}

}  // namespace crowdfold
#endif
