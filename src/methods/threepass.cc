// threepass: an empirical-Bayes confusion model with a symmetrised crowd, in three passes, calibrated
// without truths.
//
//   y_t ~ tau      x_it | y_t = k ~ Categorical(V_i[k, .])      V_i[k, .] ~ Dirichlet(s b_i[k, .])
//
// Three things make it other than Dawid-Skene. The centre b_i of a worker's rows combines the worker's
// own accuracy with the crowd's class effects and error pattern, and the strength s is fitted to the
// data: rows with few labels follow the crowd, rows with many are free. What all workers have in common
// is hardly identifiable from labels, and is drawn towards a crowd that is as good on one class as on
// another, by a weight lambda = s / (s + c0 K). And the labels of a task are correlated, so one
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
//           of the online method are softmax(beta a_t) here.
//   pass 2  tasks in blocks: judged again, the old credit taken out of the counts, the new one added
//   pass 3  (EB), all tables once more, beta; the answers are softmax(beta a_t)
//
// A known truth is a credit of 1. Counts that workers bring along are spread over all cells of the class
// they are on, or beside, the diagonal of; they take no part in (EB).
//
// Cost: K additions and a row of counts per label and pass, K exponentials per task; tables are built
// again when a worker has half as many labels more. Memory O(N + T K + 2 M K^2); where that would be
// much, O(N): only cells that are not 0, and rows are computed label by label.
#include "methods/threepass.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "core/random.h"
#include "methods/batch.h"
#include "methods/em.h"
#include "methods/methods.h"

