#include "variants.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "methods/batch.h"
#include "methods/threepass/threepass_model.h"

namespace crowdfold {
namespace {

class Variant {
 public:
  Variant(const std::string& name, const Labels& labels, const RunContext& context)
      : discounts_(name == "discount"),
        differs_(name == "difficulty"),
        weighs_classes_(name == "prior"),
        labels_(labels),
        context_(context),
        order_(shuffled_tasks(labels.num_tasks(), context.seed)),
        model_({}, labels.num_workers(), labels.num_classes()),
        scratch_(model_),
        credits_(labels.num_tasks(), Row(model_.width())),
        weights_(labels.num_workers(), 1) {}

  Result run() {
    first_pass();
    learn_weights();
    model_.fit_strength();
    model_.build_all(1);
    weigh_classes();
    constexpr std::size_t kBlocks = 8;
    for (std::size_t block = 0; block < kBlocks; ++block) {
      model_.pool();
      model_.build_all(1);
      for (std::size_t i = order_.size() * block / kBlocks; i < order_.size() * (block + 1) / kBlocks;
           ++i)
        judge_again(order_[i]);
    }
    learn_weights();
    model_.fit_strength();
    model_.build_all(1);
    weigh_classes();
    return last_pass();
  }

 private:
  using Row = std::vector<float>;

  void first_pass() {
    double next_pool = 0;
    double next_strength = std::max(10.0, 2.0 * labels_.num_classes());
    HeldOut held_out;
    for (const TaskId t : order_) {
      const TaskLabels task = labels_.task(t);
      if (task.size() == 0) continue;
      model_.build_for(task, scratch_);
      const Row scores = score(t);
      if (task.size() > 1) model_.hold_out(task, t % task.size(), scores, {}, held_out, scratch_);
      model_.compute_credit(task, scores, model_.newness(), credits_[t]);
      model_.add_credit(task, credits_[t]);
      model_.count_labels(task);
      model_.count_task(task);
      if (model_.tasks() <= 50 || model_.tasks() >= next_pool) {
        model_.pool();
        next_pool = 1.02 * model_.tasks();
      }
      if (model_.tasks() >= next_strength) {
        model_.fit_strength();
        if (held_out.favours_full_shares(ThreePassOptions{}.guard))
          model_.set_class_power(kFullPower);
        else
          model_.set_class_power(little_power(model_.classes()));
        next_strength *= 2;
      }
    }
  }

  void judge_again(TaskId t) {
    if (labels_.task(t).size() == 0) return;
    Row judged(model_.width());
    Row scores = score(t);
    const auto temperature = static_cast<float>(temperature_of(t, scores));
    for (float& value : scores) value *= temperature;
    model_.compute_credit(labels_.task(t), scores, 0, judged);
    Row change = judged;
    for (std::size_t k = 0; k < change.size(); ++k) change[k] -= credits_[t][k];
    model_.add_credit(labels_.task(t), change);
    credits_[t] = judged;
  }

  Result last_pass() {
    const double beta = hold_out_some().best_temperature();
    const std::size_t classes = labels_.num_classes();
    Result result;
    result.estimate.assign(labels_.num_tasks(), kNoClass);
    result.confidence.assign(labels_.num_tasks(), 0);
    result.posterior.assign(labels_.num_tasks() * classes, 1 / static_cast<double>(classes));
    for (const TaskId t : order_) {
      if (labels_.task(t).size() == 0) continue;
      const Row scores = score(t);
      const Estimate answer =
          model_.answer(scores, differs_ ? temperature_of(t, scores) : beta, Softening{},
                        {result.posterior.data() + t * classes, classes});
      result.estimate[t] = answer.label;
      result.confidence[t] = answer.confidence;
    }
    if (context_.confusion) {
      result.confusion.resize(labels_.num_workers() * classes * classes);
      for (WorkerId w = 0; w < labels_.num_workers(); ++w)
        model_.write_confusion(w, {result.confusion.data() + w * classes * classes, classes * classes},
                               scratch_);
    }
    return result;
  }

