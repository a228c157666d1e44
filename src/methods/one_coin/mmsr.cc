// M-MSR (matrix mean-subsequence-reduced): skills from how often pairs of workers agree, with extreme
// pairs left out, then a vote weighted by log-odds.
//
// Q. Ma, A. Olshevsky: Adversarial Crowdsourcing Through Robust Rank-One Matrix Completion.
// NeurIPS 2020.
//
// The one-coin model: worker i is right with probability p_i = (1 + (K - 1) s_i) / K. s_i is the skill:
// 1 always right, 0 chance, -1 / (K - 1) always wrong. For two workers with tasks in common,
//
//   C_ij  =  (K g_ij - 1) / (K - 1)       g_ij: share of the common tasks on which they agree
//
// has the expectation s_i s_j.
//
//   |s|   by turns, until u v' stands still:
//           v_j = mean over i of |C_ij| / u_i         u_i = mean over j of |C_ij| / v_j
//         without the F largest and F smallest terms, or those above and below the value of the last
//         turn if they are fewer; F = half of the fewest partners that anyone has, less one
//   sign  of f in  D^-1 A f = lambda f  for the least lambda. A joins the workers of a pair with C < 0,
//         and puts a node between those of a pair with C > 0; D has its row sums. If the signs of C are
//         consistent, lambda = -1. Of f and -f, the one with fewer signs below zero.
//   y_t   = argmax_k  sum_i log((K - 1) p_i / (1 - p_i)) [x_it = k]
//         with s_i at least 1 / sqrt(T + 1) away from both ends
//
// Pairs without common tasks say nothing, also of signs. (crowd-kit 1.4.2 takes them, and every worker
// with itself, for opposed: its signs differ for it.) A worker without partners gets the mean of |s|. A
// class's probability is that of the one-coin model. Known truths have no place in it.
//
// Cost: O(sum_t n_t^2) to find the pairs, n_t labels on task t. O(P) an iteration, and 8 bytes for each
// of P ordered pairs: M (M - 1) at worst, where everyone shares a task with everyone.
#include <cmath>
#include <numeric>

#include "base/vector_math.h"
#include "labels/worker_major.h"
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

// Steps of the power method for signs, and the change that ends it.
constexpr int kSignSteps = 10'000;
constexpr double kSignTolerance = 1e-9;
// Skills are divided by, so they stay in this range for any data.
constexpr double kLeastSkill = 1e-100;
constexpr double kLargestSkill = 1e100;
// Threads are for more pairs than this.
constexpr std::uint64_t kPairsForThreads = 100'000;

// A worker's partner in common tasks.
struct Partner {
  WorkerId worker;
  float c;  // C_ij
};
using Partners = std::vector<std::vector<Partner>>;

// How often worker i met each other worker, and agreed. Blank between workers.
class Meetings {
 public:
  explicit Meetings(std::uint32_t workers) : counts_(workers) {}

  void add(WorkerId other, bool agreed) {
    Count& count = counts_[other];
    if (count.met == 0) others_.push_back(other);
    ++count.met;
    count.agreed += agreed ? 1 : 0;
  }
  // The partners in order.
  std::vector<Partner> take(double classes) {
    std::sort(others_.begin(), others_.end());
    std::vector<Partner> partners;
    partners.reserve(others_.size());
    for (const WorkerId other : others_) {
      const Count count = std::exchange(counts_[other], {});
      // Whole numbers above: chance is exactly 0.
      partners.push_back({other, static_cast<float>((classes * count.agreed - count.met) /
                                                    (std::max(1.0, classes - 1) * count.met))});
    }
    others_.clear();
    return partners;
  }

 private:
  struct Count {
    std::uint32_t met = 0;
    std::uint32_t agreed = 0;
  };
  std::vector<Count> counts_;
  std::vector<WorkerId> others_;
};

Partners find_partners(const Labels& labels, const WorkerMajor& by_worker, const RunContext& context) {
  Partners partners(labels.num_workers());
  std::vector<Meetings> meetings(static_cast<std::size_t>(std::max(1, context.threads)),
                                 Meetings(labels.num_workers()));
  parallel_ranges(context.threads, labels.num_workers(), kWorkersPerBlock,
                  [&](std::size_t first, std::size_t last, int thread) {
                    context.throw_if_cancelled();
                    Meetings& met = meetings[static_cast<std::size_t>(thread)];
                    for (auto i = static_cast<WorkerId>(first); i < last; ++i) {
                      const WorkerLabels own = by_worker.worker(i);
                      for (std::size_t j = 0; j < own.size(); ++j) {
                        const TaskLabels task = labels.task(own.tasks[j]);
                        for (std::size_t other = 0; other < task.size(); ++other) {
                          if (task.workers[other] != i)
                            met.add(task.workers[other], task.classes[other] == own.classes[j]);
                        }
                      }
                      partners[i] = met.take(labels.num_classes());
                    }
                  });
  return partners;
}