namespace crowdfold {
namespace {

// The prior accuracy of a crowd, and how many labels it is worth.
constexpr double kPriorAccuracy = .7;
constexpr double kPriorLabels = 20;
constexpr double kLeastChance = 1e-4;  // accuracies stay so far from 0 and 1
constexpr double kLeastError = 1e-6;   // of the crowd, on a class
constexpr double kLeastCentre = 1e-9;
constexpr std::array kStrengths = {1., 2., 4., 8., 16., 32., 64., 128.};

double clip(double chance) { return std::clamp(chance, kLeastChance, 1 - kLeastChance); }
double odds(double chance) { return chance / (1 - chance); }

// Where a curve, known at some places, is highest: the top of the parabola through its highest point and
// the two beside it, in logarithms of places.
template <std::size_t kSize>
double peak(const std::array<double, kSize>& places, const std::array<double, kSize>& heights) {
  const auto best =
      static_cast<std::size_t>(std::max_element(heights.begin(), heights.end()) - heights.begin());
  if (best == 0 || best + 1 == kSize) return places[best];
  const double left = std::log(places[best - 1] / places[best]);
  const double right = std::log(places[best + 1] / places[best]);
  const double down_left = heights[best - 1] - heights[best];
  const double down_right = heights[best + 1] - heights[best];
  const double curvature = down_left * right - down_right * left;
  if (curvature == 0) return places[best];
  const double off = (down_left * right * right - down_right * left * left) / (2 * curvature);
  return places[best] * std::exp(std::clamp(off, left, right));
}

// The same for a curve with one top that is costly to know: starts from a place near it.
template <std::size_t kSize, class Height>
double climb(const std::array<double, kSize>& places, double near, const Height& height) {
  std::array<double, kSize> heights;
  heights.fill(-std::numeric_limits<double>::infinity());
  const auto at = [&](std::size_t i) {
    if (std::isinf(heights[i])) heights[i] = height(places[i]);
    return heights[i];
  };
  std::size_t best = 0;
  while (best + 1 < kSize && places[best + 1] <= near) ++best;
  at(best);
  while (best + 1 < kSize && at(best + 1) > at(best)) ++best;
  while (best > 0 && at(best - 1) > at(best)) --best;
  return peak(places, heights);
}

// Curves of held-out labels: by temperature, and at temperature 1 by how much class shares count.
constexpr std::size_t kLittleShares = kTemperatures.size();
constexpr std::size_t kFullShares = kLittleShares + 1;
constexpr std::size_t kCurves = kFullShares + 1;

}  // namespace

double HeldOut::gain_of_full_shares() const {
  return labels > 0 ? (full_shares - little_shares) / labels : 0;
}

std::vector<double> HeldOut::save() const {
  std::vector<double> saved(by_temperature.begin(), by_temperature.end());
  saved.insert(saved.end(), {little_shares, full_shares, labels});
  return saved;
}

HeldOut HeldOut::load(std::span<const double> saved) {
  constexpr std::size_t kOthers = kTemperatures.size();
  std::vector<double> all(saved.begin(), saved.end());
  all.resize(kOthers + 3);
  HeldOut held_out;
  std::copy_n(all.begin(), kOthers, held_out.by_temperature.begin());
  held_out.little_shares = all[kOthers];
  held_out.full_shares = all[kOthers + 1];
  held_out.labels = all[kOthers + 2];
  return held_out;
}

double HeldOut::best_temperature() const {
  // Before anything was held out, log beta is believed to be 0, give or take one.
  constexpr double kSpread = 1;
  auto heights = by_temperature;
  for (std::size_t i = 0; i < heights.size(); ++i)
    heights[i] -= std::pow(std::log(kTemperatures[i]) / kSpread, 2) / 2;
  return peak(kTemperatures, heights);
}

CrowdModel::Scratch::Scratch(const CrowdModel& model)
    : totals(model.width_),
      counts(model.width_),
      pooled(model.width_),
      row(model.width_),
      powers(2 * kCurves * model.width_) {}

CrowdModel::CrowdModel(const ThreePassOptions& options, std::uint32_t workers, std::uint32_t classes)
    : options_(options), counts_(0, 0), pooled_(1, 0) {
  expect(workers, classes);
}

void CrowdModel::expect(std::uint32_t workers, std::uint32_t classes) {
  if (workers > of_worker_.size()) of_worker_.resize(workers);
  counts_.expect(workers, classes);
  if (classes <= classes_) return;
  if (classes_ == 0) crowd_.strength = options_.symmetry * classes;
  classes_ = classes;
  width_ = row_width(classes);
  pooled_.expect(1, classes);
  pooled_totals_.resize(width_);
  class_mass_.resize(width_);
  log_prior_.resize(width_);
  crowd_.resize(width_);
  symmetrise();
  pool();
}

// All tables are out of date.
void CrowdModel::symmetrise() {
  crowd_.symmetry = crowd_.strength / (crowd_.strength + options_.symmetry * classes_);
  for (OfWorker& of : of_worker_) of.labels -= std::exchange(of.fresh, 0);
}

void CrowdModel::remember(WorkerId w, const WorkerCounts& history) {
  if (history.seen <= 0) return;
  if (w >= history_.size()) history_.resize(w + 1ULL);
  known_workers_ += history_[w].seen == 0 && labels_of(w) == 0 ? 1 : 0;
  history_[w] += history;
  all_history_ += history;
}

CrowdModel::Pair CrowdModel::spread(const WorkerCounts& history) const {
  const double k = classes_;
  return {history.correct / k, (history.seen - history.correct) / (k * std::max(1.0, k - 1))};
}

void CrowdModel::count(const TaskLabels& task) {
  for (const WorkerId w : task.workers) {
    OfWorker& of = of_worker_[w];
    if (of.labels == of.fresh) [[unlikely]]  // the first one
      known_workers_ += history(w).seen == 0 ? 1 : 0;
    const std::uint32_t none = of.fresh == 0 ? 1 : 0;
    of.labels += none;
    of.fresh -= 1 - none;
  }
  labels_ += static_cast<double>(task.size());
  ++tasks_;
}

void CrowdModel::credit(const TaskLabels& task, std::span<const double> change) {
  if (counts_.dense())
    return add_credit(task, change.data(),
                      {classes_, width_, counts_.distance(), counts_.row(0, 0), pooled_.row(0, 0)},
                      pooled_totals_.data(), class_mass_.data());
  counts_.add(task, change);
  if (task.size() > one_worker_.size()) one_worker_.resize(task.size());
  pooled_.add({task.index, std::span(one_worker_).first(task.size()), task.classes}, change);
  const auto size = static_cast<double>(task.size());
  for (std::size_t k = 0; k < classes_; ++k) {
    pooled_totals_[k] += size * change[k];
    class_mass_[k] += change[k];
  }
}

void CrowdModel::put_answers(std::span<const double> a, double beta, std::span<double> answers) const {
  crowdfold::put_answers(a.data(), a.size() / width_, beta, doubt(), classes_, width_, answers.data());
}

void CrowdModel::put_credit(const TaskLabels& task, std::span<const double> a, double newness,
                            std::span<double> credit) const {
  crowdfold::put_credit(a.data(), newness, task, classes_, width_, credit.data());
  trim(credit);
}

void CrowdModel::judge(const TaskLabels& task, double beta, std::span<double> a,
                       std::span<double> credit, std::span<double> answer, Scratch& scratch) const {
  if (counts_.dense() &&
      judge_in_registers(
          task, {classes_, width_, counts_.distance(), counts_.row_beside(0, 0), log_prior_.data()},
          {newness(), beta, doubt()},
          {a.data(), credit.data(), answer.empty() ? nullptr : answer.data()}))
    return;
  score(task, a, scratch);
  put_credit(task, a, newness(), credit);
  if (!answer.empty()) put_answers(a, beta, answer);
}

void CrowdModel::put_credits(std::span<double> a, std::span<double> credits) const {
  softmax_log_rows(a, width_, credits);
  trim(credits);
}

void CrowdModel::trim(std::span<double> credits) const {
  if (counts_.dense()) return;
  for (double& part : credits) part = part < CreditedCounts::kLeastCredit ? 0 : part;
}

double CrowdModel::doubt() const { return 1 / (labels_ + all_history_.seen + 2); }

double CrowdModel::newness() const {
  const double warm = options_.warm * classes_;
  const double per_worker = known_workers_ > 0 ? (labels_ + all_history_.seen) / known_workers_ : 0;
  return warm > 0 ? warm / (warm + per_worker) : 0;
}

void CrowdModel::pool() {
  const Pair before = spread(all_history_);
  // With more classes than the prior has labels, it would have none for most cells.
  const double s1 = std::max(options_.crowd, 2.0 * classes_);
  const double others = std::max(1.0, classes_ - 1.0);
  double right = all_history_.correct + kPriorAccuracy * kPriorLabels;
  for (std::size_t k = 0; k < classes_; ++k) right += pooled_right(k);
  const double a0 = right / (all_history_.seen + labels_ + kPriorLabels);
  crowd_.accuracy = a0;
  crowd_.symmetric_errors = s1 * (1 - a0) / others + before.wrong;
  const double tasks = std::accumulate(class_mass_.begin(), class_mass_.end(), 0.0);
  for (std::size_t k = 0; k < classes_; ++k) {
    const double total = pooled_totals_[k] + before.right + (classes_ - 1) * before.wrong + s1;
    const double on_class = (pooled_right(k) + before.right + s1 * a0) / total;
    const double error = std::max(1 - on_class, kLeastError);
    crowd_.ease[k] = odds(clip(on_class)) / odds(a0);
    crowd_.error_scale[k] = 1 / (total * error);
    crowd_.correct_right[k] = std::log(a0 / on_class);
    crowd_.correct_wrong[k] = std::log((1 - a0) / error);
    crowd_.log_classes[k] = std::log((class_mass_[k] + 1) / (tasks + classes_));
    log_prior_[k] = class_power() * crowd_.log_classes[k];
  }
  std::fill(log_prior_.begin() + classes_, log_prior_.end(), kImpossible);
}

WorkerCounts CrowdModel::counts(WorkerId w) const {
  WorkerCounts all = history(w);
  all += {counts_.right(w), labels_of(w)};
  all.correct = std::clamp(all.correct, 0.0, all.seen);
  return all;
}

WorkerRows CrowdModel::look_at(WorkerId w, Scratch& scratch) const {
  const Pair in_cells = spread(history(w));
  std::fill(scratch.totals.begin(), scratch.totals.end(),
            in_cells.right + (classes_ - 1) * in_cells.wrong);
  counts_.add_totals(w, scratch.totals);
  WorkerRows worker;
  worker.ability = ability_of(w);
  worker.history_right = in_cells.right;
  worker.history_wrong = in_cells.wrong;
  worker.last = classes_;
  if (counts_.dense()) {
    worker.counts = counts_.row(w, 0);
    worker.pooled = pooled_.row(0, 0);
  }
  worker.distance = counts_.distance();
  worker.totals = scratch.totals.data();
  return worker;
}

WorkerRows CrowdModel::look_at(WorkerId w, ClassId label, Scratch& scratch) const {
  WorkerRows worker = look_at(w, scratch);
  std::fill(scratch.counts.begin(), scratch.counts.end(), 0.0);
  counts_.add_row(w, label, scratch.counts);
  std::fill(scratch.pooled.begin(), scratch.pooled.end(), 0.0);
  pooled_.add_row(0, label, scratch.pooled);
  worker.first = label;
  worker.last = label + 1ULL;
  worker.counts = scratch.counts.data();
  worker.pooled = scratch.pooled.data();
  return worker;
}

void CrowdModel::build(WorkerId w, Scratch& scratch) {
  put_log_rows(crowd_, look_at(w, scratch), counts_.row_beside(w, 0));
  OfWorker& of = of_worker_[w];
  of.labels -= of.fresh;
  of.fresh = std::max(1U, static_cast<std::uint32_t>(options_.refresh * of.labels));
  of.labels += of.fresh;
}

void CrowdModel::build_for(const TaskLabels& task, Scratch& scratch) {
  if (!counts_.dense()) return;
  for (const WorkerId w : task.workers) {
    if (of_worker_[w].fresh == 0) build(w, scratch);
  }
}

void CrowdModel::build_all(int threads) {
  if (!counts_.dense()) return;
  constexpr std::size_t kWorkersAtOnce = 64;
  parallel_ranges(threads, workers(), kWorkersAtOnce, [&](std::size_t first, std::size_t last, int) {
    Scratch scratch(*this);
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) build(w, scratch);
  });
}

