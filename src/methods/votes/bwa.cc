// Bayesian weighted average: each class against the rest, as numbers that workers give with a variance
// of their own.
//
// Y. Li, B. I. P. Rubinstein, T. Cohn: Truth Inference at Scale: A Bayesian Model for Adjudicating
// Highly Redundant Crowd Annotations. WWW 2019.
//
// For one class, x_it is 1 if i said so on t, otherwise 0, and z_t is the real value behind it:
//
//   x_it ~ Normal(z_t, 1 / v_i)      z_t ~ Normal(mu, 1 / lambda)      v_i ~ Gamma(a / 2, b / 2)
//
//   b    =  a * (sum_t n_t z_t (1 - z_t) / N) * 4 (1 - 1/K)        with the shares of votes for z
//   v_i  =  (a + n_i) / (b + sum_t (x_it - z_t)^2)
//   z_t  =  (lambda mu + sum_i v_i x_it) / (lambda + sum_i v_i),   mu = mean_t z_t
//
// until z changes by less than a tolerance, relative to its size. The estimate is the class with the
// highest z; probabilities are proportional to z. A worker's quality is its agreement with the
// estimates.
//
// Cost: O(N K) an iteration; memory O(N + T K + M K).
#include <numeric>
#include <utility>

#include "labels/worker_major.h"
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

struct Bwa {
  struct Options : Stopping {
    Options() : Stopping{500, 1e-3} {}
    double lambda = 1;
    double a = 15;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(
            "stop when the values of every class change by less, relative to their size"),
        {real("lambda", &Options::lambda, 1e-6, 1e9,
              "how strongly a task's value is drawn to the mean of all"),
         real("a", &Options::a, 1e-6, 1e9, "weight of the prior of a worker's precision, in labels")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return WorkerMajor::bytes(labels) + 2 * Posteriors::bytes(labels) +
           8ULL * labels.num_workers() * labels.num_classes();
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

// z and v, and the steps between them. Rows are by class.
class Averages {
 public:
  Averages(const Bwa::Options& options, const Labels& labels, const Knowledge& given,
           const RunContext& context)
      : options_(options),
        labels_(labels),
        given_(given),
        context_(context),
        classes_(labels.num_classes()),
        by_worker_(labels, context.threads),
        z_(labels, given),
        v_(static_cast<std::size_t>(labels.num_workers()) * classes_),
        b_(classes_) {
    z_.start_from_votes(context.threads);
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      const auto n = static_cast<double>(labels.task(t).size());
      for (std::uint32_t k = 0; k < classes_; ++k) b_[k] += n * z_[t][k] * (1 - z_[t][k]);
      tasks_ += n > 0 || given.truth(t) != kNoClass ? 1 : 0;
    }
    const double scale = options.a * 4 * (1 - 1.0 / classes_) / static_cast<double>(labels.num_labels());
    for (double& value : b_) value = std::max(value * scale, kLeastVariance);
  }

  // Computes v from z. Returns log p(x | z) with v integrated out, up to a constant.
  double learn() {
    return sum_over_workers(
        labels_.num_workers(), context_.threads, [&](std::size_t first, std::size_t last) {
          double log_likelihood = 0;
          std::vector<double> errors(classes_);  // sum_t (x_it - z_t)^2
          for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
            const WorkerLabels said = by_worker_.worker(w);
            std::fill(errors.begin(), errors.end(), 0.0);
            for (std::size_t j = 0; j < said.size(); ++j) {
              const std::span<const double> row = std::as_const(z_)[said.tasks[j]];
              for (std::uint32_t k = 0; k < classes_; ++k) errors[k] += row[k] * row[k];
              errors[said.classes[j]] += 1 - 2 * row[said.classes[j]];
            }
            const double n = options_.a + static_cast<double>(said.size());
            for (std::uint32_t k = 0; k < classes_; ++k) {
              v_[static_cast<std::size_t>(w) * classes_ + k] = n / (b_[k] + errors[k]);
              log_likelihood -= n / 2 * std::log(b_[k] + errors[k]);
            }
          }
          return log_likelihood;
        });
  }

