// threepass: an empirical-Bayes confusion model with a symmetrised crowd, in three passes, calibrated
// without truths.
//
//   y_t ~ tau      x_it | y_t = k ~ Categorical(V_i[k, .])      V_i[k, .] ~ Dirichlet(s b_i[k, .])
//
// Three things make it other than Dawid-Skene. The centre b_i of a worker's rows combines the worker's
// own accuracy with the crowd's class effects and error pattern, and the strength s is fitted to the
// data: rows with few labels follow the crowd, rows with many are free. The errors that all workers
// share are hardly identifiable from labels, and are drawn towards a crowd that is as good on one class
// as on another, by a weight lambda = s / (s + c0 K). And the labels of a task are correlated, so one
// temperature beta is chosen such that a task's other labels best predict one that was held out.
//
//   n_i[k,l]  credited counts: worker i said l, the truth is k     N_i[k] = sum_l n_i[k,l]
//   P[k,l]    = sum_i n_i[k,l]                                     m_k    credited tasks of class k
//
//   (G)   a0      = (sum_k P[k,k] + 14) / (sum_kl P[k,l] + 20)
//         Ph[k,l] = (P[k,l] + s1 sig) / (sum_l P[k,l] + s1)        sig: a0, or (1 - a0) / (K - 1)
//         E[k,l]  = Ph[k,l] / (1 - Ph[k,k])                        the crowd's errors
//         r[k]    = Ph[k,k] / (1 - Ph[k,k])  (1 - a0) / a0         how easy a class is
//         Cr[k,l] = log a0 / Ph[k,k]  or  log (1 - a0) / (1 - Ph[k,k])
//         ltau[k] = log (m_k + 1) / (sum m + K)
//   (W)   v       = (c_i + s2 a0) / (n_i + s2)                     c_i: right ones of i's n_i labels
//         d[k]    = z / (1 + z),  z = v / (1 - v) r[k]
//         b[k,l]  = d[k]  or  (1 - d[k]) E[k,l]
//         Tab_i[k,l] = psi(n_i[k,l] + s b[k,l]) - psi(N_i[k] + s) + lambda Cr[k,l]
//   (S)   a_t[k]  = gamma ltau[k] + sum_i Tab_i[k, x_it],   gamma = 1 / (K - 1)
//   (EB)  s       = argmax of the Dirichlet-multinomial likelihood of all rows
//   (H)   beta    = argmax of sum over held-out labels of log sum_k softmax(beta h)[k] Vm[k],
//                   h = a_t - Tab_i[., x_it],  Vm[k] = posterior mean of V_i[k, x_it] without task t
//                   times a prior of beta, for the first tasks
//         gamma   = 1 instead, if that makes held-out labels likelier by a margin: the guard for skewed
//                   classes
//
//   pass 1  tasks as they come: judged with the tables so far, and credited to the counts. The answers
//           of the online method are softmax(beta a_t) here, softened. If fewer labels then pass for
//           right than guesses would be, chance on the first tasks has turned all classes round: once
//           more, with votes that contribute for longer.
//   pass 2  tasks in blocks: judged again, the old credit taken out of the counts, the new one added
//   pass 3  (EB), all tables once more, beta; the answers are softmax(beta a_t), softened
//
// Where the note says softmax(beta a_t), the answers are (1 - doubt) softmax(soften min(beta, 1) a_t) +
// doubt / K: see softening.h. Both numbers are fitted to known truths, with every truth's task judged as
// if the truth were not known: with the credits that it would have instead.
//
// Workers who give one label and no other, such as labelling functions, have other rows: one_label.h.
// Tasks that only they labelled are judged in pass 3 alone, and leave no credit before.
//
// A known truth is a credit of 1. Counts that workers bring along are spread over all cells of the class
// they are on, or beside, the diagonal of; they take no part in (EB).
//
// (G) to (H) are in threepass_model.cc, the passes here.
//
// Cost: K additions and a row of counts per label and pass, K exponentials per task; tables are built
// again when a worker has half as many labels more. Memory O(N + T K + 2 M K^2); where that would be
// much, O(N): only cells that are not 0, and rows are computed label by label.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "base/random.h"
#include "methods/batch.h"
#include "methods/methods.h"
#include "methods/option_table.h"
#include "methods/result_room.h"
#include "methods/threepass/threepass_model.h"

