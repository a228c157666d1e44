#include "methods/fivepass/fivepass_model.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <thread>
#include <utility>

#include "base/large_pages.h"
#include "base/parallel.h"
#include "base/random.h"
#include "crowdfold/error.h"
#include "methods/one_label.h"
#include "methods/threepass/peak.h"
#include "methods/vote.h"

namespace crowdfold {
namespace {

constexpr std::size_t kWorkersAtOnce = 1 << 10;

// What a state holds besides counts: n_i; the labels that workers gave before, right ones and all; what
// tasks were credited with, by class and type; gamma and beta.
constexpr const char* kCells = "confusion cells";
constexpr const char* kHistory = "history";
constexpr const char* kMass = "class counts by type";
constexpr const char* kCalibration = "calibration";
using Axis = StateSection::Axis;

// With logarithms in whole units.
HeldOut rounded(HeldOut of_label) {
  for (double& value : of_label.by_temperature) value = in_whole_units(value);
  of_label.little_shares = in_whole_units(of_label.little_shares);
  of_label.full_shares = in_whole_units(of_label.full_shares);
  return of_label;
}

// In a state that holds no other, all counts are histories: they come from another method or a file.
std::vector<WorkerCounts> history_of(const WorkerState& state) {
  if (state.find(kCells) == nullptr) return state.counts;
  std::vector<WorkerCounts> history;
  const StateSection* const section = state.find(kHistory);
  if (section == nullptr || section->rows() == 0) return history;
  history.resize(state.counts.size());
  for (std::size_t i = 0; i < section->rows(); ++i)
    history[section->key(i)[0]] = {section->row(i)[0], section->row(i)[1]};
  return history;
}

}  // namespace

void FivePassSummary::add(const RoundSummary& summary) {
  const auto& other = static_cast<const FivePassSummary&>(summary);
  counts.add(other.counts);
  for (std::size_t i = 0; i < mass.size(); ++i) mass[i] += other.mass[i];
  held_out += other.held_out;
  known += other.known;
  softening.add_in_units(other.softening);
}

void FivePassSummary::exchange(Archive& archive) {
  counts.exchange(archive);
  archive.array(mass);
  archive.value(held_out);
  archive.value(known);
  archive.value(softening);
}

FivePassModel::Scratch::Scratch(const FivePassModel& model)
    : scores(model.types() * model.width_),
      start(model.types() * model.width_),
      others(model.types() * model.width_),
      sums(model.width_),
      mean(model.width_),
      row(model.width_),
      by_type(model.types() * model.width_),
      credit(model.width_),
      totals(model.width_),
      cells(model.width_) {}

FivePassModel::FivePassModel(const FivePassOptions& options, std::uint32_t workers,
                             std::uint32_t classes, std::span<const WorkerCounts> history,
                             std::uint32_t crowd)
    : options_(options),
      classes_(classes),
      all_workers_(crowd),
      width_(row_width(classes)),
      history_(history.begin(), history.end()),
      counts_(workers, classes, crowd),
      said_(workers),
      class_power_(little_power(classes)),
      strengths_(workers) {
  for (const WorkerCounts& of_worker : history) all_history_ += of_worker;
  crowd_.resize(width_);
  double sum = 0;
  for (std::size_t g = 0; g < kTypes; ++g)
    sum += rho_[g] = std::exp(-std::pow(static_cast<double>(kPowers[g]) - 1, 2));
  for (double& share : rho_) share /= sum;
}

FivePassModel::FivePassModel(const FivePassOptions& options, const WorkerState& state, int threads)
    : FivePassModel(options, static_cast<std::uint32_t>(state.counts.size()), state.classes,
                    history_of(state), static_cast<std::uint32_t>(state.counts.size())) {
  FivePassSummary summary(workers(), classes_, kTypes * width_, workers());
  if (const StateSection* const cells = state.find(kCells)) {
    for (std::size_t i = 0; i < cells->rows(); ++i) {
      const std::span<const std::uint32_t> key = cells->key(i);
      summary.counts.add(key[0], static_cast<ClassId>(key[1]), static_cast<ClassId>(key[2]),
                         cells->values[i]);
    }
  }
  if (const StateSection* const mass = state.find(kMass)) {
    asks_ = Asks::credits;
    for (std::size_t i = 0; i < mass->rows(); ++i) {
      for (std::size_t g = 0; g < kTypes; ++g)
        summary.mass[g * width_ + mass->key(i)[0]] = std::llround(mass->row(i)[g] * kUnits);
    }
  }
  if (const StateSection* const calibration = state.find(kCalibration)) {
    class_power_ = calibration->values[0];
    beta_ = calibration->values[1];
    softening_ = {calibration->values[2], calibration->values[3]};
  }
  round_ = options_.rounds;
  learn(summary, threads);
  asks_ = Asks::nothing;
}

const char* FivePassModel::stage() const {
  switch (asks_) {
    case Asks::votes: return "votes";
    case Asks::credits: return "round";
    case Asks::held_out: return "calibration";
    case Asks::truths: return "truths";
    case Asks::nothing: break;
  }
  return "answers";
}

std::unique_ptr<RoundSummary> FivePassModel::nothing() const {
  // Held-out labels and truths need no counts.
  if (asks_ == Asks::held_out || asks_ == Asks::truths)
    return std::make_unique<FivePassSummary>(0, 0, 0, 0);
  return std::make_unique<FivePassSummary>(workers(), classes_, kTypes * width_, all_workers_);
}

int FivePassModel::summaries_at_once() const { return WholeCounts::tables_at_once(workers(), classes_); }

std::uint64_t FivePassModel::bytes(const RoundsInput& input) {
  const std::uint64_t workers = input.workers;
  const std::uint64_t classes = input.classes;
  // Some cells for each label, with the containers around them; for the model and in a summary.
  if (!CreditedCounts::is_dense(workers, classes)) return 256 * input.labels + 256 * workers;
  const auto threads =
      std::min<std::uint64_t>(std::max(1U, std::thread::hardware_concurrency()),
                              static_cast<std::uint64_t>(WholeCounts::tables_at_once(workers, classes)));
  const TypedLayout layout{static_cast<std::size_t>(classes), row_width(classes)};
  return workers * (layout.of_worker() * sizeof(float) + sizeof(Curve) + sizeof(WorkerCounts)) +
         (1 + threads) * WholeCounts::bytes(workers, classes);
}

// ---- A round: judge every task.

void FivePassModel::judge(const TaskBlock& block, RoundSummary& into) const {
  auto& summary = static_cast<FivePassSummary&>(into);
  Scratch scratch(*this);
  switch (asks_) {
    case Asks::votes: return add_votes(block, scratch, summary);
    case Asks::credits: return add_credits(block, scratch, summary);
    case Asks::held_out: return hold_out(block, scratch, summary);
    case Asks::truths: return add_truths(block, scratch, summary);
    case Asks::nothing: return;
  }
}

void FivePassModel::add_votes(const TaskBlock& block, Scratch& scratch, FivePassSummary& summary) const {
  for (TaskId t = block.first(); t < block.last(); ++t) {
    const TaskLabels task = block.task(t);
    std::fill(scratch.credit.begin(), scratch.credit.end(), 0);
    if (const ClassId truth = block.truth(t); truth != kNoClass) {
      scratch.credit[truth] = static_cast<std::int32_t>(kUnits);
      summary.known += task.size() > 0 ? 1 : 0;
    } else {
      for (const ClassId label : task.classes) ++scratch.credit[label];
      const double vote = kUnits / static_cast<double>(std::max<std::size_t>(1, task.size()));
      for (std::size_t k = 0; k < classes_; ++k)
        scratch.credit[k] = static_cast<std::int32_t>(std::lround(scratch.credit[k] * vote));
    }
    summary.counts.add(task, scratch.credit);
    for (std::size_t k = 0; k < classes_; ++k) summary.mass[k] += scratch.credit[k];
  }
}

void FivePassModel::add_credits(const TaskBlock& block, Scratch& scratch,
                                FivePassSummary& summary) const {
  constexpr TaskId kAhead = 6;       // tasks ahead whose rows are being fetched from memory
  constexpr TaskId kMost = 1 << 11;  // tasks whose credits add up to 2^31
  const bool in_registers = dense() && fit_registers(width_);
  std::vector<std::uint32_t> mass(in_registers ? scratch.by_type.size() : 0);
  for (TaskId first = block.first(); first < block.last(); first += kMost) {
    const TaskId last = std::min(block.last(), first + kMost);
    std::fill(mass.begin(), mass.end(), 0);
    for (TaskId t = first; t < last; ++t) {
      if (t + kAhead < last) prefetch(block.task(t + kAhead), &summary.counts);
      const TaskLabels task = block.task(t);
      const ClassId truth = block.truth(t);
      if (in_registers && block.is_open(t)) {
        if (judge_in_registers(task, layout(), tables_.data(), start_.data(), summary.counts.cells(),
                               mass.data()))
          summary.counts.carry(task);
      } else if (task.size() > 0 || truth != kNoClass) {
        add_credit(task, truth, scratch, summary);
      }
    }
    for (std::size_t i = 0; i < mass.size(); ++i) summary.mass[i] += mass[i];
  }
}

void FivePassModel::add_credit(const TaskLabels& task, ClassId truth, Scratch& scratch,
                               FivePassSummary& summary) const {
  std::span<const float> start = start_;
  if (truth != kNoClass) {
    std::fill(scratch.start.begin(), scratch.start.end(), kNoChance);
    for (std::size_t at = truth; at < start.size(); at += width_) scratch.start[at] = start[at];
    start = scratch.start;
  }
  compute_scores(task, start, scratch);
  compute_credit(scratch);
  summary.counts.add(task, scratch.credit);
  for (std::size_t i = 0; i < scratch.by_type.size(); ++i) summary.mass[i] += scratch.by_type[i];
}

void FivePassModel::compute_scores(const TaskLabels& task, std::span<const float> start,
                                   Scratch& scratch) const {
  if (dense()) {
    compute_typed_scores(task, layout(), tables_.data(), start.data(), scratch.scores.data());
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
  crowdfold::compute_credit(scratch.scores.data(), 0, {}, width_, scratch.sums.data());
  float kept = 0;
  for (std::size_t k = 0; k < classes_; ++k) {
    if (scratch.sums[k] < CreditedCounts::kLeastCredit) scratch.sums[k] = 0;
    kept += scratch.sums[k];
  }
  const double units = kept > 0 ? kUnits / static_cast<double>(kept) : 0;
  for (std::size_t k = 0; k < classes_; ++k)
    scratch.credit[k] =
        static_cast<std::int32_t>(std::lround(static_cast<double>(scratch.sums[k]) * units));
  scratch.by_type = scratch.credit;
}

void FivePassModel::write_sparse_row(const TaskLabels& task, WorkerId w, ClassId label,
                                     std::span<float> row) const {
  const SparseWorker worker = {w, ability_of(w), static_cast<double>(strengths_[w]), history(w)};
  crowdfold::write_sparse_row(crowd_, pooled_, counts_.sparse(), worker, task.classes, label, row);
}

void FivePassModel::prefetch(const TaskLabels& task, const WholeCounts* counts) const {
  constexpr std::size_t kNear = 1 << 17;  // numbers that the cache holds anyway
  constexpr std::size_t kLine = 64 / sizeof(float);
  if (tables_.size() < kNear) return;
  for (std::size_t j = 0; j < task.size(); ++j) {
    const WorkerId w = task.workers[j];
    const ClassId label = task.classes[j];
    if (counts != nullptr) counts->prefetch(w, label);
    __builtin_prefetch(tables_.data() + layout().row(w, label));
    const float* const shifts = tables_.data() + layout().shifts(w);
    for (std::size_t i = 0; i < TypedLayout::kShifts * width_; i += kLine)
      __builtin_prefetch(shifts + i);
  }
}

// Every stride-th label of each task, from a place on that is drawn.
void FivePassModel::hold_out(const TaskBlock& block, Scratch& scratch, FivePassSummary& summary) const {
  constexpr double kNumbers = 1 << 22;  // by class, at each temperature
  const double most = std::clamp(kNumbers / static_cast<double>(width_), 200.0, 20'000.0);
  const auto stride = static_cast<std::uint64_t>(std::max(1.0, labels_ / most));
  for (TaskId t = block.first(); t < block.last(); ++t) {
    const TaskLabels task = block.task(t);
    std::size_t j = stride == 1 ? 0 : pick(0, task.index, stride);
    if (j >= task.size() || task.size() < 2 || block.truth(t) != kNoClass) continue;
    compute_scores(task, start_, scratch);
    compute_credit(scratch);
    for (; j < task.size(); j += stride) hold_out(task, j, scratch, summary.held_out);
  }
}

void FivePassModel::hold_out(const TaskLabels& task, std::size_t j, Scratch& scratch,
                             HeldOut& held_out) const {
  const WorkerId w = task.workers[j];
  const ClassId label = task.classes[j];
  if (dense()) {
    const float* const said = tables_.data() + layout().row(w, label);
    const float* const shifts = tables_.data() + layout().shifts(w);
    for (std::size_t g = 0; g < kTypes; ++g) {
      const float* const shift = shifts + TypedLayout::kShiftOf[g] * width_;
      for (std::size_t i = g * width_, k = 0; k < width_; ++i, ++k)
        scratch.others[i] = scratch.scores[i] - kPowers[g] * said[k] - shift[k];
    }
  } else {
    write_sparse_row(task, w, label, scratch.row);
    for (std::size_t k = 0; k < classes_; ++k) scratch.others[k] = scratch.scores[k] - scratch.row[k];
  }
  add_up_scores(scratch.others, scratch);
  load_counts(w, label, scratch);
  const double ability = ability_of(w);
  const auto strength = static_cast<double>(strengths_[w]);
  for (std::size_t k = 0; k < classes_; ++k) {
    const double own = scratch.credit[k] / kUnits;
    scratch.mean[k] = static_cast<float>((std::max(scratch.cells[k] - own, 0.0) +
                                          strength * centre_of(crowd_, pooled_, ability, k, label)) /
                                         (std::max(scratch.totals[k] - own, 0.0) + strength));
  }
  held_out += rounded(likelihoods_of(crowd_, class_power_, classes_, scratch.sums, scratch.mean));
}

// log sum_g exp a_t[k, g]
void FivePassModel::add_up_scores(std::span<const float> scores, Scratch& scratch) const {
  if (dense()) {
    add_up_types(scores.data(), width_, scratch.sums.data());
  } else {
    std::copy(scores.begin(), scores.end(), scratch.sums.begin());
  }
  std::fill(scratch.sums.begin() + classes_, scratch.sums.end(), kNoChance);
}

void FivePassModel::load_counts(WorkerId w, ClassId label, Scratch& scratch) const {
  const SpreadHistory before = spread_history(history(w), classes_);
  std::fill(scratch.cells.begin(), scratch.cells.end(), before.wrong);
  std::fill(scratch.totals.begin(), scratch.totals.end(), before.in_row);
  scratch.cells[label] = before.right;
  counts_.add_row(w, label, scratch.cells);
  counts_.add_totals(w, scratch.totals);
}

// ---- After a round: learn from what tasks say.

void FivePassModel::learn(RoundSummary& said, int threads) {
  auto& summary = static_cast<FivePassSummary&>(said);
  if (asks_ == Asks::held_out) return guard(summary.held_out);
  if (asks_ == Asks::truths) {
    softening_ = summary.softening.fitted(options_);
    asks_ = Asks::nothing;
    return;
  }
  take(summary, threads);
  if (asks_ == Asks::votes) require_a_crowd();
  pool();
  if (round_ == 0 || round_ == 2 || round_ >= options_.rounds) fit_strengths(threads);
  build_tables(threads);
  asks_ = round_ == 0 ? Asks::credits : Asks::held_out;
  is_guarded_ = false;
  ++round_;
}

void FivePassModel::require_a_crowd() const {
  OneLabelCounts counts;
  for (WorkerId w = 0; w < workers(); ++w) {
    if (history(w).seen > 0) continue;
    counts_.for_cells(w, [&](ClassId, ClassId label, double count) { counts.add(w, label, count); });
  }
  if (!counts.prevail()) return;
  throw Error(ErrorCode::usage,
              "most labels are by workers who give one label and no other, as labelling functions do: "
              "fivepass can judge those in memory only; on a disk or a cluster, take mv");
}

// gamma; and for the answers beta, which depends on it.
void FivePassModel::guard(const HeldOut& held_out) {
  const bool is_last = round_ > options_.rounds;
  const double gamma = is_guarded_ ? class_power_ : guarded_power(held_out, options_.guard, classes_);
  const bool stays = gamma == class_power_;
  class_power_ = gamma;
  pool();
  is_guarded_ = true;
  if (!is_last) {
    asks_ = Asks::credits;
  } else if (stays) {
    beta_ = held_out.best_temperature();
    asks_ = known_ > 0 && dense() ? Asks::truths : Asks::nothing;
  }
}

void FivePassModel::take(FivePassSummary& summary, int threads) {
  counts_ = std::move(summary.counts);
  mass_ = std::move(summary.mass);
  if (asks_ == Asks::votes) known_ = summary.known;
  count(threads);
  if (asks_ == Asks::votes) return;
  std::array<double, kTypes> of_type{};
  for (std::size_t g = 0; g < kTypes; ++g) {
    for (std::size_t k = 0; k < classes_; ++k)
      of_type[g] += static_cast<double>(mass_[g * width_ + k]) / kUnits;
  }
  const double tasks = std::accumulate(of_type.begin(), of_type.end(), 0.0);
  for (std::size_t g = 0; g < kTypes; ++g)
    rho_[g] = (of_type[g] + 1) / (tasks + static_cast<double>(kTypes));
}

void FivePassModel::count(int threads) {
  pooled_ = {};
  pooled_.expect(classes_);
  labels_ = 0;
  // In double precision: whole units add exactly, in any order.
  std::mutex mutex;
  parallel_ranges(threads, workers(), kWorkersAtOnce, [&](std::size_t first, std::size_t last, int) {
    PooledCounts some;
    some.expect(classes_);
    double labels = 0;
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      said_[w] = {};
      counts_.for_cells(w, [&](ClassId truth, ClassId label, double count) {
        said_[w] += {truth == label ? count : 0, count};
        some.add(label, truth, count);
      });
      labels += said_[w].seen;
    }
    const std::lock_guard lock(mutex);
    pooled_.add(some);
    labels_ += labels;
  });
  pool_class_mass();
}

void FivePassModel::pool_class_mass() {
  std::vector<double> of_class(classes_);
  for (std::size_t g = 0; g < kTypes; ++g) {
    for (std::size_t k = 0; k < classes_; ++k)
      of_class[k] += static_cast<double>(mass_[g * width_ + k]) / kUnits;
  }
  pooled_.add_class_mass(of_class);
}

void FivePassModel::pool() {
  std::vector<float> log_prior(width_);
  learn_crowd({pooled_, all_history_, labels_}, options_.crowd, class_power_, dense(), crowd_,
              log_prior);
  start_.clear();
  for (std::size_t g = 0; g < types(); ++g) {
    const auto log_share = static_cast<float>(dense() ? std::log(rho_[g]) : 0);
    for (const float log_class : log_prior) start_.push_back(log_class + log_share);
  }
}

// L_i(S) for all S.
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
  for (std::size_t i = 0; i < curve.size(); ++i) curve[i] = rows.log_likelihood(kStrengths[i]);
  return curve;
}

void FivePassModel::fit_strengths(int threads) {
  constexpr int kIterations = 8;
  const std::size_t ranges = (workers() + kWorkersAtOnce - 1) / kWorkersAtOnce;
  // Sums of ranges, in their order: so they do not depend on threads.
  const auto sum_up = [&](const auto& add_worker) {
    std::vector<Curve> sums(ranges, Curve{});
    parallel_for(threads, ranges, [&](std::size_t range, int) {
      const std::size_t last = std::min<std::size_t>(workers(), (range + 1) * kWorkersAtOnce);
      add_worker(static_cast<WorkerId>(range * kWorkersAtOnce), static_cast<WorkerId>(last),
                 sums[range]);
    });
    Curve all{};
    for (const Curve& some : sums) {
      for (std::size_t i = 0; i < all.size(); ++i) all[i] += some[i];
    }
    return all;
  };

  std::vector<Curve> likelihoods(workers());  // in units of each worker's highest
  const Curve all = sum_up([&](WorkerId first, WorkerId last, Curve& sum) {
    CountedRows rows;
    std::vector<double> totals(classes_);
    for (WorkerId w = first; w < last; ++w) {
      if (said_[w].seen == 0) continue;
      Curve& curve = likelihoods[w] = strength_curve(w, rows, totals);
      const double highest = *std::max_element(curve.begin(), curve.end());
      for (std::size_t i = 0; i < curve.size(); ++i) {
        sum[i] += curve[i];
        curve[i] = std::exp(curve[i] - highest);
      }
    }
  });
  crowd_.strength = std::clamp(peak(kStrengths, all), options_.weakest, options_.strongest);
  crowd_.symmetry = symmetry_of(crowd_.strength, options_.symmetry, classes_);

  const auto heard = [](const WorkerCounts& said) { return said.seen > 0; };
  const auto known = static_cast<double>(std::count_if(said_.begin(), said_.end(), heard));
  sizes_.fill(1.0 / static_cast<double>(sizes_.size()));
  const auto posterior = [&](WorkerId w) {
    Curve p = sizes_;
    if (!heard(said_[w])) return p;
    for (std::size_t i = 0; i < p.size(); ++i) p[i] *= likelihoods[w][i];
    const double sum = std::accumulate(p.begin(), p.end(), 0.0);
    for (double& share : p) share /= sum;
    return p;
  };
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const Curve sums = sum_up([&](WorkerId first, WorkerId last, Curve& sum) {
      for (WorkerId w = first; w < last; ++w) {
        if (!heard(said_[w])) continue;
        const Curve p = posterior(w);
        for (std::size_t i = 0; i < p.size(); ++i) sum[i] += p[i];
      }
    });
    for (std::size_t i = 0; i < sums.size(); ++i)
      sizes_[i] = (sums[i] + .5) / (known + .5 * static_cast<double>(sums.size()));
  }
  parallel_ranges(threads, workers(), kWorkersAtOnce, [&](std::size_t first, std::size_t last, int) {
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      const Curve p = posterior(w);
      double log_strength = 0;
      for (std::size_t i = 0; i < p.size(); ++i) log_strength += p[i] * std::log2(kStrengths[i]);
      strengths_[w] =
          static_cast<float>(std::clamp(std::exp2(log_strength), options_.weakest, options_.strongest));
    }
  });
}