std::span<const double> CrowdModel::label_row(const TaskLabels& task, std::size_t j,
                                              Scratch& scratch) const {
  const WorkerId w = task.workers[j];
  const ClassId label = task.classes[j];
  if (!counts_.dense()) {
    put_sparse_row(task, w, label, scratch.row);
    return scratch.row;
  }
  if (of_worker_[w].fresh > 0) return {counts_.row_beside(w, label), width_};
  put_log_rows(crowd_, look_at(w, label, scratch), scratch.row.data());
  return scratch.row;
}

// Of so many classes, those that nobody named for the task are as good as each other. Where most cells
// have next to no prior, psi would call every new error impossible: the logarithm of the mean does not.
void CrowdModel::put_sparse_row(const TaskLabels& task, WorkerId w, ClassId label,
                                std::span<double> row) const {
  const double ability = ability_of(w);
  const Pair before = spread(history(w));
  const double in_row = before.right + (classes_ - 1) * before.wrong + crowd_.strength;
  std::fill(row.begin(), row.end(), std::log(1 / ((1 + ability) * std::max(1.0, classes_ - 1.0))));
  for (const ClassId k : task.classes) {
    const double prior = crowd_.strength * centre(ability, k, label, pooled_.cell(0, label, k)) +
                         (k == label ? before.right : before.wrong);
    const double mean = (std::max(counts_.cell(w, label, k), 0.0) + prior) /
                        (std::max(counts_.total(w, k), 0.0) + in_row);
    row[k] = std::log(std::max(mean, kLeastCentre)) +
             crowd_.symmetry * (k == label ? crowd_.correct_right[k] : crowd_.correct_wrong[k]);
  }
}