namespace crowdfold {
namespace {

// Pass 1, task by task.
class FirstPass {
 public:
  // What is wanted besides credits.
  struct Wants {
    bool answers = false;    // of answer()
    bool softening = false;  // fitted to known truths
  };
  FirstPass(ThreePassModel& model, const ThreePassOptions& options, const Wants& wants)
      : model_(model), options_(options), wants_(wants), scratch_(model), scores_(model.width()) {
    while (next_strength_ < model_.tasks()) next_strength_ *= 2;
    next_pool_ = model_.tasks();
  }

  double beta() const { return beta_; }
  const Softening& softening() const { return softening_; }
  const HeldOut& held_out() const { return held_out_; }
  const SofteningFit& softening_fit() const { return softening_fit_; }
  void restore(const HeldOut& held_out, const SofteningFit& softening_fit) {
    held_out_ = held_out;
    softening_fit_ = softening_fit;
    softening_ = softening_fit.fitted(options_);
    calibrate();
  }

  // Credits a task with its truth, or judges it if that is kNoClass, and credits the result.
  void learn(const TaskLabels& task, ClassId truth, std::span<float> credit) {
    std::fill(credit.begin(), credit.end(), 0.0F);
    const double newness = model_.newness();
    if (truth != kNoClass) {
      if (wants_.softening) soften(task, truth);
      credit[truth] = 1;
      model_.add_credit(task, credit);
      model_.count_labels(task);
    } else if (task.size() > 1 && is_held_out()) {
      model_.build_for(task, scratch_);
      model_.judge(task, newness, scores_, credit, scratch_);
      model_.hold_out(task, pick(0, number(), task.size()), scores_, {}, held_out_, scratch_);
      model_.add_credit(task, credit);
      model_.count_labels(task);
      if (wants_.answers) shares_ = model_.shares(scores_, temperature());
    } else {
      model_.meet(task, scratch_);
      model_.learn(task, newness, scores_, credit, scratch_, temperature(),
                   wants_.answers ? &shares_ : nullptr);
    }
  }
  // The answer to the task that was judged last.
  Estimate answer(std::span<double> posterior) const {
    return posterior.empty() ? model_.answer(shares_, softening_)
                             : model_.answer(scores_, beta_, softening_, posterior);
  }
  // After a task, when its answer was given.
  void keep_up(const TaskLabels& task) {
    model_.count_task(task);
    const double tasks = model_.tasks();
    if (tasks <= kFirstTasks || tasks >= next_pool_) {
      model_.pool();
      next_pool_ = kGrowth * tasks;
    }
    if (tasks >= next_strength_) {
      model_.fit_strength();
      calibrate();
      next_strength_ *= 2;
    }
  }

 private:
  static constexpr double kFirstTasks = 50;
  static constexpr double kGrowth = 1.02;

  void calibrate() {
    beta_ = held_out_.best_temperature();
    model_.set_class_power(guarded_power(held_out_, options_.guard, model_.classes()));
  }
  double temperature() const { return softening_.temperature(beta_); }
  // Before the task is credited with its truth.
  void soften(const TaskLabels& task, ClassId truth) {
    if (task.size() == 0 || softening_fit_.is_enough()) return;
    model_.score_anew(task, scores_, scratch_);
    softening_fit_.add(std::span(scores_).first(model_.classes()), beta_, truth);
    softening_ = softening_fit_.fitted(options_);
  }
  std::uint64_t number() const { return static_cast<std::uint64_t>(model_.tasks()); }
  // All of the first tasks, then some.
  bool is_held_out() const {
    constexpr std::uint64_t kAll = 1'000;
    constexpr std::uint64_t kSome = 64;
    return number() < kAll || number() % kSome == 0;
  }