// The rule for workers of one label: writes the rows of a worker who always says the same. Returns
// false, and does nothing, for others.
bool FivePassModel::write_presence(WorkerId w, float* rows) const {
  constexpr double kFewLabels = 10;  // with fewer it may be chance
  if (said_[w].seen < kFewLabels - .5 || history(w).seen > 0) return false;
  ClassId only = kNoClass;
  bool several = false;
  counts_.for_cells(w, [&](ClassId, ClassId label, double) {
    several |= only != kNoClass && only != label;
    only = label;
  });
  if (several) return false;
  std::fill_n(rows, layout().of_worker(), 0.0F);
  const std::span<const double> mass = pooled_.class_mass();
  const double tasks = std::accumulate(mass.begin(), mass.end(), 0.0);
  for (ClassId k = 0; k < classes_; ++k) {
    const double expected = said_[w].seen * mass[k] / tasks;
    rows[only * width_ + k] = static_cast<float>(
        std::log((counts_.cell(w, only, k) + crowd_.strength) / (expected + crowd_.strength)));
  }
  return true;
}

std::vector<float> FivePassModel::class_shares() const {
  std::vector<float> shares(width_);
  for (std::size_t k = 0; k < classes_; ++k) shares[k] = std::exp(crowd_.log_classes[k]);
  return shares;
}

