#include "stream/crowd.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace crowdfold {
namespace {

// s: so many labels on a class, and a worker's own way with it counts as much as what is expected of the
// worker. 4 to 16 are alike on data sets.
constexpr double kStrength = 8;

// An even crowd of this quality, worth so many labels on every class: what P starts from.
constexpr double kCrowdQuality = .7;
constexpr double kCrowdLabels = 20;

// Of more classes, only those that were named are looked at one by one. The others are taken for a wrong
// label, of whatever class.
constexpr std::uint32_t kFewClasses = 16;

// Confusions of so many are fetched at once. Of more, one by one when they are needed: most may never
// be.
constexpr std::size_t kFewWorkers = 100'000;

// Tasks that were seen before the first one, and hard ones among them.
constexpr HardTasks kHardBefore = {1, 10};

// Probabilities that differ by less are a tie.
constexpr double kEven = 1e-9;

// Likelihoods are kept below.
constexpr double kLarge = 0x1p400;

// A quality is neither 0 nor 1 for r_k.
constexpr double kSureness = 1e-4;

std::uint16_t to_share(double probability) {
  return static_cast<std::uint16_t>(std::lround(probability * kWhole));
}
double odds_of(double probability) { return probability / (1 - probability); }

bool differ(double a, double b) {
  constexpr double kRounding = 1e-6;
  return std::abs(a - b) > kRounding * (1 + std::abs(a));
}
// Every cell of one side is that of the other.
bool covers(const SparseConfusion& a, const SparseConfusion& b) {
  return std::none_of(b.cells().begin(), b.cells().end(), [&](const SparseConfusion::Cell& cell) {
    return differ(a.at(cell.truth, cell.label), cell.count);
  });
}
bool differ(const SparseConfusion& a, const SparseConfusion& b) {
  return !covers(a, b) || !covers(b, a);
}

}  // namespace

LiveModel::LiveModel(const StreamConfig& config, Fetch fetch)
    : config_(config),
      fading_(config.half_life > 0 ? std::exp2(-1 / config.half_life) : 1),
      fetch_(std::move(fetch)) {}

void LiveModel::load(const StreamStore& store) {
  store.for_crowd(
      [&](ClassId truth, ClassId label, double count) { add_to_crowd(truth, label, count); });
  for (CrowdRow& row : crowd_) {
    row.cells.take_touched([](SparseConfusion::Part) {});
    row.touched = false;
  }
  hard_ = store.hard_tasks();
  if (workers_.size() > kFewWorkers) return;
  store.fetch_confusions(workers_.size(),
                         [&](WorkerId w) -> StreamWorker& { return workers_[w].known; });
  for (Worker& worker : workers_) worker.fetched = true;
  has_confusions_ = true;
}

void LiveModel::save(StreamStore& store) {
  for (const WorkerId w : touched_) {
    Worker& worker = workers_[w];
    worker.touched = false;
    // A task that was judged again and has the answer it had left no trace here.
    if (fading_ < 1 || worker.stored != worker.known.now.counts) store.put_worker(w, worker.known);
    worker.stored = worker.known.now.counts;
    worker.known.now.confusion.take_touched([&](SparseConfusion::Part part) {
      store.put_confusion(w, part, worker.known.history.confusion);
    });
  }
  touched_.clear();
  for (CrowdRow& row : crowd_) {
    if (std::exchange(row.touched, false))
      row.cells.take_touched([&](SparseConfusion::Part part) { store.put_crowd(part); });
  }
  if (std::exchange(hard_touched_, false)) store.put_hard_tasks(hard_);
}

double LiveModel::usual_quality() const {
  WorkerCounts all;
  for (const Worker& worker : workers_) all += worker.known.now.counts;
  return (all.correct + config_.alpha) / (all.seen + config_.alpha + config_.beta);
}

double LiveModel::hard_share() const {
  return (hard_.hard + kHardBefore.hard) / (hard_.all + kHardBefore.all);
}

// Counting.

WorkerRecord& LiveModel::record(WorkerId w) {
  Worker& worker = workers_[w];
  if (!std::exchange(worker.fetched, true) && fetch_) fetch_(w, worker.known);
  return worker.known.now;
}
void LiveModel::touch(WorkerId w) {
  if (!std::exchange(workers_[w].touched, true)) touched_.push_back(w);
}

void LiveModel::add_to_crowd(ClassId truth, ClassId label, double count) {
  if (truth >= crowd_.size()) crowd_.resize(truth + std::size_t{1});
  CrowdRow& row = crowd_[truth];
  row.cells.add(truth, label, count);
  row.sum += count;
  row.touched = true;
  crowd_all_ += count;
  if (truth == label) crowd_right_ += count;
}

double LiveModel::worth_of(const StreamLabel& label) const {
  if (fading_ == 1) return 1;
  return std::pow(fading_, static_cast<double>(workers_[label.worker].known.ticks - label.tick));
}

