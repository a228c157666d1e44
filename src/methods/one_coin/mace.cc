// MACE, multi-annotator competence estimation: a worker either knows the true class and says it, or
// spams, and then draws from a distribution of its own.
//
// D. Hovy, T. Berg-Kirkpatrick, A. Vaswani, E. Hovy: Learning Whom to Trust with MACE. NAACL-HLT 2013.
//
//   theta_i ~ Beta(a_know, a_spam)     worker i knows, on any task
//   xi_i ~ Dirichlet(a_xi)             i's labels when it spams
//   p(y_t = k) = 1 / K
//   p(x_it = l | y_t = k)  =  theta_i [l = k]  +  (1 - theta_i) xi_i[l]
//
//   E   q_t(k)   ~  prod_i p(x_it | y_t = k)
//       r_i[l]   =  theta_i / (theta_i + (1 - theta_i) xi_i[l])       i knew, if it said l rightly
//       n_i[l]   =  sum_t q_t(l) r_i[l] [x_it = l]                    how often i knew, and said l
//       m_i[l]   =  sum_t [x_it = l]  -  n_i[l]                       how often i spammed with l
//   M   theta_i  ~  Beta(a_know + sum_l n_i[l],  a_spam + sum_l m_i[l])
//       xi_i     ~  Dirichlet(a_xi + m_i)
//
// Variational training puts exp(E log theta_i), exp(E log (1 - theta_i)) and exp(E log xi_i) into the
// E-step; its objective is the evidence lower bound. EM puts shares of the counts, each with a smoothing
// added, into it: the mode under a Dirichlet(1 + smoothing) prior; its objective is the logarithm of the
// joint density of labels, theta and xi, up to a constant. Starts at random, with the E-step. Of several
// starts, the one with the highest objective counts.
// Cost: O(N + T K + M K) an iteration; memory O(N), and O(T K + M K) for each start that runs at a time.
#include <numeric>

#include "base/random.h"
#include "base/vector_math.h"
#include "labels/worker_major.h"
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/dirichlet.h"
#include "methods/em.h"
#include "methods/methods.h"
#include "methods/starts.h"

namespace crowdfold {
namespace {

enum class Training { variational, em };

struct Mace {
  struct Options : Stopping {
    Options() : Stopping{50, 0} {}
    Training training = Training::variational;
    int starts = 10;
    double know = 0.5;
    double spam = 0.5;
    double strategy = 10;
    double smoothing = 0.01;
    double noise = 1.5;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table(
        stopping_options<Options>(kObjectiveGrows),
        {choice("training", &Options::training, {"variational", "em"}, "how parameters are learned"),
         integer("starts", &Options::starts, 1, 100'000, "random starts; the best one counts"),
         real("know", &Options::know, 1e-2, 1e9,
              "variational: prior count of labels given from knowledge"),
         real("spam", &Options::spam, 1e-2, 1e9, "variational: prior count of spammed labels"),
         real("strategy", &Options::strategy, 1e-2, 1e9,
              "variational: prior count of every class among spammed labels"),
         real("smoothing", &Options::smoothing, 0, 1e9, "em: K times the number added to every count"),
         real("noise", &Options::noise, 0, 1e9,
              "starts: numbers uniform between 1 and 1 plus this, normalised")});
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) {
    return WorkerMajor::bytes(labels) + bytes_of_start(labels) + bytes_of_extras(labels);
  }
  static std::uint64_t bytes_of_extras(const Labels& labels) {
    return 8ULL * labels.num_workers() * (1 + labels.num_classes());
  }
  static std::uint64_t bytes_of_start(const Labels& labels) {
    return Posteriors::bytes(labels) + 24ULL * labels.num_workers() * labels.num_classes();
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context);
};

// theta and xi of the workers first … last - 1, as counts or as logarithms. By component, then by
// worker, as expect_logarithms() takes them.
struct Parameters {
  Parameters(std::size_t workers, std::size_t classes, double know, double spam, double each_class)
      : theta(2 * workers), xi(classes * workers, each_class) {
    std::fill_n(theta.begin(), workers, know);
    std::fill_n(theta.begin() + static_cast<std::ptrdiff_t>(workers), workers, spam);
  }
  std::vector<double> theta;  // knows, spams
  std::vector<double> xi;
};

// Turns counts into logarithms of shares. Returns how much the smoothing lowers the objective.
double share_logarithms(std::span<double> counts, double smoothing, std::size_t workers) {
  const double components = static_cast<double>(counts.size()) / static_cast<double>(workers);
  std::vector<double> sums(workers);
  for (std::size_t i = 0; i < counts.size(); ++i) sums[i % workers] += counts[i];
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const double sum = sums[i % workers];
    counts[i] = std::max(sum > 0 ? counts[i] / sum : 1 / components, kLeastProbability);
  }
  vector_log(counts);
  return -smoothing * std::accumulate(counts.begin(), counts.end(), 0.0);
}

// One start.
class Run {
 public:
  Run(const Mace::Options& options, const Labels& labels, const WorkerMajor& by_worker,
      const Knowledge& given, const RunContext& context, std::uint64_t start)
      : options_(options),
        labels_(labels),
        by_worker_(by_worker),
        threads_(context.threads),
        classes_(labels.num_classes()),
        smoothing_(options.smoothing / std::max(1U, classes_)),
        q_(labels, given),
        spams_(static_cast<std::size_t>(labels.num_workers()) * classes_),
        right_(spams_.size()),
        knew_(spams_.size()) {
    q_.start_from_votes(threads_);
    start_at_random(mix64(context.seed) + start);
    judge();
    Growth growth(labels);
    iterate("mace", options, context, result_, [&] {
      const double divergence = learn();
      return growth(judge() - divergence);
    });
  }