void FivePassModel::build_tables(int threads) {
  if (!dense()) return;
  if (tables_.empty()) {
    const std::size_t size = workers() * layout().of_worker();
    tables_.reserve(size);
    prefer_large_pages(tables_.data(), size * sizeof(float));
    tables_.resize(size);
  }
  const std::vector<float> shares = class_shares();
  parallel_ranges(threads, workers(), kWorkersAtOnce, [&](std::size_t first, std::size_t last, int) {
    std::vector<float> counts(classes_ * width_);
    std::vector<float> tab(classes_ * width_);
    CrowdEffects crowd = crowd_;
    for (auto w = static_cast<WorkerId>(first); w < last; ++w) {
      float* const rows = tables_.data() + layout().row(w, 0);
      if (write_presence(w, rows)) continue;
      crowd.strength = static_cast<double>(strengths_[w]);
      counts_.write_rows(w, counts.data());
      const SpreadHistory before = spread_history(history(w), classes_);
      compute_table(crowd, {ability_of(w), before.right, before.wrong, counts.data(), width_}, classes_,
                    tab.data());
      compute_types(tab.data(), shares.data(), classes_, width_, rows);
    }
  });
}

// ---- What was learned.

// Tasks that were credited with their truths, judged as if those were not known: every `stride`-th of
// them if there are very many.
void FivePassModel::add_truths(const TaskBlock& block, Scratch& scratch,
                               FivePassSummary& summary) const {
  constexpr int kRounds = 2;  // until what a task's own labels tell of its workers changes little
  const std::uint64_t stride = known_ / SofteningFit::kEnough + 1;
  std::vector<float> credit(width_);
  for (TaskId t = block.first(); t < block.last(); ++t) {
    const TaskLabels task = block.task(t);
    const ClassId truth = block.truth(t);
    if (truth == kNoClass || task.size() == 0 || (stride > 1 && pick(1, task.index, stride) > 0))
      continue;
    score_without_truth(task, truth, {}, scratch);
    for (int round = 0; round < kRounds; ++round) {
      crowdfold::compute_credit(scratch.sums.data(), 0, task, width_, credit.data());
      score_without_truth(task, truth, std::span(credit).first(classes_), scratch);
    }
    SofteningFit fit;
    fit.add(std::span(scratch.sums).first(classes_), beta_, truth);
    summary.softening.add_in_units(fit);
  }
}