  Row score(TaskId t) {
    const TaskLabels task = labels_.task(t);
    Row scores(model_.width());
    if (!discounts_) {
      model_.score(task, scores, scratch_);
      return scores;
    }
    model_.score({t, {}, {}}, scores, scratch_);
    for (std::size_t j = 0; j < task.size(); ++j) {
      const std::span<const float> row = model_.label_row(task, j, scratch_);
      const auto weight = static_cast<float>(weights_[task.workers[j]]);
      for (std::size_t k = 0; k < labels_.num_classes(); ++k) scores[k] += weight * row[k];
    }
    return scores;
  }

  void hold_out(TaskId t, const Row& scores, HeldOut& held_out) {
    const TaskLabels task = labels_.task(t);
    for (std::size_t j = 0; j < task.size() && task.size() > 1; ++j)
      model_.hold_out(task, j, scores, credits_[t], held_out, scratch_);
  }
  HeldOut hold_out_some() {
    constexpr std::size_t kTasks = 2'000;
    HeldOut held_out;
    for (std::size_t i = 0; i < order_.size(); i += 1 + order_.size() / kTasks)
      hold_out(order_[i], score(order_[i]), held_out);
    return held_out;
  }
  double temperature_of(TaskId t, const Row& scores) {
    if (!differs_) return 1;
    HeldOut of_task;
    hold_out(t, scores, of_task);
    return of_task.best_temperature();
  }

  // Finds the weight of class shares that makes held-out labels likeliest, at the best temperature.
  void weigh_classes() {
    if (!weighs_classes_) return;
    double best = 0;
    double best_height = -std::numeric_limits<double>::infinity();
    for (const double gamma : {0.0, .1, .2, .35, .5, .75, 1.0}) {
      model_.set_class_power(gamma);
      const HeldOut held_out = hold_out_some();
      const double height =
          *std::max_element(held_out.by_temperature.begin(), held_out.by_temperature.end());
      if (height > best_height) best = gamma;
      best_height = std::max(height, best_height);
    }
    model_.set_class_power(best);
  }

  // A worker's weight: how often others say the same where anybody is wrong, divided by how often they
  // do where this worker is wrong.
  void learn_weights() {
    if (!discounts_) return;
    std::vector<double> wrong(labels_.num_workers());
    std::vector<double> together(labels_.num_workers());
    for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
      const TaskLabels task = labels_.task(t);
      if (task.size() < 2) continue;
      std::map<ClassId, double> votes;
      for (const ClassId l : task.classes) ++votes[l];
      for (std::size_t j = 0; j < task.size(); ++j) {
        const ClassId l = task.classes[j];
        const double chance = 1 - std::min(1.0, static_cast<double>(credits_[t][l]));
        wrong[task.workers[j]] += chance;
        together[task.workers[j]] += chance * (votes[l] - 1) / static_cast<double>(task.size() - 1);
      }
    }
    double all_wrong = 1;
    double all_together = .1;
    for (WorkerId w = 0; w < wrong.size(); ++w) {
      all_wrong += wrong[w];
      all_together += together[w];
    }
    const double usual = all_together / all_wrong;
    constexpr double kPrior = 5;  // wrong labels
    for (WorkerId w = 0; w < wrong.size(); ++w)
      weights_[w] = std::min(1.0, usual * (wrong[w] + kPrior) / (together[w] + kPrior * usual));
  }

  bool discounts_;
  bool differs_;
  bool weighs_classes_;
  const Labels& labels_;
  const RunContext& context_;
  std::vector<TaskId> order_;
  ThreePassModel model_;
  ThreePassModel::Scratch scratch_;
  std::vector<Row> credits_;
  std::vector<double> weights_;
};

}  // namespace

Result fit_variant(const std::string& variant, const Labels& labels, const RunContext& context) {
  return Variant(variant, labels, context).run();
}

}  // namespace crowdfold