void LiveModel::add(const StreamTask& task, const StreamLabel& label, double times) {
  WorkerRecord& worker = record(label.worker);
  const double worth = times * worth_of(label);
  WorkerCounts& counts = worker.counts;
  counts += {label.label == task.estimate.label ? worth : 0, worth};
  counts.seen = std::max(counts.seen, 0.0);  // of what faded, rounding may leave less
  counts.correct = std::clamp(counts.correct, 0.0, counts.seen);
  for (const Credit& credit : task.credits) {
    const double share = credit.share / kWhole;
    worker.confusion.add(credit.truth, label.label, worth * share);
    add_to_crowd(credit.truth, label.label, times * share);
  }
  touch(label.worker);
}
void LiveModel::count_hard(const StreamTask& task, double times) {
  if (task.num_labels == 0) return;
  hard_.hard += times * task.hard / kWhole;
  hard_.all += times;
  hard_touched_ = true;
}

void LiveModel::enter(const StreamTask& task, StreamLabel& label) {
  if (label.tick == 0 && fading_ < 1) {
    WorkerRecord& worker = record(label.worker);
    worker.counts = {worker.counts.correct * fading_, worker.counts.seen * fading_};
    worker.confusion.scale(fading_);
    label.tick = ++workers_[label.worker].known.ticks;
  }
  add(task, label, 1);
}
void LiveModel::enter(StreamTask& task) {
  for (StreamLabel& label : task.labels) enter(task, label);
  count_hard(task, 1);
}
void LiveModel::leave(const StreamTask& task) {
  for (const StreamLabel& label : task.labels) {
    if (label.tick > 0 || fading_ == 1) add(task, label, -1);
  }
  count_hard(task, -1);
}

void LiveModel::remember(WorkerId w, const WorkerRecord& history) {
  WorkerRecord& now = record(w);
  StreamWorker& worker = workers_[w].known;
  const double worth = std::pow(fading_, -static_cast<double>(worker.ticks));
  now.counts += history.counts;
  worker.history.counts += {history.counts.correct * worth, history.counts.seen * worth};
  now.confusion.add(history.confusion);
  worker.history.confusion.add(history.confusion, worth);
  for (const SparseConfusion::Cell& cell : history.confusion.cells())
    add_to_crowd(cell.truth, cell.label, cell.count);
  workers_[w].stored.reset();  // the history is not
  touch(w);
}
void LiveModel::remember(const HardTasks& elsewhere) {
  hard_.hard += elsewhere.hard;
  hard_.all += elsewhere.all;
  hard_touched_ = true;
}

LiveModel LiveModel::recounted(const StreamStore& store) {
  LiveModel again(config_);
  again.expect(workers_.size());
  for (WorkerId w = 0; w < workers_.size(); ++w) {
    record(w);
    const StreamWorker& worker = workers_[w].known;
    again.remember(w, worker.history);  // as it was at tick 0
    StreamWorker& other = again.workers_[w].known;
    other.ticks = worker.ticks;
    const double worth = std::pow(fading_, static_cast<double>(worker.ticks));
    other.now.counts = {other.now.counts.correct * worth, other.now.counts.seen * worth};
    other.now.confusion.scale(worth);
  }
  store.for_closed_tasks([&](const StreamTask& task) {
    for (const StreamLabel& label : task.labels) again.add(task, label, 1);
    again.count_hard(task, 1);
  });
  return again;
}

std::vector<std::string> LiveModel::differences(
    LiveModel& other, const std::function<std::string_view(WorkerId)>& name_of) {
  std::vector<std::string> found;
  for (WorkerId w = 0; w < workers_.size(); ++w) {
    const WorkerRecord& here = record(w);
    const WorkerRecord& there = other.record(w);
    if (differ(here.counts.seen, there.counts.seen) || differ(here.counts.correct, there.counts.correct))
      found.push_back(fmt::format("worker {} has {} of {} labels right, the closed tasks say {} of {}",
                                  name_of(w), here.counts.correct, here.counts.seen,
                                  there.counts.correct, there.counts.seen));
    if (differ(here.confusion, there.confusion))
      found.push_back(
          fmt::format("the confusion of worker {} is not what the closed tasks say", name_of(w)));
  }
  for (std::size_t truth = 0; truth < std::max(crowd_.size(), other.crowd_.size()); ++truth) {
    const auto row = [&](const LiveModel& crowd) {
      return truth < crowd.crowd_.size() ? crowd.crowd_[truth].cells : SparseConfusion{};
    };
    if (differ(row(*this), row(other)))
      found.push_back(
          fmt::format("the crowd's row of class {} is not what the closed tasks say", truth));
  }
  if (differ(hard_.hard, other.hard_.hard) || differ(hard_.all, other.hard_.all))
    found.push_back(fmt::format("{} of {} tasks are hard, the closed tasks say {} of {}", hard_.hard,
                                hard_.all, other.hard_.hard, other.hard_.all));
  return found;
}

// Judging.