  double objective() const { return result_.trace.back(); }
  Result report(const RunContext& context);

 private:
  // The E-step, as far as tasks go. Returns the log-likelihood of the labels.
  double judge() {
    const double log_prior = -std::log(std::max(1U, classes_));
    const auto score = [&](TaskId t, std::span<double> row) {
      const TaskLabels task = labels_.task(t);
      std::fill(row.begin(), row.end(), 0.0);
      double spam = log_prior;
      for (std::size_t j = 0; j < task.size(); ++j) {
        const std::size_t at = index(task.workers[j], task.classes[j]);
        row[task.classes[j]] += right_[at];
        spam += spams_[at];
      }
      for (double& value : row) value += spam;
    };
    return q_.judge(threads_, score).evidence;
  }

  // The rest of the E-step, and the M-step. Returns by how much the objective is below the
  // log-likelihood.
  double learn() {
    return sum_over_workers(labels_.num_workers(), threads_, [&](std::size_t first, std::size_t last) {
      const std::size_t workers = last - first;
      Parameters logs = expected_counts(first, last);
      double divergence = 0;
      if (options_.training == Training::variational) {
        const Parameters prior = prior_of(workers);
        divergence += expect_logarithms(logs.theta, prior.theta, workers);
        divergence += expect_logarithms(logs.xi, prior.xi, workers);
      } else {
        divergence += share_logarithms(logs.theta, smoothing_, workers);
        divergence += share_logarithms(logs.xi, smoothing_, workers);
      }
      put(first, last, logs);
      return divergence;
    });
  }

  void start_at_random(std::uint64_t seed) {
    for_worker_blocks(labels_.num_workers(), threads_, [&](std::size_t first, std::size_t last) {
      const std::size_t workers = last - first;
      Parameters logs(workers, classes_, 0, 0, 0);
      for (std::size_t w = 0; w < workers; ++w) {
        Random random(seed ^ mix64(first + w));
        for (std::vector<double>* const values : {&logs.theta, &logs.xi}) {
          for (std::size_t i = w; i < values->size(); i += workers)
            (*values)[i] = 1 + options_.noise * random.uniform();
        }
      }
      share_logarithms(logs.theta, 0, workers);
      share_logarithms(logs.xi, 0, workers);
      put(first, last, logs);
    });
  }

  // The prior counts of `workers` workers.
  Parameters prior_of(std::size_t workers) const {
    if (options_.training == Training::em)
      return {workers, classes_, smoothing_, smoothing_, smoothing_};
    return {workers, classes_, options_.know, options_.spam, options_.strategy};
  }

  // n and m, and the prior.
  Parameters expected_counts(std::size_t first, std::size_t last) const {
    const std::size_t workers = last - first;
    Parameters counts = prior_of(workers);
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const WorkerLabels labels = by_worker_.worker(w);
      double knew = 0;
      for (std::size_t j = 0; j < labels.size(); ++j) {
        const ClassId c = labels.classes[j];
        const double n = q_[labels.tasks[j]][c] * knew_[index(w, c)];
        knew += n;
        counts.xi[c * workers + (w - first)] += 1 - n;
      }
      counts.theta[w - first] += knew;
      counts.theta[workers + (w - first)] += static_cast<double>(labels.size()) - knew;
    }
    return counts;
  }