void FivePassModel::score_without_truth(const TaskLabels& task, ClassId truth,
                                        std::span<const float> credit, Scratch& scratch) const {
  // Tables of the task's workers alone, one for each label.
  std::vector<WorkerId> places(task.size());
  std::iota(places.begin(), places.end(), 0);
  std::vector<float> tables(task.size() * layout().of_worker());
  const std::vector<float> shares = class_shares();
  std::vector<float> counts(classes_ * width_);
  std::vector<float> tab(classes_ * width_);
  CrowdEffects crowd = crowd_;
  for (std::size_t j = 0; j < task.size(); ++j) {
    const WorkerId w = task.workers[j];
    float* const rows = tables.data() + layout().row(j, 0);
    if (write_presence(w, rows)) continue;
    WorkerCounts others = all_of(w);
    counts_.write_rows(w, counts.data());
    for (std::size_t i = 0; i < task.size(); ++i) {
      if (task.workers[i] != w) continue;
      const ClassId label = task.classes[i];
      others += {label == truth ? -1.0 : 0.0, -1};
      float& own = counts[label * width_ + truth];
      own = std::max(own - 1, 0.0F);
      if (credit.empty()) continue;
      others += {static_cast<double>(credit[label]), 1};
      for (std::size_t k = 0; k < classes_; ++k) counts[label * width_ + k] += credit[k];
    }
    crowd.strength = static_cast<double>(strengths_[w]);
    const SpreadHistory before = spread_history(history(w), classes_);
    compute_table(crowd,
                  {crowdfold::ability_of(crowd_, others, options_.own), before.right, before.wrong,
                   counts.data(), width_},
                  classes_, tab.data());
    compute_types(tab.data(), shares.data(), classes_, width_, rows);
  }
  compute_typed_scores({task.index, places, task.classes}, layout(), tables.data(), start_.data(),
                       scratch.scores.data());
  add_up_scores(scratch.scores, scratch);
}

