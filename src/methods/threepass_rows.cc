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
    const auto errors = hn::Add(hn::LoadU(d, worker.pooled + row), hn::Set(d, crowd.symmetric_errors));
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

// Exponentials of scores in units of the highest, and their sum.
template <class D>
HWY_INLINE double put_powers(D d, const double* a, double beta, std::size_t width, double* powers) {
  constexpr double kLeastLog = -690;  // its exponential is above 0
  const std::size_t lanes = hn::Lanes(d);
  auto highest = hn::LoadU(d, a);
  for (std::size_t i = lanes; i < width; i += lanes) highest = hn::Max(highest, hn::LoadU(d, a + i));
  highest = hn::MaxOfLanes(d, highest);
  auto sum = hn::Zero(d);
  for (std::size_t i = 0; i < width; i += lanes) {
    const auto log = hn::Mul(hn::Sub(hn::LoadU(d, a + i), highest), hn::Set(d, beta));
    const auto power = hn::Exp(d, hn::Max(log, hn::Set(d, kLeastLog)));
    sum = hn::Add(sum, power);
    hn::StoreU(power, d, powers + i);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

void answers_of(const double* a, std::size_t rows, double beta, double doubt, std::size_t classes,
                std::size_t width, double* answers) {
  with_vectors_of(RowLanes(), width, [&](auto d) {
    const auto doubts = hn::Set(d, doubt / static_cast<double>(classes));
    for (std::size_t r = 0; r < rows; ++r, a += width, answers += width) {
      const double scale = (1 - doubt) / put_powers(d, a, beta, width, answers);
      for (std::size_t i = 0; i < width; i += hn::Lanes(d))
        hn::StoreU(hn::MulAdd(hn::LoadU(d, answers + i), hn::Set(d, scale), doubts), d, answers + i);
    }
  });
}

// Votes of a task by class, in bytes of a number: a sum that does not wait for memory. For as many
// classes and labels as fit.
class PackedVotes {
 public:
  static bool fit(std::size_t classes, std::size_t labels) { return classes <= 8 && labels <= 255; }
  HWY_INLINE explicit PackedVotes(const TaskLabels& task) {
    for (const ClassId label : task.classes) packed_ += 1ULL << (8 * label);
  }
  HWY_INLINE double of(std::size_t label) const {
    return static_cast<double>((packed_ >> (8 * label)) & 255);
  }
  // From the i-th class on.
  template <class D>
  HWY_INLINE hn::Vec<D> from(D d, std::size_t i) const {
    const hn::RebindToUnsigned<D> du;
    const auto shift = hn::ShiftLeft<3>(hn::Iota(du, i));
    const auto votes = hn::And(hn::Shr(hn::Set(du, packed_), shift), hn::Set(du, 255));
    return hn::ConvertTo(d, hn::BitCast(hn::RebindToSigned<D>(), votes));
  }

 private:
  std::uint64_t packed_ = 0;
};

void credit_of(const double* a, double newness, const TaskLabels& task, std::size_t classes,
               std::size_t width, double* credit) {
  const double vote = newness / static_cast<double>(task.size());
  const bool packed = newness > 0 && PackedVotes::fit(classes, task.size());
  with_vectors_of(RowLanes(), width, [&](auto d) {
    const auto scale = hn::Set(d, (1 - newness) / put_powers(d, a, 1, width, credit));
    if (packed) {
      const PackedVotes votes(task);
      for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
        const auto part = hn::Mul(votes.from(d, i), hn::Set(d, vote));
        hn::StoreU(hn::MulAdd(hn::LoadU(d, credit + i), scale, part), d, credit + i);
      }
    } else {
      for (std::size_t i = 0; i < width; i += hn::Lanes(d))
        hn::StoreU(hn::Mul(hn::LoadU(d, credit + i), scale), d, credit + i);
    }
  });
  if (newness == 0 || packed) return;
  for (const ClassId label : task.classes) credit[label] += vote;
}

// Sums of scores, and what follows from them, without a way through memory: for rows of one vector.
template <class D>
HWY_INLINE void judge_with(D d, const TaskLabels& task, const DenseTables& tables, const Judging& how,
                           const Judged& judged) {
  constexpr double kLeastLog = -690;  // its exponential is above 0
  auto a = hn::LoadU(d, tables.start);
  for (std::size_t j = 0; j < task.size(); ++j) {
    const std::size_t row = task.workers[j] * tables.classes + task.classes[j];
    a = hn::Add(a, hn::LoadU(d, tables.rows + row * tables.distance));
  }
  hn::StoreU(a, d, judged.a);
  const auto log = hn::Sub(a, hn::MaxOfLanes(d, a));
  const auto least = hn::Set(d, kLeastLog);
  const auto power = hn::Exp(d, hn::Max(log, least));
  const auto scale = hn::Set(d, (1 - how.newness) / hn::GetLane(hn::SumOfLanes(d, power)));
  const auto vote = hn::Set(d, how.newness / static_cast<double>(task.size()));
  const auto votes = hn::Mul(PackedVotes(task).from(d, 0), vote);
  hn::StoreU(hn::MulAdd(power, scale, votes), d, judged.credit);
  if (judged.answer == nullptr) return;
  const auto cooled = hn::Exp(d, hn::Max(hn::Mul(log, hn::Set(d, how.beta)), least));
  const auto share = hn::Set(d, (1 - how.doubt) / hn::GetLane(hn::SumOfLanes(d, cooled)));
  const auto doubts = hn::Set(d, how.doubt / static_cast<double>(tables.classes));
  hn::StoreU(hn::MulAdd(cooled, share, doubts), d, judged.answer);
}

bool judge_quickly(const TaskLabels& task, const DenseTables& tables, const Judging& how,
                   const Judged& judged) {
  bool done = false;
  with_vectors_of(RowLanes(), tables.width, [&](auto d) {
    if (tables.width != hn::Lanes(d) || !PackedVotes::fit(tables.classes, task.size())) return;
    judge_with(d, task, tables, how, judged);
    done = true;
  });
  return done;
}

template <class D>
HWY_INLINE void add_row(D d, const double* row, double factor, std::size_t width, double* to) {
  for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
    const auto add = hn::LoadU(d, row + i);
    hn::StoreU(hn::MulAdd(add, hn::Set(d, factor), hn::LoadU(d, to + i)), d, to + i);
  }
}

