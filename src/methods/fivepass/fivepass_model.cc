#include "methods/fivepass/fivepass_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/large_pages.h"
#include "base/random.h"
#include "base/vector_math.h"
#include "methods/threepass/peak.h"

namespace crowdfold {
namespace {

using Asks = FivePassModel::Asks;

constexpr std::size_t kWorkersAtOnce = 256;
constexpr double kFewLabels = 10;  // somebody who always says the same may have done so by chance

// Each of its numbers in whole units.
HeldOut whole(HeldOut of_label) {
  for (double& value : of_label.by_temperature) value = in_whole_units(value);
  of_label.little_shares = in_whole_units(of_label.little_shares);
  of_label.full_shares = in_whole_units(of_label.full_shares);
  return of_label;
}

}  // namespace

void FivePassSummary::add(const FivePassSummary& other) {
  counts.add(other.counts);
  for (std::size_t i = 0; i < mass.size(); ++i) mass[i] += other.mass[i];
  held_out += other.held_out;
}

FivePassModel::Scratch::Scratch(const FivePassModel& model)
    : scores(model.types() * model.width_),
      start(model.types() * model.width_),
      sums(model.width_),
      mean(model.width_),
      row(model.width_),
      by_type(model.types() * model.width_),
      credit(model.width_),
      totals(model.width_),
      cells(model.width_) {}

FivePassModel::FivePassModel(const FivePassOptions& options, std::uint32_t workers,
                             std::uint32_t classes, std::span<const WorkerCounts> history)
    : options_(options),
      classes_(classes),
      width_(row_width(classes)),
      history_(history.begin(), history.end()),
      counts_(workers, classes),
      said_(workers),
      class_power_(little_power(classes)),
      log_prior_(width_),
      strengths_(workers) {
  for (const WorkerCounts& of_worker : history) all_history_ += of_worker;
  crowd_.resize(width_);
  double sum = 0;
  for (std::size_t g = 0; g < kTypes; ++g) {
    const double off = static_cast<double>(kPowers[g]) - 1;
    sum += std::exp(-off * off);
    log_types_[g] = -off * off;
  }
  for (double& log_share : log_types_) log_share -= std::log(sum);
}

FivePassSummary FivePassModel::nothing() const {
  // Held-out labels need no counts.
  const bool counts = asks_ != Asks::held_out;
  return {WholeCounts(counts ? workers() : 0, counts ? classes_ : 0),
          std::vector<std::int64_t>(counts ? kTypes * width_ : 0),
          {}};
}

int FivePassModel::summaries_at_once() const {
  constexpr std::uint64_t kMostBytes = 1 << 30;
  const std::uint64_t one = std::max<std::uint64_t>(1, WholeCounts::bytes(workers(), classes_));
  return static_cast<int>(std::clamp<std::uint64_t>(kMostBytes / one, 1, 1 << 10));
}

void FivePassModel::judge(const Block& block, Summary& summary) const {
  Scratch scratch(*this);
  if (asks_ == Asks::credits && dense() && fit_registers(width_))
    return add_credits(block, scratch, summary);
  for (TaskId t = block.first(); t < block.last(); ++t) {
    const TaskLabels task = block.task(t);
    const ClassId truth = block.truth(t);
    if (task.size() == 0 && truth == kNoClass) continue;
    switch (asks_) {
      case Asks::votes: add_vote(task, truth, scratch, summary); break;
      case Asks::credits: add_credit(task, truth, scratch, summary); break;
      case Asks::held_out:
        if (truth == kNoClass && task.size() > 1 && is_held_out(t))
          hold_out(task, scratch, summary.held_out);
        break;
      case Asks::nothing: break;
    }
  }
}

void FivePassModel::prefetch(const TaskLabels& task, const Summary& summary) const {
  constexpr std::size_t kLine = 64 / sizeof(float);
  const TypedLayout layout{classes_, width_};
  for (std::size_t j = 0; j < task.size(); ++j) {
    summary.counts.prefetch(task.workers[j], task.classes[j]);
    __builtin_prefetch(tables_.data() + layout.row(task.workers[j], task.classes[j]));
    const float* const shifts = tables_.data() + layout.shifts(task.workers[j]);
    for (std::size_t i = 0; i < TypedLayout::kShifts * width_; i += kLine)
      __builtin_prefetch(shifts + i);
  }
}

void FivePassModel::add_credits(const Block& block, Scratch& scratch, Summary& summary) const {
  constexpr std::size_t kNear = 1 << 17;  // numbers that the cache holds anyway
  constexpr TaskId kAhead = 6;            // tasks ahead whose rows are being fetched from memory
  constexpr TaskId kMost = 1 << 11;       // tasks whose credits add up to 2^31
  const bool is_far = tables_.size() > kNear;
  const TypedLayout layout{classes_, width_};
  std::vector<std::uint32_t> mass(scratch.by_type.size());
  for (TaskId first = block.first(); first < block.last(); first += kMost) {
    std::fill(mass.begin(), mass.end(), 0);
    const TaskId last = std::min(block.last(), first + kMost);
    for (TaskId t = first; t < last; ++t) {
      if (is_far && t + kAhead < last) prefetch(block.task(t + kAhead), summary);
      const TaskLabels task = block.task(t);
      if (block.is_open(t)) {
        if (judge_in_registers(task, layout, tables_.data(), start_.data(), summary.counts.cells(),
                               mass.data()))
          summary.counts.carry(task);
      } else if (block.truth(t) != kNoClass) {
        add_credit(task, block.truth(t), scratch, summary);
      }
    }
    for (std::size_t i = 0; i < mass.size(); ++i) summary.mass[i] += mass[i];
  }
}

void FivePassModel::add_vote(const TaskLabels& task, ClassId truth, Scratch& scratch,
                             Summary& summary) const {
  std::fill(scratch.credit.begin(), scratch.credit.end(), 0);
  if (truth != kNoClass) {
    scratch.credit[truth] = static_cast<std::int32_t>(kUnits);
  } else {
    for (const ClassId label : task.classes) ++scratch.credit[label];
    for (std::int32_t& credit : scratch.credit) {
      if (credit > 0)
        credit =
            static_cast<std::int32_t>(std::lround(credit * kUnits / static_cast<double>(task.size())));
    }
  }
  summary.counts.add(task, scratch.credit);
  for (std::size_t k = 0; k < classes_; ++k) summary.mass[k] += scratch.credit[k];
}

void FivePassModel::add_credit(const TaskLabels& task, ClassId truth, Scratch& scratch,
                               Summary& summary) const {
  if (truth != kNoClass) {
    std::fill(scratch.start.begin(), scratch.start.end(), kNoChance);
    for (std::size_t at = truth; at < scratch.start.size(); at += width_) scratch.start[at] = start_[at];
    compute_scores(task, scratch.start, scratch);
  } else {
    compute_scores(task, start_, scratch);
  }
  compute_credit(scratch);
  summary.counts.add(task, scratch.credit);
  for (std::size_t i = 0; i < scratch.by_type.size(); ++i) summary.mass[i] += scratch.by_type[i];
}

void FivePassModel::compute_scores(const TaskLabels& task, std::span<const float> start,
                                   Scratch& scratch) const {
  if (dense()) {
    compute_typed_scores(task, {classes_, width_}, tables_.data(), start.data(), scratch.scores.data());
    return;
  }
  std::copy(start.begin(), start.end(), scratch.scores.begin());
  for (std::size_t j = 0; j < task.size(); ++j) {
    write_sparse_row(task, task.workers[j], task.classes[j], scratch.row);
    for (std::size_t k = 0; k < classes_; ++k) scratch.scores[k] += scratch.row[k];
  }
}

void FivePassModel::compute_credit(Scratch& scratch) const {
  if (dense()) {
    compute_typed_credit(scratch.scores.data(), width_, scratch.by_type.data(), scratch.credit.data());
    return;
  }
  // Without the smallest credits, which would fill the memory.
  const float highest = *std::max_element(scratch.scores.begin(), scratch.scores.end());
  double sum = 0;
  double kept = 0;
  for (std::size_t k = 0; k < classes_; ++k) sum += std::exp(double{scratch.scores[k] - highest});
  for (std::size_t k = 0; k < classes_; ++k) {
    const double share = std::exp(double{scratch.scores[k] - highest}) / sum;
    scratch.sums[k] = share >= double{CreditedCounts::kLeastCredit} ? static_cast<float>(share) : 0;
    kept += double{scratch.sums[k]};
  }
  for (std::size_t k = 0; k < classes_; ++k)
    scratch.credit[k] =
        kept > 0 ? static_cast<std::int32_t>(std::lround(double{scratch.sums[k]} / kept * kUnits)) : 0;
  scratch.by_type = scratch.credit;
}

void FivePassModel::write_sparse_row(const TaskLabels& task, WorkerId w, ClassId label,
                                     std::span<float> row) const {
  crowdfold::write_sparse_row(crowd_, pooled_, counts_.sparse(),
                              {w, ability_of(w), double{strengths_[w]}, history(w)}, task.classes, label,
                              row);
}

// All labels of some tasks.
bool FivePassModel::is_held_out(TaskId t) const {
  constexpr double kNumbers = 1 << 22;  // by class, at each temperature
  const double most = std::clamp(kNumbers / static_cast<double>(width_), 200.0, 20'000.0);
  const auto stride = static_cast<std::uint64_t>(std::max(1.0, labels_ / most));
  return stride == 1 || pick(0, t, stride) == 0;
}

void FivePassModel::hold_out(const TaskLabels& task, Scratch& scratch, HeldOut& held_out) const {
  compute_scores(task, start_, scratch);
  compute_credit(scratch);
  const TypedLayout layout{classes_, width_};
  std::vector<float> others(scratch.scores.size());
  for (std::size_t j = 0; j < task.size(); ++j) {
    const WorkerId w = task.workers[j];
    const ClassId label = task.classes[j];
    if (dense()) {
      const float* const said = tables_.data() + layout.row(w, label);
      const float* const shifts = tables_.data() + layout.shifts(w);
      for (std::size_t g = 0; g < kTypes; ++g) {
        const float* const shift = shifts + TypedLayout::kShiftOf[g] * width_;
        for (std::size_t k = 0; k < width_; ++k)
          others[g * width_ + k] = scratch.scores[g * width_ + k] - kPowers[g] * said[k] - shift[k];
      }
      add_up_types(others.data(), width_, scratch.sums.data());
    } else {
      write_sparse_row(task, w, label, scratch.row);
      for (std::size_t k = 0; k < classes_; ++k) scratch.sums[k] = scratch.scores[k] - scratch.row[k];
    }
    std::fill(scratch.sums.begin() + classes_, scratch.sums.end(), kNoChance);
    load_counts(w, label, scratch);
    const double ability = ability_of(w);
    const double strength = strengths_[w];
    for (std::size_t k = 0; k < classes_; ++k) {
      const double own = scratch.credit[k] / kUnits;
      scratch.mean[k] = static_cast<float>((std::max(scratch.cells[k] - own, 0.0) +
                                            strength * centre_of(crowd_, pooled_, ability, k, label)) /
                                           (std::max(scratch.totals[k] - own, 0.0) + strength));
    }
    held_out += whole(likelihoods_of(crowd_, class_power_, classes_, scratch.sums, scratch.mean));
  }
}

void FivePassModel::load_counts(WorkerId w, ClassId label, Scratch& scratch) const {
  const SpreadHistory before = spread_history(history(w), classes_);
  std::fill(scratch.cells.begin(), scratch.cells.end(), before.wrong);
  std::fill(scratch.totals.begin(), scratch.totals.end(), before.in_row);
  scratch.cells[label] = before.right;
  if (!dense()) {
    counts_.sparse().add_row(w, label, scratch.cells);
    counts_.sparse().add_totals(w, scratch.totals);
    return;
  }
  for (ClassId k = 0; k < classes_; ++k) {
    scratch.cells[k] += counts_.cell(w, label, k);
    for (ClassId l = 0; l < classes_; ++l) scratch.totals[k] += counts_.cell(w, l, k);
  }
}

void FivePassModel::learn(Summary summary, int threads) {
  if (asks_ != Asks::held_out) {
    count(std::move(summary));
    pool();
    if (round_ == 0 || round_ == 2 || round_ >= options_.rounds) fit_strengths(threads);
    build_tables(threads);
    ++round_;
    asks_ = round_ == 1 ? Asks::credits : Asks::held_out;
    return;
  }
  const bool was_last = round_ > options_.rounds;
  const double gamma = guarded_power(summary.held_out, options_.guard, classes_);
  const bool changes = gamma != class_power_;
  set_class_power(gamma);
  if (was_last && changes && beta_ > 0) {
    beta_ = 0;  // asks once more, with the new gamma
    return;
  }
  if (was_last) beta_ = summary.held_out.best_temperature();
  asks_ = was_last ? Asks::nothing : Asks::credits;
}

void FivePassModel::count(Summary summary) {
  counts_ = std::move(summary.counts);
  pooled_ = {};
  pooled_.expect(classes_);
  labels_ = 0;
  // In double precision, whole units add exactly.
  for (WorkerId w = 0; w < workers(); ++w) {
    said_[w] = {};
    counts_.for_cells(w, [&](ClassId truth, ClassId label, double count) {
      said_[w] += {truth == label ? count : 0, count};
      pooled_.add(label, truth, count);
    });
    labels_ += said_[w].seen;
  }
  std::vector<double> of_class(classes_);
  std::array<double, kTypes> of_type{};
  double tasks = 0;
  for (std::size_t g = 0; g < kTypes; ++g) {
    for (std::size_t k = 0; k < classes_; ++k) {
      const double mass = static_cast<double>(summary.mass[g * width_ + k]) / kUnits;
      of_class[k] += mass;
      of_type[g] += mass;
      tasks += mass;
    }
  }
  pooled_.add_class_mass(of_class);
  if (asks_ == Asks::votes) return;
  for (std::size_t g = 0; g < kTypes; ++g)
    log_types_[g] = std::log((of_type[g] + 1) / (tasks + static_cast<double>(kTypes)));
}

void FivePassModel::pool() {
  learn_crowd({pooled_, all_history_, labels_}, options_.crowd, class_power_, dense(), crowd_,
              log_prior_);
  start_.resize(types() * width_);
  for (std::size_t i = 0; i < start_.size(); ++i)
    start_[i] = log_prior_[i % width_] + (dense() ? static_cast<float>(log_types_[i / width_]) : 0.0F);
}

void FivePassModel::set_class_power(double gamma) {
  class_power_ = gamma;
  pool();
}

FivePassModel::Curve FivePassModel::strength_curve(WorkerId w, CountedRows& rows,
                                                   std::vector<double>& totals) const {
  const double ability = ability_of(w);
  rows.clear();
  std::fill(totals.begin(), totals.end(), 0.0);
  counts_.for_cells(w, [&](ClassId k, ClassId l, double count) {
    rows.add(count, centre_of(crowd_, pooled_, ability, k, l));
    totals[k] += count;
  });
  for (const double total : totals) {
    if (total != 0) rows.add_total(total);
  }
  Curve curve;
  for (std::size_t i = 0; i < kSizes; ++i) curve[i] = rows.log_likelihood(kStrengths[i]);
  return curve;
}

void FivePassModel::fit_strengths(int threads) {
  std::vector<Curve> curves(workers());
  parallel_ranges(threads, workers(), kWorkersAtOnce, [&](std::size_t first, std::size_t last, int) {
    CountedRows rows;
    std::vector<double> totals(classes_);
    for (auto w = static_cast<WorkerId>(first); w < last; ++w)
      curves[w] = strength_curve(w, rows, totals);
  });

  Curve all{};
  double known = 0;
  for (WorkerId w = 0; w < workers(); ++w) {
    if (said_[w].seen == 0) continue;
    ++known;
    for (std::size_t i = 0; i < kSizes; ++i) all[i] += curves[w][i];
    // From here on in units of the likeliest.
    const double highest = *std::max_element(curves[w].begin(), curves[w].end());
    for (double& height : curves[w]) height = std::exp(height - highest);
  }
  crowd_.strength = known > 0 ? std::clamp(peak(kStrengths, all), options_.weakest, options_.strongest)
                              : options_.strongest;
  crowd_.symmetry = symmetry_of(crowd_.strength, options_.symmetry, classes_);

  constexpr int kIterations = 8;
  Curve shares;
  shares.fill(1.0 / kSizes);
  Curve p{};
  const auto posterior = [&](WorkerId w) {
    double sum = 0;
    for (std::size_t i = 0; i < kSizes; ++i)
      sum += p[i] = said_[w].seen > 0 ? shares[i] * curves[w][i] : shares[i];
    for (double& value : p) value /= sum;
  };
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    Curve sums{};
    for (WorkerId w = 0; w < workers(); ++w) {
      if (said_[w].seen == 0) continue;
      posterior(w);
      for (std::size_t i = 0; i < kSizes; ++i) sums[i] += p[i];
    }
    for (std::size_t i = 0; i < kSizes; ++i) shares[i] = (sums[i] + .5) / (known + kSizes / 2.0);
  }
  for (WorkerId w = 0; w < workers(); ++w) {
    posterior(w);
    double log_strength = 0;
    for (std::size_t i = 0; i < kSizes; ++i) log_strength += p[i] * std::log2(kStrengths[i]);
    strengths_[w] =
        static_cast<float>(std::clamp(std::exp2(log_strength), options_.weakest, options_.strongest));
  }
}

ClassId FivePassModel::only_label(WorkerId w) const {
  if (said_[w].seen < kFewLabels - .5 || history(w).seen > 0) return kNoClass;
  ClassId only = kNoClass;
  bool several = false;
  counts_.for_cells(w, [&](ClassId, ClassId label, double) {
    several |= only != kNoClass && only != label;
    only = label;
  });
  return several ? kNoClass : only;
}

// How much more often somebody speaks up on a class than the share of tasks that they label would say.
void FivePassModel::write_presence(WorkerId w, ClassId label, float* rows) const {
  std::fill_n(rows, TypedLayout{classes_, width_}.of_worker(), 0.0F);
  const std::span<const double> mass = pooled_.class_mass();
  const double tasks = std::accumulate(mass.begin(), mass.end(), 0.0);
  const double s = crowd_.strength;
  for (ClassId k = 0; k < classes_; ++k)
    rows[label * width_ + k] = static_cast<float>(
        std::log((counts_.cell(w, label, k) + s) / (said_[w].seen * mass[k] / tasks + s)));
}

void FivePassModel::build_tables(int threads) {
  if (!dense()) return;
  const TypedLayout layout{classes_, width_};
  if (tables_.empty()) {
    const std::size_t size = workers() * layout.of_worker();
    tables_.reserve(size);
    prefer_large_pages(tables_.data(), size * sizeof(float));
    tables_.resize(size);
  }
  std::vector<float> shares(width_);
  for (std::size_t k = 0; k < classes_; ++k) shares[k] = std::exp(crowd_.log_classes[k]);
  parallel_ranges(threads, workers(), kWorkersAtOnce, [&](std::size_t first, std::size_t last, int) {
    std::vector<float> counts(classes_ * width_);
    std::vector<float> tab(classes_ * width_);
    CrowdEffects crowd = crowd_;
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      float* const rows = tables_.data() + layout.row(w, 0);
      if (const ClassId label = only_label(w); label != kNoClass) {
        write_presence(w, label, rows);
        continue;
      }
      crowd.strength = strengths_[w];
      counts_.write_rows(w, counts.data());
      const SpreadHistory before = spread_history(history(w), classes_);
      compute_table(crowd, {ability_of(w), before.right, before.wrong, counts.data(), width_}, classes_,
                    tab.data());
      compute_types(tab.data(), shares.data(), classes_, width_, rows);
    }
  });
}