  // Computes z from v. Returns the largest change of a class relative to its size, and the logarithm of
  // the prior of the old z, up to a constant.
  Step average() {
    std::vector<double> mu = z_.totals(context_.threads);
    for (double& value : mu) value /= std::max(tasks_, 1.0);
    const std::size_t num_tasks = labels_.num_tasks();
    std::vector<Moved> blocks((num_tasks + Posteriors::kTasksPerBlock - 1) / Posteriors::kTasksPerBlock,
                              Moved(classes_));
    parallel_ranges(context_.threads, num_tasks, Posteriors::kTasksPerBlock,
                    [&](std::size_t first, std::size_t last, int) {
                      for (auto t = static_cast<TaskId>(first); t < last; ++t)
                        average(t, mu, blocks[first / Posteriors::kTasksPerBlock]);
                    });
    Moved all(classes_);
    for (const Moved& block : blocks) {
      all.log_prior += block.log_prior;
      for (std::uint32_t k = 0; k < classes_; ++k) {
        all.change[k] += block.change[k];
        all.size[k] += block.size[k];
      }
    }
    double largest = 0;
    for (std::uint32_t k = 0; k < classes_; ++k) {
      if (all.size[k] > 0) largest = std::max(largest, std::sqrt(all.change[k] / all.size[k]));
    }
    return {all.log_prior, largest};
  }

  void report(Result& result) {
    for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
      const std::span<double> row = z_[t];
      for (double& value : row) value = std::max(value, kLeastProbability);
      const double sum = std::accumulate(row.begin(), row.end(), 0.0);
      for (double& value : row) value /= sum;
    }
    z_.report(context_, result);
    result.learned.expect(labels_.num_workers(), classes_);
    for (WorkerId w = 0; w < labels_.num_workers(); ++w) {
      const WorkerLabels said = by_worker_.worker(w);
      WorkerCounts& counts = result.learned.counts[w];
      for (std::size_t j = 0; j < said.size(); ++j)
        counts += {said.classes[j] == result.estimate[said.tasks[j]] ? 1.0 : 0.0, 1};
    }
  }

 private:
  static constexpr double kLeastVariance = 1e-9;  // where everyone agrees

  struct Moved {
    explicit Moved(std::uint32_t classes) : change(classes), size(classes) {}
    std::vector<double> change;  // sums of squares
    std::vector<double> size;
    double log_prior = 0;
  };

  void average(TaskId t, std::span<const double> mu, Moved& moved) {
    const TaskLabels task = labels_.task(t);
    const bool is_known = given_.truth(t) != kNoClass;
    if (task.size() == 0 && !is_known) return;
    const std::span<double> row = z_[t];
    for (std::uint32_t k = 0; k < classes_; ++k) {
      moved.log_prior -= options_.lambda / 2 * (row[k] - mu[k]) * (row[k] - mu[k]);
      if (is_known) continue;
      double sum = options_.lambda * mu[k];
      double weight = options_.lambda;
      for (std::size_t j = 0; j < task.size(); ++j) {
        const double v = v_[static_cast<std::size_t>(task.workers[j]) * classes_ + k];
        sum += task.classes[j] == k ? v : 0;
        weight += v;
      }
      moved.change[k] += (sum / weight - row[k]) * (sum / weight - row[k]);
      moved.size[k] += row[k] * row[k];
      row[k] = sum / weight;
    }
  }

  const Bwa::Options& options_;
  const Labels& labels_;
  const Knowledge& given_;
  const RunContext& context_;
  std::uint32_t classes_;
  WorkerMajor by_worker_;
  Posteriors z_;
  std::vector<double> v_;
  std::vector<double> b_;
  double tasks_ = 0;  // with labels or a known truth
};

Result Bwa::fit(const Options& options, const Labels& labels, const Knowledge& given,
                const RunContext& context) {
  Averages averages(options, labels, given, context);
  Result result;
  iterate("bwa", options, context, result, [&] {
    const double log_likelihood = averages.learn();
    const auto [log_prior, change] = averages.average();
    return Step{log_likelihood + log_prior, change};
  });
  averages.report(result);
  return result;
}

}  // namespace

MethodInfo bwa_method() {
  return batch_method<Bwa>(
      "bwa", "weighted averages: every class against the rest, workers with a variance",
      "Li, Rubinstein, Cohn: Truth Inference at Scale (WWW 2019)", {.has_trace = true, .climbs = true});
}

}  // namespace crowdfold
