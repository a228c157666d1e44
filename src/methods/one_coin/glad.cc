// GLAD, a generative model of labels, abilities and difficulties: workers differ, and so do tasks.
//
// J. Whitehill, P. Ruvolo, T. Wu, J. Bergsma, J. Movellan: Whose Vote Should Count More: Optimal
// Integration of Labels from Labelers of Unknown Expertise. NIPS 2009.
//
//   p(y_t = k) = 1 / K      p(x_it = l | y_t = k)  =  sigma(alpha_i beta_t)                if l = k
//                                                     (1 - sigma(alpha_i beta_t)) / (K - 1)  otherwise
//   alpha_i ~ Normal(1, 1)      ability: 0 is a guess, less is an enemy
//   log beta_t ~ Normal(1, 1)   ease: the lower, the more even good workers guess
//
//   E   q_t(k)  ~  prod_i p(x_it | y_t = k)
//   M   alpha, b = log beta  to the top of   Q = log p(alpha) + log p(beta) + sum_it L_it
//       L_it  =  p log sigma(s) + (1 - p) log(1 - sigma(s))  =  p s - log(1 + e^s)
//       where  p = q_t(x_it),  s = alpha_i beta_t
//
// With beta fixed, Q falls apart into functions of one alpha_i each, with alpha fixed into functions of
// one b_t each. So the M-step alternates between workers and tasks, and takes Newton's steps in
// each, halved until they climb. No step lowers the objective, which is the logarithm of the joint
// density of labels, alpha and b, up to a constant. Starts at the prior means, with the E-step.
// Cost: O(N) a round of the M-step, O(N + T K) an E-step; memory O(N + T K + M).
#include <algorithm>
#include <cmath>

#include "base/vector_math.h"
#include "labels/worker_major.h"
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/one_coin/one_coin.h"