void FivePassModel::score(const TaskLabels& task, Scratch& scratch) const {
  compute_scores(task, start_, scratch);
  if (dense()) {
    add_up_types(scratch.scores.data(), width_, scratch.sums.data());
  } else {
    scratch.sums = scratch.scores;
  }
  std::fill(scratch.sums.begin() + classes_, scratch.sums.end(), kNoChance);
}

Estimate FivePassModel::answer(std::span<const float> sums, std::span<double> posterior) const {
  const double beta = options_.soften * std::min(beta_, 1.0);
  const Shares shares = compute_shares(sums.data(), beta, classes_, width_, posterior.data());
  const double rest = options_.doubt / classes_;
  for (double& share : posterior) share = (1 - options_.doubt) * share / shares.sum + rest;
  return {shares.largest, (1 - options_.doubt) / shares.sum + rest};
}

WorkerCounts FivePassModel::counts(WorkerId w) const {
  WorkerCounts all = history(w);
  all += said_[w];
  return all;
}

void FivePassModel::write_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const {
  const double ability = ability_of(w);
  const double strength = strengths_[w];
  for (ClassId l = 0; l < classes_; ++l) {
    load_counts(w, l, scratch);
    for (ClassId k = 0; k < classes_; ++k)
      matrix[k * classes_ + l] = scratch.cells[k] + strength * centre_of(crowd_, pooled_, ability, k, l);
  }
  for (ClassId k = 0; k < classes_; ++k) {
    const std::span<double> row = matrix.subspan(k * classes_, classes_);
    const double total = std::accumulate(row.begin(), row.end(), 0.0);
    for (double& value : row) value /= total;
  }
}

std::uint64_t FivePassModel::bytes(std::uint64_t workers, std::uint64_t classes) {
  const TypedLayout layout{classes, row_width(classes)};
  return workers * layout.of_worker() * sizeof(float) + 2 * WholeCounts::bytes(workers, classes);
}

}  // namespace crowdfold