double CrowdModel::ability_of(WorkerId w) const {
  const WorkerCounts before = history(w);
  const double right = before.correct + counts_.right(w) + options_.own * crowd_.accuracy;
  return odds(clip(right / (before.seen + labels_of(w) + options_.own)));
}

void CrowdModel::prefetch(const TaskLabels& task) const {
  constexpr std::uint64_t kNear = 1 << 17;  // numbers that the cache holds anyway
  if (!counts_.dense() || CreditedCounts::numbers(counts_.workers(), classes_) < kNear) return;
  for (std::size_t j = 0; j < task.size(); ++j) counts_.prefetch(task.workers[j], task.classes[j]);
}

void CrowdModel::score(const TaskLabels& task, std::span<double> a, Scratch& scratch) const {
  if (!counts_.dense()) return score_anew(task, a, scratch);
  add_up_labels(task, classes_, counts_.distance(), log_prior_, counts_.row_beside(0, 0), a);
}

void CrowdModel::score(const Labels& labels, std::span<const TaskId> tasks, std::span<double> rows,
                       Scratch& scratch) const {
  if (counts_.dense())
    return add_up_labels(labels, tasks, counts_.distance(), log_prior_, counts_.row_beside(0, 0), rows);
  for (std::size_t i = 0; i < tasks.size(); ++i)
    score_anew(labels.task(tasks[i]), rows.subspan(i * width_, width_), scratch);
}

void CrowdModel::score_anew(const TaskLabels& task, std::span<double> a, Scratch& scratch) const {
  std::copy(log_prior_.begin(), log_prior_.end(), a.begin());
  for (std::size_t j = 0; j < task.size(); ++j) {
    const std::span<const double> row = label_row(task, j, scratch);
    for (std::size_t k = 0; k < classes_; ++k) a[k] += row[k];
  }
}

void CrowdModel::fit_strength() {
  pool();
  // The cells of some workers, which tell the strength well enough.
  constexpr std::uint64_t kCells = 1 << 13;
  const std::uint64_t all_cells = static_cast<std::uint64_t>(workers()) * classes_ * classes_;
  const std::uint64_t stride = (all_cells + kCells - 1) / kCells;
  Scratch scratch(*this);
  std::vector<double> counts;
  std::vector<double> centres;
  std::vector<double> totals;
  for (std::uint64_t i = 0; i < workers(); i += stride) {
    const auto w = static_cast<WorkerId>(i);
    if (labels_of(w) == 0) continue;
    const double ability = ability_of(w);
    const std::size_t rows = totals.size();
    totals.resize(rows + classes_);
    counts_.for_cells(w, [&](ClassId k, ClassId l, double count) {
      counts.push_back(count);
      centres.push_back(std::max(centre(ability, k, l, pooled_.cell(0, l, k)), kLeastCentre));
      totals[rows + k] += count;
    });
  }
  std::erase(totals, 0.0);
  if (counts.empty()) return;

  const auto log_likelihood = [&](double strength) {
    std::vector<double> with(totals.size(), strength);
    std::vector<double> without;
    for (const double total : totals) without.push_back(total + strength);
    for (std::size_t c = 0; c < counts.size(); ++c) {
      with.push_back(counts[c] + strength * centres[c]);
      without.push_back(strength * centres[c]);
    }
    vector_log_gamma(with);
    vector_log_gamma(without);
    return std::accumulate(with.begin(), with.end(), 0.0) -
           std::accumulate(without.begin(), without.end(), 0.0);
  };
  const double best = climb(kStrengths, crowd_.strength, log_likelihood);
  crowd_.strength = std::clamp(best, options_.weakest, options_.strongest);
  symmetrise();
}

void CrowdModel::hold_out(const TaskLabels& task, std::size_t j, std::span<const double> a,
                          std::span<const double> credit, HeldOut& held_out, Scratch& scratch) const {
  const WorkerId w = task.workers[j];
  const ClassId label = task.classes[j];
  // h, then softmax(beta h).
  const std::span<double> logs(scratch.powers.data(), kCurves * width_);
  const std::span<double> shares(scratch.powers.data() + kCurves * width_, kCurves * width_);
  const std::span<const double> table = label_row(task, j, scratch);
  for (std::size_t c = 0; c < kCurves; ++c) {
    const double beta = c < kTemperatures.size() ? kTemperatures[c] : 1;
    const double power = c == kFullShares ? 1 : c == kLittleShares ? little_power() : class_power();
    for (std::size_t k = 0; k < width_; ++k) {
      const double h = a[k] - table[k] + (power - class_power()) * crowd_.log_classes[k];
      logs[c * width_ + k] = k < classes_ ? beta * h : kImpossible;
    }
  }
  softmax_log_rows(logs, width_, shares);

  // Vm.
  const WorkerRows worker = look_at(w, label, scratch);
  const std::span<double> mean = scratch.row;
  for (std::size_t k = 0; k < classes_; ++k) {
    const double before = k == label ? worker.history_right : worker.history_wrong;
    const double own = credit.empty() ? 0 : credit[k];
    mean[k] = (std::max(worker.counts[k] + before - own, 0.0) +
               crowd_.strength * centre(worker.ability, k, label, worker.pooled[k])) /
              (std::max(worker.totals[k] - own, 0.0) + crowd_.strength);
  }
  std::array<double, kCurves> likelihoods{};
  for (std::size_t c = 0; c < kCurves; ++c) {
    for (std::size_t k = 0; k < classes_; ++k) likelihoods[c] += shares[c * width_ + k] * mean[k];
  }
  vector_log(likelihoods);
  for (std::size_t i = 0; i < kTemperatures.size(); ++i) held_out.by_temperature[i] += likelihoods[i];
  held_out.little_shares += likelihoods[kLittleShares];
  held_out.full_shares += likelihoods[kFullShares];
  ++held_out.labels;
}

