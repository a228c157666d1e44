#include "methods/threepass/threepass_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/parallel.h"
#include "methods/threepass/peak.h"

namespace crowdfold {
namespace {

constexpr double kLeastCount = 1e-3;  // that psi is asked for
// A strength that changed by less, relative to how far tables may be out of date, is the same.
constexpr double kSameStrength = .2;
// A strength that leaves workers one quality for all classes.
constexpr double kOneCoin = 1e6;

// What a state holds besides counts: n_i; the labels that workers gave before, right ones and all; m_k.
constexpr const char* kCells = "confusion cells";
constexpr const char* kHistory = "history";
constexpr const char* kClassCounts = "class counts";
using Axis = StateSection::Axis;

StateSection history_section(std::span<const WorkerCounts> history) {
  StateSection section = {.name = kHistory, .axes = {Axis::worker}, .width = 2};
  for (WorkerId w = 0; w < history.size(); ++w) {
    if (history[w].seen > 0) section.add({w}, {history[w].correct, history[w].seen});
  }
  return section;
}

}  // namespace

ThreePassModel::Scratch::Scratch(const ThreePassModel& model)
    : totals(model.width_),
      cells(model.width_),
      row(model.width_),
      other(model.width_),
      credit(model.width_),
      change(model.width_) {}

ThreePassModel::ThreePassModel(const ThreePassOptions& options, std::uint32_t workers,
                               std::uint32_t classes)
    : options_(options), counts_(0, 0) {
  expect(workers, classes);
}

void ThreePassModel::expect(std::uint32_t workers, std::uint32_t classes) {
  if (workers > freshness_.size()) freshness_.resize(workers);
  const bool was_dense = counts_.dense();
  counts_.expect(workers, classes);
  const bool more_classes = classes > classes_;
  if (more_classes) {
    if (classes_ == 0) crowd_.strength = options_.symmetry * classes;
    classes_ = classes;
    width_ = row_width(classes);
    pooled_.expect(classes);
    log_prior_.resize(width_);
    crowd_.resize(width_);
  }
  if (!more_classes && was_dense == counts_.dense()) return;
  pool();
  change_strength(crowd_.strength);
}

// All tables are out of date.
void ThreePassModel::change_strength(double strength) {
  crowd_.strength = strength;
  crowd_.symmetry = symmetry_of(strength, options_.symmetry, classes_);
  for (WorkerFreshness& worker : freshness_) worker.labels -= std::exchange(worker.fresh_for, 0);
}

void ThreePassModel::remember(WorkerId w, const WorkerCounts& history) {
  if (history.seen <= 0) return;
  if (w >= history_.size()) history_.resize(w + 1ULL);
  if (is_new(w)) ++known_workers_;
  history_[w] += history;
  all_history_ += history;
}

void ThreePassModel::count_labels(const TaskLabels& task) {
  for (const WorkerId w : task.workers) {
    WorkerFreshness& worker = freshness_[w];
    if (is_new(w)) ++known_workers_;
    worker.fresh_for == 0 ? ++worker.labels : --worker.fresh_for;
  }
}

void ThreePassModel::count_task(const TaskLabels& task) {
  labels_ += static_cast<double>(task.size());
  ++tasks_;
}

void ThreePassModel::add_credit(const TaskLabels& task, std::span<const float> change) {
  if (counts_.dense()) {
    crowdfold::add_credit(task, change.data(), counts_.layout(), credit_sums());
    pooled_.added_to_recent();
  } else {
    counts_.add(task, change);
    pooled_.add(task, change);
  }
}

double ThreePassModel::newness() const {
  const double warm = options_.warm * classes_ * std::max(1.0, known_workers_);
  return warm > 0 ? warm / (warm + labels_ + all_history_.seen) : 0;
}

void ThreePassModel::pool() {
  pooled_.settle();
  learn_crowd({pooled_, all_history_, labels_}, options_.crowd, class_power(), dense(), crowd_,
              log_prior_);
}

double ThreePassModel::ability_of(WorkerId w, const WorkerCounts& without) const {
  WorkerCounts all = history(w);
  all += {counts_.right(w) - without.correct, labels_of(w) - without.seen};
  return crowdfold::ability_of(crowd_, all, options_.own);
}

double ThreePassModel::centre(double ability, std::size_t k, std::size_t l) const {
  return centre_of(crowd_, pooled_, ability, k, l);
}

void ThreePassModel::write_table(WorkerId w, Scratch& scratch, float* table) const {
  const SpreadHistory before = spread(history(w));
  compute_table(crowd_,
                {ability_of(w), before.right, before.wrong, counts_.counts(w, scratch.worker_rows),
                 counts_.layout().distance()},
                classes_, table);
  if (has_one_label(w))
    write_one_label_row(w, {table + one_label_->label_of(w) * counts_.layout().distance(), width_});
}

void ThreePassModel::write_one_label_row(WorkerId w, std::span<float> row, ClassId without) const {
  std::vector<double> credits(classes_);
  counts_.add_row(w, one_label_->label_of(w), credits);
  std::vector<double> shares(crowd_.log_classes.begin(), crowd_.log_classes.begin() + classes_);
  for (double& share : shares) share = std::exp(share);
  one_label_->write_row(w, credits, shares, row, without);
}

void ThreePassModel::build(WorkerId w, Scratch& scratch) {
  WorkerFreshness& worker = freshness_[w];
  worker.labels -= std::exchange(worker.fresh_for, 0);
  if (worker.labels >= CreditedCounts::kSettleLabels) counts_.settle(w);
  write_table(w, scratch, counts_.row_beside(w, 0));
  worker.fresh_for = static_cast<std::uint32_t>(
      std::clamp(options_.refresh * worker.labels, 1.0, double{CreditedCounts::kSettleLabels}));
  worker.labels += worker.fresh_for;
}

void ThreePassModel::build_for(const TaskLabels& task, Scratch& scratch) {
  if (!dense()) return;
  for (const WorkerId w : task.workers) {
    if (freshness_[w].fresh_for == 0) build(w, scratch);
  }
}

void ThreePassModel::meet(const TaskLabels& task, Scratch& scratch) {
  if (!dense()) return count_labels(task);
  for (const WorkerId w : task.workers) {
    WorkerFreshness& worker = freshness_[w];
    if (worker.fresh_for == 0) [[unlikely]] {
      if (is_new(w)) ++known_workers_;
      build(w, scratch);
    }
    --worker.fresh_for;
  }
}

void ThreePassModel::build_all(int threads) {
  if (!dense()) return;
  constexpr std::size_t kWorkersAtOnce = 64;
  parallel_ranges(threads, workers(), kWorkersAtOnce, [&](std::size_t first, std::size_t last, int) {
    Scratch scratch(*this);
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) build(w, scratch);
  });
}