  ThreePassModel& model_;
  ThreePassOptions options_;
  Wants wants_;
  ThreePassModel::Scratch scratch_;
  std::vector<float> scores_;
  HeldOut held_out_;
  SofteningFit softening_fit_;
  Softening softening_ = options_;
  Shares shares_;
  double beta_ = 1;
  double next_pool_ = 0;
  double next_strength_ = std::max(10.0, 2.0 * model_.classes());
};

// Sections of a state beside those of the model.
constexpr const char* kHeldOut = "held-out labels";
constexpr const char* kSoftening = "softening";  // if there were truths

// What the online method goes on from, and what further tasks are judged by.
WorkerState state_of(const ThreePassModel& model, const HeldOut& held_out,
                     const SofteningFit& softening_fit) {
  WorkerState state = model.state();
  const auto add = [&](const char* name, const std::vector<double>& numbers) {
    state.sections.push_back({.name = name, .axes = {}, .width = numbers.size(), .values = numbers});
  };
  add(kHeldOut, held_out.save());
  if (softening_fit.truths() > 0) add(kSoftening, softening_fit.save());
  return state;
}

// The credit of each task: of all classes, or only those with a credit.
class Credits {
 public:
  Credits(const ThreePassModel& model, TaskId tasks)
      : dense_(model.dense()),
        width_(model.width()),
        rows_(dense_ ? tasks * width_ : 0),
        parts_(dense_ ? 0 : tasks) {}

  void get(TaskId t, std::span<float> credit) const {
    if (dense_) {
      std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(t * width_), width_, credit.begin());
      return;
    }
    std::fill(credit.begin(), credit.end(), 0.0F);
    for (const auto& [k, part] : parts_[t]) credit[k] = part;
  }

  // body(credit) may change it; `room` is for one.
  template <class Body>
  void change(TaskId t, std::span<float> room, const Body& body) {
    if (dense_) return body(std::span(rows_).subspan(t * width_, width_));
    get(t, room);
    body(room);
    parts_[t].clear();
    for (std::size_t k = 0; k < room.size(); ++k) {
      if (room[k] > 0) parts_[t].emplace_back(static_cast<ClassId>(k), room[k]);
    }
    parts_[t].shrink_to_fit();
  }

 private:
  bool dense_;
  std::size_t width_;
  FlatArray<float> rows_;
  std::vector<std::vector<std::pair<ClassId, float>>> parts_;
};

class ThreePass {
 public:
  using Options = ThreePassOptions;

  ThreePass(const Options& options, const Labels& labels, const Knowledge& given,
            const RunContext& context)
      : options_(options),
        labels_(labels),
        given_(given),
        context_(context),
        one_label_(options.passes > 1 ? OneLabelWorkers(labels, given) : OneLabelWorkers()),
        model_(options, labels.num_workers(), labels.num_classes()),
        credits_(model_, options.passes > 1 ? labels.num_tasks() : 0),
        room_(labels, context, result_) {
    order_.resize(labels.num_tasks());
    std::iota(order_.begin(), order_.end(), 0);
    if (options.order == Order::shuffled) order_ = shuffled_tasks(labels.num_tasks(), context.seed);
    for (WorkerId w = 0; w < given.workers.size(); ++w) model_.remember(w, given.workers[w]);
    if (!one_label_.empty()) model_.know(one_label_);
  }

  static const OptionTable<Options>& option_table();
  static std::uint64_t bytes(const Options& options, const Labels& labels) {
    const std::uint64_t classes = labels.num_classes();
    const std::uint64_t credits = options.passes > 1 ? labels.num_tasks() * row_width(classes) : 0;
    if (CreditedCounts::is_dense(labels.num_workers(), classes))
      return sizeof(float) * (CreditedCounts::numbers(labels.num_workers(), classes) + credits);
    // Some cells per label and per task, with the containers around them.
    return 128 * labels.num_labels() + 64ULL * labels.num_tasks();
  }
  static Result fit(const Options& options, const Labels& labels, const Knowledge& given,
                    const RunContext& context) {
    {
      ThreePass passes(options, labels, given, context);
      passes.first_pass();
      const bool is_last_try = options.passes == 1 || options.warm >= kPatient;
      if (is_last_try || !passes.is_upside_down()) return passes.further_passes();
    }
    Options patient = options;
    patient.warm = kPatient;
    return fit(patient, labels, given, context);
  }