void CrowdModel::put_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const {
  for (std::size_t l = 0; l < classes_; ++l) {
    const WorkerRows worker = look_at(w, static_cast<ClassId>(l), scratch);
    for (std::size_t k = 0; k < classes_; ++k) {
      const double before = k == l ? worker.history_right : worker.history_wrong;
      matrix[k * classes_ + l] = std::max(worker.counts[k] + before, 0.0) +
                                 crowd_.strength * centre(worker.ability, k, l, worker.pooled[k]);
    }
  }
  for (std::size_t k = 0; k < classes_; ++k) {
    const std::span<double> row = matrix.subspan(k * classes_, classes_);
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& value : row) value /= total;
  }
}

WorkerState CrowdModel::state() const {
  WorkerState state;
  state.expect(workers(), classes_);
  for (WorkerId w = 0; w < workers(); ++w) {
    state.workers[w] = counts(w);
    counts_.for_cells(w, [&](ClassId truth, ClassId label, double count) {
      state.confusion.cells.push_back({w, label, truth, count});
    });
  }
  state.confusion.history = history_;
  state.confusion.class_counts.assign(class_mass_.begin(), class_mass_.begin() + classes_);
  return state;
}

void CrowdModel::restore(const WorkerState& state) {
  expect(static_cast<std::uint32_t>(state.workers.size()), state.classes);
  const ConfusionState& learned = state.confusion;
  const std::vector<WorkerCounts>& before = learned.empty() ? state.workers : learned.history;
  for (WorkerId w = 0; w < before.size(); ++w) remember(w, before[w]);
  if (learned.empty()) return pool();
  for (WorkerId w = 0; w < state.workers.size(); ++w) {
    of_worker_[w] = {static_cast<std::uint32_t>(std::lround(state.workers[w].seen - history(w).seen)),
                     0};
    labels_ += labels_of(w);
    known_workers_ += labels_of(w) > 0 && history(w).seen == 0 ? 1 : 0;
  }
  for (const ConfusionState::Cell& cell : learned.cells) {
    counts_.add(cell.worker, cell.label, cell.truth, cell.count);
    pooled_.add(0, cell.label, cell.truth, cell.count);
    pooled_totals_[cell.truth] += cell.count;
  }
  std::copy(learned.class_counts.begin(), learned.class_counts.end(), class_mass_.begin());
  tasks_ = std::round(std::accumulate(class_mass_.begin(), class_mass_.end(), 0.0));
  fit_strength();
}

namespace {

Estimate most_probable(std::span<const double> probabilities) {
  const auto best = std::max_element(probabilities.begin(), probabilities.end());
  return {static_cast<ClassId>(best - probabilities.begin()), *best};
}

class FirstPass {
 public:
  FirstPass(CrowdModel& model, double guard)
      : model_(model), guard_(guard), scratch_(model), a_(model.width()) {
    while (next_strength_ < model_.tasks()) next_strength_ *= 2;
    next_pool_ = model_.tasks();
  }

  double beta() const { return beta_; }
  const HeldOut& held_out() const { return held_out_; }
  void restore(const HeldOut& held_out) {
    held_out_ = held_out;
    calibrate();
  }

  // Learns from a task, and tells what it is credited with; and the answer, if there is room for it.
  void take(const TaskLabels& task, ClassId truth, std::span<double> credit, std::span<double> answer) {
    if (task.size() == 0 && truth == kNoClass) return;
    if (truth == kNoClass) {
      judge(task, credit, answer);
    } else {
      std::fill(credit.begin(), credit.end(), 0.0);
      credit[truth] = 1;
    }
    model_.credit(task, credit);
    model_.count(task);
    keep_up();
  }

 private:
  static constexpr double kFirstTasks = 50;
  static constexpr double kGrowth = 1.02;