std::span<const float> ThreePassModel::label_row(const TaskLabels& task, std::size_t j,
                                                 Scratch& scratch) const {
  const WorkerId w = task.workers[j];
  const ClassId label = task.classes[j];
  if (!dense()) {
    write_sparse_row(task, w, label, scratch.row);
    return scratch.row;
  }
  if (freshness_[w].fresh_for > 0) return {counts_.row_beside(w, label), width_};
  scratch.table.resize(classes_ * counts_.layout().distance());
  write_table(w, scratch, scratch.table.data());
  return {scratch.table.data() + label * counts_.layout().distance(), width_};
}

void ThreePassModel::write_sparse_row(const TaskLabels& task, WorkerId w, ClassId label,
                                      std::span<float> row) const {
  if (has_one_label(w)) return write_one_label_row(w, row);
  crowdfold::write_sparse_row(crowd_, pooled_, counts_, {w, ability_of(w), crowd_.strength, history(w)},
                              task.classes, label, row);
}

void ThreePassModel::prefetch(const TaskLabels& task) const {
  constexpr std::uint64_t kNear = 1 << 17;  // numbers that the cache holds anyway
  if (!dense() || CreditedCounts::numbers(counts_.workers(), classes_) < kNear) return;
  for (std::size_t j = 0; j < task.size(); ++j) {
    const WorkerId w = task.workers[j];
    counts_.prefetch(w, task.classes[j]);
    if (freshness_[w].fresh_for > 0) continue;
    for (ClassId label = 0; label < classes_; ++label) counts_.prefetch(w, label);
  }
}

