// KOS: message passing between tasks and workers, for two classes.
//
// D. R. Karger, S. Oh, D. Shah: Iterative Learning for Reliable Crowdsourcing Systems. NIPS 2011.
// The same: Budget-Optimal Task Allocation for Reliable Crowdsourcing Systems. Operations Research 62,
// 2014.
//
//   A_ti             =  +1 if worker i says the first class on task t, -1 if the second
//   y_{i->t}         =  1 to start with                             how far t may rely on i
//   x_{t->i}         =  sum over i' != i of A_ti' y_{i'->t}         the others' verdict on t
//   y_{i->t}         =  sum over t' != t of A_t'i x_{t'->i}         how i agrees with that elsewhere
//   estimate of t    =  the sign of  sum_i A_ti y_{i->t}
//
// The paper starts with draws from Normal(1, 1). Messages are linear in the start, so their mean over
// all draws is what their mean, 1, leads to. That matters where several directions grow at the same
// rate: a draw decides between them, against the majority as often as not.
//
// Messages settle on a direction if one grows faster than all others. If none does, as where workers
// contradict each other in turn, messages turn from round to round, and the number of rounds would
// decide. Growth tells: it tends to a constant, or never does. Then labels are counted.
//
// All messages of an iteration are scaled so that the largest is always the same: no sign depends on it,
// and nothing overflows. Equal messages stay exactly equal so, while the rounding of other scales would
// grow. The sign of all messages is not determined: it is chosen so that the sum of all y is not below
// zero, as most labels are right. Where the crowd is hardly better than chance, or a few workers
// dominate, all answers may still come out reversed.
//
// A class's probability is its share of the |y| of a task, where y below zero speaks for the other
// class. A task that no message reaches, because its workers share no other task with anybody, is
// decided by the count of its labels. Known truths have no place in the model.
//
// Cost: O(N) an iteration; memory 22 bytes a label.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "labels/worker_major.h"
#include "methods/batch.h"
#include "methods/confusion/confusion.h"
#include "methods/em.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

// The largest message after scaling. Messages in parts of the crowd that grow slowly have room below.
constexpr double kLargest = 0x1p600;

double sign_of(ClassId c) { return c == 0 ? 1 : -1; }

// One number for every label, in the order of Labels: A y before tasks send, x before workers do.
class Messages {
 public:
  Messages(const Labels& labels, const RunContext& context)
      : labels_(labels),
        threads_(context.threads),
        by_worker_(labels, context.threads),
        first_of_task_(labels.num_tasks() + 1ULL),
        first_of_worker_(labels.num_workers() + 1ULL),
        edges_(labels.num_labels()),
        values_(labels.num_labels()) {
    for (WorkerId w = 0; w < labels.num_workers(); ++w)
      first_of_worker_[w + 1ULL] = first_of_worker_[w] + by_worker_.worker(w).size();
    std::vector<std::uint64_t> next = first_of_worker_;
    std::uint64_t edge = 0;
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      for (const WorkerId w : labels.task(t).workers) edges_[next[w]++] = edge++;
      first_of_task_[t + 1ULL] = edge;
    }
  }

  void start() {
    for_tasks([&](TaskId t, std::span<double> values) {
      const std::span<const ClassId> classes = labels_.task(t).classes;
      for (std::size_t j = 0; j < values.size(); ++j) values[j] = sign_of(classes[j]);
    });
  }

  // A y -> x
  void send_from_tasks() {
    for_tasks([](TaskId, std::span<double> values) {
      const double sum = std::accumulate(values.begin(), values.end(), 0.0);
      for (double& value : values) value = sum - value;
    });
  }

  // x -> A y. Returns the largest |y|.
  double send_from_workers() {
    const std::uint32_t workers = labels_.num_workers();
    std::vector<double> largest((workers + kWorkersPerBlock - 1) / kWorkersPerBlock);
    for_worker_blocks(workers, threads_, [&](std::size_t first, std::size_t last) {
      double& in_block = largest[first / kWorkersPerBlock];
      for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
        const std::span<const ClassId> classes = by_worker_.worker(w).classes;
        const std::uint64_t* const edges = edges_.data() + first_of_worker_[w];
        double sum = 0;
        for (std::size_t j = 0; j < classes.size(); ++j) sum += sign_of(classes[j]) * values_[edges[j]];
        for (std::size_t j = 0; j < classes.size(); ++j) {
          double& value = values_[edges[j]];
          value = sign_of(classes[j]) * sum - value;  // A (sum - A x), and A A = 1
          in_block = std::max(in_block, std::abs(value));
        }
      }
    });
    return largest.empty() ? 0 : *std::max_element(largest.begin(), largest.end());
  }

  void scale(double largest) {
    for_tasks([&](TaskId, std::span<double> values) {
      for (double& value : values) value = value / largest * kLargest;
    });
  }

  // The sum of all y: below zero, the crowd as a whole is taken for liars.
  double sum_of_trust() const {
    double sum = 0;
    for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
      const std::span<const ClassId> classes = labels_.task(t).classes;
      for (std::size_t j = 0; j < classes.size(); ++j)
        sum += sign_of(classes[j]) * (on(t)[j] / kLargest);
    }
    return sum;
  }

  // A y on one task
  std::span<const double> on(TaskId t) const {
    return {values_.data() + first_of_task_[t], first_of_task_[t + 1ULL] - first_of_task_[t]};
  }

  static std::uint64_t bytes(const Labels& labels) {
    return WorkerMajor::bytes(labels) + 16ULL * labels.num_labels() + 8ULL * labels.num_tasks() +
           16ULL * labels.num_workers();
  }

 private:
  template <class Body>
  void for_tasks(const Body& body) {
    parallel_ranges(
        threads_, labels_.num_tasks(), Posteriors::kTasksPerBlock,
        [&](std::size_t first, std::size_t last, int) {
          for (auto t = static_cast<TaskId>(first); t < last; ++t) {
            const std::uint64_t begin = first_of_task_[t];
            body(t, std::span<double>(values_.data() + begin, first_of_task_[t + 1ULL] - begin));
          }
        });
  }

  const Labels& labels_;
  int threads_;
  WorkerMajor by_worker_;
  std::vector<std::uint64_t> first_of_task_;
  std::vector<std::uint64_t> first_of_worker_;
  FlatArray<std::uint64_t> edges_;  // of the labels, worker by worker
  FlatArray<double> values_;
};