  void keep_up() {
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
  void calibrate() {
    beta_ = held_out_.best_temperature();
    model_.count_class_shares(held_out_.gain_of_full_shares() > guard_);
  }
  void judge(const TaskLabels& task, std::span<double> credit, std::span<double> answer) {
    model_.build_for(task, scratch_);
    model_.judge(task, beta_, a_, credit, answer, scratch_);
    if (task.size() > 1 && is_held_out())
      model_.hold_out(task, pick(0, number(), task.size()), a_, {}, held_out_, scratch_);
  }
  std::uint64_t number() const { return static_cast<std::uint64_t>(model_.tasks()); }
  // All of the first tasks, then some.
  bool is_held_out() const {
    constexpr std::uint64_t kAll = 1'000;
    constexpr std::uint64_t kSome = 64;
    return number() < kAll || number() % kSome == 0;
  }

  CrowdModel& model_;
  double guard_;
  CrowdModel::Scratch scratch_;
  std::vector<double> a_;
  HeldOut held_out_;
  double beta_ = 1;
  double next_pool_ = 0;
  double next_strength_ = std::max(10.0, 2.0 * model_.classes());
};

// What every task is credited with: all classes, or those with a credit.
class Credits {
 public:
  Credits(const CrowdModel& model, TaskId tasks)
      : dense_(model.dense()),
        width_(model.width()),
        rows_(dense_ ? tasks * width_ : 0),
        parts_(dense_ ? 0 : tasks) {}

  void get(TaskId t, std::span<double> credit) const {
    if (dense_) {
      std::copy_n(rows_.begin() + offset(t), width_, credit.begin());
      return;
    }
    std::fill(credit.begin(), credit.end(), 0.0);
    for (const auto& [k, part] : parts_[t]) credit[k] = part;
  }
  void put(TaskId t, std::span<const double> credit) {
    if (dense_) {
      std::copy(credit.begin(), credit.end(), rows_.begin() + offset(t));
      return;
    }
    parts_[t].clear();
    for (std::size_t k = 0; k < credit.size(); ++k) {
      if (credit[k] > 0) parts_[t].emplace_back(static_cast<ClassId>(k), credit[k]);
    }
    parts_[t].shrink_to_fit();
  }
  // Puts a credit, and makes of it the change.
  void exchange(TaskId t, std::span<double> credit) {
    if (dense_) {
      double* const before = rows_.data() + offset(t);
      for (std::size_t k = 0; k < width_; ++k) {
        const double change = credit[k] - before[k];
        before[k] = std::exchange(credit[k], change);
      }
      return;
    }
    const std::vector<std::pair<ClassId, double>> before = parts_[t];
    put(t, credit);
    for (const auto& [k, part] : before) credit[k] -= part;
  }

 private:
  std::ptrdiff_t offset(TaskId t) const { return static_cast<std::ptrdiff_t>(t * width_); }

  bool dense_;
  std::size_t width_;
  FlatArray<double> rows_;
  std::vector<std::vector<std::pair<ClassId, double>>> parts_;
};

class ThreePass {
 public:
  using Options = ThreePassOptions;

  ThreePass(const Options& options, const Labels& labels, const Given& given, const RunContext& context)
      : options_(options),
        labels_(labels),
        given_(given),
        context_(context),
        model_(options, labels.num_workers(), labels.num_classes()),
        credits_(model_, options.passes > 1 ? labels.num_tasks() : 0) {
    order_.resize(labels.num_tasks());
    std::iota(order_.begin(), order_.end(), 0);
    if (options.order == Order::shuffled) order_ = shuffled_tasks(labels.num_tasks(), context.seed);
    for (WorkerId w = 0; w < given.workers.size(); ++w) model_.remember(w, given.workers[w]);
    result_.estimate.resize(labels.num_tasks());
    result_.confidence.resize(labels.num_tasks());
    if (context.posterior)
      result_.posterior.resize(static_cast<std::size_t>(labels.num_tasks()) * labels.num_classes());
  }

  Result run() {
    first_pass();
    for (int pass = 2; pass < options_.passes; ++pass) second_pass();
    if (options_.passes > 1) last_pass();
    report_workers();
    return std::move(result_);
  }

  static const OptionTable<Options>& option_table();
  static std::uint64_t bytes(const Options& options, const Labels& labels) {
    const std::uint64_t classes = labels.num_classes();
    const std::uint64_t credits = options.passes > 1 ? labels.num_tasks() * row_width(classes) : 0;
    if (CreditedCounts::is_dense(labels.num_workers(), classes))
      return 8 * (CreditedCounts::numbers(labels.num_workers(), classes) + credits);
    // Some cells per label and per task, with what holds them together.
    return 128 * labels.num_labels() + 64ULL * labels.num_tasks();
  }
  static Result fit(const Options& options, const Labels& labels, const Given& given,
                    const RunContext& context) {
    return ThreePass(options, labels, given, context).run();
  }

 private:
  // Tasks between two words on progress, of which rows are kept meanwhile.
  std::size_t tasks_at_a_time() const {
    constexpr std::size_t kNumbers = 1 << 21;
    return std::clamp<std::size_t>(kNumbers / model_.width(), 1, 1 << 14);
  }

  bool is_open(TaskId t) const { return given_.truth(t) == kNoClass && labels_.task(t).size() > 0; }

  void first_pass() {
    constexpr std::size_t kAhead = 4;
    FirstPass pass(model_, options_.guard);
    std::vector<double> credit(model_.width());
    std::vector<double> answer(options_.passes > 1 ? 0 : model_.width());
    std::size_t next_word = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      if (i == next_word) {
        say("first pass", i);
        next_word += tasks_at_a_time();
      }
      if (i + kAhead < order_.size()) model_.prefetch(labels_.task(order_[i + kAhead]));
      const TaskId t = order_[i];
      pass.take(labels_.task(t), given_.truth(t), credit, answer);
      if (options_.passes > 1)
        credits_.put(t, credit);
      else
        put(t, answer);
    }
  }