void ThreePassModel::score(const TaskLabels& task, std::span<float> scores, Scratch& scratch) const {
  if (!dense()) return score_anew(task, scores, scratch);
  compute_scores(task, counts_.layout(), counts_.rows(), log_prior_.data(), scores.data());
}

void ThreePassModel::score_anew(const TaskLabels& task, std::span<float> scores,
                                Scratch& scratch) const {
  // In two sums, as compute_scores() does it.
  std::copy(log_prior_.begin(), log_prior_.end(), scores.begin());
  std::fill(scratch.other.begin(), scratch.other.end(), 0.0F);
  for (std::size_t j = 0; j < task.size(); ++j) {
    const std::span<const float> row = label_row(task, j, scratch);
    const std::span<float> sum = j % 2 == 0 ? scores : std::span<float>(scratch.other);
    for (std::size_t k = 0; k < classes_; ++k) sum[k] += row[k];
  }
  for (std::size_t k = 0; k < classes_; ++k) scores[k] += scratch.other[k];
}

void ThreePassModel::score_without_truth(const TaskLabels& task, ClassId truth,
                                         std::span<const float> credit, std::span<float> scores,
                                         Scratch& scratch) const {
  // A worker may have several labels on the task.
  std::vector<std::pair<WorkerId, ClassId>> own;
  for (std::size_t j = 0; j < task.size(); ++j) own.emplace_back(task.workers[j], task.classes[j]);
  std::sort(own.begin(), own.end());
  const auto labels_from = [&](WorkerId w, ClassId first, ClassId last) {
    return static_cast<double>(std::upper_bound(own.begin(), own.end(), std::pair{w, last}) -
                               std::lower_bound(own.begin(), own.end(), std::pair{w, first}));
  };
  std::copy(log_prior_.begin(), log_prior_.end(), scores.begin());
  for (const auto& [w, label] : own) {
    if (has_one_label(w)) {
      write_one_label_row(w, scratch.row, truth);
      for (std::size_t k = 0; k < classes_; ++k) scores[k] += scratch.row[k];
      continue;
    }
    const double all = labels_from(w, 0, kNoClass);
    WorkerCounts without = {labels_from(w, truth, truth), all};
    load_counts(w, label, scratch);
    scratch.cells[truth] -= labels_from(w, label, label);
    scratch.totals[truth] -= all;
    for (std::size_t k = 0; k < credit.size(); ++k) {
      const auto share = static_cast<double>(credit[k]);
      if (share == 0) continue;
      const auto label_k = static_cast<ClassId>(k);
      without.correct -= share * labels_from(w, label_k, label_k);
      without.seen -= share * all;
      scratch.cells[k] += share * labels_from(w, label, label);
      scratch.totals[k] += share * all;
    }
    const double ability = ability_of(w, without);
    for (std::size_t k = 0; k < classes_; ++k) {
      const double prior = crowd_.strength * centre(ability, k, label);
      scratch.cells[k] = std::max(std::max(scratch.cells[k], 0.0) + prior, kLeastCentre);
      scratch.totals[k] = std::max(scratch.totals[k], 0.0) + crowd_.strength;
    }
    // (W), or as in write_sparse_row()
    const std::span<double> cells = std::span(scratch.cells).first(classes_);
    const std::span<double> totals = std::span(scratch.totals).first(classes_);
    if (dense()) {
      for (double& cell : cells) cell = std::max(cell, kLeastCount);
      vector_digamma(cells);
      vector_digamma(totals);
    } else {
      vector_log(cells);
      vector_log(totals);
    }
    for (std::size_t k = 0; k < classes_; ++k) {
      const bool named =
          dense() || std::find(task.classes.begin(), task.classes.end(), k) != task.classes.end();
      const float correction = k == label ? crowd_.correct_right[k] : crowd_.correct_wrong[k];
      scores[k] += static_cast<float>(named ? cells[k] - totals[k] +
                                                  crowd_.symmetry * static_cast<double>(correction)
                                            : log_of_unnamed(ability, classes_));
    }
  }
}

void ThreePassModel::compute_credit(const TaskLabels& task, std::span<const float> scores,
                                    double newness, std::span<float> credit) const {
  crowdfold::compute_credit(scores.data(), newness, task, width_, credit.data());
  if (dense()) return;
  for (float& part : credit) part = part < CreditedCounts::kLeastCredit ? 0 : part;
}