namespace crowdfold {
namespace {

struct Glad {
  struct Options : Stopping {
    Options() : Stopping{100, 1e-5} {}
    int rounds = 25;
    double slope = 1e-2;
    double ability = 1;
    double ease = 1;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kObjectiveGrows, 0),
        {integer("rounds", &Options::rounds, 1, 1'000'000, "rounds of an M-step at most"),
         real("slope", &Options::slope, 1e-9, 1e9, "end an M-step when no derivative is larger"),
         real("ability", &Options::ability, -100, 100, "prior mean of a worker's ability alpha"),
         real("ease", &Options::ease, -10, 10, "prior mean of the logarithm of a task's ease beta")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return WorkerMajor::bytes(labels) + Posteriors::bytes(labels) + 40ULL * labels.num_workers() +
           32ULL * labels.num_tasks();
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

struct Curve {
  double value = 0;
  double slope = 0;
  double curvature = 0;
};

// The log-likelihood of one worker's labels as a function of its alpha, or of one task's, of its beta:
//   L(u)  =  sum_j  p_j s_j - log(1 + e^s_j),    s_j = f_j u,    f_j the other factor
class Evidence {
 public:
  void clear() {
    factors_.clear();
    slope_ = 0;
  }
  void add(double p, double factor) {
    factors_.push_back(factor);
    slope_ += p * factor;
  }
  Curve at(double u);

 private:
  std::vector<double> factors_;
  double slope_ = 0;  // sum_j p_j f_j
  std::vector<double> exponentials_;
};

Curve Evidence::at(double u) {
  constexpr double kLeast = -690;
  constexpr std::size_t kFactors = 512;  // the product of 512 numbers up to 2 is a double
  const std::size_t size = factors_.size();
  exponentials_.resize(size);
  for (std::size_t j = 0; j < size; ++j) exponentials_[j] = std::max(-std::abs(factors_[j] * u), kLeast);
  vector_exp(exponentials_);

  Curve curve{slope_ * u, slope_, 0};
  double product = 1;  // of 1 + e^-|s|: one logarithm for many labels
  for (std::size_t j = 0; j < size; ++j) {
    const double f = factors_[j];
    const double e = exponentials_[j];
    const double high = 1 / (1 + e);  // sigma(|s|)
    curve.value -= std::max(f * u, 0.0);
    curve.slope -= f * (f * u > 0 ? high : e * high);
    curve.curvature -= f * f * e * high * high;
    product *= 1 + e;
    if (j % kFactors != kFactors - 1) continue;
    curve.value -= std::log(product);
    product = 1;
  }
  curve.value -= std::log(product);
  return curve;
}

// Climbs a curve from x until its slope is at most `slope`. Returns the slope at the start.
template <class At>
double climb(double& x, double slope, const At& at) {
  constexpr int kSteps = 20;
  constexpr double kLongest = 3;  // a step: exponentials stay finite
  constexpr double kLeastScale = 1e-3;
  Curve here = at(x);
  const double first = std::abs(here.slope);
  double scale = 1;
  for (int i = 0; i < kSteps && std::abs(here.slope) > slope && scale > kLeastScale; ++i) {
    // The priors alone bend the curve by 1.
    const double step = here.slope / std::max(1.0, -here.curvature);
    const double to = x + std::clamp(step, -kLongest, kLongest) * scale;
    const Curve there = at(to);
    if (there.value < here.value) {
      scale /= 4;
      continue;
    }
    x = to;
    here = there;
    scale = 1;
  }
  return first;
}

// log(1 + e^s)
double softplus(double s) { return std::max(s, 0.0) + std::log1p(std::exp(-std::abs(s))); }

class Model {
 public:
  Model(const Glad::Options& options, const Labels& labels, const Knowledge& given, int threads)
      : options_(options),
        labels_(labels),
        by_worker_(labels, threads),
        threads_(threads),
        log_others_(std::log(std::max(1.0, labels.num_classes() - 1.0))),
        log_prior_(numbers_or(given, "prior", labels.num_classes(), 1.0 / labels.num_classes())),
        ability_(numbers_or(given, "ability", labels.num_workers(), options.ability)),
        ease_(numbers_or(given, "ease", labels.num_tasks(), options.ease)),
        alpha_(ability_),
        b_(ease_),
        beta_(b_) {
    for (double& log : log_prior_) log = std::log(std::max(log, kLeastProbability));
    for (double& beta : beta_) beta = std::exp(beta);
  }

  // The E-step. Returns the objective.
  double judge(Posteriors& q) const {
    const double evidence =
        q.judge(threads_, [this](TaskId t, std::span<double> row) { score(t, row); }).evidence;
    double distance = 0;
    for (std::size_t w = 0; w < alpha_.size(); ++w)
      distance += (alpha_[w] - ability_[w]) * (alpha_[w] - ability_[w]);
    for (std::size_t t = 0; t < b_.size(); ++t) distance += (b_[t] - ease_[t]) * (b_[t] - ease_[t]);
    return evidence - distance / 2;
  }

  // The M-step.
  void learn(const Posteriors& q) {
    for (int round = 0; round < options_.rounds; ++round) {
      const double of_workers = learn_workers(q);
      const double of_tasks = learn_tasks(q);
      if (std::max(of_workers, of_tasks) <= options_.slope) return;
    }
  }

  // A worker's quality is its mean over the tasks that it labelled.
  void report(const RunContext& context, Result& result) const {
    std::vector<double> quality(alpha_.size());
    for_worker_blocks(labels_.num_workers(), threads_, [&](std::size_t first, std::size_t last) {
      for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
        const WorkerLabels labels = by_worker_.worker(w);
        double sum = 0;
        for (const TaskId t : labels.tasks) sum += std::exp(-softplus(-alpha_[w] * beta_[t]));
        if (labels.size() > 0) quality[w] = sum / static_cast<double>(labels.size());
        if (labels_.num_classes() == 1) quality[w] = 1;  // there is no wrong label
      }
    });
    report_qualities(numbers_of_labels(labels_), labels_.num_classes(), quality, context, result);
    result.extras = {{"ability", Per::worker, 1, {alpha_.begin(), alpha_.end()}},
                     {"ease", Per::task, 1, {b_.begin(), b_.end()}}};
  }

 private:
  // The numbers given under `name`; `otherwise` where there are none.
  static std::vector<double> numbers_or(const Knowledge& given, const char* name, std::size_t size,
                                        double otherwise) {
    std::vector<double> numbers(size, otherwise);
    const Extra* const extra = find_extra(given.extras, name);
    for (std::size_t i = 0; extra != nullptr && i < size; ++i) {
      if (!std::isnan(extra->values[i])) numbers[i] = extra->values[i];
    }
    return numbers;
  }

  void score(TaskId t, std::span<double> row) const {
    const TaskLabels task = labels_.task(t);
    std::copy(log_prior_.begin(), log_prior_.end(), row.begin());
    double wrong = 0;  // log-probability if all labels are wrong
    for (std::size_t j = 0; j < task.size(); ++j) {
      const double s = alpha_[task.workers[j]] * beta_[t];
      row[task.classes[j]] += s + log_others_;  // the log-odds of a right label
      wrong -= softplus(s) + log_others_;
    }
    for (double& value : row) value += wrong;
  }

  // Both return the largest slope they found.
  double learn_workers(const Posteriors& q) {
    std::vector<double> slopes(alpha_.size());
    for_worker_blocks(labels_.num_workers(), threads_, [&](std::size_t first, std::size_t last) {
      Evidence evidence;
      for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
        const WorkerLabels labels = by_worker_.worker(w);
        evidence.clear();
        for (std::size_t j = 0; j < labels.size(); ++j) {
          const TaskId t = labels.tasks[j];
          evidence.add(q[t][labels.classes[j]], beta_[t]);
        }
        slopes[w] = climb(alpha_[w], options_.slope, [&](double alpha) {
          const Curve curve = evidence.at(alpha);
          const double off = alpha - ability_[w];
          return Curve{curve.value - off * off / 2, curve.slope - off, curve.curvature - 1};
        });
      }
    });
    return largest(slopes);
  }