// Whether messages turn instead of settling: their growth still changes in the last rounds. On data sets
// it is the same to five digits after 30 rounds, and within a tenth after 15; where messages of equals
// turn, it changes by a factor of 1.7 and more.
bool turns(std::span<const double> growth) {
  constexpr std::size_t kRounds = 10;
  constexpr double kSteady = 1.5;
  if (growth.size() < 2 * kRounds) return false;  // too early to tell
  const auto last = growth.last(kRounds);
  const auto [least, most] = std::minmax_element(last.begin(), last.end());
  return *most > kSteady * *least;
}

// The evidence for each of the two classes on one task.
struct Balance {
  double first = 0;
  double second = 0;

  void add(double message) { (message > 0 ? first : second) += std::abs(message); }
};

Balance weigh(const TaskLabels& task, std::span<const double> messages, std::uint32_t classes) {
  Balance balance;
  if (classes > 1) {
    for (const double message : messages) balance.add(message);
  }
  if (balance.first + balance.second > 0) return balance;
  for (const ClassId c : task.classes) balance.add(sign_of(c));
  return balance;
}

struct KargerOhShah {
  struct Options {
    int iterations = 100;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {
        integer("iterations", &Options::iterations, 1, 1'000'000, "rounds of messages")};
    return table;
  }
  static std::uint64_t bytes(const Options&, const Labels& labels) { return Messages::bytes(labels); }

  static Result fit(const Options& options, const Labels& labels, const Knowledge&,
                    const RunContext& context) {
    Messages messages(labels, context);
    messages.start();

    // The trace records the growth of the messages, which tends to the largest eigenvalue of both steps.
    Result result;
    double before = 1;
    iterate("kos", Stopping{options.iterations, 0}, context, result, [&] {
      messages.send_from_tasks();
      const double largest = messages.send_from_workers();
      if (largest > 0) messages.scale(largest);
      return Step{largest / std::exchange(before, kLargest), 0};
    });
    if (turns(result.trace))
      messages.start();
    else if (messages.sum_of_trust() < 0)  // the direction is known, its sign is not
      messages.scale(-kLargest);
    report(labels, messages, context, result);
    return result;
  }

 private:
  static void report(const Labels& labels, const Messages& messages, const RunContext& context,
                     Result& result) {
    const std::uint32_t classes = labels.num_classes();
    result.estimate.assign(labels.num_tasks(), kNoClass);
    result.confidence.assign(labels.num_tasks(), 0);
    if (context.posterior)
      result.posterior.resize(static_cast<std::size_t>(labels.num_tasks()) * classes, 1.0 / classes);
    result.learned.expect(labels.num_workers(), classes);
    for (TaskId t = 0; t < labels.num_tasks(); ++t) {
      const TaskLabels task = labels.task(t);
      if (task.size() == 0) continue;
      const Balance balance = weigh(task, messages.on(t), classes);
      const bool first = balance.first >= balance.second;
      result.estimate[t] = first ? 0 : 1;
      const double total = balance.first + balance.second;
      const double other = std::max(std::min(balance.first, balance.second) / total, kLeastProbability);
      result.confidence[t] = classes == 1 ? 1 : 1 - other;
      if (context.posterior && classes == 2) {
        result.posterior[2ULL * t] = first ? 1 - other : other;
        result.posterior[2ULL * t + 1] = first ? other : 1 - other;
      }
      result.learned.add(task, result.estimate[t]);
    }
  }
};

}  // namespace

MethodInfo kos_method() {
  return batch_method<KargerOhShah>(
      "kos", "messages between tasks and workers, for two classes",
      "Karger, Oh, Shah: Iterative Learning for Reliable Crowdsourcing Systems (NIPS 2011)",
      {.most_classes = 2, .takes_truths = false, .has_trace = true});
}

}  // namespace crowdfold