void FivePassModel::answer(const TaskBlock& block, std::span<Estimate> estimates,
                           std::span<double> posteriors) const {
  Scratch scratch(*this);
  const std::size_t width = posteriors.size() / std::max<std::size_t>(1, estimates.size());
  for (std::size_t i = 0; i < estimates.size(); ++i) {
    const auto t = static_cast<TaskId>(block.first() + i);
    const std::span<double> posterior = posteriors.subspan(i * width, width);
    if (const ClassId truth = block.truth(t); truth != kNoClass) {
      estimates[i] = certain(truth, posterior);
    } else if (block.is_open(t)) {
      estimates[i] = answer(block.task(t), posterior, scratch);
    } else {
      std::fill(posterior.begin(), posterior.end(), 1.0 / classes_);
      estimates[i] = {};
    }
  }
}

void FivePassModel::report(const RunContext& context, Result& result) const {
  result.doubt = doubt();
  if (!context.confusion) {
    result.learned.expect(workers(), classes_);
    for (WorkerId w = 0; w < workers(); ++w) result.learned.counts[w] = counts(w);
    return;
  }
  result.learned = state();
  const std::size_t cells = static_cast<std::size_t>(classes_) * classes_;
  result.confusion.resize(workers() * cells);
  Scratch scratch(*this);
  for (WorkerId w = 0; w < workers(); ++w)
    write_confusion(w, {result.confusion.data() + w * cells, cells}, scratch);
}