  double learn_tasks(const Posteriors& q) {
    constexpr std::size_t kBlock = Posteriors::kTasksPerBlock;
    std::vector<double> slopes((b_.size() + kBlock - 1) / kBlock);
    parallel_ranges(threads_, b_.size(), kBlock, [&](std::size_t first, std::size_t last, int) {
      Evidence evidence;
      for (auto t = static_cast<TaskId>(first); t < last; ++t) {
        const TaskLabels labels = labels_.task(t);
        evidence.clear();
        for (std::size_t j = 0; j < labels.size(); ++j)
          evidence.add(q[t][labels.classes[j]], alpha_[labels.workers[j]]);
        const double slope = climb(b_[t], options_.slope, [&](double b) {
          const double beta = std::exp(b);
          const Curve curve = evidence.at(beta);
          const double off = b - ease_[t];
          return Curve{curve.value - off * off / 2, curve.slope * beta - off,
                       (curve.curvature * beta + curve.slope) * beta - 1};
        });
        slopes[first / kBlock] = std::max(slopes[first / kBlock], slope);
        beta_[t] = std::exp(b_[t]);
      }
    });
    return largest(slopes);
  }

  static double largest(const std::vector<double>& values) {
    return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  }

  const Glad::Options& options_;
  const Labels& labels_;
  WorkerMajor by_worker_;
  int threads_;
  double log_others_;              // log (K - 1)
  std::vector<double> log_prior_;  // by class
  std::vector<double> ability_;    // prior means: of alpha, by worker
  std::vector<double> ease_;       // and of b, by task
  std::vector<double> alpha_;      // by worker
  std::vector<double> b_;          // by task: log beta
  std::vector<double> beta_;
};

Result Glad::fit(const Options& options, const Labels& labels, const Knowledge& given,
                 const RunContext& context) {
  // A round on fewer labels is over before another thread has started.
  constexpr std::uint64_t kLabelsPerThread = 1 << 15;
  const auto worthwhile =
      static_cast<int>(std::min<std::uint64_t>(labels.num_labels() / kLabelsPerThread, 1024));
  Model model(options, labels, given, std::clamp(worthwhile, 1, std::max(1, context.threads)));
  Posteriors q(labels, given);
  q.start_from_votes(context.threads);
  model.judge(q);

  Result result;
  Growth growth(labels);
  iterate("glad", options, context, result, [&] {
    model.learn(q);
    return growth(model.judge(q));
  });
  q.report(context, result);
  model.report(context, result);
  return result;
}

}  // namespace

MethodInfo glad_method() {
  return batch_method<Glad>(
      "glad", "abilities of workers and difficulties of tasks, by EM",
      "Whitehill, Ruvolo, Wu, Bergsma, Movellan: Whose Vote Should Count More (NIPS 2009)",
      {.takes = {{"prior", Per::label_class, 0, "probability of a class, 1 / K otherwise"},
                 {"ability", Per::worker, 0, "prior mean of alpha, instead of the option"},
                 {"ease", Per::task, 0, "prior mean of log beta, instead of the option"}},
       .has_confusion = true,
       .has_trace = true,
       .gives = {{"ability", Per::worker, 0, "alpha: 0 is a guess, less is an enemy"},
                 {"ease", Per::task, 0, "log beta: the lower, the harder the task"}},
       .climbs = true});
}

}  // namespace crowdfold