void ThreePassModel::judge(const TaskLabels& task, double newness, std::span<float> scores,
                           std::span<float> credit, Scratch& scratch) const {
  if (dense() && judge_in_registers(task, counts_.layout(), counts_.rows(), log_prior_.data(), newness,
                                    scores.data(), credit.data(), nullptr, 1, nullptr))
    return;
  score(task, scores, scratch);
  compute_credit(task, scores, newness, credit);
}

void ThreePassModel::learn(const TaskLabels& task, double newness, std::span<float> scores,
                           std::span<float> credit, Scratch& scratch, double beta, Shares* shares) {
  if (dense()) {
    const CreditSums sums = credit_sums();
    if (judge_in_registers(task, counts_.layout(), counts_.rows(), log_prior_.data(), newness,
                           scores.data(), credit.data(), &sums, beta, shares))
      return pooled_.added_to_recent();
  }
  for (std::size_t k = 0; k < width_; ++k) scratch.change[k] = -credit[k];
  judge(task, newness, scores, credit, scratch);
  for (std::size_t k = 0; k < width_; ++k) scratch.change[k] += credit[k];
  add_credit(task, scratch.change);
  if (shares != nullptr) *shares = this->shares(scores, beta);
}

Estimate ThreePassModel::answer(const Shares& shares, const Softening& softening) const {
  const double share = with_doubt(1 / shares.sum, succession(), classes_);
  return {shares.largest, with_doubt(share, softening.doubt, classes_)};
}

Estimate ThreePassModel::answer(std::span<const float> scores, double beta, const Softening& softening,
                                std::span<double> posterior) const {
  const Shares shares =
      compute_shares(scores.data(), softening.temperature(beta), classes_, width_, posterior.data());
  for (double& share : posterior)
    share =
        with_doubt(with_doubt(share / shares.sum, succession(), classes_), softening.doubt, classes_);
  return answer(shares, softening);
}

void ThreePassModel::fit_strength() {
  pool();
  if (one_label_prevails()) return change_strength(kOneCoin);
  // The cells of some workers, which tell the strength well enough.
  constexpr std::uint64_t kEnough = 1 << 13;
  const std::uint64_t all_cells = static_cast<std::uint64_t>(workers()) * classes_ * classes_;
  const std::uint64_t stride = (all_cells + kEnough - 1) / kEnough;
  CountedRows rows;
  std::vector<double> totals(classes_);
  for (std::uint64_t i = 0; i < workers(); i += stride) {
    const auto w = static_cast<WorkerId>(i);
    if (labels_of(w) == 0) continue;
    const double ability = ability_of(w);
    std::fill(totals.begin(), totals.end(), 0.0);
    counts_.for_cells(w, [&](ClassId k, ClassId l, double count) {
      rows.add(count, centre(ability, k, l));
      totals[k] += count;
    });
    for (const double total : totals) {
      if (total != 0) rows.add_total(total);
    }
  }
  if (rows.empty()) return;

  const auto log_likelihood = [&](double strength) { return rows.log_likelihood(strength); };
  const double best = std::clamp(climb(kStrengths, crowd_.strength, log_likelihood), options_.weakest,
                                 options_.strongest);
  if (std::abs(best / crowd_.strength - 1) > options_.refresh * kSameStrength) change_strength(best);
}

void ThreePassModel::load_counts(WorkerId w, ClassId label, Scratch& scratch) const {
  const SpreadHistory before = spread(history(w));
  std::fill(scratch.totals.begin(), scratch.totals.end(), before.in_row);
  counts_.add_totals(w, scratch.totals);
  std::fill(scratch.cells.begin(), scratch.cells.end(), before.wrong);
  scratch.cells[label] = before.right;
  counts_.add_row(w, label, scratch.cells);
}

