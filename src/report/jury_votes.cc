// Whether judges err together.
//
//   r_i(t) = e(x_it) - C_i[y_t]     what judge i said of task t, less what the judge's habit lets
//   expect:
//                                   e a unit vector, C_i[y] how often i says each class where y is right
//   c_ij   = mean_t r_i(t) r_j(t)   how much oftener i and j agree than if they erred independently
//   n_eff  = n v / (v + (n - 1) c)  v and c the means of c_ii and of c_ij, i != j
//
// n_eff = n / (1 + (n - 1) rho) with the correlation rho = c / v: Kish's design effect. Copies of one
// judge have n_eff = 1, judges who err independently n. Classes that are only estimated count with their
// shares. Memory O(labels + judges K^2); a resample costs O(labels K).
#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "base/random.h"
#include "report/jury_parts.h"

namespace crowdfold {
namespace {

constexpr std::uint32_t kMostStrata = 30;  // classes that judges are compared by
constexpr double kFewestPerStratum = 10;   // tasks, on average
constexpr double kMostWork = 4e8;          // of all resamples: labels times classes
constexpr int kFewestResamples = 200;      // a standard deviation is then known within 10 %
constexpr double kHardlyAnyError = 1e-3;   // mean of c_ii below which nothing can be said

struct Sums {
  double squares = 0;  // of sum_i r_i(t)
  double own = 0;      // c_ii
  double votes = 0;
  double meetings = 0;  // ordered pairs of votes on a task
  struct OfJudge {
    double with_all = 0;  // r_i(t) times the sum over all judges
    double own = 0;
    double votes = 0;
    double meetings = 0;
  };
  std::vector<OfJudge> judges;
};

// How often each judge says each outcome, by stratum.
class Habits {
 public:
  Habits(const ReferredVotes& votes, std::span<const std::uint32_t> draws)
      : strata_(votes.strata),
        outcomes_(votes.outcomes),
        shares_(votes.judges * strata_ * outcomes_),
        squares_(votes.judges * strata_) {
    std::vector<double> totals(squares_.size());
    for (std::size_t t = 0; t < votes.tasks(); ++t) {
      const double weight = draws.empty() ? 1 : draws[t];
      if (weight == 0) continue;
      for (std::uint64_t s = votes.stratum_offsets[t]; s < votes.stratum_offsets[t + 1]; ++s) {
        const double share = weight * votes.share[s];
        for (std::uint64_t v = votes.offsets[t]; v < votes.offsets[t + 1]; ++v) {
          const std::size_t row = votes.judge[v] * strata_ + votes.stratum[s];
          totals[row] += share;
          shares_[row * outcomes_ + votes.outcome[v]] += share;
        }
      }
    }
    for (std::size_t row = 0; row < totals.size(); ++row) {
      if (totals[row] <= 0) continue;
      for (std::size_t k = 0; k < outcomes_; ++k) {
        double& share = shares_[row * outcomes_ + k];
        share /= totals[row];
        squares_[row] += share * share;
      }
    }
  }

  const double* of(std::uint32_t judge, ClassId stratum) const {
    return shares_.data() + (judge * strata_ + stratum) * outcomes_;
  }
  double square(std::uint32_t judge, ClassId stratum) const {
    return squares_[judge * strata_ + stratum];
  }