// What follows from the rest is computed anew.
void FivePassModel::exchange(Archive& archive) {
  archive.value(asks_);
  archive.value(round_);
  archive.value(is_guarded_);
  archive.value(known_);
  archive.value(class_power_);
  archive.value(rho_);
  archive.value(crowd_.strength);
  archive.value(crowd_.symmetry);
  archive.value(sizes_);
  archive.value(beta_);
  archive.value(softening_.soften);  // not as a whole: nobody knows what lies between its members
  archive.value(softening_.doubt);
  archive.value(softening_.soften_is_set);
  archive.value(softening_.doubt_is_set);
  archive.rows(strengths_, 1);
  archive.array(mass_);
  counts_.exchange(archive);
  if (asks_ == Asks::votes) return;
  exchange_pooled(archive);
  if (!archive.reads()) return;
  pool();
  build_tables(/*threads=*/1);
}

// P is of all workers, and so is the number of labels: a part of a model cannot count them.
void FivePassModel::exchange_pooled(Archive& archive) {
  struct Cell {
    std::uint32_t label;
    std::uint32_t truth;
    double count;
  };
  std::vector<Cell> cells;
  double labels = labels_;
  if (!archive.reads()) {
    pooled_.for_cells([&](ClassId truth, ClassId label, double count) {
      cells.push_back({label, truth, count});
    });
  }
  archive.array(cells);
  archive.value(labels);
  if (!archive.reads()) return;
  count(/*threads=*/1);
  pooled_ = {};
  pooled_.expect(classes_);
  for (const Cell& cell : cells) {
    if (cell.label < classes_ && cell.truth < classes_)
      pooled_.add(static_cast<ClassId>(cell.label), static_cast<ClassId>(cell.truth), cell.count);
  }
  pool_class_mass();
  labels_ = labels;
}