// How many terms to leave out at either end.
std::size_t trimmed(const Partners& partners) {
  std::size_t fewest = partners.empty() ? 0 : partners[0].size();
  for (const std::vector<Partner>& of_one : partners) fewest = std::min(fewest, of_one.size());
  return fewest / 2 > 1 ? fewest / 2 - 1 : 0;
}

// The mean of the terms without the F smallest and the F largest; those on the near side of `last` stay.
// Reorders the terms.
double reduced_mean(std::span<double> terms, std::size_t trim, double last) {
  auto begin = terms.begin();
  auto end = terms.end();
  if (trim > 0) {
    const auto cut = static_cast<std::ptrdiff_t>(trim);
    const auto smaller = std::partition(begin, end, [&](double x) { return x < last; });
    if (smaller - begin < cut) {
      begin = smaller;
    } else {
      begin += cut;
      std::nth_element(terms.begin(), begin, end);
    }
    const auto larger = std::partition(begin, end, [&](double x) { return x <= last; });
    if (end - larger < cut) {
      end = larger;
    } else {
      std::nth_element(begin, end - cut, end);
      end -= cut;
    }
  }
  if (begin == end) return last;
  return std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin);
}

double norm(std::span<const double> x) {
  return std::sqrt(std::inner_product(x.begin(), x.end(), x.begin(), 0.0));
}

// u v', the rank-one matrix nearest to |C|, in balance: |u| = |v|.
class RankOne {
 public:
  RankOne(const Partners& partners, double least, int threads)
      : partners_(partners),
        trim_(trimmed(partners)),
        least_(least),
        threads_(threads),
        u_(partners.size(), 0.5),
        v_(partners.size(), 0.5) {}

  // One turn of both. Returns by how much u v' changed, in the Frobenius norm.
  double improve() {
    const std::vector<double> u0 = u_;
    const std::vector<double> v0 = v_;
    reduce(u_, v_);
    reduce(v_, u_);
    const double change = distance(u0, v0);
    const double balance = std::sqrt(norm(v_) / norm(u_));
    for (double& x : u_) x *= balance;
    for (double& x : v_) x /= balance;
    return change;
  }

  const std::vector<double>& skills() const { return u_; }

 private:
  // to_j = mean over i of |C_ij| / from_i. A worker without partners stays.
  void reduce(const std::vector<double>& from, std::vector<double>& to) const {
    for_worker_blocks(static_cast<std::uint32_t>(to.size()), threads_,
                      [&](std::size_t first, std::size_t last) {
                        std::vector<double> terms;
                        for (std::size_t j = first; j < last; ++j) {
                          terms.clear();
                          for (const Partner& i : partners_[j])
                            terms.push_back(std::abs(i.c) / from[i.worker]);
                          const double mean = reduced_mean(terms, trim_, to[j]);
                          // A skill of 0 could not be divided by.
                          to[j] = mean > 0 ? std::clamp(mean, kLeastSkill, kLargestSkill) : least_;
                        }
                      });
  }

  // |u v' - u0 v0'| from (u - u0) v' + u0 (v - v0)', which does not cancel.
  double distance(std::span<const double> u0, std::span<const double> v0) const {
    double du_du = 0;
    double du_u0 = 0;
    double dv_dv = 0;
    double dv_v = 0;
    for (std::size_t i = 0; i < u_.size(); ++i) {
      const double du = u_[i] - u0[i];
      const double dv = v_[i] - v0[i];
      du_du += du * du;
      du_u0 += du * u0[i];
      dv_dv += dv * dv;
      dv_v += dv * v_[i];
    }
    const double v = norm(v_);
    const double u = norm(u0);
    return std::sqrt(std::max(0.0, du_du * v * v + 2 * du_u0 * dv_v + u * u * dv_dv));
  }

  const Partners& partners_;
  std::size_t trim_;
  double least_;
  int threads_;
  std::vector<double> u_;
  std::vector<double> v_;
};