 private:
  std::size_t strata_;
  std::size_t outcomes_;
  std::vector<double> shares_;   // judges x strata x outcomes
  std::vector<double> squares_;  // judges x strata
};

// `draws`: how often each task counts; empty: once.
Sums sum_up(const ReferredVotes& votes, std::span<const std::uint32_t> draws) {
  const Habits habits(votes, draws);
  Sums sums;
  sums.judges.resize(votes.judges);
  std::vector<double> all(votes.outcomes);  // sum_i r_i(t)
  for (std::size_t t = 0; t < votes.tasks(); ++t) {
    const double weight = draws.empty() ? 1 : draws[t];
    const std::uint64_t begin = votes.offsets[t];
    const std::uint64_t end = votes.offsets[t + 1];
    if (weight == 0 || begin == end) continue;
    const auto others = static_cast<double>(end - begin - 1);
    sums.votes += weight * (others + 1);
    sums.meetings += weight * (others + 1) * others;
    for (std::uint64_t v = begin; v < end; ++v) {
      Sums::OfJudge& judge = sums.judges[votes.judge[v]];
      judge.votes += weight;
      judge.meetings += weight * others;
    }
    for (std::uint64_t s = votes.stratum_offsets[t]; s < votes.stratum_offsets[t + 1]; ++s) {
      const ClassId stratum = votes.stratum[s];
      const double share = weight * votes.share[s];
      std::fill(all.begin(), all.end(), 0.0);
      for (std::uint64_t v = begin; v < end; ++v) {
        const double* const habit = habits.of(votes.judge[v], stratum);
        for (std::size_t k = 0; k < all.size(); ++k) all[k] -= habit[k];
        all[votes.outcome[v]] += 1;
      }
      for (const double x : all) sums.squares += share * x * x;
      for (std::uint64_t v = begin; v < end; ++v) {
        const std::uint32_t i = votes.judge[v];
        const ClassId said = votes.outcome[v];
        const double* const habit = habits.of(i, stratum);
        double with_all = all[said];
        for (std::size_t k = 0; k < all.size(); ++k) with_all -= habit[k] * all[k];
        const double own = 1 - 2 * habit[said] + habits.square(i, stratum);
        sums.own += share * own;
        sums.judges[i].own += share * own;
        sums.judges[i].with_all += share * with_all;
      }
    }
  }
  return sums;
}

// n_eff from sums over n judges; NaN where no two met, or where there are hardly any errors.
double independent_votes(double n, double squares, double own, double votes, double meetings) {
  if (votes <= 0 || meetings <= 0 || own / votes < kHardlyAnyError) return Bounded::kUntold;
  const double correlation = (squares - own) / meetings / (own / votes);
  const double effect = 1 + (n - 1) * correlation;
  return effect > 0 ? n / effect : Bounded::kUntold;
}

double of_all(const Sums& sums, double n) {
  return independent_votes(n, sums.squares, sums.own, sums.votes, sums.meetings);
}
double of_others(const Sums& sums, double n, const Sums::OfJudge& judge) {
  return independent_votes(n - 1, sums.squares - 2 * judge.with_all + judge.own, sums.own - judge.own,
                           sums.votes - judge.votes, sums.meetings - 2 * judge.meetings);
}

// The standard deviation of logarithms, over resamples.
class LogSpread {
 public:
  void add(double value) {
    if (!(value > 0)) return;
    const double x = std::log(value);
    ++count_;
    const double step = x - mean_;
    mean_ += step / count_;
    squares_ += step * (x - mean_);
  }
  Bounded around(double value) const {
    if (!(value > 0) || count_ < 2) return {};
    const double reach = kNormal95 * std::sqrt(squares_ / (count_ - 1));
    return {value, {value * std::exp(-reach), value * std::exp(reach)}};
  }

 private:
  double count_ = 0;
  double mean_ = 0;
  double squares_ = 0;
};

// r_i(t) r_j(t), over the strata of a task.
class PairProducts {
 public:
  explicit PairProducts(const ReferredVotes& votes)
      : votes_(votes), habits_(votes, {}), products_(votes.judges * votes.judges * votes.strata) {
    for (std::uint32_t i = 0; i < votes.judges; ++i) {
      for (std::uint32_t j = 0; j < votes.judges; ++j) {
        for (std::size_t s = 0; s < votes.strata; ++s) {
          const double* const a = habits_.of(i, static_cast<ClassId>(s));
          const double* const b = habits_.of(j, static_cast<ClassId>(s));
          double& product = products_[(i * votes.judges + j) * votes.strata + s];
          for (std::size_t k = 0; k < votes.outcomes; ++k) product += a[k] * b[k];
        }
      }
    }
  }
  // Of votes v and w, on task t.
  double operator()(std::size_t t, std::uint64_t v, std::uint64_t w) const {
    const std::uint32_t i = votes_.judge[v];
    const std::uint32_t j = votes_.judge[w];
    const ClassId a = votes_.outcome[v];
    const ClassId b = votes_.outcome[w];
    double sum = 0;
    for (std::uint64_t s = votes_.stratum_offsets[t]; s < votes_.stratum_offsets[t + 1]; ++s) {
      const ClassId stratum = votes_.stratum[s];
      const double product = products_[(i * votes_.judges + j) * votes_.strata + stratum];
      sum += votes_.share[s] *
             ((a == b ? 1.0 : 0.0) - habits_.of(i, stratum)[b] - habits_.of(j, stratum)[a] + product);
    }
    return sum;
  }

 private:
  const ReferredVotes& votes_;
  Habits habits_;
  std::vector<double> products_;
};

// Sums over the common tasks of a pair: z = r_i r_j, and whether they agree.
struct JudgePairSums {
  double common = 0;
  double agreed = 0;
  double z = 0;
  double z_squared = 0;
  double z_agreed = 0;