LiveModel::ClassEffect LiveModel::effect_of(ClassId truth) const {
  const double quality = (crowd_right_ + kCrowdQuality * kCrowdLabels) / (crowd_all_ + kCrowdLabels);
  const CrowdRow& row = crowd_[truth];
  const double all = row.sum + kCrowdLabels;
  const double right = (row.cells.at(truth, truth) + kCrowdLabels * quality) / all;
  const double here = std::clamp(right, kSureness, 1 - kSureness);
  const double even = kCrowdLabels * (1 - quality) / std::max(1.0, num_classes_ - 1);
  return {odds_of(here) / odds_of(quality), all * (1 - here), even};
}

void LiveModel::add_candidate(ClassId label, bool named) {
  const auto place =
      std::lower_bound(candidates_.begin(), candidates_.end(), label,
                       [](const Candidate& candidate, ClassId c) { return candidate.label < c; });
  if (place == candidates_.end() || place->label != label)
    candidates_.insert(place, {label, named, effect_of(label)});
  else
    place->named |= named;
}

void LiveModel::weigh(const StreamTask& task, const Classes& classes) {
  num_classes_ = std::max(classes.possible, 1U);
  if (crowd_.size() < classes.known) crowd_.resize(classes.known);
  candidates_.clear();
  for (ClassId c = 0; classes.known <= kFewClasses && c < classes.known; ++c) add_candidate(c, false);
  for (const StreamLabel& label : task.labels) add_candidate(label.label, true);
  if (task.truth != kNoClass) add_candidate(task.truth, false);
  other_ = {};
  chance_ = 1;
  for (const StreamLabel& label : task.labels) multiply(label);
  normalise(task.truth);
}

void LiveModel::multiply(const StreamLabel& label) {
  const double others = std::max(1.0, num_classes_ - 1);
  const double lambda = 1 / others;
  const WorkerRecord& worker = record(label.worker);
  const double quality =
      (worker.counts.correct + config_.alpha) / (worker.counts.seen + config_.alpha + config_.beta);
  const double odds = odds_of(quality);
  for (Candidate& candidate : candidates_) {
    const ClassId truth = candidate.label;
    const ClassEffect& effect = candidate.effect;
    const double expected = odds * effect.odds / (1 + odds * effect.odds);  // d_k
    double centre = expected;                                               // b
    double back = quality / expected;                                       // f
    if (label.label != truth) {
      centre =
          (1 - expected) * (crowd_[truth].cells.at(truth, label.label) + effect.even) / effect.wrong;
      back = (1 - quality) / (1 - expected);
    }
    const double own = (worker.confusion.at(truth, label.label) + kStrength * centre) /
                       (worker.confusion.row(truth) + kStrength);
    candidate.likelihood *= num_classes_ * own * (lambda == 1 ? back : std::pow(back, lambda));
  }
  other_.likelihood *= num_classes_ * (1 - quality) / others;

  double largest = std::max(chance_, other_.likelihood);
  for (const Candidate& candidate : candidates_) largest = std::max(largest, candidate.likelihood);
  if (largest < kLarge) return;
  for (Candidate& candidate : candidates_) candidate.likelihood /= kLarge;
  other_.likelihood /= kLarge;
  chance_ /= kLarge;
}

void LiveModel::normalise(ClassId truth) {
  const double hard = hard_share();
  const auto weigh = [&](Candidate& candidate) {
    return candidate.probability = (1 - hard) * candidate.likelihood + hard * chance_;
  };
  double total = 0;
  for (Candidate& candidate : candidates_) total += weigh(candidate);
  total += weigh(other_) * std::max(0.0, num_classes_ - static_cast<double>(candidates_.size()));
  hard_share_ = hard * chance_ * num_classes_ / total;
  for (Candidate& candidate : candidates_) {
    if (candidate.label == truth) hard_share_ = hard * chance_ / candidate.probability;
    candidate.probability /= total;
  }
  other_.probability /= total;
}

void LiveModel::judge(StreamTask& task, const Classes& classes) {
  weigh(task, classes);
  task.estimate = {};
  task.credits.clear();
  task.hard = task.labels.empty() ? std::uint16_t{0} : to_share(hard_share_);
  if (task.truth != kNoClass) {
    task.estimate = {task.truth, 1};
    task.credits.push_back({task.truth, to_share(1)});
    return;
  }
  if (task.labels.empty()) return;
  for (const Candidate& candidate : candidates_) {
    if (candidate.named && candidate.probability > task.estimate.confidence * (1 + kEven))
      task.estimate = {candidate.label, candidate.probability};
    if (const std::uint16_t share = to_share(candidate.probability); share > 0)
      task.credits.push_back({candidate.label, share});
  }
}

void LiveModel::put_posterior(const StreamTask& task, const Classes& classes,
                              std::span<double> posterior) {
  weigh(task, classes);
  std::fill(posterior.begin(), posterior.end(), other_.probability);
  for (const Candidate& candidate : candidates_) posterior[candidate.label] = candidate.probability;
}

}  // namespace crowdfold
