#include "methods/rounds/agreement_rounds.h"

#include <algorithm>

namespace crowdfold {

void AgreementSummary::add(const RoundSummary& summary) {
  const auto& other = static_cast<const AgreementSummary&>(summary);
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
}

void AgreementSummary::exchange(Archive& archive) { archive.rows(counts, 2); }

AgreementModel::AgreementModel(const RoundsInput& input)
    : classes_(input.classes),
      history_(input.history().begin(), input.history().end()),
      agreement_(input.workers) {
  history_.resize(input.workers);
}

std::unique_ptr<RoundSummary> AgreementModel::nothing() const {
  auto summary = std::make_unique<AgreementSummary>();
  summary->counts.resize(2 * agreement_.size(), 0);
  return summary;
}

int AgreementModel::summaries_at_once() const {
  constexpr std::size_t kMostNumbers = 1 << 27;
  return static_cast<int>(
      std::clamp<std::size_t>(kMostNumbers / (2 * agreement_.size() + 1), 1, 1 << 10));
}

void AgreementModel::judge(const TaskBlock& block, RoundSummary& into) const {
  std::uint64_t* const counts = static_cast<AgreementSummary&>(into).counts.data();
  for (TaskId t = block.first(); t < block.last(); ++t) {
    const TaskLabels task = block.task(t);
    const ClassId truth = block.truth(t);
    const ClassId y = truth != kNoClass ? truth : choose(task);
    for (std::size_t j = 0; j < task.size(); ++j) {
      std::uint64_t* const of_worker = counts + 2 * static_cast<std::size_t>(task.workers[j]);
      of_worker[0] += task.classes[j] == y ? 1 : 0;
      ++of_worker[1];
    }
  }
}

void AgreementModel::learn(RoundSummary& said, int /*threads*/) {
  FlatArray<std::uint64_t> counts = std::move(static_cast<AgreementSummary&>(said).counts);
  for (std::size_t w = 0; w < agreement_.size(); ++w) {
    agreement_[w] = history_[w];
    agreement_[w] += {static_cast<double>(counts[2 * w]), static_cast<double>(counts[2 * w + 1])};
  }
  crowd_ = {};
  for (const WorkerCounts& of_worker : agreement_) crowd_ += of_worker;
  const bool rests = counts == last_;
  last_ = std::move(counts);
  is_done_ = !next(rests);
}

double AgreementModel::mean_agreement() const {
  return crowd_.seen > 0 ? crowd_.correct / crowd_.seen : 0;
}

WorkerState AgreementModel::state(double alpha, double beta) const {
  WorkerState state;
  state.alpha = alpha;
  state.beta = beta;
  state.counts = agreement_;
  state.classes = classes_;
  return state;
}

void AgreementModel::report(const RunContext& /*context*/, Result& result) const {
  result.learned.counts = agreement_;
  result.learned.classes = classes_;
}

void AgreementModel::exchange(Archive& archive) {
  archive.value(is_done_);
  archive.value(crowd_.correct);
  archive.value(crowd_.seen);
  archive.rows(agreement_, 1);
  archive.rows(last_, 2);
}

}  // namespace crowdfold