 private:
  static constexpr double kPatient = 50;  // `warm` with which no order turned classes round
  static constexpr std::size_t kTasksAtATime = 1 << 14;  // between two progress reports
  static constexpr std::size_t kAhead = 6;  // tasks ahead whose rows are being fetched from memory

  // Whether labels pass for right less often than guesses would. Votes never say so.
  bool is_upside_down() const {
    WorkerCounts all;
    for (WorkerId w = 0; w < labels_.num_workers(); ++w) all += model_.counts(w);
    return all.correct * labels_.num_classes() < all.seen;
  }
  Result further_passes() {
    for (int pass = 2; pass < options_.passes; ++pass) second_pass();
    if (options_.passes > 1) last_pass();
    report_workers();
    return std::move(result_);
  }

  bool is_open(TaskId t) const { return given_.truth(t) == kNoClass && labels_.task(t).size() > 0; }
  // Whether only workers of one label labelled it. Nothing is learned from such a task.
  bool is_echo(TaskId t) const {
    return given_.truth(t) == kNoClass && one_label_.alone_on(labels_.task(t));
  }

  void first_pass() {
    const bool only = options_.passes == 1;
    FirstPass pass(model_, options_, {.answers = only, .softening = only});
    std::vector<float> room(model_.width());
    std::size_t next_word = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i == next_word) {
        say("first pass", i);
        next_word += kTasksAtATime;
      }
      prefetch(order_, i + kAhead);
      const TaskId t = order_[i];
      const TaskLabels task = labels_.task(t);
      const ClassId truth = given_.truth(t);
      if (task.size() == 0 && truth == kNoClass) {
        room_.put(t, without_judging(t));
        continue;
      }
      if (is_echo(t)) continue;
      const auto learn = [&](std::span<float> credit) { pass.learn(task, truth, credit); };
      if (options_.passes > 1) {
        credits_.change(t, room, learn);
      } else {
        learn(room);
        room_.put(t, truth == kNoClass ? pass.answer(room_.posterior(t)) : without_judging(t));
      }
      pass.keep_up(task);
    }
    result_.doubt = pass.softening().doubt;
    held_out_ = pass.held_out();
    softening_fit_ = pass.softening_fit();
  }

  void second_pass() {
    model_.fit_strength();
    const auto blocks = static_cast<std::size_t>(options_.blocks);
    for (std::size_t block = 0; block < blocks; ++block) {
      model_.pool();
      model_.build_all(context_.threads);
      const std::size_t begin = order_.size() * block / blocks;
      const std::size_t end = order_.size() * (block + 1) / blocks;
      judge_again(std::span(order_).subspan(begin, end - begin), begin);
    }
  }

  // Tables stay as they are meanwhile, so that the order of judging and crediting does not matter.
  void judge_again(std::span<const TaskId> tasks, std::size_t done) {
    const bool alone = context_.threads == 1;
    const std::size_t width = model_.width();
    FlatArray<float> changes(alone ? 0 : std::min(kTasksAtATime, tasks.size()) * width);
    for (std::size_t first = 0; first < tasks.size(); first += kTasksAtATime) {
      say("second pass", done + first);
      const auto some = tasks.subspan(first, std::min(kTasksAtATime, tasks.size() - first));
      const auto change = [&](std::size_t i) { return std::span(changes).subspan(i * width, width); };
      for_tasks(some, [&](std::size_t i, std::span<float> scores, ThreePassModel::Scratch& scratch) {
        if (!is_open(some[i]) || is_echo(some[i])) return;
        const TaskLabels task = labels_.task(some[i]);
        credits_.change(some[i], scratch.credit, [&](std::span<float> credit) {
          if (alone) return model_.learn(task, 0, scores, credit, scratch);
          const std::span<float> to = change(i);
          model_.judge(task, 0, scores, to, scratch);
          for (std::size_t k = 0; k < width; ++k) to[k] -= std::exchange(credit[k], to[k]);
        });
      });
      for (std::size_t i = 0; i < some.size() && !alone; ++i) {
        if (is_open(some[i]) && !is_echo(some[i])) model_.add_credit(labels_.task(some[i]), change(i));
      }
    }
  }

  void last_pass() {
    model_.fit_strength();
    model_.build_all(context_.threads);
    say("calibration", 0);
    held_out_ = hold_out();
    const double gamma = guarded_power(held_out_, options_.guard, model_.classes());
    if (gamma != model_.class_power()) {
      model_.set_class_power(gamma);
      held_out_ = hold_out();
    }
    const double beta = held_out_.best_temperature();
    softening_fit_ = fit_softening(beta);
    const Softening softening = softening_fit_.fitted(options_);
    result_.doubt = softening.doubt;
    for_echoes([&](TaskId t) { model_.count_task(labels_.task(t)); });
    for (std::size_t first = 0; first < order_.size(); first += kTasksAtATime) {
      say("last pass", first);
      const auto some = std::span(order_).subspan(first, std::min(kTasksAtATime, order_.size() - first));
      for_tasks(some, [&](std::size_t i, std::span<float> scores, ThreePassModel::Scratch& scratch) {
        const TaskId t = some[i];
        if (!is_open(t)) return room_.put(t, without_judging(t));
        model_.score(labels_.task(t), scores, scratch);
        // Held-out labels tell nothing of echoes, so there is no temperature.
        const bool echo = is_echo(t);
        room_.put(t, model_.answer(scores, echo ? 1 : beta, softening, room_.posterior(t)));
        if (!echo) return;
        credits_.change(t, scratch.credit, [&](std::span<float> credit) {
          model_.compute_credit(labels_.task(t), scores, 0, credit);
        });
      });
    }
    // For the qualities of workers.
    for_echoes([&](TaskId t) {
      std::vector<float> credit(model_.width());
      credits_.get(t, credit);
      model_.add_credit(labels_.task(t), credit);
      model_.count_labels(labels_.task(t));
    });
  }

  template <class Body>
  void for_echoes(const Body& body) const {
    for (TaskId t = 0; t < labels_.num_tasks() && !one_label_.empty(); ++t) {
      if (is_echo(t)) body(t);
    }
  }

  // (H) on every `stride`-th label.
  HeldOut hold_out() const {
    constexpr std::uint64_t kNumbers = 1 << 22;  // by class, at each temperature
    const std::uint64_t labels = std::clamp<std::uint64_t>(kNumbers / model_.width(), 200, 20'000);
    const std::uint64_t stride = std::max<std::uint64_t>(1, labels_.num_labels() / labels);
    ThreePassModel::Scratch scratch(model_);
    std::vector<float> scores(model_.width());
    std::vector<float> credit(model_.width());
    HeldOut held_out;
    std::uint64_t begin = 0;
    std::uint64_t next = 0;
    for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
      const TaskLabels task = labels_.task(t);
      const std::uint64_t end = begin + task.size();
      if (next < end) {
        const bool counts = task.size() > 1 && given_.truth(t) == kNoClass && !is_echo(t);
        if (counts) {
          model_.score(task, scores, scratch);
          credits_.get(t, credit);
        }
        for (; next < end; next += stride) {
          if (counts) model_.hold_out(task, next - begin, scores, credit, held_out, scratch);
        }
      }
      begin = end;
    }
    return held_out;
  }

  // On tasks with known truths, every `stride`-th of them if there are very many.
  SofteningFit fit_softening(double beta) const {
    const auto known = static_cast<std::uint64_t>(std::count_if(
        given_.truths.begin(), given_.truths.end(), [](ClassId c) { return c != kNoClass; }));
    const std::uint64_t stride = known / SofteningFit::kEnough + 1;
    ThreePassModel::Scratch scratch(model_);
    std::vector<float> scores(model_.width());
    SofteningFit fit;
    std::uint64_t met = 0;
    for (TaskId t = 0; t < labels_.num_tasks() && known > 0; ++t) {
      const ClassId truth = given_.truth(t);
      if (truth == kNoClass || labels_.task(t).size() == 0 || met++ % stride != 0) continue;
      // As the other tasks are judged: amid what their own labels were taken to tell of their workers.
      const TaskLabels task = labels_.task(t);
      model_.score_without_truth(task, truth, {}, scores, scratch);
      for (int i = 1; i < options_.passes; ++i) {
        model_.compute_credit(task, scores, 0, scratch.credit);
        model_.score_without_truth(task, truth, std::span(scratch.credit).first(model_.classes()),
                                   scores, scratch);
      }
      fit.add(std::span(scores).first(model_.classes()), beta, truth);
    }
    return fit;
  }

  // body(i, scores, scratch) for the i-th of some tasks, with room for its scores; in parallel.
  template <class Body>
  void for_tasks(std::span<const TaskId> tasks, const Body& body) const {
    constexpr std::size_t kTasksPerThread = 1 << 10;
    parallel_ranges(context_.threads, tasks.size(), kTasksPerThread,
                    [&](std::size_t from, std::size_t to, int) {
                      ThreePassModel::Scratch scratch(model_);
                      std::vector<float> scores(model_.width());
                      for (std::size_t i = from; i < to; ++i) {
                        prefetch(tasks, i + kAhead);
                        body(i, scores, scratch);
                      }
                    });
  }
  void prefetch(std::span<const TaskId> tasks, std::size_t i) const {
    if (i < tasks.size()) model_.prefetch(labels_.task(tasks[i]));
  }

  // For a task with a truth, or without labels.
  Estimate without_judging(TaskId t) {
    const std::span<double> posterior = room_.posterior(t);
    if (const ClassId truth = given_.truth(t); truth != kNoClass) return certain(truth, posterior);
    std::fill(posterior.begin(), posterior.end(), 1 / static_cast<double>(labels_.num_classes()));
    return {};
  }

  void report_workers() {
    const std::size_t classes = labels_.num_classes();
    result_.learned.expect(labels_.num_workers(), labels_.num_classes());
    for (WorkerId w = 0; w < labels_.num_workers(); ++w) result_.learned.counts[w] = model_.counts(w);
    if (!context_.confusion) return;
    // A state does not know labelling functions: their qualities tell more than their rows.
    if (!one_label_.prevail()) result_.learned = state_of(model_, held_out_, softening_fit_);
    result_.confusion.resize(labels_.num_workers() * classes * classes);
    ThreePassModel::Scratch scratch(model_);
    for (WorkerId w = 0; w < labels_.num_workers(); ++w)
      model_.write_confusion(w, {result_.confusion.data() + w * classes * classes, classes * classes},
                             scratch);
  }

  void say(const char* stage, std::size_t done) const {
    context_.throw_if_cancelled();
    context_.report(stage, done, labels_.num_tasks());
  }

  const Options& options_;
  const Labels& labels_;
  const Knowledge& given_;
  const RunContext& context_;
  OneLabelWorkers one_label_;
  std::vector<TaskId> order_;
  ThreePassModel model_;
  Credits credits_;
  HeldOut held_out_;
  SofteningFit softening_fit_;
  Result result_;
  ResultRoom room_;
};

