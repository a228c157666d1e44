#include "methods/live/live_model.h"

#include <algorithm>
#include <cmath>

namespace crowdfold {
namespace {

// s: with this many labels on a class, a worker's own counts weigh as much as the expectation b. 4 to 16
// are alike on data sets.
constexpr double kStrength = 8;

// P starts from an even crowd of this quality, worth this many labels on every class.
constexpr double kCrowdQuality = .7;
constexpr double kCrowdLabels = 20;

// Of more classes, only those that were named are looked at one by one. Each of the others is as
// probable as if every label were wrong.
constexpr std::uint32_t kFewClasses = 16;

// H and T before the first task.
constexpr HardTasks kHardBefore = {1, 10};

// log eps. So small that W has no effect, not even on the last digit, before a task of two classes has
// a hundred and forty labels.
constexpr double kLogLeaning = -138;
constexpr double kLogRounding = -40;  // relative to labels by chance

// Probabilities that differ by less are a tie.
constexpr double kEven = 1e-9;

// A likelihood is kept between 1 / kLarge and kLarge.
constexpr int kLargeExponent = 400;
constexpr double kLarge = 0x1p400;

// No class is ruled out, however many labels speak against it.
constexpr double kLeastProbability = 1e-300;

// A quality is neither 0 nor 1 for r_k.
constexpr double kSureness = 1e-4;

std::uint16_t to_share(double probability) {
  return static_cast<std::uint16_t>(std::lround(probability * kWhole));
}
double odds_of(double probability) { return probability / (1 - probability); }

// (5) log eps W_k, if `votes` of `labels` labels are for k.
double log_leaning(double votes, double labels, double num_classes) {
  const double share = std::max(votes / labels, 1 / num_classes);
  double log = kLogLeaning + votes * std::log(num_classes * share);
  if (votes < labels) log += (labels - votes) * std::log(num_classes / (num_classes - 1) * (1 - share));
  return log;
}

}  // namespace

void Likelihood::multiply(double factor) {
  value *= factor;
  if (value > kLarge) {
    value /= kLarge;
    ++scale;
  } else if (value < 1 / kLarge) {
    value *= kLarge;
    --scale;
  }
}
void Likelihood::add_exp(double nats) {
  const double exponent = nats / std::log(2.0);
  const Likelihood other = {std::exp2(std::fmod(exponent, kLargeExponent)),
                            static_cast<int>(exponent / kLargeExponent)};
  const int unit = std::max(scale, other.scale);
  *this = {in(unit) + other.in(unit), unit};
}
double Likelihood::in(int unit) const {
  return scale == unit ? value : std::ldexp(value, kLargeExponent * (scale - unit));
}

LiveModel::LiveModel(const LiveOptions& options, std::uint32_t least_classes)
    : options_(options),
      fading_(options.half_life > 0 ? std::exp2(-1 / options.half_life) : 1),
      least_classes_(least_classes) {}

void LiveModel::expect(std::size_t workers, std::uint32_t classes) {
  classes_ = std::max(classes_, classes);
  if (workers_.size() < workers) workers_.resize(workers);
  if (crowd_.size() < classes_) crowd_.resize(classes_);
}

double LiveModel::hard_share() const {
  return (hard_.hard + kHardBefore.hard) / (hard_.all + kHardBefore.all);
}
double LiveModel::usual_quality() const {
  WorkerCounts all;
  for (const LiveWorker& worker : workers_) all += worker.counts;
  return quality_of(all);
}
double LiveModel::worth_of(std::uint64_t ticks, std::uint64_t tick) const {
  return fading_ == 1 ? 1 : std::pow(fading_, static_cast<double>(ticks - tick));
}

// Counting.

void LiveModel::add_to_crowd(ClassId truth, ClassId label, double count) {
  if (truth >= crowd_.size()) crowd_.resize(truth + std::size_t{1});
  CrowdRow& row = crowd_[truth];
  row.cells.add(truth, label, count);
  row.sum += count;
  crowd_all_ += count;
  if (truth == label) crowd_right_ += count;
}

void LiveModel::add(const LiveTask& task, const LiveLabel& label, double times) {
  LiveWorker& worker = workers_[label.worker];
  const double worth = times * worth_of(worker.ticks, label.tick);
  WorkerCounts& counts = worker.counts;
  counts += {label.label == task.estimate.label ? worth : 0, worth};
  counts.seen = std::max(counts.seen, 0.0);  // faded counts are rounded
  counts.correct = std::clamp(counts.correct, 0.0, counts.seen);
  for (const Credit& credit : task.credits) {
    const double share = credit.share / kWhole;
    worker.confusion.add(credit.truth, label.label, worth * share);
    add_to_crowd(credit.truth, label.label, times * share);
  }
}
void LiveModel::count_hard(const LiveTask& task, double times) {
  if (task.num_labels == 0) return;
  hard_.hard += times * task.hard / kWhole;
  hard_.all += times;
}

void LiveModel::fade(LiveWorker& worker) const {
  for (WorkerCounts* const counts : {&worker.counts, &worker.history})
    *counts = {counts->correct * fading_, counts->seen * fading_};
  worker.confusion.scale(fading_);
  ++worker.ticks;
}

void LiveModel::enter(const LiveTask& task, LiveLabel& label) {
  if (label.tick == 0 && fading_ < 1) {
    LiveWorker& worker = workers_[label.worker];
    fade(worker);
    label.tick = worker.ticks;
  }
  add(task, label, 1);
}
void LiveModel::enter(LiveTask& task) {
  for (LiveLabel& label : task.labels) enter(task, label);
  count_hard(task, 1);
}
void LiveModel::leave(const LiveTask& task) {
  for (const LiveLabel& label : task.labels) {
    if (label.tick > 0 || fading_ == 1) add(task, label, -1);
  }
  count_hard(task, -1);
}

void LiveModel::remember(WorkerId w, const WorkerRecord& record) {
  LiveWorker& worker = workers_[w];
  worker.counts += record.counts;
  worker.history += record.counts;
  worker.confusion.add(record.confusion);
  for (const SparseConfusion::Cell& cell : record.confusion.cells())
    add_to_crowd(cell.truth, cell.label, cell.count);
}
void LiveModel::remember(const HardTasks& elsewhere) {
  hard_.hard += elsewhere.hard;
  hard_.all += elsewhere.all;
}

// Judging.

Weighing::ClassEffect LiveModel::effect_of(ClassId truth) const {
  const double quality = (crowd_right_ + kCrowdQuality * kCrowdLabels) / (crowd_all_ + kCrowdLabels);
  const CrowdRow& row = crowd_row(truth);
  const double all = row.sum + kCrowdLabels;
  const double right = (row.cells.at(truth, truth) + kCrowdLabels * quality) / all;
  const double here = std::clamp(right, kSureness, 1 - kSureness);
  const double even = kCrowdLabels * (1 - quality) / std::max(1.0, num_classes() - 1.0);
  return {odds_of(here) / odds_of(quality), all * (1 - here), even};
}

void LiveModel::add_candidate(ClassId label, std::uint32_t votes, Weighing& weighing) const {
  auto& candidates = weighing.candidates_;
  const auto place = std::lower_bound(
      candidates.begin(), candidates.end(), label,
      [](const Weighing::Candidate& candidate, ClassId c) { return candidate.label < c; });
  if (place == candidates.end() || place->label != label)
    candidates.insert(place, {label, votes, effect_of(label)});
  else
    place->votes += votes;
}

// b: how often workers of the expected quality give this label.
double LiveModel::centre_of(double expected, ClassId truth, ClassId label,
                            const Weighing::ClassEffect& effect) const {
  if (label == truth) return expected;
  return (1 - expected) * (crowd_row(truth).cells.at(truth, label) + effect.even) / effect.wrong;
}
// (3)
double LiveModel::own_chance(const LiveWorker& worker, ClassId truth, ClassId label,
                             double centre) const {
  return (worker.confusion.at(truth, label) + kStrength * centre) /
         (worker.confusion.row(truth) + kStrength);
}
double LiveModel::chance_of_label(const LiveWorker& worker, ClassId truth, ClassId label) const {
  const Weighing::ClassEffect effect = effect_of(truth);
  const double odds = odds_of(quality_of(worker.counts)) * effect.odds;
  return own_chance(worker, truth, label, centre_of(odds / (1 + odds), truth, label, effect));
}

// (4), the product
void LiveModel::multiply(const LiveLabel& label, Weighing& weighing) const {
  const double num_classes = weighing.num_classes_;
  const double others = std::max(1.0, num_classes - 1);
  const double lambda = 1 / others;
  const LiveWorker& worker = workers_[label.worker];
  const double quality = quality_of(worker.counts);  // (1)
  const double odds = odds_of(quality);
  for (Weighing::Candidate& candidate : weighing.candidates_) {
    const ClassId truth = candidate.label;
    const Weighing::ClassEffect& effect = candidate.effect;
    const double expected = odds * effect.odds / (1 + odds * effect.odds);  // (2)
    const double back = label.label == truth ? quality / expected : (1 - quality) / (1 - expected);  // f
    const double centre = centre_of(expected, truth, label.label, effect);
    const double own = own_chance(worker, truth, label.label, centre);
    candidate.likelihood.multiply(num_classes * own * (lambda == 1 ? back : std::pow(back, lambda)));
  }
  weighing.other_.likelihood.multiply(num_classes * (1 - quality) / others);
}

// (4), with labels by chance
void LiveModel::normalise(ClassId truth, Weighing& weighing) const {
  const double hard = hard_share();
  const Likelihood chance;
  const auto weight = [&](const Likelihood& likelihood, int unit) {
    return (1 - hard) * likelihood.in(unit) + hard * chance.in(unit);
  };
  Weighing::Candidate& other = weighing.other_;
  int unit = std::max(chance.scale, other.likelihood.scale);
  for (const Weighing::Candidate& candidate : weighing.candidates_)
    unit = std::max(unit, candidate.likelihood.scale);

  double total = 0;
  for (Weighing::Candidate& candidate : weighing.candidates_)
    total += candidate.probability = weight(candidate.likelihood, unit);
  other.probability = weight(other.likelihood, unit);
  total += other.probability *
           std::max(0.0, weighing.num_classes_ - static_cast<double>(weighing.candidates_.size()));

  weighing.hard_share_ = hard * chance.in(unit)*weighing.num_classes_ / total;
  for (Weighing::Candidate& candidate : weighing.candidates_) {
    if (candidate.label == truth) {
      const int own = std::max(chance.scale, candidate.likelihood.scale);
      weighing.hard_share_ = hard * chance.in(own) / weight(candidate.likelihood, own);
    }
    candidate.probability = std::max(kLeastProbability, candidate.probability / total);
  }
  other.probability = std::max(kLeastProbability, other.probability / total);
}

void LiveModel::weigh(const LiveTask& task, Weighing& weighing) const {
  weighing.num_classes_ = std::max(num_classes(), 1U);
  weighing.candidates_.clear();
  weighing.other_ = {};
  for (ClassId c = 0; classes_ <= kFewClasses && c < classes_; ++c) add_candidate(c, 0, weighing);
  for (const LiveLabel& label : task.labels) add_candidate(label.label, 1, weighing);
  if (task.truth != kNoClass) add_candidate(task.truth, 0, weighing);
  for (const LiveLabel& label : task.labels) multiply(label, weighing);
  const auto labels = static_cast<double>(task.labels.size());
  if (kLogLeaning + labels * std::log(weighing.num_classes_) > kLogRounding) {
    for (Weighing::Candidate& candidate : weighing.candidates_)
      candidate.likelihood.add_exp(log_leaning(candidate.votes, labels, weighing.num_classes_));
  }
  normalise(task.truth, weighing);
}

void LiveModel::judge(LiveTask& task, Weighing& weighing) const {
  weigh(task, weighing);
  task.estimate = weighing.answer();
  task.credits.clear();
  task.hard = task.labels.empty() ? std::uint16_t{0} : to_share(weighing.hard_share());
  if (task.truth != kNoClass) {
    task.estimate = {task.truth, 1};
    task.credits.push_back({task.truth, to_share(1)});
  } else if (!task.labels.empty()) {
    weighing.write_credits(task.credits);
  }
}

// (6). Classes that are not looked at one by one are softened as one: with thousands of them, their sum
// would grow a hundredfold.
Weighing::Softener Weighing::softener() const {
  const double unnamed = num_classes_ - static_cast<double>(candidates_.size());
  const double temperature = Softening{}.temperature(1);
  const double others = unnamed > 0 ? std::pow(unnamed * other_.probability, temperature) : 0;
  double sum = others;
  for (const Candidate& candidate : candidates_) sum += std::pow(candidate.probability, temperature);
  return {temperature, sum, num_classes_, unnamed > 0 ? others / unnamed : 0};
}
double Weighing::Softener::operator()(double probability) const {
  return share(std::pow(probability, temperature));
}
double Weighing::Softener::share(double power) const {
  return with_doubt(power / sum, LiveModel::kDoubt, classes);
}

Estimate Weighing::answer() const {
  Estimate best;
  for (const Candidate& candidate : candidates_) {
    if (candidate.votes > 0 && candidate.probability > best.confidence * (1 + kEven))
      best = {candidate.label, candidate.probability};
  }
  if (best.label != kNoClass) best.confidence = softener()(best.confidence);
  return best;
}
void Weighing::write_posterior(std::span<double> posterior) const {
  const Softener soften = softener();
  std::fill(posterior.begin(), posterior.end(), soften.share(soften.other));
  for (const Candidate& candidate : candidates_)
    posterior[candidate.label] = soften(candidate.probability);
}
void Weighing::write_credits(std::vector<Credit>& credits) const {
  for (const Candidate& candidate : candidates_) {
    if (const std::uint16_t share = to_share(candidate.probability); share > 0)
      credits.push_back({candidate.label, share});
  }
}

}  // namespace crowdfold