  // Computes the weights of labels from the logarithms of theta and xi.
  void put(std::size_t first, std::size_t last, const Parameters& logs) {
    constexpr double kLeast = -690;
    const std::size_t workers = last - first;
    const std::size_t begin = index(first, 0);
    const std::size_t size = workers * classes_;
    const std::span<double> spams{spams_.data() + begin, size};
    const std::span<double> right{right_.data() + begin, size};
    const std::span<double> knew{knew_.data() + begin, size};
    for (std::size_t w = 0; w < workers; ++w) {
      for (std::size_t c = 0; c < classes_; ++c)
        spams[w * classes_ + c] = std::max(logs.theta[workers + w] + logs.xi[c * workers + w], kLeast);
    }
    std::copy(spams.begin(), spams.end(), right.begin());
    vector_exp(right);
    for (std::size_t w = 0; w < workers; ++w) {
      const double theta = std::exp(std::max(logs.theta[w], kLeast));
      for (std::size_t i = w * classes_; i < (w + 1) * classes_; ++i) {
        right[i] += theta;
        knew[i] = theta / right[i];
      }
    }
    vector_log(right);
    for (std::size_t i = 0; i < size; ++i) right[i] -= spams[i];
  }

  std::size_t index(std::size_t w, std::size_t c) const { return w * classes_ + c; }

  const Mace::Options& options_;
  const Labels& labels_;
  const WorkerMajor& by_worker_;
  int threads_;
  std::uint32_t classes_;
  double smoothing_;
  Posteriors q_;
  // By worker and class l.
  FlatArray<double> spams_;  // log (1 - theta_i) xi_i[l]
  FlatArray<double> right_;  // log (theta_i + (1 - theta_i) xi_i[l]) - spams
  FlatArray<double> knew_;   // r_i[l]
  Result result_;
};

// A worker's confusion matrix follows from the means of theta and xi; its accuracy, from how many tasks
// there are of each class.
Result Run::report(const RunContext& context) {
  q_.report(context, result_);
  const std::vector<double> totals = q_.totals(context.threads);
  const double total = std::max(std::accumulate(totals.begin(), totals.end(), 0.0), kLeastProbability);
  result_.learned.expect(labels_.num_workers(), classes_);
  const std::size_t size = static_cast<std::size_t>(classes_) * classes_;
  if (context.confusion) result_.confusion.resize(labels_.num_workers() * size);
  FlatArray<double> spamming(labels_.num_workers());
  FlatArray<double> strategy(spams_.size());
  for_worker_blocks(labels_.num_workers(), context.threads, [&](std::size_t first, std::size_t last) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      Parameters means = expected_counts(w, w + 1ULL);
      for (std::vector<double>* const values : {&means.theta, &means.xi}) {
        share_logarithms(*values, 0, 1);
        vector_exp(*values);
      }
      const auto [knows, spams] = std::pair(means.theta[0], means.theta[1]);
      spamming[w] = spams;
      std::copy(means.xi.begin(), means.xi.end(), strategy.data() + index(w, 0));
      double accuracy = knows;
      for (std::uint32_t k = 0; k < classes_; ++k) accuracy += spams * means.xi[k] * totals[k] / total;
      const auto seen = static_cast<double>(by_worker_.worker(w).size());
      result_.learned.counts[w] = {std::min(accuracy, 1.0) * seen, seen};
      if (!context.confusion) continue;
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t l = i % classes_;
        result_.confusion[w * size + i] = (i / classes_ == l ? knows : 0) + spams * means.xi[l];
      }
    }
  });
  result_.extras = {{"spamming", Per::worker, 1, std::move(spamming)},
                    {"strategy", Per::worker, classes_, std::move(strategy)}};
  return std::move(result_);
}

Result Mace::fit(const Options& options, const Labels& labels, const Knowledge& given,
                 const RunContext& context) {
  const WorkerMajor by_worker(labels, context.threads);
  return best_of_starts<Run>("mace", options.starts, WorkerMajor::bytes(labels), bytes_of_start(labels),
                             context,
                             [&](std::size_t start, const RunContext& of_start) {
                               return Run(options, labels, by_worker, given, of_start, start);
                             })
      .report(context);
}

}  // namespace

MethodInfo mace_method() {
  return batch_method<Mace>(
      "mace", "workers who know the class or spam in their own way, variational or by EM",
      "Hovy, Berg-Kirkpatrick, Vaswani, Hovy: Learning Whom to Trust with MACE (NAACL-HLT 2013)",
      {.has_confusion = true,
       .has_trace = true,
       .gives = {{"spamming", Per::worker, 0, "probability that a label is spam"},
                 {"strategy", Per::worker, 1, "probability of every class among spammed labels"}},
       .draws = true,
       .climbs = true});
}

}  // namespace crowdfold