  void second_pass() {
    model_.fit_strength();
    const auto blocks = static_cast<std::size_t>(options_.blocks);
    for (std::size_t block = 0; block < blocks; ++block) {
      model_.pool();
      model_.build_all(context_.threads);
      const std::size_t end = order_.size() * (block + 1) / blocks;
      for (std::size_t first = order_.size() * block / blocks; first < end; first += tasks_at_a_time()) {
        say("second pass", first);
        judge_again(std::span(order_).subspan(first, std::min(tasks_at_a_time(), end - first)));
      }
    }
  }

  // Tasks are judged side by side, then the counts follow.
  void judge_again(std::span<const TaskId> tasks) {
    const std::size_t width = model_.width();
    FlatArray<double> changes(tasks.size() * width);
    for_tasks(tasks, [&](std::size_t first, std::span<const TaskId> some, std::span<double> a,
                         CrowdModel::Scratch& scratch) {
      const std::span<double> judged(changes.data() + first * width, a.size());
      model_.score(labels_, some, a, scratch);
      model_.put_credits(a, judged);
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (is_open(some[i])) credits_.exchange(some[i], judged.subspan(i * width, width));
      }
    });
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (!is_open(tasks[i])) continue;
      model_.credit(labels_.task(tasks[i]), {changes.data() + i * width, width});
    }
  }

  void last_pass() {
    model_.fit_strength();
    model_.build_all(context_.threads);
    say("calibration", 0);
    HeldOut held_out = hold_out();
    const bool in_full = held_out.gain_of_full_shares() > options_.guard;
    if (model_.class_shares_in_full() != in_full) {
      model_.count_class_shares(in_full);
      held_out = hold_out();
    }
    const double beta = held_out.best_temperature();
    const std::size_t width = model_.width();
    for (std::size_t first = 0; first < order_.size(); first += tasks_at_a_time()) {
      say("last pass", first);
      const auto tasks =
          std::span(order_).subspan(first, std::min(tasks_at_a_time(), order_.size() - first));
      for_tasks(tasks, [&](std::size_t, std::span<const TaskId> some, std::span<double> a,
                           CrowdModel::Scratch& scratch) {
        model_.score(labels_, some, a, scratch);
        model_.put_answers(a, beta, a);
        for (std::size_t i = 0; i < some.size(); ++i) put(some[i], a.subspan(i * width, width));
      });
    }
  }

  // (H) on every so-many-th label.
  HeldOut hold_out() const {
    constexpr std::uint64_t kNumbers = 1 << 22;  // by class, at each temperature
    const std::uint64_t labels = std::clamp<std::uint64_t>(kNumbers / model_.width(), 200, 20'000);
    const std::uint64_t stride = std::max<std::uint64_t>(1, labels_.num_labels() / labels);
    CrowdModel::Scratch scratch(model_);
    std::vector<double> a(model_.width());
    std::vector<double> credit(model_.width());
    HeldOut held_out;
    std::uint64_t begin = 0;
    std::uint64_t next = 0;
    for (TaskId t = 0; t < labels_.num_tasks(); ++t) {
      const TaskLabels task = labels_.task(t);
      const std::uint64_t end = begin + task.size();
      if (next < end) {
        const bool counts = task.size() > 1 && given_.truth(t) == kNoClass;
        if (counts) {
          model_.score(task, a, scratch);
          credits_.get(t, credit);
        }
        for (; next < end; next += stride) {
          if (counts) model_.hold_out(task, next - begin, a, credit, held_out, scratch);
        }
      }
      begin = end;
    }
    return held_out;
  }

  // body(first, some, rows, scratch) for some tasks at a time, from the first-th on, in parallel.
  template <class Body>
  void for_tasks(std::span<const TaskId> tasks, const Body& body) const {
    constexpr std::size_t kNumbers = 4'096;  // that stay in the first-level cache
    const std::size_t at_once = std::clamp<std::size_t>(kNumbers / model_.width(), 1, 256);
    constexpr std::size_t kTasksPerThread = 1 << 10;
    parallel_ranges(context_.threads, tasks.size(), kTasksPerThread,
                    [&](std::size_t from, std::size_t to, int) {
                      CrowdModel::Scratch scratch(model_);
                      FlatArray<double> rows(at_once * model_.width());
                      for (std::size_t first = from; first < to; first += at_once) {
                        const std::size_t count = std::min(at_once, to - first);
                        body(first, tasks.subspan(first, count),
                             std::span(rows).first(count * model_.width()), scratch);
                      }
                    });
  }

  void put(TaskId t, std::span<const double> probabilities) {
    const std::size_t classes = labels_.num_classes();
    Estimate estimate;
    std::span<double> posterior;
    if (context_.posterior) posterior = {result_.posterior.data() + t * classes, classes};
    if (const ClassId truth = given_.truth(t); truth != kNoClass) {
      estimate = certain(truth, posterior);
    } else if (labels_.task(t).size() == 0) {
      std::fill(posterior.begin(), posterior.end(), 1.0 / static_cast<double>(classes));
    } else {
      estimate = most_probable(probabilities.first(classes));
      std::copy_n(probabilities.begin(), posterior.size(), posterior.begin());
    }
    result_.estimate[t] = estimate.label;
    result_.confidence[t] = estimate.confidence;
  }

  void report_workers() {
    const std::size_t classes = labels_.num_classes();
    result_.workers.expect(labels_.num_workers(), labels_.num_classes());
    for (WorkerId w = 0; w < labels_.num_workers(); ++w) result_.workers.workers[w] = model_.counts(w);
    if (!context_.confusion) return;
    result_.confusion.resize(labels_.num_workers() * classes * classes);
    CrowdModel::Scratch scratch(model_);
    for (WorkerId w = 0; w < labels_.num_workers(); ++w)
      model_.put_confusion(w, {result_.confusion.data() + w * classes * classes, classes * classes},
                           scratch);
  }

  void say(const char* stage, std::size_t done) const {
    context_.throw_if_cancelled();
    context_.report(stage, done, labels_.num_tasks());
  }

  const Options& options_;
  const Labels& labels_;
  const Given& given_;
  const RunContext& context_;
  std::vector<TaskId> order_;  // empty: as given
  CrowdModel model_;
  Credits credits_;
  Result result_;
};