Estimate FivePassModel::answer(const TaskLabels& task, std::span<double> posterior,
                               Scratch& scratch) const {
  compute_scores(task, start_, scratch);
  add_up_scores(scratch.scores, scratch);
  const Shares shares = compute_shares(scratch.sums.data(), softening_.temperature(beta_), classes_,
                                       width_, posterior.data());
  // Before it is softened, no answer is more certain than the rule of succession allows.
  const double succession = 1 / (labels_ + all_history_.seen + 2);
  const auto softened = [&](double share) {
    return with_doubt(with_doubt(share / shares.sum, succession, classes_), softening_.doubt, classes_);
  };
  for (double& share : posterior) share = softened(share);
  return {shares.largest, softened(1)};
}

WorkerCounts FivePassModel::all_of(WorkerId w) const {
  WorkerCounts all = history(w);
  all += said_[w];
  return all;
}

// Credits of a label are 1 but for rounding.
WorkerCounts FivePassModel::counts(WorkerId w) const {
  WorkerCounts all = history(w);
  const double seen = std::round(said_[w].seen);
  all += {std::min(said_[w].correct, seen), seen};
  return all;
}

void FivePassModel::write_confusion(WorkerId w, std::span<double> matrix, Scratch& scratch) const {
  const double ability = ability_of(w);
  const auto strength = static_cast<double>(strengths_[w]);
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

WorkerState FivePassModel::state() const {
  WorkerState state;
  state.expect(workers(), classes_);
  StateSection cells = {.name = kCells, .axes = {Axis::worker, Axis::label_class, Axis::label_class}};
  StateSection before = {.name = kHistory, .axes = {Axis::worker}, .width = 2};
  for (WorkerId w = 0; w < workers(); ++w) {
    state.counts[w] = counts(w);
    counts_.for_cells(w, [&](ClassId truth, ClassId label, double count) {
      cells.add({w, label, truth}, {count});
    });
    if (history(w).seen > 0) before.add({w}, {history(w).correct, history(w).seen});
  }
  StateSection mass = {.name = kMass, .axes = {Axis::label_class}, .width = kTypes};
  const auto cell = [&](std::size_t g, ClassId k) {
    return static_cast<double>(mass_[g * width_ + k]) / kUnits;
  };
  for (ClassId k = 0; k < classes_; ++k)
    mass.add({k}, {cell(0, k), cell(1, k), cell(2, k), cell(3, k), cell(4, k)});
  StateSection calibration = {.name = kCalibration, .width = 4, .adds = false};
  calibration.values = {class_power_, beta_, softening_.soften, softening_.doubt};
  state.sections = {std::move(cells), std::move(before), std::move(mass), std::move(calibration)};
  return state;
}

}  // namespace crowdfold
