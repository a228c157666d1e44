// Live: one pass over tasks whose labels may change, with everything learned a sum over tasks. It is how
// `crowdfold stream` judges.
//
// Crowdfold's own. Like threepass, it knows how workers err, not only how often. Unlike it, it learns
// sums over tasks and nothing else: a task can leave the sums again, and the sums are all the state.
//
// Model: worker i says l on a task of class k with probability V_i[k, l]. A share h of tasks is too hard
// for everybody: their labels are by chance.
//
//   C_i, N_i   labels of worker i that are the estimate of their task; all labels of i
//   n_i[k,l]   how often i said l where the truth is k: the posterior of k, summed up over tasks
//   P[k,l]     the sum of n_i[k,l] over all workers
//   H, T       tasks that were too hard, by their posterior; all tasks
//
//   (1)  v   = (C_i + alpha) / (N_i + alpha + beta)         the quality of i
//   (2)  d_k = z / (1 + z),  z = v / (1 - v) r_k            the quality of i on class k, if i were like
//                                                           the others
//   (3)  V_i[k,l] = (n_i[k,l] + s b) / (n_i[k,.] + s) f^lambda
//                   b = d_k or (1 - d_k) E[k,l],  f = v / d_k or (1 - v) / (1 - d_k),  if l = k or not
//   (4)  P(y = k | labels)  is proportional to  (1 - h) (prod_i K V_i[k, x_i] + eps W_k) + h
//                   h = (H + 1) / (T + 10)
//   (5)  W_k = max_q (K q)^m (K (1 - q) / (K - 1))^(n - m),  q >= 1 / K,  if m of n labels are k
//   (6)  the answers are (1 - doubt) P^soften, normalised, + doubt / K: see threepass/softening.h
//
// By P, r_k tells how easy class k is, and E[k,l] how often a mistaken k is taken for l. f takes back
// what all workers have in common: that a crowd is better on one class than on another can hardly be
// told from there being more tasks of it; least so with two classes: lambda = 1 / (K - 1). Without h,
// the product would trust labels that agree far too much. eps is next to nothing: W matters only where
// hundreds of labels lean to a class, and yet contradict each other so often that the product takes
// them for chance.
//
// Errors that a whole crowd shares are not in the model, so what is given out is softened by (6); what
// is learned is P itself.
//
// The estimate is the most probable class that somebody named. Then C_i, N_i, n_i, P, H and T take in
// the task, in 1024ths: sums are exact, in any order. A known truth counts in full.
//
// Symbols: C_i, N_i, n_i LiveWorker::counts, confusion; P LiveModel::row(); H, T HardTasks; r_k, E
// Weighing::ClassEffect. Why this model: docs/stream.md has the figures.
// Cost: O(K log K) time per label, K being all classes if they are 16 at most, and else those that the
// task's labels name; the state is the cells of n_i that are not 0.
#include <algorithm>
#include <tuple>
#include <utility>

#include "methods/batch.h"
#include "methods/live/live_model.h"
#include "methods/methods.h"
#include "methods/option_table.h"

namespace crowdfold {
namespace {

// Sections of the state.
constexpr const char* kConfusion = "confusion";   // by worker, truth, label
constexpr const char* kHardTasks = "hard tasks";  // H and T
using Axis = StateSection::Axis;

class Live final : public OnlineMethod {
 public:
  struct Options : LiveOptions {
    Order order = Order::given;
  };
  static const OptionTable<Options>& option_table() {
    static const OptionTable<Options> table = {
        real<Options>("alpha", &Options::alpha, 1, 1e9, "prior of worker quality: Beta(alpha, beta)"),
        real<Options>("beta", &Options::beta, 1, 1e9, "prior of worker quality: Beta(alpha, beta)"),
        real<Options>("half_life", &Options::half_life, 0, 1e15,
                      "a label counts half after this many more labels of its worker; 0: no fading"),
        order_option<Options>()};
    return table;
  }

  Live(const Options& options, std::uint64_t /*seed*/) : options_(options), model_(options) {}

  void expect(std::uint32_t workers, std::uint32_t classes) override { model_.expect(workers, classes); }

  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    Weighing weighing;
    model_.weigh(task_of(labels), weighing);
    if (!posterior.empty()) weighing.write_posterior(posterior);
    return weighing.answer();
  }

  void learn(const TaskLabels& labels, const Answer& answer) override {
    LiveTask task = task_of(labels);
    if (answer.is_truth) task.truth = answer.label;
    model_.judge(task, weighing_);
    if (answer.label != kNoClass) task.estimate.label = answer.label;
    model_.enter(task);
  }

  bool judges_after_learning() const override { return false; }
  double doubt() const override { return LiveModel::kDoubt; }

  WorkerState state() const override {
    WorkerState state;
    state.alpha = options_.alpha;
    state.beta = options_.beta;
    state.expect(static_cast<std::uint32_t>(model_.num_workers()), model_.num_classes());
    StateSection cells = {.name = kConfusion,
                          .axes = {Axis::worker, Axis::label_class, Axis::label_class}};
    for (WorkerId w = 0; w < model_.num_workers(); ++w) {
      state.counts[w] = model_.worker(w).counts;
      for (const SparseConfusion::Cell& cell : model_.worker(w).confusion.cells()) {
        if (cell.count > 0) cells.add({w, cell.truth, cell.label}, {cell.count});
      }
    }
    StateSection hard = {
        .name = kHardTasks, .width = 2, .values = {model_.hard_tasks().hard, model_.hard_tasks().all}};
    state.sections = {std::move(cells), std::move(hard)};
    return state;
  }
  // P is the sum of all cells: exactly what it was, unless counts have faded.
  void restore(WorkerState state) override {
    state.require_prior(options_.alpha, options_.beta);
    model_ = LiveModel(options_);
    expect(static_cast<std::uint32_t>(state.counts.size()), state.classes);
    std::vector<WorkerRecord> records(state.counts.size());
    for (std::size_t w = 0; w < records.size(); ++w) records[w].counts = state.counts[w];
    if (const StateSection* const cells = state.find(kConfusion)) {
      for (std::size_t i = 0; i < cells->rows(); ++i) {
        const std::span<const std::uint32_t> key = cells->key(i);
        records[key[0]].confusion.add(static_cast<ClassId>(key[1]), static_cast<ClassId>(key[2]),
                                      cells->values[i]);
      }
    }
    for (WorkerId w = 0; w < records.size(); ++w) model_.remember(w, records[w]);
    if (const StateSection* const hard = state.find(kHardTasks))
      model_.remember(HardTasks{hard->values[0], hard->values[1]});
  }
  void merge(const WorkerState& other) override {
    WorkerState both = state();
    both.merge(other);
    restore(std::move(both));
  }

 private:
  static LiveTask task_of(const TaskLabels& labels) {
    LiveTask task;
    task.labels.reserve(labels.size());
    for (std::size_t j = 0; j < labels.size(); ++j)
      task.labels.push_back({labels.workers[j], labels.classes[j]});
    task.num_labels = static_cast<std::uint32_t>(labels.size());
    return task;
  }

  Options options_;
  LiveModel model_;
  Weighing weighing_;  // of learn()
};

}  // namespace

MethodInfo live_method() {
  return online_method<Live>(
      "live",
      "one pass: learns how workers err and how many tasks are too hard; the stream judges by it",
      "crowdfold", {.trusts_first_tasks = true, .weighs_every_class = false});
}

}  // namespace crowdfold
