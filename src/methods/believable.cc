#include "methods/believable.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "methods/overlap.h"

namespace crowdfold {
namespace {

// Who meets whom, besides what the method asks for.
struct BelievableSummary final : RoundSummary {
  std::string identity;  // of the model that asks
  LoneWorkers lone;
  bool meet = false;         // on some task
  bool knows_truth = false;  // of some task
  std::unique_ptr<RoundSummary> asked;

  void add(const RoundSummary& summary) override {
    const auto& other = static_cast<const BelievableSummary&>(summary);
    lone.add(other.lone);
    meet = meet || other.meet;
    knows_truth = knows_truth || other.knows_truth;
    asked->add(*other.asked);
  }
  void exchange(Archive& archive) override {
    archive.same(identity);
    lone.exchange(archive);
    archive.value(meet);
    archive.value(knows_truth);
    asked->exchange(archive);
  }
};

class BelievableModel final : public RoundModel {
 public:
  BelievableModel(const std::string& method, std::unique_ptr<RoundModel> model, const RoundsInput& input)
      : identity_(fmt::format("{} with {} workers and {} classes", method, input.all_workers(),
                              input.classes)),
        model_(std::move(model)),
        workers_(input.workers),
        classes_(input.classes),
        history_(input.history().begin(), input.history().end()) {}

  std::unique_ptr<RoundSummary> nothing() const override {
    auto summary = std::make_unique<BelievableSummary>();
    summary->identity = identity_;
    summary->asked = model_->nothing();
    return summary;
  }
  void judge(const TaskBlock& block, RoundSummary& into) const override {
    auto& summary = static_cast<BelievableSummary&>(into);
    if (is_first_) look_at(block, summary);
    model_->judge(block, *summary.asked);
  }
  void learn(RoundSummary& said, int threads) override {
    auto& summary = static_cast<BelievableSummary&>(said);
    if (std::exchange(is_first_, false)) {
      lone_ = std::move(summary.lone);
      lone_.leave_out_known(history_);
      const auto seen = [](const WorkerCounts& counts) { return counts.seen > 0; };
      // Of one class everybody is right by construction, whatever is known besides.
      tells_nothing_ = classes_ == 1 || (!summary.meet && !summary.knows_truth &&
                                         std::none_of(history_.begin(), history_.end(), seen));
    }
    model_->learn(*summary.asked, threads);
    if (!model_->is_done() || tells_nothing_ || lone_.empty()) return;
    Result result;
    model_->report({}, result);
    quality_ = lone_.quality_of_others(result.learned);
    doubt_ = result.doubt;
  }
  bool is_done() const override { return !is_first_ && model_->is_done(); }
  const char* stage() const override { return model_->stage(); }
  int summaries_at_once() const override { return model_->summaries_at_once(); }

  void answer(const TaskBlock& block, std::span<Estimate> estimates,
              std::span<double> posteriors) const override {
    if (!tells_nothing_ || classes_ == 1) model_->answer(block, estimates, posteriors);
    if (classes_ == 1 || (!tells_nothing_ && lone_.empty())) return;
    const std::size_t width = posteriors.size() / std::max<std::size_t>(1, estimates.size());
    for (std::size_t i = 0; i < estimates.size(); ++i) {
      const TaskLabels task = block.task(static_cast<TaskId>(block.first() + i));
      if (!tells_nothing_ && !lone_.labelled(task)) continue;
      const std::span<double> posterior = posteriors.subspan(i * width, width);
      estimates[i] = judge_by_prior(task, classes_, posterior, quality_);
      const auto softened = [&](double p) { return with_doubt(p, doubt_, classes_); };
      for (double& p : posterior) p = softened(p);
      if (task.size() > 0) estimates[i].confidence = softened(estimates[i].confidence);
    }
  }

  void report(const RunContext& context, Result& result) const override {
    model_->report(context, result);
    if (tells_nothing_) {
      result.learned.classes = classes_;
      forget_all(result.learned, workers_, history_);
      if (classes_ > 1) {
        result.doubt = 0;
        write_by_quality(kUnknownQuality, classes_, result.confusion);
      }
    } else if (!lone_.empty()) {
      lone_.forget(result.learned, history_);
      write_by_quality(quality_, classes_, result.confusion, &lone_);
    }
  }

  void exchange(Archive& archive) override {
    archive.same(identity_);
    archive.value(is_first_);
    archive.value(tells_nothing_);
    archive.value(quality_);
    archive.value(doubt_);
    lone_.exchange(archive);
    model_->exchange(archive);
  }

 private:
  void look_at(const TaskBlock& block, BelievableSummary& summary) const {
    for (TaskId t = block.first(); t < block.last(); ++t) {
      if (summary.meet && summary.lone.others() == workers_) return;  // all is known
      const TaskLabels task = block.task(t);
      const ClassId truth = block.truth(t);
      summary.lone.add(task, truth);
      summary.meet = summary.meet || workers_meet(task);
      summary.knows_truth = summary.knows_truth || truth != kNoClass;
    }
  }

  std::string identity_;
  std::unique_ptr<RoundModel> model_;
  std::uint32_t workers_;
  std::uint32_t classes_;
  std::vector<WorkerCounts> history_;

  bool is_first_ = true;  // of all rounds
  bool tells_nothing_ = false;
  LoneWorkers lone_;
  double quality_ = kUnknownQuality;  // of lone workers
  double doubt_ = 0;
};

}  // namespace

std::unique_ptr<RoundModel> believable(const std::string& method, std::unique_ptr<RoundModel> model,
                                       const RoundsInput& input) {
  return std::make_unique<BelievableModel>(method, std::move(model), input);
}

}  // namespace crowdfold