void ThreePassModel::hold_out(const TaskLabels& task, std::size_t j, std::span<const float> scores,
                              std::span<const float> credit, HeldOut& held_out, Scratch& scratch) const {
  const WorkerId w = task.workers[j];
  const ClassId label = task.classes[j];
  const std::span<const float> table = label_row(task, j, scratch);
  load_counts(w, label, scratch);
  const double ability = ability_of(w);
  const std::span<float> held_out_scores = scratch.row;
  std::fill(held_out_scores.begin() + classes_, held_out_scores.end(), kNoChance);
  for (std::size_t k = 0; k < classes_; ++k) {
    held_out_scores[k] = scores[k] - table[k];
    const double own = credit.empty() ? 0 : static_cast<double>(credit[k]);
    scratch.other[k] = static_cast<float>(
        (std::max(scratch.cells[k] - own, 0.0) + crowd_.strength * centre(ability, k, label)) /
        (std::max(scratch.totals[k] - own, 0.0) + crowd_.strength));
  }
  held_out += likelihoods_of(crowd_, class_power(), classes_, held_out_scores, scratch.other);
}

WorkerCounts ThreePassModel::counts(WorkerId w) const {
  WorkerCounts all = history(w);
  all += {counts_.right(w), labels_of(w)};
  all.correct = std::clamp(all.correct, 0.0, all.seen);
  return all;
}

void ThreePassModel::write_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const {
  const double ability = ability_of(w);
  for (ClassId l = 0; l < classes_; ++l) {
    load_counts(w, l, scratch);
    for (ClassId k = 0; k < classes_; ++k)
      matrix[k * classes_ + l] =
          std::max(scratch.cells[k], 0.0) + crowd_.strength * centre(ability, k, l);
  }
  for (ClassId k = 0; k < classes_; ++k) {
    const std::span<double> row = matrix.subspan(k * classes_, classes_);
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& value : row) value /= total;
  }
}

WorkerState ThreePassModel::state() const {
  WorkerState state;
  state.expect(workers(), classes_);
  StateSection cells = {.name = kCells, .axes = {Axis::worker, Axis::label_class, Axis::label_class}};
  for (WorkerId w = 0; w < workers(); ++w) {
    state.counts[w] = counts(w);
    counts_.for_cells(w, [&](ClassId truth, ClassId label, double count) {
      cells.add({w, label, truth}, {count});
    });
  }
  PooledCounts pooled = pooled_;
  pooled.settle();
  StateSection class_counts = {.name = kClassCounts, .axes = {Axis::label_class}};
  for (ClassId k = 0; k < classes_; ++k) class_counts.add({k}, {pooled.class_mass()[k]});
  state.sections = {std::move(cells), history_section(history_), std::move(class_counts)};
  return state;
}

WorkerState ThreePassModel::with_history(WorkerState state) {
  if (state.find(kHistory) == nullptr) state.sections.push_back(history_section(state.counts));
  return state;
}

void ThreePassModel::restore(const WorkerState& state) {
  expect(static_cast<std::uint32_t>(state.counts.size()), state.classes);
  const StateSection& before = *state.find(kHistory);
  for (std::size_t i = 0; i < before.rows(); ++i)
    remember(before.key(i)[0], {before.row(i)[0], before.row(i)[1]});
  const StateSection* const cells = state.find(kCells);
  const StateSection* const class_counts = state.find(kClassCounts);
  if (cells == nullptr || class_counts == nullptr || classes_ == 0) return pool();
  for (WorkerId w = 0; w < state.counts.size(); ++w) {
    freshness_[w] = {static_cast<std::uint32_t>(std::lround(state.counts[w].seen - history(w).seen)), 0};
    labels_ += labels_of(w);
    known_workers_ += labels_of(w) > 0 && history(w).seen == 0 ? 1 : 0;
  }
  for (std::size_t i = 0; i < cells->rows(); ++i) {
    const std::span<const std::uint32_t> key = cells->key(i);
    const auto label = static_cast<ClassId>(key[1]);
    const auto truth = static_cast<ClassId>(key[2]);
    counts_.add(key[0], label, truth, cells->values[i]);
    pooled_.add(label, truth, cells->values[i]);
  }
  std::vector<double> mass(classes_);
  for (std::size_t i = 0; i < class_counts->rows(); ++i)
    mass[class_counts->key(i)[0]] = class_counts->values[i];
  pooled_.add_class_mass(mass);
  tasks_ = std::round(std::accumulate(mass.begin(), mass.end(), 0.0));
  fit_strength();
}

}  // namespace crowdfold