const OptionTable<ThreePassOptions>& ThreePass::option_table() {
  static const OptionTable<Options> table = {
      integer("passes", &Options::passes, 1, 100, "over the labels; 1: as the online method"),
      integer("blocks", &Options::blocks, 1, 10'000, "of tasks in passes between first and last"),
      real("symmetry", &Options::symmetry, 0, 1e9,
           "c0: the larger, the more a lead of the whole crowd on a class is believed"),
      real("crowd", &Options::crowd, 1e-3, 1e9, "s1: labels that a symmetric crowd is worth"),
      real("own", &Options::own, 1e-3, 1e9, "s2: labels that the crowd's accuracy is worth"),
      real("weakest", &Options::weakest, 1, 128, "least strength s of the prior of a worker's rows"),
      real("strongest", &Options::strongest, 1, 128, "largest strength s of the prior"),
      real("warm", &Options::warm, 0, 1e9, "how long a majority vote has a say at the beginning"),
      real("refresh", &Options::refresh, 0, 10,
           "a worker's table is built again after so many labels more, relative"),
      real("guard", &Options::guard, 0, 1e9,
           "class shares count in full if a held-out label gains so many nats by it"),
      order_option<Options>()};
  return table;
}

// Pass 1, one task at a time.
class OnlineThreePass final : public OnlineMethod {
 public:
  using Options = ThreePassOptions;

  explicit OnlineThreePass(const Options& options) : options_(options) { start(); }

  void expect(std::uint32_t workers, std::uint32_t classes) override {
    const bool more_classes = classes > model_->classes();
    model_->expect(workers, classes);
    if (!more_classes) return;
    const HeldOut held_out = first_pass_->held_out();
    first_pass_.emplace(*model_, options_.guard).restore(held_out);
    credit_.resize(model_->width());
  }

  Estimate estimate(const TaskLabels& labels, std::span<double> posterior) const override {
    if (labels.size() == 0) {
      std::fill(posterior.begin(), posterior.end(), 1 / static_cast<double>(posterior.size()));
      return {};
    }
    CrowdModel::Scratch scratch(*model_);
    std::vector<double> a(model_->width());
    model_->score_anew(labels, a, scratch);
    model_->put_answers(a, first_pass_->beta(), scratch.row);
    const Estimate estimate = most_probable(std::span(scratch.row).first(model_->classes()));
    std::copy_n(scratch.row.begin(), posterior.size(), posterior.begin());
    return estimate;
  }

  void learn(const TaskLabels& labels, const Estimate& answer) override {
    // Only a truth is certain: see CrowdModel::doubt().
    first_pass_->take(labels, answer.confidence == 1 ? answer.label : kNoClass, credit_, {});
  }

  bool looks_twice() const override { return false; }

  WorkerState state() const override {
    WorkerState state = model_->state();
    state.confusion.held_out = first_pass_->held_out().save();
    return state;
  }
  void restore(WorkerState state) override {
    start();
    expect(static_cast<std::uint32_t>(state.workers.size()), state.classes);
    model_->restore(state);
    first_pass_.emplace(*model_, options_.guard).restore(HeldOut::load(state.confusion.held_out));
  }
  void merge(const WorkerState& other) override {
    WorkerState both = state();
    both.merge(other);
    restore(std::move(both));
  }

 private:
  void start() {
    model_ = std::make_unique<CrowdModel>(options_, 0, 0);
    first_pass_.emplace(*model_, options_.guard);
  }

  Options options_;
  std::unique_ptr<CrowdModel> model_;
  std::optional<FirstPass> first_pass_;
  std::vector<double> credit_;
};

}  // namespace

MethodInfo threepass_method() {
  MethodInfo info = batch_method<ThreePass>(
      "threepass", "confusion rows with a strength learned from the data, in three passes; calibrated",
      "crowdfold", {.workers = true, .confusion = true});
  info.make_online = [](const Settings& settings, std::uint64_t) -> std::unique_ptr<OnlineMethod> {
    return std::make_unique<OnlineThreePass>(ThreePass::option_table().parse("threepass", settings));
  };
  info.online_is_batch = false;
  return info;
}

}  // namespace crowdfold