  double agreement() const { return agreed / common; }
  double covariance() const { return z / common; }
  // 1 - the agreement that is expected.
  double room() const { return std::max(1 - agreement() + covariance(), 1e-9); }
  double excess() const { return covariance() / room(); }
  // What a task with (z, a) adds to the excess, in the first order (its influence function).
  double influence(double own_z, double own_agreed) const {
    return ((own_z - covariance()) * (1 - agreement()) + covariance() * (own_agreed - agreement())) /
           (room() * room());
  }
  // Judges who never differ have no spread: the interval is then that of their agreement.
  Interval interval() const {
    const double expected = 1 - room();
    if (agreed == common) {
      const Interval agreement = share_with_interval(agreed, common).interval;
      return {std::max(-1.0, (agreement.lower - expected) / room()), 1};
    }
    const double reach = kNormal95 * standard_error();
    return {excess() - reach, std::min(1.0, excess() + reach)};
  }
  // Of an agreement that is not above the expected one.
  double p_value() const {
    const double expected = 1 - room();
    if (covariance() <= 0) return 1;
    return two_sided_p(covariance() / std::sqrt(std::max(expected * room(), 1e-12) / common));
  }
  double standard_error() const {
    const double c = covariance();
    const double a = agreement();
    const double var_z = z_squared / common - c * c;
    const double var_a = a * (1 - a);
    const double both = z_agreed / common - c * a;
    const double variance = (1 - a) * (1 - a) * var_z + c * c * var_a + 2 * c * (1 - a) * both;
    return std::sqrt(std::max(0.0, variance) / common) / (room() * room());
  }
};

// A mean over pairs, with the sum of influences by task.
struct MeanExcess {
  double pairs = 0;
  double sum = 0;
  double of_task = 0;
  double squares = 0;

  void end_task() {
    squares += of_task * of_task;
    of_task = 0;
  }
  FamilyExcess result() const {
    if (pairs == 0) return {};
    const double mean = sum / pairs;
    const double reach = kNormal95 * std::sqrt(squares) / pairs;
    return {static_cast<std::uint64_t>(pairs), {mean, {mean - reach, mean + reach}}};
  }
};

}  // namespace

double RightAnswers::share_of(TaskId t, ClassId c) const {
  for (std::uint64_t s = offsets[t]; s < offsets[t + 1ULL]; ++s) {
    if (classes[s] == c) return shares[s];
  }
  return 0;
}

ReferredVotes refer(const Labels& labels, const RightAnswers& reference, bool is_truth) {
  ReferredVotes votes;
  votes.judges = labels.num_workers();
  const std::uint32_t classes = labels.num_classes();
  std::vector<bool> occurs(classes);
  double tasks = 0;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (!reference.covers(t)) continue;
    tasks += 1;
    for (std::uint64_t s = reference.offsets[t]; s < reference.offsets[t + 1ULL]; ++s)
      occurs[reference.classes[s]] = occurs[reference.classes[s]] || reference.shares[s] > 0.5;
  }
  const auto occurring = static_cast<double>(std::count(occurs.begin(), occurs.end(), true));
  votes.by_class = classes <= kMostStrata && tasks >= kFewestPerStratum * occurring;
  if (!votes.by_class && !is_truth) return votes;
  votes.strata = votes.by_class ? classes : 1;
  votes.outcomes = votes.by_class ? classes : 2;
  for (TaskId t = 0; t < labels.num_tasks(); ++t) {
    if (!reference.covers(t)) continue;
    const TaskLabels task = labels.task(t);
    const ClassId truth = reference.classes[reference.offsets[t]];
    for (std::size_t j = 0; j < task.size(); ++j) {
      votes.judge.push_back(task.workers[j]);
      votes.outcome.push_back(votes.by_class ? task.classes[j]
                                             : static_cast<ClassId>(task.classes[j] == truth ? 1 : 0));
    }
    for (std::uint64_t s = reference.offsets[t]; s < reference.offsets[t + 1ULL]; ++s) {
      votes.stratum.push_back(votes.by_class ? reference.classes[s] : ClassId{0});
      votes.share.push_back(reference.shares[s]);
    }
    votes.offsets.push_back(votes.judge.size());
    votes.stratum_offsets.push_back(votes.stratum.size());
  }
  return votes;
}