template <class D>
HWY_INLINE void count_with(D d, const TaskLabels& task, const double* credit, const DenseCounts& counts,
                           double* pooled_totals, double* class_mass) {
  const std::size_t width = counts.width;
  for (std::size_t j = 0; j < task.size(); ++j) {
    const std::size_t row = task.workers[j] * counts.classes + task.classes[j];
    add_row(d, credit, 1, width, counts.counts + row * counts.distance);
  }
  if (PackedVotes::fit(counts.classes, task.size())) {
    const PackedVotes votes(task);
    for (std::size_t label = 0; label < counts.classes; ++label)
      add_row(d, credit, votes.of(label), width, counts.pooled + label * counts.distance);
  } else {
    for (const ClassId label : task.classes)
      add_row(d, credit, 1, width, counts.pooled + label * counts.distance);
  }
  add_row(d, credit, static_cast<double>(task.size()), width, pooled_totals);
  add_row(d, credit, 1, width, class_mass);
}

void count(const TaskLabels& task, const double* credit, const DenseCounts& counts,
           double* pooled_totals, double* class_mass) {
  with_vectors_of(RowLanes(), counts.width, [&](auto d) {
    // With rows of one vector, it stays in a register.
    if (counts.width == hn::Lanes(d)) {
      DenseCounts narrow = counts;
      narrow.width = hn::Lanes(d);
      HWY_ALIGN double row[hn::MaxLanes(decltype(d)())];
      hn::Store(hn::LoadU(d, credit), d, row);
      return count_with(d, task, row, narrow, pooled_totals, class_mass);
    }
    count_with(d, task, credit, counts, pooled_totals, class_mass);
  });
}

void add_rows(const double* rows, std::size_t count, std::size_t distance, std::size_t width,
              double* sums) {
  with_vectors_of(RowLanes(), width, [&](auto d) {
    for (std::size_t i = 0; i < width; i += hn::Lanes(d)) {
      auto sum = hn::LoadU(d, sums + i);
      for (std::size_t r = 0; r < count; ++r) sum = hn::Add(sum, hn::LoadU(d, rows + r * distance + i));
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
HWY_EXPORT(answers_of);
HWY_EXPORT(credit_of);
HWY_EXPORT(judge_quickly);
HWY_EXPORT(count);
HWY_EXPORT(add_rows);

void put_log_rows(const CrowdEffects& crowd, const WorkerRows& worker, double* rows) {
  HWY_DYNAMIC_DISPATCH(put_rows)(crowd, worker, rows);
}

void put_answers(const double* a, std::size_t rows, double beta, double doubt, std::size_t classes,
                 std::size_t width, double* answers) {
  HWY_DYNAMIC_DISPATCH(answers_of)(a, rows, beta, doubt, classes, width, answers);
}

void put_credit(const double* a, double newness, const TaskLabels& task, std::size_t classes,
                std::size_t width, double* credit) {
  HWY_DYNAMIC_DISPATCH(credit_of)(a, newness, task, classes, width, credit);
}

bool judge_in_registers(const TaskLabels& task, const DenseTables& tables, const Judging& how,
                        const Judged& judged) {
  return HWY_DYNAMIC_DISPATCH(judge_quickly)(task, tables, how, judged);
}

void add_credit(const TaskLabels& task, const double* credit, const DenseCounts& counts,
                double* pooled_totals, double* class_mass) {
  HWY_DYNAMIC_DISPATCH(count)(task, credit, counts, pooled_totals, class_mass);
}

void add_up_rows(const double* rows, std::size_t count, std::size_t distance, std::size_t width,
                 double* sums) {
  HWY_DYNAMIC_DISPATCH(add_rows)(rows, count, distance, width, sums);
}

}  // namespace crowdfold
#endif