// f: below zero for a worker who is opposed to most others, as far as pairs show it. By the power method
// for (I - D^-1 A) / 2. A step takes f_i to (f_i - mean of i's neighbours in A) / 2, and so the node of
// a positive pair, which starts at -(f_i + f_j) / 2: it is -(h_i + h_j) / 2 ever after, where h_i goes
// to (h_i + f_i) / 2. So nodes need no memory.
std::vector<double> signs(const Partners& partners, int threads, const RunContext& context) {
  std::vector<double> f(partners.size(), 1);
  std::vector<double> h = f;
  std::vector<double> next(partners.size());
  for (int step = 0; step < kSignSteps; ++step) {
    context.throw_if_cancelled();
    for_worker_blocks(static_cast<std::uint32_t>(f.size()), threads,
                      [&](std::size_t first, std::size_t last) {
                        for (std::size_t i = first; i < last; ++i) {
                          double sum = 0;
                          double degree = 0;
                          for (const Partner& j : partners[i]) {
                            // Both are read, so that there is no branch to predict.
                            const double like = -(h[i] + h[j.worker]) / 2;
                            const double unlike = f[j.worker];
                            sum += j.c > 0 ? like : j.c < 0 ? unlike : 0;
                            degree += j.c != 0 ? 1 : 0;
                          }
                          next[i] = degree > 0 ? (f[i] - sum / degree) / 2 : f[i];
                        }
                      });
    const double scale = std::sqrt(static_cast<double>(f.size())) / std::max(norm(next), kLeastSkill);
    double change = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
      h[i] = scale * (h[i] + f[i]) / 2;
      next[i] *= scale;
      change = std::max(change, std::abs(next[i] - f[i]));
    }
    std::swap(f, next);
    if (change <= kSignTolerance) break;
  }
  const auto negative = std::count_if(f.begin(), f.end(), [](double x) { return x < 0; });
  if (2 * static_cast<std::size_t>(negative) > f.size()) {
    for (double& x : f) x = -x;
  }
  return f;
}

struct MatrixReduced {
  struct Options : Stopping {
    Options() : Stopping{10'000, 1e-10} {}
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(
            "stop when the matrix of skills moves by less; 0: after all iterations", 0),
        {});
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    const std::uint64_t workers = labels.num_workers();
    std::uint64_t pairs = 0;
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      const std::uint64_t count = labels.task(t).size();
      pairs += count * (count - std::min<std::uint64_t>(count, 1));
    }
    pairs = std::min(pairs, workers * (workers - std::min<std::uint64_t>(workers, 1)));
    return WorkerMajor::bytes(labels) + Posteriors::bytes(labels) + 100 * workers +
           pairs * sizeof(Partner);
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

// log((K - 1) p_i / (1 - p_i)) of every worker
std::vector<double> log_odds(const Partners& partners, std::vector<double> skills,
                             std::span<const double> sign, const Labels& labels) {
  double sum = 0;
  double count = 0;
  for (std::size_t i = 0; i < skills.size(); ++i) {
    if (partners[i].empty()) continue;
    sum += skills[i];
    ++count;
    if (sign[i] < 0) skills[i] = -skills[i];
  }
  const double mean = count > 0 ? sum / count : 0.5;
  const double classes = labels.num_classes();
  const double others = std::max(1.0, classes - 1);
  const double margin = 1 / std::sqrt(labels.num_tasks() + 1.0);
  for (std::size_t i = 0; i < skills.size(); ++i) {
    double s = partners[i].empty() ? mean : skills[i];
    s = std::max(std::min(s, 1 - margin), margin - 1 / others);
    skills[i] = (1 + others * s) / (1 - s);  // (K - 1) p / (1 - p)
  }
  vector_log(skills);
  return skills;
}

Result MatrixReduced::fit(const Options& options, const Labels& labels, const Knowledge& given,
                          const RunContext& context) {
  const WorkerMajor by_worker(labels, context.threads);
  const Partners partners = find_partners(labels, by_worker, context);
  std::uint64_t pairs = 0;
  for (const std::vector<Partner>& of_one : partners) pairs += of_one.size();
  const int threads = pairs > kPairsForThreads ? context.threads : 1;

  Result result;
  RankOne rank_one(partners, 1 / std::sqrt(std::max(1.0, labels.num_tasks() * 1.0)), threads);
  iterate("mmsr", options, context, result, [&] {
    const double change = pairs > 0 ? rank_one.improve() : 0;
    return Step{-change, change};
  });
  const std::vector<double> weights =
      log_odds(partners, rank_one.skills(), signs(partners, threads, context), labels);

  Posteriors q(labels, given);
  q.start_from_votes(context.threads);
  q.judge(context.threads, [&](TaskId t, std::span<double> row) {
    std::fill(row.begin(), row.end(), 0.0);
    const TaskLabels task = labels.task(t);
    for (std::size_t j = 0; j < task.size(); ++j) row[task.classes[j]] += weights[task.workers[j]];
  });
  q.report(context, result);
  result.learned.expect(labels.num_workers(), labels.num_classes());
  for (TaskId t = 0; t < labels.num_tasks(); ++t) result.learned.add(labels.task(t), result.estimate[t]);
  result.extras = {{"weight", Per::worker, 1, {weights.begin(), weights.end()}}};
  return result;
}

}  // namespace

MethodInfo mmsr_method() {
  return batch_method<MatrixReduced>(
      "mmsr", "skills from how often pairs of workers agree, then a vote weighted by log-odds",
      "Ma, Olshevsky: Adversarial Crowdsourcing Through Robust Rank-One Matrix Completion (NeurIPS "
      "2020)",
      {.takes_truths = false,
       .has_trace = true,
       .gives = {{"weight", Per::worker, 0, "log-odds that a label is right"}},
       .compares_pairs = true});
}

}  // namespace crowdfold