IndependentVotes count_independent_votes(const ReferredVotes& votes, int resamples,
                                         const RunContext& context) {
  const Sums found = sum_up(votes, {});
  const auto n =
      static_cast<double>(std::count_if(found.judges.begin(), found.judges.end(),
                                        [](const Sums::OfJudge& judge) { return judge.votes > 0; }));
  const double work = static_cast<double>(votes.judge.size()) * static_cast<double>(votes.outcomes);
  const int rounds = std::clamp(static_cast<int>(kMostWork / std::max(work, 1.0)), kFewestResamples,
                                std::max(kFewestResamples, resamples));
  std::vector<Sums> resampled(static_cast<std::size_t>(rounds));
  parallel_for(context.threads, resampled.size(), [&](std::size_t round, int) {
    context.throw_if_cancelled();
    Random random(mix64(context.seed) ^ round);
    std::vector<std::uint32_t> draws(votes.tasks());
    for (std::size_t t = 0; t < draws.size(); ++t) ++draws[random.below(draws.size())];
    resampled[round] = sum_up(votes, draws);
  });

  LogSpread whole;
  std::vector<LogSpread> without(votes.judges);
  for (const Sums& sums : resampled) {
    whole.add(of_all(sums, n));
    for (std::size_t i = 0; i < without.size(); ++i) without[i].add(of_others(sums, n, sums.judges[i]));
  }
  IndependentVotes result;
  result.whole = whole.around(of_all(found, n));
  for (std::size_t i = 0; i < without.size(); ++i)
    result.without.push_back(n < 3 || found.judges[i].votes == 0
                                 ? Bounded{}
                                 : without[i].around(of_others(found, n, found.judges[i])));
  return result;
}

PairedJudges pair_judges(const ReferredVotes& votes, std::span<const int> family) {
  const std::size_t n = votes.judges;
  const PairProducts product(votes);
  std::vector<JudgePairSums> sums(n * n);  // a < b
  const auto for_each_meeting = [&](std::size_t t, auto&& meet) {
    for (std::uint64_t v = votes.offsets[t]; v < votes.offsets[t + 1]; ++v) {
      for (std::uint64_t w = v + 1; w < votes.offsets[t + 1]; ++w) {
        const auto [a, b] = std::minmax(votes.judge[v], votes.judge[w]);
        if (a != b) meet(a * n + b, product(t, v, w), votes.outcome[v] == votes.outcome[w] ? 1.0 : 0.0);
      }
    }
  };
  for (std::size_t t = 0; t < votes.tasks(); ++t) {
    for_each_meeting(t, [&](std::size_t pair, double z, double agreed) {
      JudgePairSums& s = sums[pair];
      s.common += 1;
      s.agreed += agreed;
      s.z += z;
      s.z_squared += z * z;
      s.z_agreed += z * agreed;
    });
  }

  PairedJudges result;
  MeanExcess all;
  MeanExcess within;
  MeanExcess between;
  const auto kin = [&](std::size_t pair) {
    const int a = family[pair / n];
    return a >= 0 && a == family[pair % n];
  };
  const auto is_compared = [&](std::size_t pair) {
    return sums[pair].common >= static_cast<double>(kFewestCommonTasks);
  };
  std::vector<double> p_values;
  std::vector<std::size_t> tested;
  for (std::size_t pair = 0; pair < sums.size(); ++pair) {
    const JudgePairSums& s = sums[pair];
    if (s.common == 0) continue;
    JudgePair found{static_cast<std::uint32_t>(pair / n),
                    static_cast<std::uint32_t>(pair % n),
                    static_cast<std::uint64_t>(s.common),
                    static_cast<std::uint64_t>(s.agreed),
                    1 - s.room(),
                    {},
                    false};
    if (is_compared(pair)) {
      found.excess = {s.excess(), s.interval()};
      p_values.push_back(s.p_value());
      tested.push_back(result.pairs.size());
      for (MeanExcess* mean : {&all, kin(pair) ? &within : &between}) {
        mean->pairs += 1;
        mean->sum += s.excess();
      }
    }
    result.pairs.push_back(found);
  }
  const std::vector<bool> marks = fallen(p_values);
  for (std::size_t i = 0; i < tested.size(); ++i) result.pairs[tested[i]].marked = marks[i];

  for (std::size_t t = 0; t < votes.tasks(); ++t) {
    for_each_meeting(t, [&](std::size_t pair, double z, double agreed) {
      if (!is_compared(pair)) return;
      const double influence = sums[pair].influence(z, agreed) / sums[pair].common;
      all.of_task += influence;
      (kin(pair) ? within : between).of_task += influence;
    });
    all.end_task();
    within.end_task();
    between.end_task();
  }
  result.all = all.result();
  result.within = within.result();
  result.between = between.result();
  return result;
}

}  // namespace crowdfold