const OptionTable<ThreePassOptions>& ThreePass::option_table() {
  static const OptionTable<Options> table(
      crowd_options<Options>(),
      {integer("passes", &Options::passes, 1, 100, "passes over the labels; 1: the online method"),
       integer("blocks", &Options::blocks, 1, 10'000,
               "blocks of tasks in the passes between first and last"),
       real("warm", &Options::warm, 0, 1e9, "how long a majority vote contributes at the beginning"),
       real("refresh", &Options::refresh, 0, 10,
            "relative growth of a worker's labels after which their table is rebuilt"),
       order_option<Options>()});
  return table;
}

// Pass 1, one task at a time.
class OnlineThreePass final : public OnlineMethod {
 public:
  using Options = ThreePassOptions;
  // Who only judges has all tables at hand.
  enum class Use { learn, judge };

  explicit OnlineThreePass(const Options& options, Use use = Use::learn) : options_(options), use_(use) {
    start();
  }

  void expect(std::uint32_t workers, std::uint32_t classes) override {
    const bool more_workers = workers > model_->workers();
    const bool more_classes = classes > model_->classes();
    model_->expect(workers, classes);
    if (more_classes) renew_first_pass();
    if (more_workers || more_classes) build_tables();
  }

  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    if (labels.size() == 0) {
      std::fill(posterior.begin(), posterior.end(), 1 / static_cast<double>(posterior.size()));
      return {};
    }
    ThreePassModel::Scratch scratch(*model_);
    std::vector<float> scores(model_->width());
    model_->score_anew(labels, scores, scratch);
    return model_->answer(scores, first_pass_->beta(), first_pass_->softening(), posterior);
  }

  void learn(const TaskLabels& labels, const Answer& answer) override {
    const ClassId truth = answer.is_truth ? answer.label : kNoClass;
    if (truth == kNoClass && labels.size() == 0) return;
    first_pass_->learn(labels, truth, credit_);
    first_pass_->keep_up(labels);
  }

  bool judges_after_learning() const override { return false; }
  double doubt() const override { return first_pass_->softening().doubt; }

  WorkerState state() const override {
    return state_of(*model_, first_pass_->held_out(), first_pass_->softening_fit());
  }
  void restore(WorkerState state) override {
    start();
    state = ThreePassModel::with_history(std::move(state));
    expect(static_cast<std::uint32_t>(state.counts.size()), state.classes);
    model_->restore(state);
    const auto numbers = [&](const char* section) {
      const StateSection* const found = state.find(section);
      return found != nullptr ? found->values : std::vector<double>();
    };
    first_pass_.emplace(*model_, options_, kWants)
        .restore(HeldOut::load(numbers(kHeldOut)), SofteningFit::load(numbers(kSoftening)));
    build_tables();
  }
  void merge(const WorkerState& other) override {
    WorkerState both = state();
    both.merge(ThreePassModel::with_history(other));
    restore(std::move(both));
  }

 private:
  static constexpr FirstPass::Wants kWants = {.softening = true};  // estimate() gives answers

  void start() {
    model_ = std::make_unique<ThreePassModel>(options_, 0, 0);
    first_pass_.emplace(*model_, options_, kWants);
  }
  void renew_first_pass() {
    const HeldOut held_out = first_pass_->held_out();
    const SofteningFit softening_fit = first_pass_->softening_fit();
    first_pass_.emplace(*model_, options_, kWants).restore(held_out, softening_fit);
    credit_.resize(model_->width());
  }
  void build_tables() {
    if (use_ == Use::judge) model_->build_all(/*threads=*/1);
  }

  Options options_;
  Use use_;
  std::unique_ptr<ThreePassModel> model_;
  std::optional<FirstPass> first_pass_;
  std::vector<float> credit_;
};

}  // namespace

Result fit_threepass(const ThreePassOptions& options, const Labels& labels, const Knowledge& given,
                     const RunContext& context) {
  require_memory("threepass", ThreePass::bytes(options, labels), context);
  return ThreePass::fit(options, labels, given, context);
}

MethodInfo threepass_method() {
  MethodInfo info = batch_method<ThreePass>(
      "threepass", "confusion rows with a strength learned from the data, in three passes; calibrated",
      "crowdfold",
      {.takes_workers = true,
       .has_confusion = true,
       .online_equals_batch = false,
       .resumes_exactly = false});
  info.make_online = [](const Settings& settings, std::uint64_t) -> std::unique_ptr<OnlineMethod> {
    return std::make_unique<OnlineThreePass>(ThreePass::option_table().parse("threepass", settings));
  };
  info.make_judge = [](const Settings& settings) -> std::unique_ptr<Judge> {
    return std::make_unique<OnlineThreePass>(ThreePass::option_table().parse("threepass", settings),
                                             OnlineThreePass::Use::judge);
  };
  return info;
}

}  // namespace crowdfold
